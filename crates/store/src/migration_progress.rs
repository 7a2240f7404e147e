//! Progress reports of a schema migration.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

/// Progress event of a schema migration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MigrationEvent {
    /// The migration started.
    Started {
        /// Schema version that was found.
        from: u32,
        /// Schema version after the migration.
        to: u32,
    },
    /// The database was backed up to this file.
    BackedUp(PathBuf),
    /// Progress of indexing the texts that are not in the index yet.
    Indexed {
        /// Number of texts that were indexed.
        done: u64,
        /// Number of texts to index.
        total: u64,
    },
    /// The migration finished and is durable.
    Finished {
        /// Number of texts that the migration added to the index.
        texts: u64,
    },
    /// The migration failed: the database is unchanged and the backup was removed.
    Failed,
}

/// Callback for [`MigrationEvent`]s, called in order on the thread that opens the database.
#[derive(Clone)]
pub struct ProgressSink(Arc<dyn Fn(&MigrationEvent) + Send + Sync>);

impl ProgressSink {
    /// Creates a sink that calls `report`, which must not use the database.
    pub fn new(tell: impl Fn(&MigrationEvent) + Send + Sync + 'static) -> Self {
        Self(Arc::new(tell))
    }

    /// Creates a sink that ignores all events.
    pub fn silent() -> Self {
        Self::new(|_| {})
    }

    pub(crate) fn report(&self, upgrade: &MigrationEvent) {
        (self.0)(upgrade);
    }
}

impl fmt::Debug for ProgressSink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ProgressSink")
    }
}
