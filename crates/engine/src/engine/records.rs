//! Looking at records, and going back: list, show, forget, history, undo.

use super::Engine;
use super::new_record::bad_name;
use heirloom_model::conflict::may_arbitrate;
use heirloom_model::record::check_name;
use heirloom_model::{ErrorKind, Fault, Mark, Record, RecordId, Timestamp, limits, text};
use heirloom_store::{Change, Counts, Filter, Verdict, When};

/// Who is named where a person asks.
pub(super) const USER: &str = "user";

/// What an undo did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Undone {
    /// A retired record is current again; the one that held its place, if any, is retired.
    Restored {
        /// The record that is current again.
        id: RecordId,
        /// The record that was retired for it.
        retired: Option<RecordId>,
    },
    /// A record that had replaced nothing is retired: its creation is undone.
    Uncreated {
        /// The record.
        id: RecordId,
    },
    /// The decision of a conflict is taken back.
    Reopened {
        /// The record that held before the decision, and holds again.
        id: RecordId,
        /// The one that was decided for, if it is another.
        retired: Option<RecordId>,
    },
    /// A conflict is decided again as it was.
    Resolved {
        /// The record that holds.
        id: RecordId,
        /// The one that held until now, if it is another.
        retired: Option<RecordId>,
    },
    /// An import is taken back as one, or brought back.
    Reversed {
        /// The import.
        batch: RecordId,
        /// Whether it is back.
        back: bool,
    },
    /// A pin, a mute or a `useful` is taken back.
    Marked {
        /// The record.
        id: RecordId,
        /// What is said of it now.
        mark: Mark,
    },
}

impl Engine {
    /// The id that `given` names: a whole id, or the unique beginning of one (at least 4 hex digits).
    ///
    /// Errors: `NotFound`; `Usage` if it is no id or names several records, which are listed.
    pub fn resolve_id(&self, given: &str) -> Result<RecordId, Fault> {
        if let Ok(id) = given.parse() {
            return Ok(id);
        }
        let hex = given.trim().replace('-', "").to_ascii_lowercase();
        if hex.len() < limits::ID_PREFIX_MIN
            || hex.len() > 32
            || !hex.bytes().all(|b| b.is_ascii_hexdigit())
        {
            return Err(
                Fault::usage(format!("`{}` is not an id", text::excerpt(given, 60)))
                    .hint("ids are shown by `heirloom list`; a unique beginning of one is enough"),
            );
        }
        let found = self.store.ids_with_prefix(&self.project, &hex, 6)?;
        match found.as_slice() {
            [] => Err(
                Fault::not_found(format!("no record whose id begins with `{given}`"))
                    .hint("`heirloom list` shows what there is"),
            ),
            [one] => Ok(*one),
            several => {
                let names: Vec<_> = several.iter().map(ToString::to_string).collect();
                Err(
                    Fault::usage(format!("`{given}` is the beginning of several ids"))
                        .hint(names.join(", ")),
                )
            }
        }
    }

    /// The record `id`, current or not.
    pub fn get(&self, id: RecordId) -> Result<Record, Fault> {
        let mut record = self.store.get(&self.project, id)?;
        self.with_lines(std::iter::once(&mut record));
        Ok(record)
    }

    /// The records that `filter` asks for.
    pub fn find(&self, filter: &Filter) -> Result<Vec<Record>, Fault> {
        let mut found = self.store.find(&self.project, filter)?;
        self.with_lines(found.iter_mut());
        Ok(found)
    }

    /// How many records `filter` asks for, up to its limit.
    pub fn count(&self, filter: &Filter) -> Result<usize, Fault> {
        let count = self.store.count(&self.project, filter)?;
        Ok(usize::try_from(count).unwrap_or(usize::MAX))
    }

    /// Current records by kind.
    pub fn counts(&self) -> Result<Counts, Fault> {
        Ok(self.store.counts(&self.project, self.now())?)
    }

    /// When the project was last written to.
    pub fn last_write(&self) -> Result<Option<Timestamp>, Fault> {
        let newest = Filter {
            when: When::Ever,
            ..Filter::current(&[], self.now()).limit(1)
        };
        let newest = self.store.find(&self.project, &newest)?;
        Ok(newest.first().map(|record| record.recorded_at))
    }

    /// Retires a current record; `undo` brings it back.
    ///
    /// Errors: `NotFound`; `Failed` if it is not current.
    pub fn forget(&self, id: RecordId) -> Result<RecordId, Fault> {
        self.retire_by(id, USER)
    }

    fn retire_by(&self, id: RecordId, by: &str) -> Result<RecordId, Fault> {
        let retire = Change::Retire {
            id,
            at: self.now(),
            by: by.to_owned(),
        };
        Ok(self.apply_one(retire)?.id)
    }

    /// Retires a current record for somebody who is named in its history; `undo` brings it back.
    ///
    /// Errors: `NotFound`; `Failed` if it is not current; `Refused` where an agent would retire what a person or the
    /// orchestrator said.
    pub fn forget_for(&self, id: RecordId, by: &str) -> Result<RecordId, Fault> {
        check_name("source", by).map_err(|error| bad_name(&error))?;
        let record = self.get(id)?;
        if may_arbitrate(&record.source) && !may_arbitrate(by) {
            let source = &record.source;
            return Err(Fault::refused(format!(
                "{id} was said by `{source}`, and an agent does not take that back"
            ))
            .hint(format!(
                "the person can: `heirloom forget {id}`; a better value can be remembered beside it"
            )));
        }
        let retire = Change::Retire {
            id,
            at: self.now(),
            by: self.clean(by).into_owned(),
        };
        Ok(self.apply_one(retire)?.id)
    }

    /// What the record was before and became after, oldest first, in the order in which it happened.
    pub fn history(&self, id: RecordId) -> Result<Vec<Record>, Fault> {
        let mut chain = self.store.history(&self.project, id)?;
        // The store answers by id: by the clocks of the writers, which may have gone back in between.
        chain.sort_by_key(|record| (record.recorded_at, record.id));
        Ok(chain)
    }

    /// Takes the last thing back that happened to a record; undoing twice brings the second state back.
    ///
    /// A mark that was the last thing that happened is taken back. Where the last thing was the decision of a
    /// conflict, what was open before is open again. A retired record becomes current again. A current one that
    /// had replaced another gives its place back.
    /// A current one that had replaced nothing is retired. The id of an import takes all of it back, or brings
    /// it back.
    pub fn undo(&self, id: RecordId) -> Result<Undone, Fault> {
        self.undo_for(id, USER)
    }

    /// The same for somebody who is named in the history.
    pub fn undo_for(&self, id: RecordId, by: &str) -> Result<Undone, Fault> {
        let record = match self.get(id) {
            Ok(record) => record,
            Err(fault) if fault.kind == ErrorKind::NotFound => {
                return self.reverse(id, by)?.ok_or(fault);
            }
            Err(fault) => return Err(fault),
        };
        if let Some(undone) = self.undo_decision(&record, by)? {
            return Ok(undone);
        }
        if record.retired_at.is_some() {
            return self.restore(id, by);
        }
        if let Some(mark) = self.last_mark(id)? {
            let mark = mark.inverse();
            self.mark_for(id, mark, by)?;
            return Ok(Undone::Marked { id, mark });
        }
        let chain = self.history(id)?;
        // By the time that the store gave them, not by id: an id has the time of a clock that may go back.
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
                Ok(Undone::Uncreated { id })
            }
        }
    }

    /// Takes an import back as one, or brings it back; `None` if there is none of this id.
    fn reverse(&self, batch: RecordId, by: &str) -> Result<Option<Undone>, Fault> {
        let change = Change::Reverse {
            batch,
            at: self.now(),
            by: by.to_owned(),
        };
        match self.apply_one(change) {
            Ok(applied) => Ok(Some(Undone::Reversed {
                batch,
                back: applied.verdict == Verdict::Restored,
            })),
            Err(fault) if fault.kind == ErrorKind::NotFound => Ok(None),
            Err(fault) => Err(fault),
        }
    }

    /// Makes a retired record current again, with what it said then; whatever holds its place is retired in its favour.
    ///
    /// Errors: `NotFound`; `Failed` if it is current, or has expired.
    pub fn bring_back(&self, id: RecordId) -> Result<Undone, Fault> {
        self.restore(id, USER)
    }

    fn restore(&self, id: RecordId, by: &str) -> Result<Undone, Fault> {
        let applied = self.apply_one(Change::Restore {
            id,
            at: self.now(),
            by: by.to_owned(),
        })?;
        Ok(Undone::Restored {
            id: applied.id,
            retired: applied.other,
        })
    }
}

/// Whether the record was never current because another source's value won against it.
fn lost_a_conflict(record: &Record) -> bool {
    record
        .attrs
        .get("conflict")
        .and_then(serde_json::Value::as_bool)
        .unwrap_or(false)
}
