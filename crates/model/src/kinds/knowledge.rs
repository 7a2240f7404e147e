//! Attributes of knowledge, notes and summaries.

use super::{KindData, is_false, is_zero_u32};
use crate::record::Attrs;
use crate::{Authority, Kind, Record, similarity, text};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// Beginning of the keys of a knowledge graph; the rest is a hash.
pub const GRAPH_KEY_PREFIX: &str = "graph:";
/// Category of a plain fact; the default.
pub const CATEGORY_FACT: &str = "fact";
/// Category of a decision.
pub const CATEGORY_DECISION: &str = "decision";
/// Category of a lesson.
pub const CATEGORY_LEARNING: &str = "learning";
/// Category of a project rule.
pub const CATEGORY_CONVENTION: &str = "convention";
/// Category of a person's preference.
pub const CATEGORY_PREFERENCE: &str = "preference";

/// A fact, decision, convention, learning or other knowledge.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Knowledge {
    /// `fact`, `decision`, `convention`, `learning`, or any other word.
    #[serde(rename = "category")]
    pub category: String,
    /// Reason of a decision.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(rename = "rationale")]
    pub rationale: Option<String>,
    /// Number of confirmations.
    #[serde(default, skip_serializing_if = "is_zero_u32")]
    #[serde(rename = "confirmations")]
    pub confirmations: u32,
    /// Time of the last confirmation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(rename = "confirmed_at")]
    pub confirmed_at: Option<Timestamp>,
    /// True if an agent wrote it and no person or orchestrator has reviewed it.
    #[serde(default, skip_serializing_if = "is_false")]
    #[serde(rename = "proposal")]
    pub proposal: bool,
    /// True if it lost against another source's value.
    #[serde(default, skip_serializing_if = "is_false")]
    #[serde(rename = "conflict")]
    pub conflict: bool,
    /// Time at which the conflict was resolved against it; `None` while the conflict is open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(rename = "arbitrated")]
    pub arbitrated: Option<Timestamp>,
    /// True if another source has a different value and the conflict is unresolved.
    #[serde(default, skip_serializing_if = "is_false")]
    #[serde(rename = "disputed")]
    pub disputed: bool,
    /// The person or orchestrator that confirmed a value of a lower authority.
    #[serde(
        rename = "vouched_by",
        default,
        skip_serializing_if = "Option::is_none"
    )]
    pub vouched_by: Option<String>,
    /// Fields of newer versions.
    #[serde(flatten)]
    pub extra: Attrs,
}

impl Knowledge {
    /// Creates knowledge of this category with no other fields.
    pub fn with_category(category: &str) -> Self {
        Self {
            category: category.to_owned(),
            rationale: None,
            confirmations: 0,
            confirmed_at: None,
            proposal: false,
            conflict: false,
            arbitrated: None,
            disputed: false,
            vouched_by: None,
            extra: Attrs::new(),
        }
    }

    /// Returns true if a key was derived from a text and not given by a caller.
    pub fn is_derived_key(key: &str) -> bool {
        key.len() == 16 && key.bytes().all(|byte| byte.is_ascii_hexdigit())
    }

    /// Returns the key of a text without an explicit key: a hash of its normalised words.
    pub fn derive_key(text_without_key: &str) -> String {
        text::hash16(&similarity::words(text_without_key))
    }

    /// Returns the time at which a record was stated or confirmed last. A record of another kind cannot be confirmed.
    pub fn last_stated_at(record: &Record) -> Timestamp {
        let typed = Self::from_record(record).ok();
        let confirmed = typed.and_then(|typed| typed.confirmed_at);
        confirmed.map_or(record.recorded_at, |at| at.max(record.recorded_at))
    }

    /// Returns true if it lost a conflict that is not resolved yet.
    pub fn is_open_conflict(&self) -> bool {
        self.conflict && self.arbitrated.is_none()
    }
}

impl KindData for Knowledge {
    const KIND: Kind = Kind::Knowledge;
}

impl Record {
    /// Returns true for knowledge that an agent proposed, and that no person or orchestrator has reviewed, confirmed or
    /// chosen in a conflict.
    pub fn is_proposal(&self) -> bool {
        Authority::of_record(self) == Authority::Agent
            && Knowledge::from_record(self).is_ok_and(|knowledge| knowledge.proposal)
    }

    /// Returns true for a current proposal, which waits for a decision.
    pub fn is_pending_proposal(&self) -> bool {
        self.retired_at.is_none() && self.is_proposal()
    }
}

/// A note; append-only.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Note {
    /// Section or sort of the note: `Notes`, `PHASE_RESULT`…
    #[serde(rename = "category")]
    pub category: String,
    /// Fields of newer versions.
    #[serde(flatten)]
    pub extra: Attrs,
}

impl KindData for Note {
    const KIND: Kind = Kind::Note;
}

/// The summary of a conversation; append-only.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Summary {
    /// Fields of newer versions.
    #[serde(flatten)]
    pub extra: Attrs,
}

impl KindData for Summary {
    const KIND: Kind = Kind::Summary;
}
