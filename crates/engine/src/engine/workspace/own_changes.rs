//! Undo of file changes by the agent that made them.

use super::change_author::{AFTER, CHANGED_BY, text_hash};
use super::file_changes::FileChange;
use super::workspace_files::WorkspaceRoot;
use crate::engine::undo::UndoReport;
use crate::engine::{Engine, Records};
use heirloom_model::{Action, Fault, Record, RecordId, TransientCause, limits};

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
            check_text_after(self.engine, root, &change, &record)
        });
        undone.map(Some)
    }
}

/// Refuses to undo a change if the file has another text by now.
fn check_text_after(
    engine: &Engine,
    root: &WorkspaceRoot,
    change: &FileChange,
    record: &Record,
) -> Result<(), Fault> {
    let Some(after) = record.attr_str(AFTER) else {
        return Ok(());
    };
    let now = root.read(&change.file).ok().flatten();
    if now.is_some_and(|now| text_hash(engine, &now.text) == after) {
        return Ok(());
    }
    let shown = root.shown(&change.file);
    Err(
        Fault::refused(format!("{shown} was changed after this change"))
            .with_cause(TransientCause::Stale)
            .hint("a person can undo it: `heirloom undo ID`"),
    )
}
