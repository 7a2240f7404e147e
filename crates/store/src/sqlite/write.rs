//! How a store writes: in one transaction, alone or with what other threads want.

use super::carrier::{self, Carrier};
use super::failure::Failure;
use super::open::Access;
use super::{SqliteStore, apply, connect, index, queue};
use crate::{Applied, Change, StoreError};
use heirloom_model::ProjectName;
use rusqlite::{Connection, TransactionBehavior};

impl SqliteStore {
    /// As [`SqliteStore::write`], but power that fails may take the write back, whole: nothing is synced, neither now
    /// nor when the store is closed, where nothing else was written.
    pub(super) fn write_without_sync<T>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T, Failure>,
    ) -> Result<T, StoreError> {
        if self.access == Access::ReadOnly {
            return Err(StoreError::ReadOnly(self.place.path()));
        }
        let mut connection = self.lock();
        let done = connect::unsynced(&mut connection, |connection| {
            self.transact(connection, work)
        });
        done.map_err(|failure| self.error(failure))
    }

    /// Carries `work` out in one transaction, which takes the write lock before it reads anything: a
    /// transaction that began as a reader could not wait for another writer, only fail.
    pub(super) fn write<T>(
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
        let done = connect::fold_on_close(connection).and_then(|()| {
            let done = self.transact(connection, work)?;
            if self.leaves_journal {
                connect::leave_short_journal(connection)?;
            }
            Ok(done)
        });
        done.map_err(|failure| self.error(failure))
    }

    /// Writes `changes` as one durable step; those of threads that come at the same time share its sync.
    pub(super) fn apply_together(
        &self,
        project: &ProjectName,
        changes: &[Change],
    ) -> Result<Vec<Applied>, StoreError> {
        if self.access == Access::ReadOnly {
            return Err(StoreError::ReadOnly(self.place.path()));
        }
        if self.queue.is_idle()
            && let Some(mut connection) = self.try_lock()
        {
            return self.write_texts_with(&mut connection, project, |connection| {
                apply::apply(connection, project, changes)
            });
        }
        self.queue.pass(project, changes, |waiting| {
            self.apply_all(&mut self.lock(), waiting);
        })
    }

    /// Writes what several threads want in one transaction, each whole or not at all; one by one if that fails.
    fn apply_all(&self, connection: &mut Connection, waiting: &[queue::Ticket]) {
        if waiting.len() > 1 {
            let done = self.write_with(connection, |connection| {
                let each = waiting.iter().map(|ticket| {
                    queue::in_savepoint(connection, |connection| {
                        apply::apply(connection, &ticket.project, &ticket.changes)
                    })
                });
                each.collect::<Result<Vec<_>, _>>()
            });
            if let Ok(answers) = done {
                for (ticket, answer) in waiting.iter().zip(answers) {
                    ticket.answer(answer.map_err(|failure| self.error(failure)));
                }
                self.put_off(connection);
                return;
            }
        }
        for ticket in waiting {
            let answer = self.write_texts_with(connection, &ticket.project, |connection| {
                apply::apply(connection, &ticket.project, &ticket.changes)
            });
            ticket.answer(answer);
        }
    }

    /// As [`SqliteStore::write`], of what the index gets a text of; merges it where nobody else does.
    pub(super) fn write_texts<T>(
        &self,
        project: &ProjectName,
        work: impl FnOnce(&Connection) -> Result<T, Failure>,
    ) -> Result<T, StoreError> {
        if self.access == Access::ReadOnly {
            return Err(StoreError::ReadOnly(self.place.path()));
        }
        self.write_texts_with(&mut self.lock(), project, work)
    }

    fn write_texts_with<T>(
        &self,
        connection: &mut Connection,
        project: &ProjectName,
        work: impl FnOnce(&Connection) -> Result<T, Failure>,
    ) -> Result<T, StoreError> {
        let carrier = self.carrier.get().and_then(Option::as_ref);
        let done = self.write_with(connection, |connection| {
            let done = work(connection)?;
            if carrier.is_none() {
                index::settle(connection, project)?;
            }
            Ok(done)
        })?;
        if let Some(carrier) = carrier {
            tell(carrier, connection);
        }
        Ok(done)
    }

    /// Leaves it to another thread to carry the journal over and to merge what the index got: those who write at once
    /// would all wait for it.
    fn put_off(&self, connection: &Connection) {
        let start = || {
            let place = self.readers.as_ref()?.place();
            let carrier = Carrier::start(place.0, place.1)?;
            let pages = carrier::PAGES_LEFT_TO_IT;
            let told = connection.pragma_update(None, "wal_autocheckpoint", pages);
            told.is_ok().then_some(carrier)
        };
        if let Some(carrier) = self.carrier.get_or_init(start) {
            tell(carrier, connection);
        }
    }

    fn transact<T>(
        &self,
        connection: &mut Connection,
        work: impl FnOnce(&Connection) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let done = work(&transaction)?;
        // With the lock in hand: whoever replaces the file holds it meanwhile.
        if let Some(watch) = &self.watch {
            watch.check()?;
        }
        transaction.commit()?;
        if let Some(watch) = &self.watch {
            watch.remember_length();
        }
        Ok(done)
    }
}

/// Something was written, which another thread goes on with.
fn tell(carrier: &Carrier, connection: &Connection) {
    if carrier.wrote() {
        // Whatever a reader still needs stays where it is, for the next time.
        drop(connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(())));
    }
}
