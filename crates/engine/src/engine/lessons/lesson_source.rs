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
    pub session: String,
    /// Part of the transcript from which it was taken.
    pub source: SourceKind,
    /// Author of the statement.
    pub speaker: Speaker,
    /// Worth for the next session, from 0 to 1.
    pub worth: f32,
    /// Time at which it was stored.
    pub learned_at: Timestamp,
    /// Lines that support it, the most important one first.
    pub evidence: Vec<EvidenceLine>,
}

/// Line of a conversation that supports a lesson.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EvidenceLine {
    /// Id of the message, if the conversation is stored.
    pub message: String,
    /// The line, shortened.
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
        }
    }

    /// Returns true if a record is a lesson of any session.
    pub(super) fn is_in(record: &Record) -> bool {
        record.attrs.contains_key(ATTRIBUTE)
    }

    /// Writes the source to the attributes of a record.
    pub(super) fn put(&self, record: &mut Record) {
        let value = serde_json::to_value(self).unwrap_or(Value::Null);
        record.attrs.insert(ATTRIBUTE.to_owned(), value);
    }
}
