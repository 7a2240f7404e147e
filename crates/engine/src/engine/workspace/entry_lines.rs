//! Current file and line of workspace entries, which move while their records stay unchanged.

use super::diff::WORKSPACE;
use crate::engine::Workspaces;
use heirloom_formats::workspace::{EntryLocation, WorkspaceIndex};
use heirloom_fs::project_fs::HEIRLOOM_FOLDER;
use heirloom_model::Record;
use serde_json::json;

impl Workspaces<'_> {
    /// Returns true if a record is an entry of the person's workspace.
    pub(in crate::engine) fn is_of_person(&self, record: &Record) -> bool {
        let is_entry = record.source == WORKSPACE && record.category() == Some(WORKSPACE);
        let file = record.attr_str("file").unwrap_or_default();
        is_entry && !file.starts_with(HEIRLOOM_FOLDER)
    }

    /// Sets file and line of records to the last known position of their entries.
    pub(in crate::engine) fn with_lines<'r>(&self, records: impl Iterator<Item = &'r mut Record>) {
        let mut index = None;
        for record in records.filter(|record| record.attrs.contains_key("line")) {
            let index = index.get_or_insert_with(|| self.index(WorkspaceIndex::parse));
            let digest = record.attr_str("digest").or(record.key.as_deref());
            let place: Option<&EntryLocation> = index.as_ref().and_then(|i| i.places.get(digest?));
            if let Some(place) = place {
                record.attrs.insert("file".to_owned(), json!(place.file));
                record.attrs.insert("line".to_owned(), json!(place.line));
            }
        }
    }
}
