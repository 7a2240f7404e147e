//! What is known: knowledge, notes and summaries.

use super::{KindData, is_false, is_zero};
use crate::record::Attrs;
use crate::{Kind, likeness, text};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// Category of a plain fact; the default.
pub const CATEGORY_FACT: &str = "fact";
/// Category of a decision.
pub const CATEGORY_DECISION: &str = "decision";
/// Category of a lesson.
pub const CATEGORY_LEARNING: &str = "learning";
/// Category of a rule of the project.
pub const CATEGORY_CONVENTION: &str = "convention";

/// A fact, decision, convention, learning or anything else worth knowing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Knowledge {
    /// `fact`, `decision`, `convention`, `learning`, or any other word.
    pub category: String,
    /// Why, for a decision.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rationale: Option<String>,
    /// How often it was said again.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub confirmations: u32,
    /// When it was last said again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confirmed_at: Option<Timestamp>,
    /// Written by an agent, nobody has looked at it yet.
    #[serde(default, skip_serializing_if = "is_false")]
    pub proposal: bool,
    /// Lost against another source's value.
    #[serde(default, skip_serializing_if = "is_false")]
    pub conflict: bool,
    /// When somebody decided that it has lost for good; until then its conflict is open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arbitrated: Option<Timestamp>,
    /// Another source says something else, and neither counts before somebody has decided.
    #[serde(default, skip_serializing_if = "is_false")]
    pub disputed: bool,
    /// What a newer version wrote.
    #[serde(flatten)]
    pub extra: Attrs,
}

impl Knowledge {
    /// Knowledge of this category with nothing else said.
    pub fn of_category(category: &str) -> Self {
        Self {
            category: category.to_owned(),
            rationale: None,
            confirmations: 0,
            confirmed_at: None,
            proposal: false,
            conflict: false,
            arbitrated: None,
            disputed: false,
            extra: Attrs::new(),
        }
    }

    /// Whether a key was made of a text rather than given by somebody.
    pub fn is_made_key(key: &str) -> bool {
        key.len() == 16 && key.bytes().all(|byte| byte.is_ascii_hexdigit())
    }

    /// The identity of a text that was said without a key: its words.
    pub fn key(said: &str) -> String {
        text::hash16(&likeness::words(said))
    }

    /// Whether it lost a conflict in which nobody has decided yet.
    pub fn is_open_conflict(&self) -> bool {
        self.conflict && self.arbitrated.is_none()
    }
}

impl KindData for Knowledge {
    const KIND: Kind = Kind::Knowledge;
}

/// A note; append-only.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Note {
    /// Its section or sort: `Notes`, `PHASE_RESULT`…
    pub category: String,
    /// What a newer version wrote.
    #[serde(flatten)]
    pub extra: Attrs,
}

impl KindData for Note {
    const KIND: Kind = Kind::Note;
}

/// The summary of a conversation; append-only.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Summary {
    /// What a newer version wrote.
    #[serde(flatten)]
    pub extra: Attrs,
}

impl KindData for Summary {
    const KIND: Kind = Kind::Summary;
}
