//! Item texts: the text of one record in a prompt.

use heirloom_model::Record;
use heirloom_model::context::{ContextItem, ErrorItem};
use heirloom_model::kinds::{CATEGORY_CONVENTION, Knowledge};
use heirloom_model::record_meaning::record_meaning;

/// Returns the item of a record with its text alone.
pub(super) fn plain_item(record: Record) -> ContextItem {
    ContextItem {
        id: Some(record.id),
        text: record.text,
        ..Default::default()
    }
}

/// Returns the item of a record with its whole meaning: a decision with its reason.
pub(in crate::engine) fn meaning_item(record: &Record) -> ContextItem {
    ContextItem {
        id: Some(record.id),
        text: record_meaning(record).into_owned(),
        ..ContextItem::default()
    }
}

/// Returns the item of a fact; a convention begins with its key, unless the key was derived from the text.
pub(in crate::engine) fn fact_item(record: Record) -> ContextItem {
    let named = record.category() == Some(CATEGORY_CONVENTION);
    let text = match &record.key {
        Some(key) if named && !Knowledge::is_derived_key(key) => format!("{key}: {}", record.text),
        Some(_) | None => record.text,
    };
    ContextItem {
        id: Some(record.id),
        text,
        ..ContextItem::default()
    }
}

/// Returns the item of an error with its iteration and phase, and with the fix of an earlier occurrence.
pub(in crate::engine) fn error_item(record: Record) -> ErrorItem {
    ErrorItem {
        id: Some(record.id),
        text: record_meaning(&record).into_owned(),
        iteration: record.scope.iteration,
        phase: record.scope.phase,
        ..Default::default()
    }
}
