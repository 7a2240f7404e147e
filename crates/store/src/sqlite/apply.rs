//! Carrying out changes, inside one transaction.

use super::codec::{self, COLUMNS, micros};
use super::events::{self, NewEvent};
use super::failure::Failure;
use super::index;
use crate::{Applied, Change, StoreError, Verdict, caps};
use heirloom_model::merge::{self, Decision, Merge};
use heirloom_model::{Action, Batch, Mark, ProjectName, Record, RecordId, Timestamp, clock, mark};
use rusqlite::{Connection, params};
use std::borrow::Cow;

/// Carries out `changes` in order; the caller commits, or drops everything on an error.
pub(super) fn apply(
    connection: &Connection,
    project: &ProjectName,
    changes: &[Change],
) -> Result<Vec<Applied>, Failure> {
    let mut writer = Writer {
        connection,
        project,
        number: codec::project(connection, project)?,
        batch: None,
    };
    changes.iter().map(|change| writer.change(change)).collect()
}

/// One call's changes on their way into the database.
pub(super) struct Writer<'a> {
    pub(super) connection: &'a Connection,
    pub(super) project: &'a ProjectName,
    /// The project's number; none until something is written to it.
    pub(super) number: Option<i64>,
    /// The import that the changes belong to.
    pub(super) batch: Option<Batch>,
}

impl Writer<'_> {
    fn change(&mut self, change: &Change) -> Result<Applied, Failure> {
        match change {
            Change::Put { record, merge } => self.put(record, *merge),
            Change::Revise { id, record } => self.revise(*id, record),
            Change::Retire { id, at, by } => self.retire(*id, *at, by),
            Change::Restore { id, at, by } => self.restore(*id, *at, by),
            Change::Settle { keep, at, by } => self.settle(*keep, *at, by),
            Change::Unsettle { id, at, by } => self.unsettle(*id, *at, by),
            Change::Mark { id, mark, at, by } => self.mark(*id, *mark, *at, by),
            Change::Begin(batch) => Ok(self.begin(batch)),
            Change::TakeSession(session) => self.take_session(session),
            Change::TakeMessage { session, message } => self.take_message(session, message),
            Change::TakeLapse { id, lapse } => self.take_lapse(*id, *lapse),
            Change::Keep(receipt) => self.keep(receipt),
            Change::Reverse { batch, at, by } => self.reverse(*batch, *at, by),
        }
    }

    fn put(&mut self, incoming: &Record, rule: Merge) -> Result<Applied, Failure> {
        if rule == Merge::Keep
            && let Some(applied) = self.known(incoming)?
        {
            return Ok(applied);
        }
        let holder = if incoming.retired_at.is_none() {
            self.holder_of(incoming)?
        } else {
            None
        };
        let Some(current) = holder else {
            self.insert(incoming)?;
            return Ok(answer(incoming.id, Verdict::Created, None));
        };
        let incoming = &*behind(incoming, &current);
        if !current.is_current(incoming.recorded_at) {
            self.succeed(&current, incoming)?;
            return Ok(answer(incoming.id, Verdict::Created, None));
        }
        match merge::decide(rule, &current, incoming.clone()) {
            Decision::Keep => Ok(answer(current.id, Verdict::Unchanged, None)),
            Decision::Confirm(confirmed) => {
                self.confirm(&confirmed)?;
                self.tell(
                    incoming.recorded_at,
                    Action::Confirmed,
                    &incoming.source,
                    current.id,
                    None,
                )?;
                Ok(answer(current.id, Verdict::Confirmed, None))
            }
            Decision::Replace { winner, loser } => {
                self.succeed(&loser, &winner)?;
                Ok(answer(winner.id, Verdict::Replaced, Some(loser.id)))
            }
            Decision::Lose(loser) => self.lose(*loser, current.id),
            Decision::Dispute { holder, loser } => {
                self.confirm(&holder)?;
                self.lose(*loser, holder.id)
            }
        }
    }

    /// Writes a newcomer as history behind the record that it lost against.
    fn lose(&mut self, mut loser: Record, winner: RecordId) -> Result<Applied, Failure> {
        loser.retired_at = Some(loser.recorded_at);
        loser.replaced_by = Some(winner);
        self.insert(&loser)?;
        Ok(answer(loser.id, Verdict::Conflict, Some(winner)))
    }

    fn revise(&mut self, id: RecordId, record: &Record) -> Result<Applied, Failure> {
        let current = self.get(id)?;
        let record = &*behind(record, &current);
        if !current.is_current(record.recorded_at) {
            return Err(stale(id, "is not current any more"));
        }
        if current.kind != record.kind {
            let (old, new) = (current.kind, record.kind);
            let problem = format!("a {new} cannot take the place of record {id}, which is a {old}");
            return Err(StoreError::Invalid(problem).into());
        }
        if let Some(holder) = self.holder_of(record)?.filter(|holder| holder.id != id) {
            if holder.is_current(record.recorded_at) {
                let taken = format!("cannot take a key that record {} holds", holder.id);
                return Err(stale(id, &taken));
            }
            let at = record.recorded_at.max(holder.recorded_at);
            self.mark_retired(&holder, at, Some(record.id))?;
        }
        self.succeed(&current, record)?;
        Ok(answer(record.id, Verdict::Replaced, Some(id)))
    }

    fn retire(&mut self, id: RecordId, at: Timestamp, by: &str) -> Result<Applied, Failure> {
        let record = self.get(id)?;
        if record.retired_at.is_some() {
            return Err(stale(id, "is already retired"));
        }
        let at = at.max(record.recorded_at);
        self.mark_retired(&record, at, None)?;
        self.tell(at, Action::Retired, by, id, None)?;
        Ok(answer(id, Verdict::Retired, None))
    }

    fn restore(&mut self, id: RecordId, at: Timestamp, by: &str) -> Result<Applied, Failure> {
        let record = self.get(id)?;
        let retired = self.put_back(&record, at)?;
        let at = at.max(record.retired_at.unwrap_or(at));
        self.tell(at, Action::Restored, by, id, retired)?;
        Ok(answer(id, Verdict::Restored, retired))
    }

    /// Makes a retired record current again; the record that is retired in its favour.
    pub(super) fn put_back(
        &self,
        record: &Record,
        at: Timestamp,
    ) -> Result<Option<RecordId>, Failure> {
        let id = record.id;
        let Some(retired_at) = record.retired_at else {
            return Err(stale(id, "is not retired"));
        };
        if record.expires_at.is_some_and(|end| end <= at) {
            return Err(stale(id, "has expired meanwhile"));
        }
        let at = at.max(retired_at);
        let end = self.end_of_chain(record)?;
        let holder = self.holder_of(record)?;
        // Both are usually the same record; they differ when the chain went on under another key.
        let holder = holder.filter(|holder| end.as_ref().is_none_or(|end| end.id != holder.id));
        let mut retired = None;
        for other in end.iter().chain(&holder) {
            if other.retired_at.is_none() {
                retired = retired.or(Some(other.id));
            }
            // The end of a chain may have been forgotten since: it keeps its time, but points here, so
            // that the chain stays one.
            let when = other.retired_at.unwrap_or(at.max(other.recorded_at));
            self.mark_retired(other, when, Some(id))?;
        }
        self.bring_back(record, retired_at, at)?;
        Ok(retired)
    }

    fn mark(
        &mut self,
        id: RecordId,
        mark: Mark,
        at: Timestamp,
        by: &str,
    ) -> Result<Applied, Failure> {
        let mut record = self.get(id)?;
        if !record.is_current(at) {
            return Err(stale(id, "is not current any more"));
        }
        let attrs = mark.laid_over(&record.attrs);
        if attrs == record.attrs {
            return Ok(answer(id, Verdict::Unchanged, None));
        }
        record.attrs = attrs;
        self.confirm(&record)?;
        let event = NewEvent {
            record: Some(id),
            detail: Some(mark.as_str()),
            ..NewEvent::of(at.max(record.recorded_at), Action::Marked, by)
        };
        events::tell(self.connection, self.number, &event)?;
        Ok(answer(id, Verdict::Marked, None))
    }

    fn tell(
        &self,
        at: Timestamp,
        action: Action,
        by: &str,
        record: RecordId,
        other: Option<RecordId>,
    ) -> Result<(), Failure> {
        self.tell_with(at, action, by, record, other, None)
    }

    pub(super) fn tell_with(
        &self,
        at: Timestamp,
        action: Action,
        by: &str,
        record: RecordId,
        other: Option<RecordId>,
        detail: Option<&str>,
    ) -> Result<(), Failure> {
        let event = NewEvent {
            record: Some(record),
            other,
            detail,
            ..NewEvent::of(at, action, by)
        };
        events::tell(self.connection, self.number, &event)
    }

    /// The record that is not retired and has the identity of `record`, if that has one.
    pub(super) fn holder_of(&self, record: &Record) -> Result<Option<Record>, Failure> {
        let (Some(project), Some(key)) = (self.number, &record.key) else {
            return Ok(None);
        };
        let sql = format!(
            "SELECT {COLUMNS} FROM records INDEXED BY records_by_identity \
             WHERE project = ?1 AND kind = ?2 AND key = ?3 AND ifnull(category, '') = ?4 \
             AND retired_at IS NULL"
        );
        let category = record.category().unwrap_or("");
        let values = params![project, record.kind.as_str(), key, category];
        Ok(codec::select(self.connection, self.project, &sql, values)?.pop())
    }

    pub(super) fn get(&self, id: RecordId) -> Result<Record, Failure> {
        get(self.connection, self.project, id)
    }

    /// The last of those that took the place of `record`, one after the other.
    pub(super) fn end_of_chain(&self, record: &Record) -> Result<Option<Record>, Failure> {
        let (Some(project), Some(next)) = (self.number, record.replaced_by) else {
            return Ok(None);
        };
        // UNION, not UNION ALL: ends even if imported records replace each other in a circle.
        let sql = format!(
            "WITH RECURSIVE ahead (next) AS (\
               SELECT ?2 UNION \
               SELECT r.replaced_by FROM ahead JOIN records r ON r.project = ?1 AND r.id = ahead.next \
               WHERE r.replaced_by IS NOT NULL) \
             SELECT {COLUMNS} FROM records WHERE project = ?1 AND replaced_by IS NULL \
             AND id IN (SELECT next FROM ahead) LIMIT 1"
        );
        let values = params![project, next.as_bytes()];
        Ok(codec::select(self.connection, self.project, &sql, values)?.pop())
    }

    /// The project's number; the project comes into being at `at` if nothing was written to it yet.
    pub(super) fn number_at(&mut self, at: Timestamp) -> Result<i64, Failure> {
        let number = match self.number {
            Some(number) => number,
            None => codec::project_or_new(self.connection, self.project, at)?,
        };
        self.number = Some(number);
        Ok(number)
    }

    fn insert(&mut self, record: &Record) -> Result<(), Failure> {
        let project = self.number_at(record.recorded_at)?;
        let batch = self.batch_to_write()?;
        match codec::insert(self.connection, project, record, batch) {
            Err(Failure::Sql(error))
                if Failure::is_duplicate(&error) && self.get(record.id).is_ok() =>
            {
                Err(stale(record.id, "exists already"))
            }
            other => other,
        }
    }

    /// Retires `old`, with the attributes that it has here, in favour of `new`, which is written.
    fn succeed(&mut self, old: &Record, new: &Record) -> Result<(), Failure> {
        self.mark_retired(old, new.recorded_at, Some(new.id))?;
        let mut new = Cow::Borrowed(new);
        if mark::is_pinned(&old.attrs) || mark::is_muted(&old.attrs) {
            mark::carry(&old.attrs, &mut new.to_mut().attrs);
        }
        self.insert(&new)
    }

    pub(super) fn mark_retired(
        &self,
        record: &Record,
        at: Timestamp,
        replaced_by: Option<RecordId>,
    ) -> Result<(), Failure> {
        let sql = "UPDATE records SET retired_at = ?3, replaced_by = ?4, attrs = ?5 \
             WHERE project = ?1 AND id = ?2 RETURNING ordinal";
        let mut statement = self.connection.prepare_cached(sql)?;
        let values = params![
            self.number,
            record.id.as_bytes(),
            micros(at),
            replaced_by.as_ref().map(RecordId::as_bytes),
            caps::attrs_json(&record.attrs)?,
        ];
        let ordinals = statement.query_map(values, |row| row.get(0))?;
        let ordinals: Vec<Option<u32>> = ordinals.collect::<Result<_, _>>()?;
        self.mark_all(&ordinals, true)
    }

    pub(super) fn confirm(&self, record: &Record) -> Result<(), Failure> {
        let sql = "UPDATE records SET attrs = ?3, confidence = ?4 WHERE project = ?1 AND id = ?2";
        self.connection.prepare_cached(sql)?.execute(params![
            self.number,
            record.id.as_bytes(),
            caps::attrs_json(&record.attrs)?,
            record.confidence.get(),
        ])?;
        Ok(())
    }

    pub(super) fn bring_back(
        &self,
        record: &Record,
        retired_at: Timestamp,
        at: Timestamp,
    ) -> Result<(), Failure> {
        let sql = "INSERT OR IGNORE INTO lapses (project, id, retired_at, restored_at) \
             VALUES (?1, ?2, ?3, ?4)";
        let id = record.id.as_bytes();
        let values = params![self.number, id, micros(retired_at), micros(at)];
        self.connection.prepare_cached(sql)?.execute(values)?;
        let sql = "UPDATE records SET retired_at = NULL, replaced_by = NULL, attrs = ?3 \
             WHERE project = ?1 AND id = ?2 RETURNING ordinal";
        let attrs = caps::attrs_json(&merge::restored(record))?;
        let mut statement = self.connection.prepare_cached(sql)?;
        let ordinals = statement.query_map(params![self.number, id, attrs], |row| row.get(0))?;
        let ordinals: Vec<Option<u32>> = ordinals.collect::<Result<_, _>>()?;
        self.mark_all(&ordinals, false)
    }

    /// Marks what has these ordinals in the index as gone, or as here again.
    pub(super) fn mark_all(&self, ordinals: &[Option<u32>], is_gone: bool) -> Result<(), Failure> {
        let Some(project) = self.number else {
            return Ok(());
        };
        for ordinal in ordinals.iter().flatten() {
            index::mark(self.connection, project, *ordinal, is_gone)?;
        }
        Ok(())
    }
}

/// The newcomer, recorded behind the record that it meets: where a clock went back, one that takes another's
/// place would else have been there before it, and the other be retired before it was recorded.
fn behind<'r>(incoming: &'r Record, current: &Record) -> Cow<'r, Record> {
    if incoming.recorded_at >= current.recorded_at {
        return Cow::Borrowed(incoming);
    }
    let next = clock::from_micros(current.recorded_at.as_microsecond().saturating_add(1));
    Cow::Owned(Record {
        recorded_at: next,
        ..incoming.clone()
    })
}

/// The record `id`, current or not.
pub(super) fn get(
    connection: &Connection,
    project: &ProjectName,
    id: RecordId,
) -> Result<Record, Failure> {
    let sql = format!(
        "SELECT {COLUMNS} FROM records INDEXED BY records_by_id \
         WHERE project = (SELECT id FROM projects WHERE name = ?1) AND id = ?2"
    );
    let values = params![project.as_str(), id.as_bytes()];
    let found = codec::select(connection, project, &sql, values)?.pop();
    found.ok_or_else(|| {
        Failure::Store(StoreError::NotFound {
            what: "record",
            id: id.to_string(),
            project: project.to_string(),
        })
    })
}

pub(super) fn answer(id: RecordId, verdict: Verdict, other: Option<RecordId>) -> Applied {
    Applied { id, verdict, other }
}

pub(super) fn stale(id: RecordId, problem: &str) -> Failure {
    Failure::Store(StoreError::Stale {
        id,
        problem: problem.to_owned(),
    })
}
