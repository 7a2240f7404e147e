//! Announced causes: sentences after words such as "Root cause:", or under a heading such as "What was wrong".

use crate::bounded_text::bounded;
use crate::code_tokens::{TokenKind, code_tokens};
use crate::cues::{Cues, DiagnosisCues};
use crate::outline::{OutlineSection, read_outline};
use crate::sentences::{is_question, sentences};
use crate::statements::finish_statement;
use heirloom_model::text;
use serde::{Deserialize, Serialize};

/// Causes of one text.
const OF_TEXT_MAX: usize = 3;
/// Causes of one section that a heading announces.
const OF_SECTION_MAX: usize = 1;
/// Words of a sentence that states a cause.
const WORDS_MIN: usize = 7;
const WORDS_MAX: usize = 60;
/// Characters of the sentences of a cause.
const CAUSE_CHARS_MAX: usize = 380;
/// Characters of a fix.
const FIX_CHARS_MAX: usize = 150;
/// Bytes of a cause or fix in the state.
const BYTES_MAX: usize = 480;

/// A cause with the fix that the same text names.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct AnnouncedCause {
    /// The cause, in one or two sentences.
    pub(super) text: String,
    /// The fix.
    pub(super) fix: Option<String>,
    /// True for the cause of a fault, false for any other finding.
    pub(super) is_fault: bool,
}

/// Returns the causes that a text announces.
pub(super) fn announced_causes(text: &str, cues: &Cues) -> Vec<AnnouncedCause> {
    let data = &cues.explanations.diagnosis;
    let lower = text.to_lowercase();
    if !data.hints.iter().any(|hint| lower.contains(hint.as_str())) {
        return Vec::new();
    }
    let sections = read_outline(text);
    let mut found: Vec<AnnouncedCause> = Vec::new();
    for section in &sections {
        let by_heading = data.headings.is_in(&section.heading.to_lowercase());
        let mut of_section = 0;
        for item in &section.items {
            let full = item.full_text();
            let all: Vec<&str> = sentences(&full).collect();
            for (number, sentence) in all.iter().enumerate() {
                let sentence = without_conjunction(sentence);
                let announced = announced_part(sentence, data);
                let is_free = by_heading && of_section < OF_SECTION_MAX && !item.is_listed;
                let start = match announced {
                    Some(rest) if is_cause(rest, cues) => Some((rest, number)),
                    // The announcement is a sentence of its own.
                    Some(rest) if rest.split_whitespace().count() < WORDS_MIN => all
                        .get(number + 1)
                        .filter(|next| is_cause(next, cues))
                        .map(|next| (*next, number + 1)),
                    Some(_) => None,
                    None if is_free && is_cause(sentence, cues) => Some((sentence, number)),
                    None => None,
                };
                let Some((first, at)) = start else {
                    continue;
                };
                let cause = join_next(first, all.get(at + 1).copied(), cues);
                if found.len() < OF_TEXT_MAX && !found.iter().any(|one| one.text.contains(first)) {
                    of_section += 1;
                    found.push(AnnouncedCause {
                        text: bounded(&cause, BYTES_MAX),
                        fix: None,
                        is_fault: announced.is_none()
                            || !data.findings.iter().any(|lead| starts_with(sentence, lead)),
                    });
                }
            }
        }
    }
    // A fix belongs to the cause if the text has one cause.
    if let [only] = found.as_mut_slice()
        && only.is_fault
    {
        only.fix = announced_fix(&sections, data).filter(|fix| !only.text.contains(fix.as_str()));
    }
    found
}

/// Returns a sentence without the conjunction before it.
fn without_conjunction(sentence: &str) -> &str {
    let words = [
        "but ",
        "and ",
        "so ",
        "however, ",
        "actually, ",
        "in fact, ",
    ];
    let found = words.iter().find(|word| {
        let head = sentence.get(..word.len());
        head.is_some_and(|head| head.eq_ignore_ascii_case(word))
    });
    found.map_or(sentence, |word| {
        sentence.get(word.len()..).unwrap_or_default()
    })
}

/// Returns what follows an announcement; the whole sentence if it goes on with the announcement as its subject.
fn announced_part<'s>(sentence: &'s str, data: &DiagnosisCues) -> Option<&'s str> {
    let lead = data
        .leads
        .iter()
        .filter(|lead| starts_with(sentence, lead))
        .max_by_key(|lead| lead.len());
    if let Some(lead) = lead {
        let rest = sentence.get(lead.len()..).unwrap_or_default();
        let bare = rest.trim_start_matches([' ', ':', '—', '–', '-', ',', '.', '!', '*']);
        let is_separated = rest.trim_start().len() != bare.len()
            || lead.ends_with("is")
            || lead.ends_with("that")
            || lead.ends_with("out")
            || rest.trim().is_empty();
        if is_separated {
            let that = ["that ", "because "];
            let that = that.iter().find_map(|word| bare.strip_prefix(word));
            return Some(that.unwrap_or(bare));
        }
    }
    let is_subject = data.subjects.iter().any(|lead| starts_with(sentence, lead));
    is_subject.then_some(sentence)
}

fn starts_with(sentence: &str, lead: &str) -> bool {
    let head = sentence.get(..lead.len());
    let after = sentence.get(lead.len()..).unwrap_or_default();
    head.is_some_and(|head| head.eq_ignore_ascii_case(lead))
        && !after.starts_with(|c: char| c.is_alphanumeric())
}

/// Returns true for a sentence that states something about code, without guesses and narration.
fn is_cause(sentence: &str, cues: &Cues) -> bool {
    let data = &cues.explanations;
    let words = sentence.split_whitespace().count();
    let lower = sentence.to_lowercase();
    let has_code = || {
        code_tokens(sentence)
            .iter()
            .any(|token| token.kind != TokenKind::Number)
    };
    (WORDS_MIN..=WORDS_MAX).contains(&words)
        && text::chars(sentence) <= CAUSE_CHARS_MAX
        && !is_question(sentence)
        && !sentence.ends_with(':')
        && !sentence.contains(" | ")
        && !is_label(&lower)
        && !sentence.contains('…')
        && has_code()
        && !is_personal(&lower, cues)
        && !data.pronouns.begins(&lower)
        && !data.diagnosis.status.begins(&lower)
}

/// Returns true for a sentence that begins with the number of a finding, such as `F1`.
fn is_label(lower: &str) -> bool {
    let word = lower.split_whitespace().next().unwrap_or_default();
    let word = word.trim_end_matches([':', '.', ')']);
    word.len() <= 3
        && word.starts_with(|c: char| c.is_ascii_alphabetic())
        && word.ends_with(|c: char| c.is_ascii_digit())
}

/// Returns true for a sentence about the agent's own steps or suppositions.
fn is_personal(lower: &str, cues: &Cues) -> bool {
    let data = &cues.explanations;
    let has_person = lower
        .split(|c: char| !c.is_alphanumeric())
        .any(|word| matches!(word, "i" | "my" | "me" | "you" | "your" | "we" | "let"));
    has_person || data.diagnosis.hedges.is_in(lower) || data.diagnosis.references.is_in(lower)
}

/// Adds the next sentence if it goes on with the cause.
fn join_next(first: &str, next: Option<&str>, cues: &Cues) -> String {
    let first = finish_statement(first);
    let goes_on = |next: &&str| {
        let lower = next.to_lowercase();
        let is_short = text::chars(&first) + text::chars(next) < CAUSE_CHARS_MAX;
        is_short
            && next.split_whitespace().count() >= 4
            && !is_question(next)
            && !next.ends_with(':')
            && !is_personal(&lower, cues)
            && !cues.explanations.momentary.is_in(&lower)
            && (next.contains('`') || cues.explanations.diagnosis.consequences.begins(&lower))
            && !cues.explanations.diagnosis.status.begins(&lower)
    };
    match next.filter(goes_on) {
        Some(next) => format!("{first} {}", finish_statement(next)),
        None => first,
    }
}

/// Returns the fix that a text announces.
fn announced_fix(sections: &[OutlineSection], data: &DiagnosisCues) -> Option<String> {
    let is_fix = |sentence: &str| {
        let words = sentence.split_whitespace().count();
        words >= 4
            && text::chars(sentence) <= FIX_CHARS_MAX
            && sentence.contains('`')
            && !is_question(sentence)
            && !sentence.ends_with(':')
    };
    for section in sections {
        let by_heading = data.fix_headings.is_in(&section.heading.to_lowercase());
        for item in &section.items {
            let full = item.full_text();
            for sentence in sentences(&full) {
                let lead = data
                    .fix_leads
                    .iter()
                    .filter(|lead| starts_with(sentence, lead))
                    .max_by_key(|lead| lead.len());
                let rest = match (lead, by_heading) {
                    (Some(lead), _) => sentence.get(lead.len()..).unwrap_or_default(),
                    (None, true) => sentence,
                    (None, false) => continue,
                };
                let rest = rest.trim_start_matches([' ', ':', '—', '–', '-', ',', '*']);
                if is_fix(rest) {
                    return Some(bounded(&finish_statement(rest), BYTES_MAX));
                }
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn causes(text: &str) -> Vec<String> {
        announced_causes(text, Cues::get())
            .into_iter()
            .map(|cause| match cause.fix {
                Some(fix) => format!("{} Fix: {fix}", cause.text),
                None => cause.text,
            })
            .collect()
    }

    #[test]
    fn announced_causes_of_sentences_and_headings() {
        for (text, expected) in [
            (
                "Root cause confirmed: `load_cart` only refreshes prices that are already cached, so new items keep a price of zero.",
                vec![
                    "`load_cart` only refreshes prices that are already cached, so new items keep a price of zero.",
                ],
            ),
            (
                "Found it — a subtle one. `parse_date` drops the time zone before it compares two dates. Let me fix that.",
                vec!["`parse_date` drops the time zone before it compares two dates."],
            ),
            (
                "## What was wrong\n\nThe importer never checked `stop_reason`, so a cut answer looked like invalid JSON. `parse` then raised a generic error.\n\n## Fix\n\n- `client.py` now raises `Truncated` for a cut answer.\n",
                vec![
                    "The importer never checked `stop_reason`, so a cut answer looked like invalid JSON. `parse` then raised a generic error. Fix: `client.py` now raises `Truncated` for a cut answer.",
                ],
            ),
            (
                "The reason `make lint` fails in CI is that gofmt is not on the path there.",
                vec!["The reason `make lint` fails in CI is that gofmt is not on the path there."],
            ),
            (
                "Root cause: this might be a stale `cache.json` somewhere in the build folder.",
                vec![],
            ),
            (
                "Found it. Now I will change `parse_date` so that it keeps the zone.",
                vec![],
            ),
            (
                "Confirmed. All 12 tests of `parse_date` pass on both systems now.",
                vec![],
            ),
            (
                "The `total` function returns the sum of all items in the cart.",
                vec![],
            ),
            ("Root cause?", vec![]),
            ("", vec![]),
        ] {
            assert_eq!(causes(text), expected, "{text}");
        }
    }
}
