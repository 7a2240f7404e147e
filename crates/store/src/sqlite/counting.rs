//! How far an index is that is being built: the rows that get their ordinal, as SQLite tells them.

use super::failure::Failure;
use crate::upgrade::{Teller, Upgrade};
use rusqlite::Connection;
use rusqlite::hooks::Action;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Texts between two moments that are told.
const TOLD_EVERY: u64 = 32;
/// The tables whose rows get an ordinal.
const INDEXED: [&str; 2] = ["records", "messages"];

/// Counts the texts that a connection indexes.
#[derive(Debug, Clone)]
pub(super) struct Counting {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    teller: Teller,
    /// None are counted while this is 0.
    total: AtomicU64,
    done: AtomicU64,
}

impl Counting {
    /// Watches `connection`; nothing is counted before [`Counting::begin`].
    ///
    /// SQLite tells of each row that changes, so that whoever builds the index need not know who waits.
    pub(super) fn over(connection: &mut Connection, teller: &Teller) -> Result<Self, Failure> {
        let counting = Self {
            shared: Arc::new(Shared {
                teller: teller.clone(),
                total: AtomicU64::new(0),
                done: AtomicU64::new(0),
            }),
        };
        let shared = Arc::clone(&counting.shared);
        connection.update_hook(Some(move |action: Action, _: &str, table: &str, _: i64| {
            if action == Action::SQLITE_UPDATE && INDEXED.contains(&table) {
                shared.count();
            }
        }))?;
        Ok(counting)
    }

    /// Begins to count what is not in the index yet.
    pub(super) fn begin(&self, connection: &Connection) -> Result<(), Failure> {
        let sql = "SELECT (SELECT count(*) FROM records WHERE ordinal IS NULL) \
             + (SELECT count(*) FROM messages WHERE ordinal IS NULL)";
        let total: u64 = connection.query_row(sql, [], |row| row.get(0))?;
        self.shared.total.store(total, Ordering::Relaxed);
        if total > 0 {
            self.shared.tell(0);
        }
        Ok(())
    }

    /// How many were to be indexed.
    pub(super) fn total(&self) -> u64 {
        self.shared.total.load(Ordering::Relaxed)
    }

    /// Watches no longer.
    pub(super) fn end(connection: &mut Connection) -> Result<(), Failure> {
        Ok(connection.update_hook(None::<fn(Action, &str, &str, i64)>)?)
    }
}

impl Shared {
    fn count(&self) {
        let total = self.total.load(Ordering::Relaxed);
        if total == 0 {
            return;
        }
        let done = self.done.fetch_add(1, Ordering::Relaxed) + 1;
        if done.is_multiple_of(TOLD_EVERY) || done == total {
            self.tell(done.min(total));
        }
    }

    fn tell(&self, done: u64) {
        let total = self.total.load(Ordering::Relaxed);
        self.teller.tell(&Upgrade::Indexed { done, total });
    }
}
