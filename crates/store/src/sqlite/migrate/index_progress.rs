//! Progress of building an index, counted by SQLite's update hook: one update of an ordinal for each text.

use crate::migration_progress::{MigrationEvent, ProgressSink};
use crate::sql::failure::Failure;
use rusqlite::Connection;
use rusqlite::hooks::Action;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Number of texts between two progress reports.
const REPORT_EVERY: u64 = 32;
/// Tables whose rows get an ordinal.
const INDEXED: [&str; 2] = ["records", "messages"];

/// Counter of the texts that a connection indexes.
#[derive(Debug, Clone)]
pub(super) struct IndexProgress {
    shared: Arc<ProgressState>,
}

#[derive(Debug)]
struct ProgressState {
    sink: ProgressSink,
    /// Number of texts to index; updates are not counted while it is 0.
    total: AtomicU64,
    done: AtomicU64,
}

impl IndexProgress {
    /// Installs the counter on `connection`; nothing is counted before [`IndexProgress::start`].
    ///
    /// SQLite calls the hook for each changed row, so that the code that builds the index does not depend on progress
    /// reports.
    pub(super) fn attach(
        connection: &mut Connection,
        sink: &ProgressSink,
    ) -> Result<Self, Failure> {
        let counting = Self {
            shared: Arc::new(ProgressState {
                sink: sink.clone(),
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

    /// Starts counting the texts that are not in the index yet.
    pub(super) fn start(&self, connection: &Connection) -> Result<(), Failure> {
        let sql = "SELECT (SELECT count(*) FROM records WHERE ordinal IS NULL) \
             + (SELECT count(*) FROM messages WHERE ordinal IS NULL)";
        let total: u64 = connection.query_row(sql, [], |row| row.get(0))?;
        self.shared.total.store(total, Ordering::Relaxed);
        if total > 0 {
            self.shared.report(0);
        }
        Ok(())
    }

    /// Returns the number of texts to index.
    pub(super) fn total(&self) -> u64 {
        self.shared.total.load(Ordering::Relaxed)
    }

    /// Removes the counter from the connection.
    pub(super) fn detach(connection: &mut Connection) -> Result<(), Failure> {
        Ok(connection.update_hook(None::<fn(Action, &str, &str, i64)>)?)
    }
}

impl ProgressState {
    fn count(&self) {
        let total = self.total.load(Ordering::Relaxed);
        if total == 0 {
            return;
        }
        let done = self.done.fetch_add(1, Ordering::Relaxed) + 1;
        if done.is_multiple_of(REPORT_EVERY) || done == total {
            self.report(done.min(total));
        }
    }

    fn report(&self, done: u64) {
        let total = self.total.load(Ordering::Relaxed);
        self.sink.report(&MigrationEvent::Indexed { done, total });
    }
}
