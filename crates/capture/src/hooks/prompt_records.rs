//! Records that are relevant to a prompt, and their lines in an answer.

use super::path_words::PromptTerms;
use crate::Hooks;
use heirloom_engine::{QuerySyntax, RecallRequest};
use heirloom_model::case::{CaseGroup, is_case, merge_cases};
use heirloom_model::record_meaning::record_meaning_excerpt;
use heirloom_model::{Fault, Kind, Record, limits, mark, text};
use heirloom_search::recall::RecallItem;
use heirloom_search::relevance::Tellable;

/// Kinds that are injected: knowledge that was learned, not actions.
const KINDS: [Kind; 5] = [
    Kind::Knowledge,
    Kind::Note,
    Kind::Error,
    Kind::Episode,
    Kind::Summary,
];

/// Record with its relevance to a prompt.
#[derive(Debug, Clone, PartialEq)]
pub struct RelevantHit {
    /// The record.
    pub record: Record,
    /// Calibrated relevance, 0 to 1.
    pub relevance: f64,
    /// Cosine by the sentence transformer.
    pub sentence: Option<f64>,
}

impl RelevantHit {
    /// Returns what decides whether it is told.
    pub fn tellable(&self) -> Tellable {
        Tellable {
            relevance: self.relevance,
            is_case: is_case(&self.record),
            sentence: self.sentence,
        }
    }
}

impl Hooks<'_> {
    /// Returns the first results of recall for a prompt with their relevance, best first. Records that share only a path
    /// with it are left out.
    ///
    /// Errors: those of [`Recall::search`](heirloom_engine::Recall::search).
    pub fn relevant_hits(&self, prompt: &str) -> Result<Vec<RelevantHit>, Fault> {
        let question = question_part(prompt);
        let terms = PromptTerms::of(question);
        if terms.is_only_paths() {
            return Ok(Vec::new());
        }
        let request = RecallRequest {
            question: question.to_owned(),
            syntax: QuerySyntax::Words,
            // Other kinds are dropped afterwards: a filter by kind reads the rows of all records in a short process.
            k: Some(limits::HOOK_CANDIDATES_MAX),
            min_relevance: Some(0.0),
            ..RecallRequest::default()
        };
        let recalled = self.engine.recall().search_locally(&request)?;
        let now = self.engine.now();
        let near = recalled.hits.into_iter().filter_map(|hit| {
            let RecallItem::Record(record) = hit.item else {
                return None;
            };
            Some(RelevantHit {
                record: *record,
                relevance: hit.relevance?,
                sentence: hit.breakdown.sentence,
            })
        });
        let holds = |record: &Record| {
            record.true_from.is_none_or(|from| from <= now)
                && record.true_to.is_none_or(|to| to > now)
                && !mark::is_muted(&record.attrs)
                && record.attrs.get("disputed").is_none()
        };
        Ok(near
            .filter(|one| KINDS.contains(&one.record.kind) && holds(&one.record))
            .filter(|one| !terms.shares_only_paths(&one.record))
            .collect())
    }
}

/// Returns the beginning of a prompt: it has the question, pasted text follows.
fn question_part(prompt: &str) -> &str {
    let mut end = prompt.len().min(limits::HOOK_QUESTION_BYTES_MAX);
    while !prompt.is_char_boundary(end) {
        end -= 1;
    }
    &prompt[..end]
}

/// Formats the records of a prompt's answer, one line each; cases of the same files are one line.
pub(super) fn lines(records: &[&Record]) -> Vec<String> {
    let groups = merge_cases(records);
    let of_group = |group: &CaseGroup<'_>| {
        let newest = group.records.first()?;
        let merged = group.line(limits::HOOK_HIT_CHARS_MAX);
        let merged = merged.filter(|_| group.records.len() > 1);
        Some(merged.map_or_else(|| line(newest), |merged| format_line(newest, &merged)))
    };
    groups.iter().filter_map(of_group).collect()
}

/// Number of characters with which a line of an answer is recognised.
const LINE_START_CHARS: usize = 60;

/// Returns the first words of a record's line. A running session stores its case again after each turn, with another id.
pub(super) fn line_start(record: &Record) -> String {
    let meaning = record_meaning_excerpt(record, limits::HOOK_HIT_CHARS_MAX);
    meaning.chars().take(LINE_START_CHARS).collect()
}

/// Formats a record as one line: category, meaning, source and id.
pub(super) fn line(record: &Record) -> String {
    format_line(
        record,
        &record_meaning_excerpt(record, limits::HOOK_HIT_CHARS_MAX),
    )
}

fn format_line(record: &Record, meaning: &str) -> String {
    let what = record
        .category()
        .map_or_else(|| record.kind.to_string(), str::to_owned);
    let day = record.recorded_at.strftime("%Y-%m-%d");
    let source = text::one_line(&record.source);
    let id = record.id.to_string();
    format!("- {what}: {meaning} (from {source}, {day}; heirloom show {id})")
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    #[test]
    fn long_prompt_is_cut_at_character_boundary() {
        let most = limits::HOOK_QUESTION_BYTES_MAX;
        let fits = "x".repeat(most);
        assert_eq!(question_part(&fits), fits);
        let over = format!("{}é", "x".repeat(most - 1));
        assert_eq!(question_part(&over).len(), most - 1);
        assert_eq!(question_part(""), "");
    }

    pub(in crate::hooks) fn record(text: &str) -> Record {
        Record {
            project: heirloom_model::ProjectName::new("p").unwrap(),
            id: heirloom_model::RecordId::MIN,
            kind: Kind::Note,
            key: None,
            text: text.to_owned(),
            attrs: heirloom_model::record::Attrs::new(),
            scope: heirloom_model::Scope::default(),
            source: "ann".to_owned(),
            confidence: heirloom_model::Confidence::FULL,
            tokens: 1,
            recorded_at: heirloom_model::Timestamp::UNIX_EPOCH,
            true_from: None,
            true_to: None,
            retired_at: None,
            replaced_by: None,
            expires_at: None,
        }
    }

    #[test]
    fn long_record_is_shortened_in_line() {
        let most = limits::HOOK_HIT_CHARS_MAX;
        let of_length = |chars: usize| line(&record(&"x".repeat(chars)));
        assert!(of_length(most).starts_with(&format!(
            "- note: {} (from ann, 1970-01-01;",
            "x".repeat(most)
        )));
        assert!(of_length(most + 1).contains("x… (from ann"));
    }

    #[test]
    fn long_resolved_error_keeps_its_fix_in_line() {
        let mut error = record(&"linker failed ".repeat(100));
        error.kind = Kind::Error;
        for (name, value) in [("state", "resolved"), ("resolution", "pin openssl to 3.0")] {
            error.attrs.insert(name.to_owned(), value.into());
        }
        let line = line(&error);
        assert!(
            line.starts_with("- error: linker failed")
                && line.contains("… → fixed by: pin openssl to 3.0 (from ann"),
            "{line}"
        );
    }
}
