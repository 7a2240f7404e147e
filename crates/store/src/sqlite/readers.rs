//! More connections to a database, for questions that come while the first one is at work.
//!
//! A process of one thread never opens one.

use super::Place;
use super::connect::connect_reader;
use super::open::{Access, Opened};
use super::watch::{self, Identity};
use heirloom_model::limits::READERS_MAX;
use rusqlite::Connection;
use std::ops::Deref;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// The connections of one store that only read.
#[derive(Debug)]
pub(super) struct Readers {
    place: Place,
    /// The file that was opened: no reader is opened over another one.
    file: Identity,
    held: Mutex<Held>,
    given_back: Condvar,
}

#[derive(Debug, Default)]
struct Held {
    idle: Vec<Connection>,
    open: usize,
}

/// A connection while a question is asked.
pub(super) struct Reader<'a> {
    readers: &'a Readers,
    connection: Option<Connection>,
}

impl Readers {
    /// Those of a database that others may open too.
    pub(super) fn of(opened: &Opened) -> Option<Self> {
        let path = opened.look.as_ref()?.path();
        (opened.access == Access::Full).then(|| Self {
            place: opened.place.clone(),
            file: watch::identity(path),
            held: Mutex::default(),
            given_back: Condvar::new(),
        })
    }

    /// Where the database is, and the file that was opened.
    pub(super) fn place(&self) -> (&Place, Identity) {
        (&self.place, self.file)
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// One that nobody uses, waited for if there are as many as may be; none if no other one can be opened.
    pub(super) fn take(&self) -> Option<Reader<'_>> {
        let mut held = self.held();
        while held.idle.is_empty() && held.open >= READERS_MAX {
            let waited = self.given_back.wait(held);
            held = waited.unwrap_or_else(PoisonError::into_inner);
        }
        let connection = held.idle.pop().or_else(|| {
            let opened = self.open();
            held.open += usize::from(opened.is_some());
            opened
        })?;
        Some(Reader {
            readers: self,
            connection: Some(connection),
        })
    }

    fn open(&self) -> Option<Connection> {
        let is_same = || watch::identity(&self.place.path()) == self.file;
        // What is wrong is the first connection's to say: the question goes to it.
        let opened = is_same().then(|| connect_reader(&self.place).ok());
        opened.flatten().filter(|_| is_same())
    }
}

impl Deref for Reader<'_> {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        match &self.connection {
            Some(connection) => connection,
            None => unreachable!("taken in `drop` only"),
        }
    }
}

impl Drop for Reader<'_> {
    fn drop(&mut self) {
        let mut held = self.readers.held();
        held.idle.extend(self.connection.take());
        drop(held);
        self.readers.given_back.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::super::SqliteStore;
    use crate::Store;
    use heirloom_model::limits::READERS_MAX;
    use heirloom_model::{ProjectName, Timestamp};
    use std::sync::mpsc;
    use std::thread;

    #[test]
    fn questions_are_answered_while_the_first_connection_is_at_work() {
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
        let open = readers.held().open;
        assert!((1..=READERS_MAX).contains(&open), "{open}");
        drop(busy);
    }

    #[test]
    fn one_more_than_may_be_open_waits_for_another_to_end() {
        let folder = tempfile::tempdir().unwrap();
        let store = SqliteStore::create(&folder.path().join("x.db")).unwrap();
        let readers = store.readers.as_ref().unwrap();
        let mut taken: Vec<_> = (0..READERS_MAX).map_while(|_| readers.take()).collect();
        assert_eq!(taken.len(), READERS_MAX);
        let (said, heard) = mpsc::channel();
        thread::scope(|scope| {
            scope.spawn(move || said.send(readers.take().is_some()));
            assert!(heard.try_recv().is_err());
            taken.pop();
            assert!(heard.recv().unwrap());
        });
    }

    #[test]
    fn no_reader_is_opened_over_another_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.db");
        let store = SqliteStore::create(&path).unwrap();
        std::fs::rename(&path, folder.path().join("away.db")).unwrap();
        drop(SqliteStore::create(&path).unwrap());
        assert!(store.readers.as_ref().unwrap().take().is_none());
    }
}
