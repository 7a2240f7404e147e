//! Marks on records: pinned, muted, useful.

use super::records::USER;
use crate::engine::Records;
use heirloom_model::{Action, Fault, Mark, RecordId};
use heirloom_store::{AppliedChange, Change};

impl Records<'_> {
    /// Sets a mark on a current record. `undo` removes it while it is the last event of the record.
    ///
    /// Errors: `NotFound`; `Failed` if it is not current.
    pub fn mark(&self, id: RecordId, mark: Mark) -> Result<AppliedChange, Fault> {
        self.mark_as(id, mark, USER)
    }

    /// Sets a mark in the name of `by`.
    pub fn mark_as(&self, id: RecordId, mark: Mark, by: &str) -> Result<AppliedChange, Fault> {
        self.engine.records().apply_one(Change::Mark {
            id,
            mark,
            at: self.engine.now(),
            by: by.to_owned(),
        })
    }

    /// Returns the mark if it is the last event of a record.
    pub(super) fn last_mark(&self, id: RecordId) -> Result<Option<Mark>, Fault> {
        let newest = self
            .engine
            .store
            .events(&self.engine.project, Some(id), 1)?
            .pop();
        let marked = newest.filter(|event| event.action == Action::Marked);
        Ok(marked.and_then(|event| Mark::from_name(event.detail.as_deref()?)))
    }
}
