//! Undo of file changes by the agent that made them.

use super::file_changes::FileChange;
use super::workspace_files::WorkspaceRoot;
use crate::engine::undo::UndoReport;
use crate::engine::{Records, Workspaces};
use heirloom_model::record::Attrs;
use heirloom_model::{Action, Fault, Record, RecordId, TransientCause, limits, text};
use serde_json::json;

/// Attribute of a file change: the token that made it.
const CHANGED_BY: &str = "changed_by";
/// Attribute of a file change: the hash of the new text.
const AFTER: &str = "after";

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

impl Records<'_> {
    /// Undoes a change of a workspace file that the holder of a token made; `None` for every other record, and for a
    /// change that was undone before.
    ///
    /// Errors: `NotFound`; `Refused` if the file has another text than after the change.
    pub fn undo_own(&self, id: RecordId, holder: &str) -> Result<Option<UndoReport>, Fault> {
        let record = self.get(id)?;
        let change = FileChange::from_record(&record);
        let Some(change) = change.filter(|_| record.attr_str(CHANGED_BY) == Some(holder)) else {
            return Ok(None);
        };
        let events = self.events(Some(id), limits::EVENTS_MAX)?;
        if events.iter().any(|event| event.action == Action::Restored) {
            return Ok(None);
        }
        let workspace = self.engine.workspace();
        let undone = workspace.undo_change(&change, holder, |root| {
            workspace.check_text_after(root, &change, &record)
        });
        undone.map(Some)
    }
}

impl Workspaces<'_> {
    /// Adds the token and the new text of a change to the attributes of its record.
    pub(super) fn add_author(&self, attrs: &mut Attrs, holder: Option<&str>, text: Option<&str>) {
        if let Some(holder) = holder {
            drop(attrs.insert(CHANGED_BY.to_owned(), json!(holder)));
        }
        if let Some(text) = text {
            drop(attrs.insert(AFTER.to_owned(), json!(self.text_hash(text))));
        }
    }

    /// Hashes a text without its secrets: the hash of one could be guessed.
    fn text_hash(&self, whole: &str) -> String {
        text::hash16(&self.engine.redaction().redact_input(whole))
    }

    /// Refuses to undo a change after which somebody else changed the file.
    fn check_text_after(
        &self,
        root: &WorkspaceRoot,
        change: &FileChange,
        record: &Record,
    ) -> Result<(), Fault> {
        let Some(after) = record.attr_str(AFTER) else {
            return Ok(());
        };
        let now = root.read(&change.file).ok().flatten();
        if now.is_some_and(|now| self.text_hash(&now.text) == after) {
            return Ok(());
        }
        let shown = root.shown(&change.file);
        Err(
            Fault::refused(format!("{shown} was changed after this change"))
                .with_cause(TransientCause::Stale)
                .hint("a person can undo it: `heirloom undo ID`"),
        )
    }
}
