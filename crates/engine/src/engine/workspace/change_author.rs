//! Author of a change of a workspace file, kept in the attributes of its record.

use crate::engine::Engine;
use heirloom_model::record::Attrs;
use heirloom_model::text;
use serde_json::json;

/// Attribute of a file change: the token that made it.
pub(super) const CHANGED_BY: &str = "changed_by";
/// Attribute of a file change: the hash of the new text.
pub(super) const AFTER: &str = "after";

/// Author of a change of a workspace file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChangeAuthor<'a> {
    /// Source of the change.
    pub source: &'a str,
    /// Verified identity: the token, whose holder may undo the change.
    pub holder: Option<&'a str>,
}

impl<'a> From<&'a str> for ChangeAuthor<'a> {
    fn from(source: &'a str) -> Self {
        Self {
            source,
            holder: None,
        }
    }
}

/// Adds the token and the new text of a change to the attributes of its record.
pub(super) fn add_author(
    engine: &Engine,
    attrs: &mut Attrs,
    holder: Option<&str>,
    text: Option<&str>,
) {
    if let Some(holder) = holder {
        drop(attrs.insert(CHANGED_BY.to_owned(), json!(holder)));
    }
    if let Some(text) = text {
        drop(attrs.insert(AFTER.to_owned(), json!(text_hash(engine, text))));
    }
}

/// Hashes a text without its secrets: the hash of one could be guessed.
pub(super) fn text_hash(engine: &Engine, whole: &str) -> String {
    text::hash16(&engine.redaction().redact_input(whole))
}
