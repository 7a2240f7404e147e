//! Explanation of a hit in one sentence.

use super::query_words::QueryWords;
use super::score_parts;
use crate::page::view::Times;
use heirloom_model::kinds::Knowledge;
use heirloom_model::permissions::VOUCHED_BY_ATTR;
use heirloom_model::{Authority, KindData, Record, Timestamp, mark};
use heirloom_search::recall::{Ranked, RecallItem};

/// Share of a score from which the meaning, or the conversation, is named as a reason.
const NAMED_SHARE_MIN: f64 = 0.2;
/// Maximum number of words that a sentence lists.
const LISTED_WORDS: usize = 6;
/// Age up to which days are counted; above it months.
const AGE_DAYS_MAX: i32 = 60;

/// Returns the explanation of a hit: its words, its meaning, who vouches for it, and its age.
pub(super) fn sentence(hit: &Ranked, words: &QueryWords, times: &Times) -> String {
    let parts = &hit.breakdown;
    let mut reasons = Vec::new();
    let (by_meaning, by_conversation) = score_parts::shares(hit);
    if words.len() > 0 {
        let key = match &hit.item {
            RecallItem::Record(record) => record.key.as_deref().unwrap_or_default(),
            RecallItem::Turn { .. } => "",
        };
        reasons.push(matching_words(words, hit.item.text(), key));
    } else {
        reasons.push("passes the filters".to_owned());
    }
    let reasons_if = [
        (by_meaning >= NAMED_SHARE_MIN, "similar in meaning"),
        (parts.phrases > 0.0, "has the phrase in quotes"),
        (parts.exact > 0.0, "its name is in the question"),
        (
            parts.hop.abs() > 0.0,
            "shares a rare name with a strong hit",
        ),
        (parts.dates > 0.0, "from a date in the question"),
        (parts.speaker > 0.0, "the question names its speaker"),
        (
            by_conversation >= NAMED_SHARE_MIN,
            "other turns of its conversation match",
        ),
    ];
    let applying = reasons_if.iter().filter(|(applies, _)| *applies);
    reasons.extend(applying.map(|(_, reason)| (*reason).to_owned()));
    if let RecallItem::Record(record) = &hit.item {
        reasons.extend(standing(record));
    }
    reasons.push(age(hit.item.recorded_at(), times));
    let mut sentence = reasons.join("; ");
    if let Some(first) = sentence.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    sentence.push('.');
    sentence
}

/// Describes the words of the query that a text has.
pub(super) fn matching_words(words: &QueryWords, said_text: &str, key: &str) -> String {
    let found = words.found_in(said_text, key);
    let listed = found.get(..LISTED_WORDS.min(found.len())).unwrap_or(&[]);
    let mut list = listed.join(", ");
    if found.len() > listed.len() {
        list.push_str(&format!(" and {} more", found.len() - listed.len()));
    }
    match (found.len(), words.len()) {
        (0, _) => "no word matches".to_owned(),
        (1, 1) => format!("the word matches: {list}"),
        (2, 2) => format!("both words match: {list}"),
        (n, all) if n == all => format!("all {all} words match: {list}"),
        (1, all) => format!("1 of {all} words matches: {list}"),
        (n, all) => format!("{n} of {all} words match: {list}"),
    }
}

/// Describes who vouches for a record, and the marks of people.
fn standing(record: &Record) -> Vec<String> {
    let mut reasons = Vec::new();
    let is_vouched = record.attr_str(VOUCHED_BY_ATTR).is_some();
    match Authority::of_record(record) {
        Authority::Person if is_vouched => reasons.push("confirmed by a person".to_owned()),
        Authority::Person => reasons.push("written by a person".to_owned()),
        Authority::Orchestrator | Authority::Agent => {}
    }
    let knowledge = Knowledge::from_record(record);
    match knowledge.map_or(0, |knowledge| knowledge.confirmations) {
        0 => {}
        1 => reasons.push("confirmed once".to_owned()),
        n => reasons.push(format!("confirmed {n} times")),
    }
    match mark::useful_count(&record.attrs) {
        1.. => reasons.push("marked useful".to_owned()),
        0 => {}
        _ => reasons.push("marked not useful".to_owned()),
    }
    reasons
}

/// Describes the age of an item in days or months.
fn age(at: Timestamp, times: &Times) -> String {
    match times.days_ago(at) {
        ..=0 => "from today".to_owned(),
        1 => "1 day old".to_owned(),
        days if days <= AGE_DAYS_MAX => format!("{days} days old"),
        days => format!("{} months old", days / 30),
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use heirloom_model::tz::TimeZone;
    use heirloom_model::{Message, RecordId, Role};
    use heirloom_search::recall::ScoreBreakdown;

    fn now() -> Timestamp {
        "2026-05-20T15:00:00Z".parse().unwrap()
    }

    /// Returns a hit without a score.
    pub(in super::super) fn hit(words: &str) -> Ranked {
        Ranked {
            item: RecallItem::Turn {
                session: "s".to_owned(),
                message: Box::new(Message {
                    id: RecordId::from_bytes([7; 16]),
                    seq: 0,
                    role: Role::User,
                    sender: None,
                    text: words.to_owned(),
                    attrs: serde_json::Map::new(),
                    tokens: 1,
                    at: now(),
                }),
            },
            breakdown: ScoreBreakdown::default(),
            relevance: None,
            duplicates: Vec::new(),
        }
    }

    #[test]
    fn sentence_names_words_meaning_and_age() {
        let mut hit = hit("The tests use the database on port 5432");
        hit.breakdown.fused = 5.0;
        hit.breakdown.words = 2.0;
        let times = Times::new(now(), TimeZone::UTC);
        let words = QueryWords::of("which port has the test database of CI?");
        assert_eq!(
            sentence(&hit, &words, &times),
            "3 of 4 words match: port, test, database; similar in meaning; from today."
        );
        let later: Timestamp = "2026-05-22T15:00:00Z".parse().unwrap();
        let times = Times::new(later, TimeZone::UTC);
        assert_eq!(
            sentence(&hit, &QueryWords::of("port"), &times),
            "The word matches: port; similar in meaning; 2 days old."
        );
        assert_eq!(
            sentence(&hit, &QueryWords::of(""), &times),
            "Passes the filters; similar in meaning; 2 days old."
        );
    }
}
