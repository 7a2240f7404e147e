//! Rows that the changes of one transaction meet, read from PostgreSQL before the first change is applied.
//!
//! Each change also updates the known rows, so that later changes of the transaction see it. A row that is not known is
//! read by a query. With SQLite no row is known: its queries cost no round trip.

use super::change_keys::{
    BATCHES, ChangeKeys, Identity, MESSAGES, NEXT_RECEIPT, SESSIONS, by_id, by_identity, id_array,
    identity,
};
use crate::relational::row_codec;
use crate::sql::failure::Failure;
use crate::sql::{Connection, Row};
use heirloom_model::{ProjectName, Record, RecordId};
use rusqlite::params;
use std::collections::{BTreeMap, HashMap, HashSet};

/// Record as the transaction has read or written it.
#[derive(Debug, Clone)]
struct KnownRecord {
    record: Record,
    ordinal: Option<u32>,
    batch: Option<RecordId>,
    /// True if the transaction has inserted it.
    is_new: bool,
}

/// Session as the transaction has read or written it.
#[derive(Debug, Clone, Copy)]
pub(super) struct KnownSession {
    pub(super) is_retired: bool,
    /// Position of its next message.
    pub(super) next: u64,
}

/// Known rows of a project. Each map has `None` for a row that does not exist, and no entry for an unknown one.
#[derive(Debug, Default)]
pub(crate) struct KnownRows {
    /// False for SQLite.
    is_active: bool,
    records: HashMap<RecordId, Option<KnownRecord>>,
    /// Current record of an identity.
    current: HashMap<Identity, Option<RecordId>>,
    sessions: HashMap<String, Option<KnownSession>>,
    /// For a message true if it is retired.
    messages: HashMap<RecordId, Option<bool>>,
    batches: BTreeMap<RecordId, bool>,
    next_receipt: Option<i64>,
    /// Validity gaps of new records.
    gaps: HashSet<(RecordId, i64, i64)>,
}

impl KnownRows {
    /// Reads the rows with these keys.
    pub(crate) fn read(
        connection: Connection<'_>,
        project: &ProjectName,
        number: i64,
        keys: &ChangeKeys,
    ) -> Result<Self, Failure> {
        let mut known = Self::of_new_project(keys);
        if !keys.records.is_empty() {
            let values = params![number, id_array(&keys.records)];
            known.read_records(connection, project, &by_id(), values)?;
        }
        if !keys.identities.is_empty() {
            let values = params![number, keys.identity_list()];
            known.read_records(connection, project, &by_identity(), values)?;
        }
        if !keys.sessions.is_empty() {
            let mut statement = connection.prepare_cached(SESSIONS)?;
            let mut rows = statement.query(params![number, keys.session_list()])?;
            while let Some(row) = rows.next()? {
                let session = KnownSession {
                    is_retired: row.get(1)?,
                    next: row.get(2)?,
                };
                known.sessions.insert(row.get(0)?, Some(session));
            }
        }
        if !keys.messages.is_empty() {
            let mut statement = connection.prepare_cached(MESSAGES)?;
            let mut rows = statement.query(params![number, id_array(&keys.messages)])?;
            while let Some(row) = rows.next()? {
                let id = RecordId::from_bytes(row.get(0)?);
                known.messages.insert(id, Some(row.get(1)?));
            }
        }
        if !keys.batches.is_empty() {
            let mut statement = connection.prepare_cached(BATCHES)?;
            let found: Vec<[u8; 16]> =
                statement.query_column(params![number, id_array(&keys.batches)])?;
            let found = found.into_iter().map(RecordId::from_bytes);
            known.batches.extend(found.map(|id| (id, true)));
        }
        if keys.has_receipt {
            let next = connection.query_row(NEXT_RECEIPT, [number], |row| row.get(0))?;
            known.next_receipt = Some(next);
        }
        Ok(known)
    }

    /// Returns the rows of a project that has none.
    pub(crate) fn of_new_project(keys: &ChangeKeys) -> Self {
        Self {
            is_active: true,
            records: keys.records.iter().map(|id| (*id, None)).collect(),
            current: keys
                .identities
                .iter()
                .map(|id| (id.clone(), None))
                .collect(),
            sessions: keys.sessions.iter().map(|id| (id.clone(), None)).collect(),
            messages: keys.messages.iter().map(|id| (*id, None)).collect(),
            batches: keys.batches.iter().map(|id| (*id, false)).collect(),
            next_receipt: Some(0),
            gaps: HashSet::new(),
        }
    }

    fn read_records(
        &mut self,
        connection: Connection<'_>,
        project: &ProjectName,
        sql: &str,
        values: &[&dyn rusqlite::ToSql],
    ) -> Result<(), Failure> {
        let mut statement = connection.prepare_cached(sql)?;
        let mut rows = statement.query(values)?;
        while let Some(row) = rows.next()? {
            let known = KnownRecord::of(project, row)?;
            self.add(known);
        }
        Ok(())
    }

    /// Adds a record that exists; it is the current one of its identity unless it is retired.
    fn add(&mut self, known: KnownRecord) {
        let id = known.record.id;
        if known.record.retired_at.is_none()
            && let Some(identity) = identity(&known.record)
        {
            self.current.insert(identity, Some(id));
        }
        self.records.insert(id, Some(known));
    }

    /// Forgets all rows, before statements that change many of them.
    pub(super) fn clear(&mut self) {
        *self = Self {
            is_active: self.is_active,
            ..Self::default()
        };
    }

    /// Returns a record if it is known: `Some(None)` if it does not exist.
    pub(super) fn record(&self, id: RecordId) -> Option<Option<Record>> {
        let known = self.records.get(&id)?.as_ref();
        Some(known.map(|known| known.record.clone()))
    }

    /// Returns the current record with the identity of `record` if it is known.
    pub(super) fn current(&self, record: &Record) -> Option<Option<Record>> {
        if !self.is_active {
            return None;
        }
        match self.current.get(&identity(record)?)? {
            Some(id) => self.record(*id),
            None => Some(None),
        }
    }

    /// Returns the ordinal of a record if it is known.
    pub(super) fn ordinal(&self, id: RecordId) -> Option<Option<u32>> {
        Some(self.records.get(&id)?.as_ref()?.ordinal)
    }

    /// Returns the ordinals of all known records.
    pub(super) fn ordinals(&self) -> Vec<u32> {
        let records = self.records.values().flatten();
        records.filter_map(|known| known.ordinal).collect()
    }

    /// Adds an inserted record.
    pub(super) fn insert(&mut self, record: &Record, ordinal: u32, batch: Option<RecordId>) {
        if self.is_active {
            self.add(KnownRecord {
                record: record.clone(),
                ordinal: Some(ordinal),
                batch,
                is_new: true,
            });
        }
    }

    /// Changes a record as a statement did.
    pub(super) fn change(&mut self, record: &Record, change: impl FnOnce(&mut Record)) {
        if !self.is_active {
            return;
        }
        let Some(Some(mut known)) = self.records.remove(&record.id) else {
            // The current record of this identity is not known any more.
            identity(record).and_then(|identity| self.current.remove(&identity));
            return;
        };
        if let Some(identity) = identity(&known.record)
            && self.current.get(&identity) == Some(&Some(record.id))
        {
            self.current.insert(identity, None);
        }
        change(&mut known.record);
        self.add(known);
    }

    /// Returns true if the record belongs to this batch, if that is known.
    pub(super) fn is_in_batch(&self, id: RecordId, batch: RecordId) -> Option<bool> {
        let known = self.records.get(&id)?.as_ref();
        Some(known.is_some_and(|known| known.batch == Some(batch)))
    }

    /// Adds a validity gap of a record; returns false if the record has it, and `None` if that is not known.
    pub(super) fn add_gap(&mut self, id: RecordId, from: i64, to: i64) -> Option<bool> {
        let is_new = self.records.get(&id)?.as_ref()?.is_new;
        is_new.then(|| self.gaps.insert((id, from, to)))
    }

    /// Returns a session if it is known: `Some(None)` if it does not exist.
    pub(super) fn session(&self, id: &str) -> Option<Option<KnownSession>> {
        self.sessions.get(id).copied()
    }

    /// Stores a session that the transaction has written.
    pub(super) fn set_session(&mut self, id: &str, session: KnownSession) {
        if self.is_active {
            self.sessions.insert(id.to_owned(), Some(session));
        }
    }

    /// Returns for a message true if it is retired, if that is known: `Some(None)` if it does not exist.
    pub(super) fn message(&self, id: RecordId) -> Option<Option<bool>> {
        self.messages.get(&id).copied()
    }

    /// Adds a message that is current.
    pub(super) fn set_message(&mut self, id: RecordId) {
        if self.is_active {
            self.messages.insert(id, Some(false));
        }
    }

    /// Returns true if an import batch exists, if that is known.
    pub(super) fn has_batch(&self, id: RecordId) -> Option<bool> {
        self.batches.get(&id).copied()
    }

    /// Adds an import batch.
    pub(super) fn set_batch(&mut self, id: RecordId) {
        if self.is_active {
            self.batches.insert(id, true);
        }
    }

    /// Takes the number of the next receipt if it is known.
    pub(super) fn take_receipt_number(&mut self) -> Option<i64> {
        let next = self.next_receipt.as_mut().filter(|_| self.is_active)?;
        *next += 1;
        Some(*next - 1)
    }
}

impl KnownRecord {
    fn of(project: &ProjectName, row: Row<'_>) -> Result<Self, Failure> {
        let batch: Option<[u8; 16]> = row.get(22)?;
        Ok(Self {
            record: row_codec::record(project, row)?,
            ordinal: row.get(21)?,
            batch: batch.map(RecordId::from_bytes),
            is_new: false,
        })
    }
}
