//! Write transactions: single, unsynced, and grouped with those of other threads.

use super::maintenance::{self, MaintenanceThread};
use crate::relational::index;
use crate::relational::write::apply;
use crate::relational::write::group_commit::CommitTicket;
use crate::sql::failure::Failure;
use crate::sqlite::connection::Access;
use crate::sqlite::{SqliteStore, connection, schema_version};
use crate::{AppliedChange, Change, StoreError};
use heirloom_model::ProjectName;
use rusqlite::{Connection, TransactionBehavior};

impl SqliteStore {
    /// Writes as [`SqliteStore::write`] does but without a sync, now and on close, unless something else is written:
    /// a power failure may lose the whole write.
    pub(in crate::sqlite) fn write_without_sync<T>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T, Failure>,
    ) -> Result<T, StoreError> {
        if self.access == Access::ReadOnly {
            return Err(StoreError::ReadOnly(self.place.path()));
        }
        let mut connection = self.lock();
        let done = connection::without_sync(&mut connection, |connection| {
            self.transact(connection, work)
        });
        done.map_err(|failure| self.error(failure))
    }

    /// Runs `work` in one immediate transaction, which takes the write lock before it reads: a transaction that
    /// begins as a reader could not wait for another writer, only fail.
    pub(in crate::sqlite) fn write<T>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T, Failure>,
    ) -> Result<T, StoreError> {
        if self.access == Access::ReadOnly {
            return Err(StoreError::ReadOnly(self.place.path()));
        }
        self.write_with(&mut self.lock(), work)
    }

    fn write_with<T>(
        &self,
        connection: &mut Connection,
        work: impl FnOnce(&Connection) -> Result<T, Failure>,
    ) -> Result<T, StoreError> {
        let done = connection::checkpoint_on_close(connection).and_then(|()| {
            let done = self.transact(connection, work)?;
            if self.is_short_lived {
                connection::skip_close_checkpoint_if_short(connection)?;
            }
            Ok(done)
        });
        done.map_err(|failure| self.error(failure))
    }

    /// Applies `changes` as one durable write. Concurrent calls share one sync (group commit).
    pub(in crate::sqlite) fn apply_grouped(
        &self,
        project: &ProjectName,
        changes: &[Change],
    ) -> Result<Vec<AppliedChange>, StoreError> {
        if self.access == Access::ReadOnly {
            return Err(StoreError::ReadOnly(self.place.path()));
        }
        if self.commit_queue.is_idle()
            && let Some(mut connection) = self.try_lock()
        {
            return self.write_indexed_with(&mut connection, project, |connection| {
                apply::apply(connection.into(), project, changes)
            });
        }
        self.commit_queue.submit(project, changes, |waiting| {
            self.commit_group(&mut self.lock(), waiting);
        })
    }

    /// Applies the changes of several threads in one transaction with a savepoint each; one by one if the transaction
    /// fails.
    fn commit_group(&self, connection: &mut Connection, waiting: &[CommitTicket]) {
        if waiting.len() > 1 {
            let done = self.write_with(connection, |connection| {
                let each = waiting.iter().map(|ticket| {
                    in_savepoint(connection, |connection| {
                        apply::apply(connection.into(), &ticket.project, &ticket.changes)
                    })
                });
                each.collect::<Result<Vec<_>, _>>()
            });
            if let Ok(results) = done {
                for (ticket, result) in waiting.iter().zip(results) {
                    ticket.complete(result.map_err(|failure| self.error(failure)));
                }
                self.defer_maintenance(connection);
                return;
            }
        }
        for ticket in waiting {
            let result = self.write_indexed_with(connection, &ticket.project, |connection| {
                apply::apply(connection.into(), &ticket.project, &ticket.changes)
            });
            ticket.complete(result);
        }
    }

    /// Writes as [`SqliteStore::write`] does and merges the index afterwards, unless the maintenance thread does
    /// that. For writes that add texts to the index.
    pub(in crate::sqlite) fn write_indexed<T>(
        &self,
        project: &ProjectName,
        work: impl FnOnce(&Connection) -> Result<T, Failure>,
    ) -> Result<T, StoreError> {
        if self.access == Access::ReadOnly {
            return Err(StoreError::ReadOnly(self.place.path()));
        }
        self.write_indexed_with(&mut self.lock(), project, work)
    }

    fn write_indexed_with<T>(
        &self,
        connection: &mut Connection,
        project: &ProjectName,
        work: impl FnOnce(&Connection) -> Result<T, Failure>,
    ) -> Result<T, StoreError> {
        let maintenance = self.maintenance.get().and_then(Option::as_ref);
        let done = self.write_with(connection, |connection| {
            let done = work(connection)?;
            if maintenance.is_none() {
                index::merge_if_due(connection.into(), project)?;
            }
            Ok(done)
        })?;
        if let Some(maintenance) = maintenance {
            notify_maintenance(maintenance, connection);
        }
        Ok(done)
    }

    /// Defers checkpoints and index merges to the maintenance thread: all concurrent writers would wait for them.
    fn defer_maintenance(&self, connection: &Connection) {
        let start = || {
            let place = self.readers.as_ref()?.place();
            let maintenance = MaintenanceThread::start(place.0, place.1)?;
            let pages = maintenance::WRITER_CHECKPOINT_PAGES;
            let is_set = connection.pragma_update(None, "wal_autocheckpoint", pages);
            is_set.is_ok().then_some(maintenance)
        };
        if let Some(maintenance) = self.maintenance.get_or_init(start) {
            notify_maintenance(maintenance, connection);
        }
    }

    fn transact<T>(
        &self,
        connection: &mut Connection,
        work: impl FnOnce(&Connection) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        // A newer program may have migrated the database since it was opened.
        schema_version::refuse_newer(&transaction, &self.place)?;
        let done = work(&transaction)?;
        // While holding the write lock, because a process that replaces the file holds it meanwhile.
        if let Some(guard) = &self.file_guard {
            guard.check()?;
        }
        transaction.commit()?;
        if let Some(guard) = &self.file_guard {
            guard.remember_length();
        }
        Ok(done)
    }
}

/// Notifies the maintenance thread of a write, and restarts the write-ahead log if that is due.
fn notify_maintenance(maintenance: &MaintenanceThread, connection: &Connection) {
    if maintenance.notify_write() {
        // Pages that a reader still needs stay in the log until the next time.
        drop(connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(())));
    }
}

/// Runs `work` in a savepoint, so that its failure reverts only its own changes.
///
/// Errors: the enclosing transaction was rolled back.
fn in_savepoint<T>(
    connection: &Connection,
    work: impl FnOnce(&Connection) -> Result<T, Failure>,
) -> Result<Result<T, Failure>, Failure> {
    connection.prepare_cached("SAVEPOINT one")?.execute([])?;
    let done = work(connection);
    if done.is_err() {
        if connection.is_autocommit() {
            return done.map(Ok);
        }
        (connection.prepare_cached("ROLLBACK TO one")?).execute([])?;
    }
    connection.prepare_cached("RELEASE one")?.execute([])?;
    Ok(done)
}
