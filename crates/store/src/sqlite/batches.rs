//! Imports as one: what they bring belongs to a batch, and a batch is taken back and brought back as one.

use super::apply::{Writer, answer};
use super::codec::{self, COLUMNS, micros};
use super::events::{self, NewEvent};
use super::failure::Failure;
use super::sessions;
use crate::{Applied, StoreError, Verdict, caps};
use heirloom_model::{Action, Batch, Lapse, Message, Record, RecordId, Session, Timestamp, clock};
use rusqlite::{OptionalExtension, ToSql, params};

impl Writer<'_> {
    /// The changes that follow belong to `batch`.
    pub(super) fn begin(&mut self, batch: &Batch) -> Applied {
        self.batch = Some(batch.clone());
        answer(batch.id, Verdict::Unchanged, None)
    }

    /// The batch that is being written, if there is one; it comes into being here.
    pub(super) fn batch_to_write(&mut self) -> Result<Option<RecordId>, Failure> {
        let Some(batch) = self.batch.clone() else {
            return Ok(None);
        };
        let number = self.number_at(batch.at)?;
        let sql = "INSERT OR IGNORE INTO batches (project, id, source, by, at) \
             VALUES (?1, ?2, ?3, ?4, ?5)";
        let id = batch.id.as_bytes();
        let values = params![number, id, batch.source, batch.by, micros(batch.at)];
        if self.connection.prepare_cached(sql)?.execute(values)? == 1 {
            let event = NewEvent {
                batch: Some(batch.id),
                detail: Some(&batch.source),
                ..NewEvent::of(batch.at, Action::Imported, &batch.by)
            };
            events::tell(self.connection, Some(number), &event)?;
        }
        Ok(Some(batch.id))
    }

    /// The answer for a record whose id is here already; a record whose import was taken back comes back.
    pub(super) fn known(&mut self, incoming: &Record) -> Result<Option<Applied>, Failure> {
        let here = match self.get(incoming.id) {
            Ok(here) => here,
            Err(Failure::Store(StoreError::NotFound { .. })) => return Ok(None),
            Err(failure) => return Err(failure),
        };
        let unchanged = answer(here.id, Verdict::Unchanged, None);
        let (Some(retired_at), None) = (here.retired_at, incoming.retired_at) else {
            return Ok(Some(unchanged));
        };
        let sql = "SELECT b.undone_at FROM records r \
             JOIN batches b ON b.project = r.project AND b.id = r.batch \
             WHERE r.project = ?1 AND r.id = ?2";
        let mut statement = self.connection.prepare_cached(sql)?;
        let undone_at: Option<Option<i64>> = statement
            .query_row(params![self.number, here.id.as_bytes()], |row| row.get(0))
            .optional()?;
        let taken_back = undone_at.flatten() == Some(micros(retired_at));
        if !taken_back || here.replaced_by.is_some() || self.holder_of(&here)?.is_some() {
            return Ok(Some(unchanged));
        }
        let at = self.batch.as_ref().map_or(retired_at, |batch| batch.at);
        self.bring_back(&here, retired_at, at.max(retired_at))?;
        Ok(Some(answer(here.id, Verdict::Restored, None)))
    }

    /// Writes a session unless it is here.
    pub(super) fn take_session(&mut self, session: &Session) -> Result<Applied, Failure> {
        let id = self.batch.as_ref().map_or(RecordId::MIN, |batch| batch.id);
        let number = self.number_at(session.started_at)?;
        let batch = self.batch.clone();
        let sql = "INSERT OR IGNORE INTO sessions \
             (project, id, agent, task, started_at, ended_at, attrs, batch) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";
        let created = self.connection.prepare_cached(sql)?.execute(params![
            number,
            session.id,
            session.agent,
            session.task,
            micros(session.started_at),
            session.ended_at.map(micros),
            caps::attrs_json(&session.attrs)?,
            batch.as_ref().map(|batch| batch.id.as_bytes().to_vec()),
        ])?;
        if created == 1 {
            self.batch_to_write()?;
            return Ok(answer(id, Verdict::Created, None));
        }
        let sql = "UPDATE sessions SET retired_at = NULL \
             WHERE project = ?1 AND id = ?2 AND retired_at IS NOT NULL";
        let values = params![number, session.id];
        let restored = self.connection.prepare_cached(sql)?.execute(values)?;
        let verdict = if restored == 1 {
            Verdict::Restored
        } else {
            Verdict::Unchanged
        };
        Ok(answer(id, verdict, None))
    }

    /// Appends a message to a session unless it is in the project.
    pub(super) fn take_message(
        &mut self,
        session: &str,
        message: &Message,
    ) -> Result<Applied, Failure> {
        let number = sessions::number_of(self.connection, self.project, session)?;
        let sql = "SELECT retired_at FROM messages WHERE project = ?1 AND id = ?2";
        let mut statement = self.connection.prepare_cached(sql)?;
        let values = params![number, message.id.as_bytes()];
        let here: Option<Option<i64>> = statement.query_row(values, |row| row.get(0)).optional()?;
        let verdict = match here {
            None => {
                let batch = self.batch_to_write()?;
                let place = sessions::next_place(self.connection, number, session)?;
                sessions::insert(self.connection, number, session, place, message, batch)?;
                Verdict::Created
            }
            Some(None) => Verdict::Unchanged,
            Some(Some(_)) => {
                let sql = "UPDATE messages SET retired_at = NULL \
                     WHERE project = ?1 AND id = ?2 RETURNING ordinal";
                self.mark_changed(sql, values, false)?;
                Verdict::Restored
            }
        };
        Ok(answer(message.id, verdict, None))
    }

    /// Writes a lapse of a record that came with the batch that is being written.
    pub(super) fn take_lapse(&mut self, id: RecordId, lapse: Lapse) -> Result<Applied, Failure> {
        let Some(batch) = &self.batch else {
            return Ok(answer(id, Verdict::Unchanged, None));
        };
        let sql = "INSERT OR IGNORE INTO lapses (project, id, retired_at, restored_at) \
             SELECT project, id, ?4, ?5 FROM records WHERE project = ?1 AND id = ?2 AND batch = ?3";
        let created = self.connection.prepare_cached(sql)?.execute(params![
            self.number,
            id.as_bytes(),
            batch.id.as_bytes(),
            micros(lapse.retired_at),
            micros(lapse.restored_at),
        ])?;
        let verdict = if created == 1 {
            Verdict::Created
        } else {
            Verdict::Unchanged
        };
        Ok(answer(id, verdict, None))
    }

    /// Takes a batch back, or brings it back.
    pub(super) fn reverse(
        &mut self,
        batch: RecordId,
        at: Timestamp,
        by: &str,
    ) -> Result<Applied, Failure> {
        let sql = "SELECT undone_at FROM batches WHERE project = ?1 AND id = ?2";
        let mut statement = self.connection.prepare_cached(sql)?;
        let values = params![self.number, batch.as_bytes()];
        let found: Option<Option<i64>> =
            statement.query_row(values, |row| row.get(0)).optional()?;
        let undone_at = found.ok_or_else(|| {
            Failure::Store(StoreError::NotFound {
                what: "import",
                id: batch.to_string(),
                project: self.project.to_string(),
            })
        })?;
        let verdict = match undone_at {
            None => self.take_back(batch, at)?,
            Some(undone_at) => self.bring_batch_back(batch, undone_at, at)?,
        };
        let sql = "UPDATE batches SET undone_at = ?3 WHERE project = ?1 AND id = ?2";
        let now = (verdict == Verdict::Retired).then(|| micros(at));
        let values = params![self.number, batch.as_bytes(), now];
        self.connection.prepare_cached(sql)?.execute(values)?;
        let event = NewEvent {
            batch: Some(batch),
            detail: Some(verdict.as_str()),
            ..NewEvent::of(at, Action::Reversed, by)
        };
        events::tell(self.connection, self.number, &event)?;
        Ok(answer(batch, verdict, None))
    }

    /// Retires what the batch brought and nobody has changed since. A session that went on stays, without the
    /// messages of the batch.
    fn take_back(&self, batch: RecordId, at: Timestamp) -> Result<Verdict, Failure> {
        let steps = [
            (
                "UPDATE records SET retired_at = ?3 \
                 WHERE project = ?1 AND batch = ?2 AND retired_at IS NULL RETURNING ordinal",
                true,
            ),
            (
                "UPDATE messages SET retired_at = ?3 \
                 WHERE project = ?1 AND batch = ?2 AND retired_at IS NULL RETURNING ordinal",
                true,
            ),
            (
                "UPDATE sessions SET retired_at = ?3 \
             WHERE project = ?1 AND batch = ?2 AND retired_at IS NULL AND NOT EXISTS \
             (SELECT 1 FROM messages m WHERE m.project = ?1 AND m.session = sessions.id \
              AND m.retired_at IS NULL)",
                false,
            ),
        ];
        for (sql, is_indexed) in steps {
            let values = params![self.number, batch.as_bytes(), micros(at)];
            if is_indexed {
                self.mark_changed(sql, values, true)?;
            } else {
                self.connection.prepare_cached(sql)?.execute(values)?;
            }
        }
        Ok(Verdict::Retired)
    }

    /// Makes current again what taking the batch back had retired.
    fn bring_batch_back(
        &self,
        batch: RecordId,
        undone_at: i64,
        at: Timestamp,
    ) -> Result<Verdict, Failure> {
        let sql = format!(
            "SELECT {COLUMNS} FROM records INDEXED BY records_by_batch \
             WHERE project = ?1 AND batch = ?2 AND retired_at = ?3 AND replaced_by IS NULL"
        );
        let values = params![self.number, batch.as_bytes(), undone_at];
        for record in codec::select(self.connection, self.project, &sql, values)? {
            let expired = record.expires_at.is_some_and(|end| end <= at);
            if !expired && self.holder_of(&record)?.is_none() {
                self.bring_back(&record, clock::from_micros(undone_at), at)?;
            }
        }
        let values = params![self.number, batch.as_bytes(), undone_at];
        let sql = "UPDATE sessions SET retired_at = NULL \
             WHERE project = ?1 AND batch = ?2 AND retired_at = ?3";
        self.connection.prepare_cached(sql)?.execute(values)?;
        let sql = "UPDATE messages SET retired_at = NULL \
             WHERE project = ?1 AND batch = ?2 AND retired_at = ?3 RETURNING ordinal";
        self.mark_changed(sql, values, false)?;
        Ok(Verdict::Restored)
    }

    /// Carries out a statement that returns the ordinals of what it changed, and marks those.
    fn mark_changed(&self, sql: &str, values: &[&dyn ToSql], is_gone: bool) -> Result<(), Failure> {
        let mut statement = self.connection.prepare_cached(sql)?;
        let ordinals = statement.query_map(values, |row| row.get(0))?;
        let ordinals: Vec<Option<u32>> = ordinals.collect::<Result<_, _>>()?;
        self.mark_all(&ordinals, is_gone)
    }
}
