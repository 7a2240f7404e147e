//! Undo of the last event of a record: a mark, a resolution, a retirement, a replacement, a creation, or an import.

use super::records::{Records, USER};
use heirloom_model::{ErrorKind, Fault, Mark, Record, RecordId};
use heirloom_store::{Change, Verdict};

/// Report of an undo.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UndoReport {
    /// A retired record is current again; its successor, if any, is retired.
    Restored {
        /// The record that is current again.
        id: RecordId,
        /// The record that was retired in its favour.
        retired: Option<RecordId>,
    },
    /// A record without predecessor is retired: its creation is undone.
    Uncreated {
        /// The record.
        id: RecordId,
    },
    /// The resolution of a conflict is reverted.
    Reopened {
        /// The record that was current before the resolution, and is again.
        id: RecordId,
        /// The resolution's winner, if it is another record.
        retired: Option<RecordId>,
    },
    /// A reverted resolution is applied again.
    Resolved {
        /// The record that is current.
        id: RecordId,
        /// The record that was current until now, if it is another one.
        retired: Option<RecordId>,
    },
    /// An import is reverted or restored as a unit.
    Reversed {
        /// The import.
        batch: RecordId,
        /// True if it is restored.
        back: bool,
    },
    /// A mark was undone.
    Marked {
        /// The record.
        id: RecordId,
        /// The mark that was applied.
        mark: Mark,
    },
}

impl Records<'_> {
    /// Undoes the last event of a record; a second call redoes it.
    ///
    /// The event may be a mark, which is removed; the resolution of a conflict, which is reopened; a retirement,
    /// which is reverted; a replacement, after which the predecessor is current again; or the creation, after which
    /// the record is retired. The id of an import reverts the whole batch, or restores it.
    pub fn undo(&self, id: RecordId) -> Result<UndoReport, Fault> {
        self.undo_as(id, USER)
    }

    /// Undoes the last event in the name of `by`.
    pub fn undo_as(&self, id: RecordId, by: &str) -> Result<UndoReport, Fault> {
        let record = match self.get(id) {
            Ok(record) => record,
            Err(fault) if fault.kind == ErrorKind::NotFound => {
                return self.toggle_batch(id, by)?.ok_or(fault);
            }
            Err(fault) => return Err(fault),
        };
        if let Some(undone) = self.engine.workspace().undo_file_change(&record, by)? {
            return Ok(undone);
        }
        if let Some(undone) = self.engine.conflicts().undo_decision(&record, by)? {
            return Ok(undone);
        }
        if record.retired_at.is_some() {
            return self.restore(id, by);
        }
        if let Some(mark) = self.last_mark(id)? {
            let mark = mark.inverse();
            self.mark_as(id, mark, by)?;
            return Ok(UndoReport::Marked { id, mark });
        }
        let chain = self.history(id)?;
        // Compare the store's times, not ids: an id has the time of a clock that may go back.
        let came_later = |r: &Record| (r.recorded_at, r.id) > (record.recorded_at, id);
        let gave_way =
            |r: &&Record| r.replaced_by == Some(id) && !(came_later(r) && lost_a_conflict(r));
        let before = chain
            .iter()
            .filter(gave_way)
            .max_by_key(|r| (r.retired_at, r.id));
        match before {
            Some(before) => self.restore(before.id, by),
            None => {
                let id = self.retire_by(id, by)?;
                Ok(UndoReport::Uncreated { id })
            }
        }
    }

    /// Reverts or restores an import; `None` if no import has this id.
    fn toggle_batch(&self, batch: RecordId, by: &str) -> Result<Option<UndoReport>, Fault> {
        let change = Change::ToggleBatch {
            batch,
            at: self.engine.now(),
            by: by.to_owned(),
        };
        match self.engine.records().apply_one(change) {
            Ok(applied) => Ok(Some(UndoReport::Reversed {
                batch,
                back: applied.verdict == Verdict::Restored,
            })),
            Err(fault) if fault.kind == ErrorKind::NotFound => Ok(None),
            Err(fault) => Err(fault),
        }
    }

    /// Makes a retired record current again with its content of that time; its successor is retired.
    ///
    /// Errors: `NotFound`; `Failed` if it is current, or has expired.
    pub fn restore_record(&self, id: RecordId) -> Result<UndoReport, Fault> {
        self.restore(id, USER)
    }

    fn restore(&self, id: RecordId, by: &str) -> Result<UndoReport, Fault> {
        let applied = self.engine.records().apply_one(Change::Restore {
            id,
            at: self.engine.now(),
            by: by.to_owned(),
        })?;
        Ok(UndoReport::Restored {
            id: applied.id,
            retired: applied.other,
        })
    }
}

/// Returns true if the record was never current because another source's value won against it.
fn lost_a_conflict(record: &Record) -> bool {
    record
        .attrs
        .get("conflict")
        .and_then(serde_json::Value::as_bool)
        .unwrap_or(false)
}
