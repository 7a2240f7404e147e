//! Bringing an older database up to date, as it is told to whoever waits for it.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

/// One moment of bringing an older database up to date.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Upgrade {
    /// It begins.
    Begun {
        /// The version of the schema that was found.
        from: u32,
        /// The version that it will have.
        to: u32,
    },
    /// The database as it was is kept in this file.
    Copied(PathBuf),
    /// So many of all texts that are not in the index yet have been read.
    Indexed {
        /// Texts that were read.
        done: u64,
        /// Texts to read.
        total: u64,
    },
    /// It is done and durable.
    Ended {
        /// Texts that are in the index now and were not before.
        texts: u64,
    },
    /// It failed: the database is as it was, and the copy is gone.
    Failed,
}

/// Gets every moment, in order, in the thread that opens the database.
#[derive(Clone)]
pub struct Teller(Arc<dyn Fn(&Upgrade) + Send + Sync>);

impl Teller {
    /// One that calls `tell`, which must not use the database.
    pub fn new(tell: impl Fn(&Upgrade) + Send + Sync + 'static) -> Self {
        Self(Arc::new(tell))
    }

    /// One that tells nobody.
    pub fn silent() -> Self {
        Self::new(|_| {})
    }

    pub(crate) fn tell(&self, upgrade: &Upgrade) {
        (self.0)(upgrade);
    }
}

impl fmt::Debug for Teller {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Teller")
    }
}
