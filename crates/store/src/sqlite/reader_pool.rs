//! Pool of reading connections, for queries that come while the writing connection is busy.
//!
//! A single-threaded process never opens one.

use super::connection::{Access, connect_reader};
use super::database_files::file_identity::{FileIdentity, file_identity};
use super::database_location::DatabaseLocation;
use super::open::OpenedDatabase;
use heirloom_model::limits::READERS_MAX;
use rusqlite::Connection;
use std::ops::Deref;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Reading connections of one store.
#[derive(Debug)]
pub(super) struct ReaderPool {
    place: DatabaseLocation,
    /// Identity of the file that was opened: no reader opens another one.
    file: FileIdentity,
    pool: Mutex<PoolState>,
    returned: Condvar,
}

#[derive(Debug, Default)]
struct PoolState {
    idle: Vec<Connection>,
    open: usize,
}

/// Connection from the pool, returned to it on drop.
pub(super) struct PooledReader<'a> {
    readers: &'a ReaderPool,
    connection: Option<Connection>,
}

impl ReaderPool {
    /// Creates a pool for a database; `None` if no other connection may open it.
    pub(super) fn of(opened: &OpenedDatabase) -> Option<Self> {
        let path = opened.shm.as_ref()?.path();
        (opened.access == Access::Full).then(|| Self {
            place: opened.place.clone(),
            file: file_identity(path),
            pool: Mutex::default(),
            returned: Condvar::new(),
        })
    }

    /// Returns the location of the database and the identity of its file.
    pub(super) fn place(&self) -> (&DatabaseLocation, FileIdentity) {
        (&self.place, self.file)
    }

    fn pool(&self) -> MutexGuard<'_, PoolState> {
        self.pool.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes an idle connection, opens one, or waits if the maximum is open. `None` if the file cannot be opened.
    pub(super) fn acquire(&self) -> Option<PooledReader<'_>> {
        let mut pool = self.pool();
        while pool.idle.is_empty() && pool.open >= READERS_MAX {
            let waited = self.returned.wait(pool);
            pool = waited.unwrap_or_else(PoisonError::into_inner);
        }
        let connection = pool.idle.pop().or_else(|| {
            let opened = self.open();
            pool.open += usize::from(opened.is_some());
            opened
        })?;
        Some(PooledReader {
            readers: self,
            connection: Some(connection),
        })
    }

    fn open(&self) -> Option<Connection> {
        let is_same = || file_identity(&self.place.path()) == self.file;
        // Errors are left to the writing connection, which then runs the query.
        let opened = is_same().then(|| connect_reader(&self.place).ok());
        opened.flatten().filter(|_| is_same())
    }
}

impl Deref for PooledReader<'_> {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        match &self.connection {
            Some(connection) => connection,
            None => unreachable!("taken in `drop` only"),
        }
    }
}

impl Drop for PooledReader<'_> {
    fn drop(&mut self) {
        let mut pool = self.readers.pool();
        pool.idle.extend(self.connection.take());
        drop(pool);
        self.readers.returned.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use crate::Store;
    use crate::sqlite::SqliteStore;
    use heirloom_model::limits::READERS_MAX;
    use heirloom_model::{ProjectName, Timestamp};
    use std::sync::mpsc;
    use std::thread;

    #[test]
    fn queries_run_while_writing_connection_is_busy() {
        let folder = tempfile::tempdir().unwrap();
        let store = SqliteStore::create(&folder.path().join("x.db")).unwrap();
        let project = ProjectName::new("p").unwrap();
        let now = Timestamp::UNIX_EPOCH;
        let busy = store.lock();
        assert_eq!(store.counts(&project, now).unwrap(), []);
        thread::scope(|scope| {
            for _ in 0..READERS_MAX + 1 {
                scope.spawn(|| store.projects().unwrap());
            }
        });
        let readers = store.readers.as_ref().unwrap();
        let open = readers.pool().open;
        assert!((1..=READERS_MAX).contains(&open), "{open}");
        drop(busy);
    }

    #[test]
    fn full_pool_waits_for_returned_connection() {
        let folder = tempfile::tempdir().unwrap();
        let store = SqliteStore::create(&folder.path().join("x.db")).unwrap();
        let readers = store.readers.as_ref().unwrap();
        let mut guards: Vec<_> = (0..READERS_MAX).map_while(|_| readers.acquire()).collect();
        assert_eq!(guards.len(), READERS_MAX);
        let (sender, receiver) = mpsc::channel();
        thread::scope(|scope| {
            scope.spawn(move || sender.send(readers.acquire().is_some()));
            assert!(receiver.try_recv().is_err());
            guards.pop();
            assert!(receiver.recv().unwrap());
        });
    }

    #[test]
    fn replaced_file_opens_no_reader() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.db");
        let store = SqliteStore::create(&path).unwrap();
        std::fs::rename(&path, folder.path().join("away.db")).unwrap();
        drop(SqliteStore::create(&path).unwrap());
        assert!(store.readers.as_ref().unwrap().acquire().is_none());
    }
}
