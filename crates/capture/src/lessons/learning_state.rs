//! State of a session's learning, stored in an attribute of the session, which older programs ignore.

use heirloom_engine::LessonLedger;
use heirloom_lessons::{Judgement, LessonExtractor, Wish};
use heirloom_model::record::Attrs;
use heirloom_model::{RecordId, Session, limits};
use serde_json::{Value, json};

/// Attribute of a session that lessons were taken from.
const ATTRIBUTE: &str = "lessons";
/// Version of the extractor's stored state. The state of another version is discarded, and the conversation read again.
const VERSION: u64 = 1;

/// State of a session's learning.
#[derive(Debug, Clone, Default)]
pub(crate) struct LearningState {
    /// Bytes of the transcript that the extractor has read.
    pub(crate) offset: u64,
    /// Superseded lines before this offset when they were read.
    pub(crate) superseded: u64,
    /// The extractor, if its state is kept; without it the conversation is read again from its beginning.
    pub(crate) extractor: Option<LessonExtractor>,
    /// The stored lessons.
    pub(crate) ledger: LessonLedger,
    /// Sentences of the person that are preferences if they come back in other sessions.
    pub(crate) wishes: Vec<Wish>,
    /// Judgement of a model.
    pub(crate) judgement: Option<Judgement>,
    /// Import batch of the conversation, which hooks continue.
    pub(crate) conversation_batch: Option<RecordId>,
}

impl LearningState {
    /// Reads the state of a session; the initial one if it is missing or invalid.
    pub(crate) fn of_session(session: &Session) -> Self {
        let Some(value) = session.attrs.get(ATTRIBUTE) else {
            return Self::default();
        };
        let is_same_version = value["version"].as_u64() == Some(VERSION);
        let extractor = value.get("extractor").filter(|_| is_same_version);
        Self {
            offset: value["offset"].as_u64().unwrap_or(0),
            superseded: value["superseded"].as_u64().unwrap_or(0),
            extractor: extractor.and_then(|state| serde_json::from_value(state.clone()).ok()),
            ledger: LessonLedger::from_value(&value["ledger"]),
            wishes: Self::wishes_of(session),
            judgement: serde_json::from_value(value["judgement"].clone()).ok(),
            conversation_batch: value["conversation_batch"]
                .as_str()
                .and_then(|id| id.parse().ok()),
        }
    }

    /// Reads only the wishes of a session.
    pub(crate) fn wishes_of(session: &Session) -> Vec<Wish> {
        let wishes = session
            .attrs
            .get(ATTRIBUTE)
            .and_then(|value| value.get("wishes"));
        wishes
            .and_then(|wishes| serde_json::from_value(wishes.clone()).ok())
            .unwrap_or_default()
    }

    /// Writes the state to the attributes of a session. An extractor whose state is too large is left out.
    pub(crate) fn put(&self, attrs: &mut Attrs) {
        let extractor = self.extractor.as_ref().and_then(bounded_value);
        let mut value = json!({
            "version": VERSION,
            "offset": self.offset,
            "superseded": self.superseded,
            "ledger": self.ledger.to_value(),
            "conversation_batch": self.conversation_batch.map(|id| id.to_string()),
        });
        if let Some(extractor) = extractor {
            value["extractor"] = extractor;
        }
        if !self.wishes.is_empty() {
            value["wishes"] = json!(self.wishes);
        }
        let judgement = self.judgement.as_ref().map(serde_json::to_value);
        if let Some(Ok(judgement)) = judgement {
            value["judgement"] = judgement;
        }
        attrs.insert(ATTRIBUTE.to_owned(), value);
    }

    /// Discards what was read of the conversation, but not what was learned.
    pub(crate) fn restart(&mut self) {
        self.offset = 0;
        self.superseded = 0;
        self.extractor = None;
    }

    /// Returns true if there is nothing to store.
    pub(crate) fn is_empty(&self) -> bool {
        self.extractor.is_none()
            && self.ledger.is_empty()
            && self.wishes.is_empty()
            && self.judgement.is_none()
            && self.conversation_batch.is_none()
    }
}

/// Returns the stored form of an extractor; `None` if it is too large.
fn bounded_value(extractor: &LessonExtractor) -> Option<Value> {
    let state = serde_json::to_string(extractor).ok()?;
    match state.len() <= limits::LESSON_STATE_BYTES_MAX {
        true => serde_json::from_str(&state).ok(),
        false => None,
    }
}

#[cfg(test)]
mod stored_form_tests;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn too_large_state_is_left_out() {
        let small = LessonExtractor::default();
        let state = serde_json::to_string(&small).unwrap();
        assert!(state.len() <= limits::LESSON_STATE_BYTES_MAX);
        assert!(bounded_value(&small).is_some());
        let mut attrs = Attrs::new();
        let stored = LearningState {
            extractor: Some(small),
            ..LearningState::default()
        };
        stored.put(&mut attrs);
        assert!(attrs[ATTRIBUTE]["extractor"].is_object());
    }
}
