//! Where the entry of a record stands now: lines move, records do not follow.

use super::Engine;
use super::diff::WORKSPACE;
use crate::places::OWN_FOLDER;
use crate::workspace::{Index, Place};
use heirloom_model::Record;
use serde_json::json;

impl Engine {
    /// Whether a record is an entry of the person's own workspace.
    pub(in crate::engine) fn is_of_person(&self, record: &Record) -> bool {
        let is_entry = record.source == WORKSPACE && record.category() == Some(WORKSPACE);
        let file = record.attr_str("file").unwrap_or_default();
        is_entry && !file.starts_with(OWN_FOLDER)
    }

    /// Gives records that are entries of files the file and line where those were last seen.
    pub(in crate::engine) fn with_lines<'r>(&self, records: impl Iterator<Item = &'r mut Record>) {
        let mut index = None;
        for record in records.filter(|record| record.attrs.contains_key("line")) {
            let index = index.get_or_insert_with(|| self.workspace_index(Index::parse));
            let digest = record.attr_str("digest").or(record.key.as_deref());
            let place: Option<&Place> = index.as_ref().and_then(|i| i.places.get(digest?));
            if let Some(place) = place {
                record.attrs.insert("file".to_owned(), json!(place.file));
                record.attrs.insert("line".to_owned(), json!(place.line));
            }
        }
    }
}
