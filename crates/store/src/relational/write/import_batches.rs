//! Import batches: everything that one import wrote, reverted and restored as one unit.

use super::change_writer::{ChangeWriter, applied};
use super::known_rows::KnownSession;
use crate::lane::Lane;
use crate::relational::audit_events::{self, NewEvent};
use crate::relational::row_codec::{self, COLUMNS, micros};
use crate::relational::sessions;
use crate::sql::OptionalRow;
use crate::sql::failure::Failure;
use crate::{AppliedChange, StoreError, Verdict, validation};
use heirloom_model::{Action, Message, Record, RecordId, Session, Timestamp, ValidityGap, clock};
use rusqlite::{ToSql, params};

impl ChangeWriter<'_> {
    /// Returns the outcome for a record whose id exists; restores a record of a reverted import.
    pub(super) fn existing_record(
        &mut self,
        incoming: &Record,
    ) -> Result<Option<AppliedChange>, Failure> {
        let Some(existing) = self.find(incoming.id)? else {
            return Ok(None);
        };
        let unchanged = applied(existing.id, Verdict::Unchanged, None);
        let (Some(retired_at), None) = (existing.retired_at, incoming.retired_at) else {
            return Ok(Some(unchanged));
        };
        let sql = "SELECT b.undone_at FROM records r \
             JOIN batches b ON b.project = r.project AND b.id = r.batch \
             WHERE r.project = ?1 AND r.id = ?2";
        let mut statement = self.connection.prepare_cached(sql)?;
        let undone_at: Option<Option<i64>> = statement
            .query_row(params![self.number, existing.id.as_bytes()], |row| {
                row.get(0)
            })
            .optional()?;
        let is_reverted = undone_at.flatten() == Some(micros(retired_at));
        if !is_reverted
            || existing.replaced_by.is_some()
            || self.current_with_identity(&existing)?.is_some()
        {
            return Ok(Some(unchanged));
        }
        let at = self.batch.as_ref().map_or(retired_at, |batch| batch.at);
        self.unretire(&existing, retired_at, at.max(retired_at))?;
        // The record belongs to the import that restored it, so that undoing this import retires it.
        if let Some(batch) = self.ensure_batch()? {
            let sql = "UPDATE records SET batch = ?3 WHERE project = ?1 AND id = ?2";
            let values = params![self.number, existing.id.as_bytes(), batch.as_bytes()];
            self.connection.prepare_cached(sql)?.write(values)?;
        }
        Ok(Some(applied(existing.id, Verdict::Restored, None)))
    }

    /// Imports a session unless it exists.
    pub(super) fn import_session(&mut self, session: &Session) -> Result<AppliedChange, Failure> {
        let id = self.batch.as_ref().map_or(RecordId::MIN, |batch| batch.id);
        let number = self.project_number(session.started_at)?;
        let known = self.known.borrow().session(&session.id);
        if let Some(Some(known)) = known
            && !known.is_retired
        {
            return Ok(applied(id, Verdict::Unchanged, None));
        }
        let batch = self.batch.clone();
        let sql = "INSERT INTO sessions \
             (project, id, agent, task, started_at, ended_at, attrs, batch) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) ON CONFLICT DO NOTHING";
        let mut statement = self.connection.prepare_cached(sql)?;
        let values = params![
            number,
            session.id,
            session.agent,
            session.task,
            micros(session.started_at),
            session.ended_at.map(micros),
            validation::attrs_json(&session.attrs)?,
            batch.as_ref().map(|batch| batch.id.as_bytes().to_vec()),
        ];
        let created = match known {
            Some(None) => {
                statement.write(values)?;
                let (is_retired, next) = (false, 0);
                let session_row = KnownSession { is_retired, next };
                self.known
                    .borrow_mut()
                    .set_session(&session.id, session_row);
                1
            }
            Some(Some(_)) => 0,
            None => statement.execute(values)?,
        };
        if created == 1 {
            self.ensure_batch()?;
            return Ok(applied(id, Verdict::Created, None));
        }
        if let Some(Some(known)) = known {
            let is_retired = false;
            let session_row = KnownSession {
                is_retired,
                ..known
            };
            self.known
                .borrow_mut()
                .set_session(&session.id, session_row);
        }
        let sql = "UPDATE sessions SET retired_at = NULL, batch = COALESCE(?3, batch) \
             WHERE project = ?1 AND id = ?2 AND retired_at IS NOT NULL";
        let restoring_batch = batch.map(|batch| batch.id.as_bytes().to_vec());
        let values = params![number, session.id, restoring_batch];
        let restored = self.connection.prepare_cached(sql)?.execute(values)?;
        let verdict = if restored == 1 {
            self.ensure_batch()?;
            Verdict::Restored
        } else {
            Verdict::Unchanged
        };
        Ok(applied(id, verdict, None))
    }

    /// Imports a message at the end of a session unless it exists in the project.
    pub(super) fn import_message(
        &mut self,
        session: &str,
        message: &Message,
    ) -> Result<AppliedChange, Failure> {
        let known_session = self.known.borrow().session(session);
        let is_open = known_session
            .flatten()
            .is_some_and(|known| !known.is_retired);
        let number = match self.number.filter(|_| is_open) {
            Some(number) => number,
            None => sessions::project_of_session(self.connection, self.project, session)?,
        };
        let values = params![number, message.id.as_bytes()];
        let known = self.known.borrow().message(message.id);
        // For an existing message, true if it is retired.
        let existing: Option<bool> = match known {
            Some(existing) => existing,
            None => {
                let sql =
                    "SELECT retired_at IS NOT NULL FROM messages WHERE project = ?1 AND id = ?2";
                let mut statement = self.connection.prepare_cached(sql)?;
                statement.query_row(values, |row| row.get(0)).optional()?
            }
        };
        let verdict = match existing {
            None => {
                let batch = self.ensure_batch()?;
                let known_session = self.known.borrow().session(session).flatten();
                let place = match known_session {
                    Some(known) => known.next,
                    None => sessions::next_position(self.connection, number, session)?,
                };
                sessions::insert(self.connection, number, session, place, message, batch)?;
                let mut known = self.known.borrow_mut();
                known.set_message(message.id);
                if let Some(session_row) = known_session {
                    let next = place + 1;
                    known.set_session(
                        session,
                        KnownSession {
                            next,
                            ..session_row
                        },
                    );
                }
                Verdict::Created
            }
            Some(false) => Verdict::Unchanged,
            Some(true) => {
                let batch = self.ensure_batch()?;
                let batch = batch.map(|batch| batch.as_bytes().to_vec());
                let sql = "UPDATE messages SET retired_at = NULL, batch = COALESCE(?3, batch) \
                     WHERE project = ?1 AND id = ?2 RETURNING ordinal";
                let values = params![number, message.id.as_bytes(), batch];
                self.mark_changed(Lane::Archive, sql, values, false)?;
                self.known.borrow_mut().set_message(message.id);
                Verdict::Restored
            }
        };
        Ok(applied(message.id, verdict, None))
    }

    /// Imports a validity gap of a record that the current batch created.
    pub(super) fn import_validity_gap(
        &mut self,
        id: RecordId,
        gap: ValidityGap,
    ) -> Result<AppliedChange, Failure> {
        let Some(batch) = &self.batch else {
            return Ok(applied(id, Verdict::Unchanged, None));
        };
        if self.known.borrow().is_in_batch(id, batch.id) == Some(false) {
            return Ok(applied(id, Verdict::Unchanged, None));
        }
        let sql = "INSERT INTO lapses (project, id, retired_at, restored_at) \
             SELECT project, id, ?4, ?5 FROM records WHERE project = ?1 AND id = ?2 AND batch = ?3 \
             ON CONFLICT DO NOTHING";
        let (from, to) = (micros(gap.retired_at), micros(gap.restored_at));
        let values = params![self.number, id.as_bytes(), batch.id.as_bytes(), from, to];
        let mut statement = self.connection.prepare_cached(sql)?;
        let known = self.known.borrow_mut().add_gap(id, from, to);
        let created = match known {
            Some(is_created) => {
                statement.write(values)?;
                usize::from(is_created)
            }
            None => statement.execute(values)?,
        };
        let verdict = if created == 1 {
            Verdict::Created
        } else {
            Verdict::Unchanged
        };
        Ok(applied(id, verdict, None))
    }

    /// Reverts a batch, or restores it if it is reverted.
    pub(super) fn toggle_batch(
        &mut self,
        batch: RecordId,
        at: Timestamp,
        by: &str,
    ) -> Result<AppliedChange, Failure> {
        self.known.borrow_mut().clear();
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
            None => self.revert_batch(batch, at)?,
            Some(undone_at) => self.restore_batch(batch, undone_at, at)?,
        };
        let sql = "UPDATE batches SET undone_at = ?3 WHERE project = ?1 AND id = ?2";
        let now = (verdict == Verdict::Retired).then(|| micros(at));
        let values = params![self.number, batch.as_bytes(), now];
        self.connection.prepare_cached(sql)?.write(values)?;
        let event = NewEvent {
            batch: Some(batch),
            detail: Some(verdict.as_str()),
            ..NewEvent::of(at, Action::Reversed, by)
        };
        audit_events::insert(self.connection, self.number, &event)?;
        Ok(applied(batch, verdict, None))
    }

    /// Retires what the batch created and no later change replaced; records that it replaced are current again. A
    /// session that was continued stays, without the messages of the batch.
    fn revert_batch(&self, batch: RecordId, at: Timestamp) -> Result<Verdict, Failure> {
        let steps = [
            (
                "UPDATE records SET retired_at = ?3 \
                 WHERE project = ?1 AND batch = ?2 AND retired_at IS NULL RETURNING ordinal",
                Some(Lane::Memory),
            ),
            (
                "UPDATE messages SET retired_at = ?3 \
                 WHERE project = ?1 AND batch = ?2 AND retired_at IS NULL RETURNING ordinal",
                Some(Lane::Archive),
            ),
            (
                "UPDATE sessions SET retired_at = ?3 \
             WHERE project = ?1 AND batch = ?2 AND retired_at IS NULL AND NOT EXISTS \
             (SELECT 1 FROM messages m WHERE m.project = ?1 AND m.session = sessions.id \
              AND m.retired_at IS NULL)",
                None,
            ),
        ];
        for (sql, lane) in steps {
            let values = params![self.number, batch.as_bytes(), micros(at)];
            match lane {
                Some(lane) => self.mark_changed(lane, sql, values, true)?,
                None => self.connection.prepare_cached(sql)?.write(values)?,
            }
        }
        self.restore_predecessors(batch, at)?;
        Ok(Verdict::Retired)
    }

    /// Makes the records current again that records of a batch replaced, which were retired at `at`.
    fn restore_predecessors(&self, batch: RecordId, at: Timestamp) -> Result<(), Failure> {
        // The batch may have replaced its own records before. A record that lost a conflict has a successor too, but
        // was never current: its times are equal.
        let sql = "WITH RECURSIVE own (id, last) AS (\
               SELECT id, id FROM records WHERE project = ?1 AND batch = ?2 AND retired_at = ?3 \
               AND replaced_by IS NULL \
               UNION \
               SELECT r.id, own.last FROM own JOIN records r \
               ON r.project = ?1 AND r.replaced_by = own.id AND r.batch = ?2) \
             SELECT p.id, own.last FROM own JOIN records p \
             ON p.project = ?1 AND p.replaced_by = own.id \
             WHERE p.batch IS DISTINCT FROM ?2 AND p.recorded_at < p.retired_at \
             ORDER BY p.retired_at DESC, p.id";
        let mut statement = self.connection.prepare_cached(sql)?;
        let values = params![self.number, batch.as_bytes(), micros(at)];
        let pairs: Vec<([u8; 16], [u8; 16])> =
            statement.query_map(values, |row| Ok((row.get(0)?, row.get(1)?)))?;
        for (before, after) in pairs {
            let before = self.get(RecordId::from_bytes(before))?;
            let expired = before.expires_at.is_some_and(|end| end <= at);
            if let Some(retired_at) = before.retired_at.filter(|_| !expired)
                && self.current_with_identity(&before)?.is_none()
            {
                self.unretire(&before, retired_at, at.max(retired_at))?;
                // Its successor stays in the chain, so that restoring the batch finds it.
                let after = self.get(RecordId::from_bytes(after))?;
                self.mark_retired(&after, at, Some(before.id))?;
            }
        }
        Ok(())
    }

    /// Restores what reverting the batch had retired.
    fn restore_batch(
        &self,
        batch: RecordId,
        undone_at: i64,
        at: Timestamp,
    ) -> Result<Verdict, Failure> {
        let sql = format!(
            "SELECT {COLUMNS} FROM records INDEXED BY records_by_batch \
             WHERE project = ?1 AND batch = ?2 AND retired_at = ?3"
        );
        let values = params![self.number, batch.as_bytes(), undone_at];
        for record in row_codec::select(self.connection, self.project, &sql, values)? {
            let expired = record.expires_at.is_some_and(|end| end <= at);
            // The record that it replaced, if reverting the batch restored one.
            let before = record.replaced_by.map(|id| self.get(id)).transpose()?;
            let holder = self.current_with_identity(&record)?;
            let is_free = holder.is_none_or(|holder| Some(holder.id) == record.replaced_by);
            match before {
                _ if expired || !is_free => {}
                None => self.unretire(&record, clock::from_micros(undone_at), at)?,
                Some(before) if before.retired_at.is_none() => {
                    self.restore_record(&record, at)?;
                }
                Some(_) => {}
            }
        }
        let values = params![self.number, batch.as_bytes(), undone_at];
        let sql = "UPDATE sessions SET retired_at = NULL \
             WHERE project = ?1 AND batch = ?2 AND retired_at = ?3";
        self.connection.prepare_cached(sql)?.write(values)?;
        let sql = "UPDATE messages SET retired_at = NULL \
             WHERE project = ?1 AND batch = ?2 AND retired_at = ?3 RETURNING ordinal";
        self.mark_changed(Lane::Archive, sql, values, false)?;
        Ok(Verdict::Restored)
    }

    /// Executes a statement that returns the ordinals of the changed rows, and marks them in the index.
    fn mark_changed(
        &self,
        lane: Lane,
        sql: &str,
        values: &[&dyn ToSql],
        is_gone: bool,
    ) -> Result<(), Failure> {
        let mut statement = self.connection.prepare_cached(sql)?;
        let ordinals: Vec<Option<u32>> = statement.query_map(values, |row| row.get(0))?;
        self.set_index_marks(lane, &ordinals, is_gone)
    }
}
