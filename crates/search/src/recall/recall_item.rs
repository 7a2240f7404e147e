//! Recall items: records and turns of conversations.

use heirloom_model::{Kind, Message, Record, RecordId, Timestamp, mark};
use serde_json::Value;

/// An item that recall can return.
#[derive(Debug, Clone, PartialEq)]
pub enum RecallItem {
    /// A record.
    Record(Box<Record>),
    /// A turn of a conversation.
    Turn {
        /// The turn's session.
        session: String,
        /// The turn.
        message: Box<Message>,
    },
}

impl RecallItem {
    /// Returns its id.
    pub fn id(&self) -> RecordId {
        match self {
            Self::Record(record) => record.id,
            Self::Turn { message, .. } => message.id,
        }
    }

    /// Returns its kind; `None` for a turn.
    pub fn kind(&self) -> Option<Kind> {
        match self {
            Self::Record(record) => Some(record.kind),
            Self::Turn { .. } => None,
        }
    }

    /// Returns its text.
    pub fn text(&self) -> &str {
        match self {
            Self::Record(record) => &record.text,
            Self::Turn { message, .. } => &message.text,
        }
    }

    /// Returns the time at which it was recorded.
    pub fn recorded_at(&self) -> Timestamp {
        match self {
            Self::Record(record) => record.recorded_at,
            Self::Turn { message, .. } => message.at,
        }
    }

    /// Returns its source: the source of a record, the speaker or the role of a turn.
    pub fn source(&self) -> &str {
        match self {
            Self::Record(record) => &record.source,
            Self::Turn { message, .. } => {
                message.sender.as_deref().unwrap_or(message.role.as_str())
            }
        }
    }

    /// Returns its estimated size, tokens.
    pub fn tokens(&self) -> usize {
        let tokens = match self {
            Self::Record(record) => record.tokens,
            Self::Turn { message, .. } => message.tokens,
        };
        usize::try_from(tokens).unwrap_or(usize::MAX)
    }

    pub(super) fn confidence(&self) -> f64 {
        match self {
            Self::Record(record) => record.confidence.get(),
            Self::Turn { .. } => 1.0,
        }
    }

    pub(super) fn confirmations(&self) -> u32 {
        let Self::Record(record) = self else { return 0 };
        let count = |name| record.attrs.get(name).and_then(Value::as_u64);
        let repetitions = count("confirmations").or_else(|| count("repeats"));
        u32::try_from(repetitions.unwrap_or(0)).unwrap_or(u32::MAX)
    }

    pub(super) fn useful(&self) -> i64 {
        match self {
            Self::Record(record) => mark::useful_count(&record.attrs),
            Self::Turn { .. } => 0,
        }
    }

    /// Returns true if `is_name` matches its key or its path.
    pub(super) fn has_name(&self, is_name: impl Fn(&str) -> bool) -> bool {
        let Self::Record(record) = self else {
            return false;
        };
        let path = record.attr_str("path");
        record.key.as_deref().into_iter().chain(path).any(is_name)
    }
}
