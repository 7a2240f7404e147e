//! Access to records: list, show, forget, history, undo.

use super::Engine;
use super::new_record::name_fault;
use super::redaction::Redacted;
use heirloom_model::conflict::can_arbitrate;
use heirloom_model::permissions::VOUCHED_BY_ATTR;
use heirloom_model::record::check_name;
use heirloom_model::{
    Authority, ErrorKind, Fault, Mark, Record, RecordId, Timestamp, limits, text,
};
use heirloom_store::{AppliedChange, AsOf, Change, Filter, KindCounts, StoreError, Verdict};

/// Source of actions by the user.
pub(super) const USER: &str = "user";

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

/// Prefix of the end of an id.
const ELLIPSIS: char = '…';

/// Records of every kind: writes, reads, past versions, undo, marks and the audit log.
#[derive(Clone, Copy)]
pub struct Records<'e> {
    pub(super) engine: &'e Engine,
}

impl Records<'_> {
    /// Writes one change.
    pub(super) fn apply_one(&self, change: Change) -> Result<AppliedChange, Fault> {
        let engine = self.engine;
        engine.require_memory()?;
        let applied = engine.store.apply_owned(&engine.project, vec![change])?;
        applied
            .first()
            .copied()
            .ok_or_else(|| Fault::failed("the store did not answer a write"))
    }

    /// Writes redacted changes as one durable, atomic step, also while memory is switched off.
    ///
    /// Errors: those of the store, so that a caller can repeat a decision after [`StoreError::Stale`].
    pub fn store_redacted(
        &self,
        changes: Vec<Redacted<Change>>,
    ) -> Result<Vec<AppliedChange>, StoreError> {
        self.engine
            .store
            .apply_redacted(&self.engine.project, changes)
    }

    /// Resolves a complete id, or the unique beginning or end of one (at least 4 hex digits).
    ///
    /// Ids begin with a time, so those of one minute differ only at their ends.
    ///
    /// Errors: `NotFound`; `Usage` if it is not an id or ambiguous, with the candidates.
    pub fn resolve_id(&self, given: &str) -> Result<RecordId, Fault> {
        if let Ok(id) = given.parse() {
            return Ok(id);
        }
        let bare = given.trim().trim_start_matches(ELLIPSIS);
        let hex = bare.replace('-', "").to_ascii_lowercase();
        if hex.len() < limits::ID_PREFIX_MIN
            || hex.len() > 32
            || !hex.bytes().all(|b| b.is_ascii_hexdigit())
        {
            return Err(
                Fault::usage(format!("`{}` is not an id", text::excerpt(given, 60))).hint(
                    "ids are shown by `heirloom list`; a unique beginning or end of one is enough",
                ),
            );
        }
        let find = |part: &str| {
            self.engine
                .store
                .ids_with_prefix(&self.engine.project, part, 6)
        };
        let begin = find(&hex)?;
        if let [one] = begin.as_slice() {
            return Ok(*one);
        }
        let end = find(&format!("{ELLIPSIS}{hex}"))?;
        let (how, several) = match (begin.as_slice(), end.as_slice()) {
            (_, [one]) => return Ok(*one),
            ([], []) => {
                return Err(Fault::not_found(format!(
                    "no record whose id begins or ends with `{given}`"
                ))
                .hint("`heirloom list` shows the records"));
            }
            ([], several) => ("end", several),
            (several, _) => ("beginning", several),
        };
        let names: Vec<_> = several.iter().map(ToString::to_string).collect();
        let names = names.join(", ");
        Err(
            Fault::usage(format!("`{given}` is the {how} of several ids")).hint(format!(
                "{names}: the last eight characters of one are enough"
            )),
        )
    }

    /// Returns the record `id`, current or not.
    pub fn get(&self, id: RecordId) -> Result<Record, Fault> {
        let mut record = self.engine.store.get(&self.engine.project, id)?;
        self.engine
            .workspace()
            .with_lines(std::iter::once(&mut record));
        Ok(record)
    }

    /// Returns the records that match `filter`.
    pub fn find(&self, filter: &Filter) -> Result<Vec<Record>, Fault> {
        let mut found = self.engine.store.find(&self.engine.project, filter)?;
        self.engine.workspace().with_lines(found.iter_mut());
        Ok(found)
    }

    /// Returns the number of records that match `filter`, up to its limit.
    pub fn count(&self, filter: &Filter) -> Result<usize, Fault> {
        let count = self.engine.store.count(&self.engine.project, filter)?;
        Ok(usize::try_from(count).unwrap_or(usize::MAX))
    }

    /// Returns the number of current records by kind.
    pub fn counts(&self) -> Result<KindCounts, Fault> {
        Ok(self
            .engine
            .store
            .counts(&self.engine.project, self.engine.now())?)
    }

    /// Returns the time of the project's last write.
    pub fn last_write(&self) -> Result<Option<Timestamp>, Fault> {
        let newest = Filter {
            as_of: AsOf::Ever,
            ..Filter::current(&[], self.engine.now()).limit(1)
        };
        let newest = self.engine.store.find(&self.engine.project, &newest)?;
        Ok(newest.first().map(|record| record.recorded_at))
    }

    /// Retires a current record; `undo` restores it.
    ///
    /// Errors: `NotFound`; `Failed` if it is not current.
    pub fn forget(&self, id: RecordId) -> Result<RecordId, Fault> {
        self.retire_by(id, USER)
    }

    fn retire_by(&self, id: RecordId, by: &str) -> Result<RecordId, Fault> {
        let retire = Change::Retire {
            id,
            at: self.engine.now(),
            by: by.to_owned(),
        };
        Ok(self.engine.records().apply_one(retire)?.id)
    }

    /// Retires a current record in the name of `by`; `undo` restores it.
    ///
    /// Errors: `NotFound`; `Failed` if it is not current; `Refused` if an agent would retire a record of a person or
    /// the orchestrator.
    pub fn forget_as(&self, id: RecordId, by: &str) -> Result<RecordId, Fault> {
        check_name("source", by).map_err(|error| name_fault(&error))?;
        let record = self.get(id)?;
        check_may_retire(&record, by)?;
        let retire = Change::Retire {
            id,
            at: self.engine.now(),
            by: self.engine.redaction().redact_input(by).into_owned(),
        };
        Ok(self.engine.records().apply_one(retire)?.id)
    }

    /// Returns the predecessors and successors of a record with it, in chronological order.
    pub fn history(&self, id: RecordId) -> Result<Vec<Record>, Fault> {
        let mut chain = self.engine.store.history(&self.engine.project, id)?;
        // The store sorts by id, which depends on the writers' clocks.
        chain.sort_by_key(|record| (record.recorded_at, record.id));
        Ok(chain)
    }

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

/// Refuses an agent that would retire a record of a person, the orchestrator or the team.
pub(super) fn check_may_retire(record: &Record, by: &str) -> Result<(), Fault> {
    if can_arbitrate(by) || Authority::of_source(by) >= Authority::of_record(record) {
        return Ok(());
    }
    let id = record.id;
    let source = record.attr_str(VOUCHED_BY_ATTR).unwrap_or(&record.source);
    Err(Fault::refused(format!(
        "{id} was written by `{source}`; an agent may not retire it"
    ))
    .hint(format!(
        "the person can: `heirloom forget {id}`; or remember a better value in addition"
    )))
}

/// Returns true if the record was never current because another source's value won against it.
fn lost_a_conflict(record: &Record) -> bool {
    record
        .attrs
        .get("conflict")
        .and_then(serde_json::Value::as_bool)
        .unwrap_or(false)
}
