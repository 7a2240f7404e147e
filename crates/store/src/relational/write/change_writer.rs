//! Writer of the changes of one call: reads and writes single records inside the caller's transaction.

use super::known_rows::KnownRows;
use super::record_rows;
use crate::lane::{Lane, LaneKey};
use crate::relational::audit_events::{self, NewEvent};
use crate::relational::index;
use crate::relational::record_lookup;
use crate::relational::row_codec::{self, COLUMNS, micros};
use crate::sql::Connection;
use crate::sql::failure::Failure;
use crate::{AppliedChange, StoreError, Verdict, validation};
use heirloom_model::{
    Action, ImportBatch, ProjectName, Record, RecordId, Timestamp, clock, mark, merge,
};
use rusqlite::params;
use std::borrow::Cow;
use std::cell::RefCell;

/// State while the changes of one call are applied.
pub(super) struct ChangeWriter<'a> {
    pub(super) connection: Connection<'a>,
    pub(super) project: &'a ProjectName,
    /// Number of the project; `None` until the first write creates it.
    pub(super) number: Option<i64>,
    /// Import batch that the changes belong to.
    pub(super) batch: Option<ImportBatch>,
    /// Rows that were read in advance.
    pub(super) known: &'a RefCell<KnownRows>,
}

impl<'a> ChangeWriter<'a> {
    /// Creates a writer for changes of `project`.
    pub(super) fn new(
        connection: Connection<'a>,
        project: &'a ProjectName,
        known: &'a RefCell<KnownRows>,
    ) -> Result<Self, Failure> {
        Ok(Self {
            connection,
            project,
            number: row_codec::project(connection, project)?,
            batch: None,
            known,
        })
    }

    /// Makes a retired record current again; returns the record that is retired in its favour.
    pub(super) fn restore_record(
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
        let holder = self.current_with_identity(record)?;
        // Usually one record; they differ when the chain continued under another key.
        let holder = holder.filter(|holder| end.as_ref().is_none_or(|end| end.id != holder.id));
        let mut retired = None;
        for other in end.iter().chain(&holder) {
            if other.retired_at.is_none() {
                retired = retired.or(Some(other.id));
            }
            // The end of a chain may have been retired since. It keeps its time but is linked to this record, so that
            // the chain stays connected.
            let when = other.retired_at.unwrap_or(at.max(other.recorded_at));
            self.mark_retired(other, when, Some(id))?;
        }
        self.unretire(record, retired_at, at)?;
        Ok(retired)
    }

    /// Adds an audit event.
    pub(super) fn add_event(
        &self,
        at: Timestamp,
        action: Action,
        by: &str,
        record: RecordId,
        other: Option<RecordId>,
    ) -> Result<(), Failure> {
        self.add_event_with_detail(at, action, by, record, other, None)
    }

    /// Adds an audit event with further details.
    pub(super) fn add_event_with_detail(
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
        audit_events::insert(self.connection, self.number, &event)
    }

    /// Returns the unretired record with the identity of `record`, if that has one.
    pub(super) fn current_with_identity(&self, record: &Record) -> Result<Option<Record>, Failure> {
        let (Some(project), Some(key)) = (self.number, &record.key) else {
            return Ok(None);
        };
        if let Some(current) = self.known.borrow().current(record) {
            return Ok(current);
        }
        let sql = format!(
            "SELECT {COLUMNS} FROM records INDEXED BY records_by_identity \
             WHERE project = ?1 AND kind = ?2 AND key = ?3 AND ifnull(category, '') = ?4 \
             AND retired_at IS NULL"
        );
        let category = record.category().unwrap_or("");
        let values = params![project, record.kind.as_str(), key, category];
        Ok(row_codec::select(self.connection, self.project, &sql, values)?.pop())
    }

    /// Reads the record `id`, current or not.
    pub(super) fn get(&self, id: RecordId) -> Result<Record, Failure> {
        match self.known.borrow().record(id) {
            Some(Some(record)) => Ok(record),
            _ => record_lookup::get(self.connection, self.project, id),
        }
    }

    /// Reads the record `id`, current or not; `None` if it does not exist.
    pub(super) fn find(&self, id: RecordId) -> Result<Option<Record>, Failure> {
        if let Some(known) = self.known.borrow().record(id) {
            return Ok(known);
        }
        record_lookup::find(self.connection, self.project, id)
    }

    /// Returns the last successor of `record`.
    pub(super) fn end_of_chain(&self, record: &Record) -> Result<Option<Record>, Failure> {
        let (Some(project), Some(next)) = (self.number, record.replaced_by) else {
            return Ok(None);
        };
        // UNION and not UNION ALL, so that the query ends even if imported records replace each other in a circle.
        let sql = format!(
            "WITH RECURSIVE ahead (next) AS (\
               SELECT ?2/*pg::uuid*/ UNION \
               SELECT r.replaced_by FROM ahead JOIN records r ON r.project = ?1 AND r.id = ahead.next \
               WHERE r.replaced_by IS NOT NULL) \
             SELECT {COLUMNS} FROM records WHERE project = ?1 AND replaced_by IS NULL \
             AND id IN (SELECT next FROM ahead) LIMIT 1"
        );
        let values = params![project, next.as_bytes()];
        Ok(row_codec::select(self.connection, self.project, &sql, values)?.pop())
    }

    /// Returns the number of the project; creates the project at `at` if it does not exist.
    pub(super) fn project_number(&mut self, at: Timestamp) -> Result<i64, Failure> {
        let number = match self.number {
            Some(number) => number,
            None => {
                let (number, is_new) =
                    row_codec::project_or_new(self.connection, self.project, at)?;
                if !is_new {
                    self.known.borrow_mut().clear();
                }
                number
            }
        };
        self.number = Some(number);
        Ok(number)
    }

    /// Inserts a record, with its index entry, into the current batch.
    pub(super) fn insert(&mut self, record: &Record) -> Result<(), Failure> {
        let project = self.project_number(record.recorded_at)?;
        let batch = self.ensure_batch()?;
        // PostgreSQL has aborted the transaction when it reports a duplicate, so the record is looked for before.
        if self.connection.is_postgres() && self.find(record.id)?.is_some() {
            return Err(stale(record.id, "exists already"));
        }
        match record_rows::insert(self.connection, project, record, batch) {
            Err(Failure::Sql(error)) if error.is_duplicate() && self.find(record.id)?.is_some() => {
                Err(stale(record.id, "exists already"))
            }
            Err(failure) => Err(failure),
            Ok(ordinal) => {
                self.known.borrow_mut().insert(record, ordinal, batch);
                if record.retired_at.is_some() {
                    self.set_index_marks(Lane::Memory, &[Some(ordinal)], true)?;
                }
                Ok(())
            }
        }
    }

    /// Retires `old` with its given attributes in favour of `new`, which is inserted.
    pub(super) fn replace_record(&mut self, old: &Record, new: &Record) -> Result<(), Failure> {
        self.mark_retired(old, new.recorded_at, Some(new.id))?;
        let mut new = Cow::Borrowed(new);
        if mark::is_pinned(&old.attrs) || mark::is_muted(&old.attrs) {
            mark::inherit_marks(&old.attrs, &mut new.to_mut().attrs);
        }
        self.insert(&new)
    }

    /// Retires `record` with its given attributes.
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
            validation::attrs_json(&record.attrs)?,
        ];
        let ordinals = record_rows::write_record(self.known, &mut statement, record.id, values)?;
        self.known.borrow_mut().change(record, |known| {
            known.retired_at = Some(clock::from_micros(micros(at)));
            known.replaced_by = replaced_by;
            known.attrs.clone_from(&record.attrs);
        });
        self.set_index_marks(Lane::Memory, &ordinals, true)
    }

    /// Stores the attributes and the confidence of `record`.
    pub(super) fn update_attributes(&self, record: &Record) -> Result<(), Failure> {
        let sql = "UPDATE records SET attrs = ?3, confidence = ?4 WHERE project = ?1 AND id = ?2";
        self.connection.prepare_cached(sql)?.write(params![
            self.number,
            record.id.as_bytes(),
            validation::attrs_json(&record.attrs)?,
            record.confidence.get(),
        ])?;
        self.known.borrow_mut().change(record, |known| {
            known.attrs.clone_from(&record.attrs);
            known.confidence = record.confidence;
        });
        Ok(())
    }

    /// Makes `record` current and stores the validity gap.
    pub(super) fn unretire(
        &self,
        record: &Record,
        retired_at: Timestamp,
        at: Timestamp,
    ) -> Result<(), Failure> {
        let sql = "INSERT INTO lapses (project, id, retired_at, restored_at) \
             VALUES (?1, ?2, ?3, ?4) ON CONFLICT DO NOTHING";
        let id = record.id.as_bytes();
        let values = params![self.number, id, micros(retired_at), micros(at)];
        self.connection.prepare_cached(sql)?.write(values)?;
        let sql = "UPDATE records SET retired_at = NULL, replaced_by = NULL, attrs = ?3 \
             WHERE project = ?1 AND id = ?2 RETURNING ordinal";
        let attrs = merge::restored_attrs(record);
        let mut statement = self.connection.prepare_cached(sql)?;
        let values = params![self.number, id, validation::attrs_json(&attrs)?];
        let ordinals = record_rows::write_record(self.known, &mut statement, record.id, values)?;
        self.known.borrow_mut().change(record, |known| {
            known.retired_at = None;
            known.replaced_by = None;
            known.attrs = attrs;
        });
        self.set_index_marks(Lane::Memory, &ordinals, false)
    }

    /// Marks these ordinals of a lane in the index as retired or current.
    pub(super) fn set_index_marks(
        &self,
        lane: Lane,
        ordinals: &[Option<u32>],
        is_gone: bool,
    ) -> Result<(), Failure> {
        let Some(project) = self.number else {
            return Ok(());
        };
        let key = LaneKey { project, lane };
        if self.connection.is_postgres() {
            // The blocks of all known records in one round trip, because later changes may retire them.
            let known = match lane {
                Lane::Memory => self.known.borrow().ordinals(),
                Lane::Archive => Vec::new(),
            };
            let ordinals = ordinals.iter().flatten().copied().chain(known);
            index::read_retired_blocks(self.connection, key, ordinals)?;
        }
        for ordinal in ordinals.iter().flatten() {
            index::mark_retired(self.connection, key, *ordinal, is_gone)?;
        }
        Ok(())
    }

    /// Returns the current batch, if any, and creates it in the database on first use.
    pub(super) fn ensure_batch(&mut self) -> Result<Option<RecordId>, Failure> {
        let Some(batch) = self.batch.clone() else {
            return Ok(None);
        };
        let number = self.project_number(batch.at)?;
        let known = self.known.borrow().has_batch(batch.id);
        if known == Some(true) {
            return Ok(Some(batch.id));
        }
        let sql = "INSERT INTO batches (project, id, source, by, at) \
             VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT DO NOTHING";
        let id = batch.id.as_bytes();
        let values = params![number, id, batch.source, batch.by, micros(batch.at)];
        let mut statement = self.connection.prepare_cached(sql)?;
        let is_created = match known {
            Some(_) => {
                statement.write(values)?;
                true
            }
            None => statement.execute(values)? == 1,
        };
        self.known.borrow_mut().set_batch(batch.id);
        if is_created {
            let event = NewEvent {
                batch: Some(batch.id),
                detail: Some(&batch.source),
                ..NewEvent::of(batch.at, Action::Imported, &batch.by)
            };
            audit_events::insert(self.connection, Some(number), &event)?;
        }
        Ok(Some(batch.id))
    }
}

/// Creates the outcome of a change.
pub(super) fn applied(id: RecordId, verdict: Verdict, other: Option<RecordId>) -> AppliedChange {
    AppliedChange { id, verdict, other }
}

/// Creates the error for a record that another write has changed.
pub(super) fn stale(id: RecordId, problem: &str) -> Failure {
    Failure::Store(StoreError::Stale {
        id,
        problem: problem.to_owned(),
    })
}
