//! Source of a lesson, stored as an attribute of its record.

use heirloom_lessons::{Candidate, SourceKind, Speaker};
use heirloom_model::{Record, Timestamp, limits, text};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Attribute of a record that a session taught.
const ATTRIBUTE: &str = "lesson";

/// Source of a lesson.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LessonSource {
    /// Session that taught it.
    #[serde(rename = "session")]
    pub session: String,
    /// Part of the transcript from which it was taken.
    #[serde(rename = "source")]
    pub source: SourceKind,
    /// Author of the statement.
    #[serde(rename = "speaker")]
    pub speaker: Speaker,
    /// Worth for the next session, from 0 to 1.
    #[serde(rename = "worth")]
    pub worth: f32,
    /// Time at which it was stored.
    #[serde(rename = "learned_at")]
    pub learned_at: Timestamp,
    /// Lines that support it, the most important one first.
    #[serde(rename = "evidence")]
    pub evidence: Vec<EvidenceLine>,
}

/// Line of a conversation that supports a lesson.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EvidenceLine {
    /// Id of the message, if the conversation is stored.
    #[serde(rename = "message")]
    pub message: String,
    /// The line, shortened.
    #[serde(rename = "line")]
    pub line: String,
}

impl LessonSource {
    /// Returns the source of a candidate.
    pub(super) fn of_candidate(candidate: &Candidate, session: &str, now: Timestamp) -> Self {
        let evidence = candidate.evidence.iter().take(limits::LESSON_EVIDENCE_MAX);
        let line = |line: &str| text::excerpt(line, limits::LESSON_EVIDENCE_CHARS_MAX);
        Self {
            session: session.to_owned(),
            source: candidate.source,
            speaker: candidate.speaker,
            worth: candidate.worth,
            learned_at: now,
            evidence: evidence
                .map(|evidence| EvidenceLine {
                    message: evidence.event.clone(),
                    line: line(&evidence.line),
                })
                .collect(),
        }
    }

    /// Returns the source of a record; `None` if no session taught it.
    pub fn of_record(record: &Record) -> Option<Self> {
        let value = record.attrs.get(ATTRIBUTE)?;
        serde_json::from_value(value.clone()).ok()
    }

    /// Returns the author of the statement in words.
    pub fn author(&self) -> &'static str {
        match self.speaker {
            Speaker::Person => "a person",
            Speaker::Agent => "the agent",
            Speaker::Program => "the recorded commands and files",
            Speaker::Unknown => "a text that was pasted or sent by a program",
        }
    }

    /// Returns true if two records were taken from one message in two sessions: a resumed or forked conversation repeats
    /// the messages of the one before.
    pub(super) fn is_of_same_message(one: &Record, other: &Record) -> bool {
        let (Some(one), Some(other)) = (Self::of_record(one), Self::of_record(other)) else {
            return false;
        };
        let message = |source: &Self| source.evidence.first().map(|line| line.message.clone());
        one.session != other.session
            && one.source == other.source
            && message(&one).is_some_and(|id| !id.is_empty() && message(&other) == Some(id))
    }

    /// Returns true if a record is a lesson of any session.
    pub(in crate::engine) fn is_in(record: &Record) -> bool {
        record.attrs.contains_key(ATTRIBUTE)
    }

    /// Writes the source to the attributes of a record.
    pub(super) fn put(&self, record: &mut Record) {
        let value = serde_json::to_value(self).unwrap_or(Value::Null);
        record.attrs.insert(ATTRIBUTE.to_owned(), value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use heirloom_lessons::{Evidence, LessonContent};

    fn candidate(lines: usize, chars: usize) -> Candidate {
        let evidence = Evidence {
            event: "m1".to_owned(),
            position: 0,
            line: "x".repeat(chars),
        };
        Candidate {
            source: SourceKind::Command,
            speaker: Speaker::Program,
            content: LessonContent::Steps(Vec::new()),
            worth: 0.5,
            evidence: vec![evidence; lines],
            at: None,
            agent: None,
        }
    }

    #[test]
    fn source_has_bounded_lines() {
        let most = limits::LESSON_EVIDENCE_MAX;
        let chars = limits::LESSON_EVIDENCE_CHARS_MAX;
        for (lines, length) in [(most, chars), (most + 1, chars + 1)] {
            let candidate = candidate(lines, length);
            let source = LessonSource::of_candidate(&candidate, "s", Timestamp::UNIX_EPOCH);
            assert_eq!(source.evidence.len(), most);
            let line = &source.evidence[0].line;
            assert_eq!(text::chars(line), chars);
            assert_eq!(line.ends_with('…'), length > chars);
        }
    }

    #[test]
    fn stored_form_is_stable() {
        let source = LessonSource::of_candidate(&candidate(1, 3), "s1", Timestamp::UNIX_EPOCH);
        let stored = serde_json::to_value(&source).unwrap();
        let golden = serde_json::json!({
            "session": "s1", "source": "command", "speaker": "program", "worth": 0.5,
            "learned_at": "1970-01-01T00:00:00Z", "evidence": [{"message": "m1", "line": "xxx"}],
        });
        assert_eq!(stored, golden);
    }
}
