//! Location of a database, and the names of the files next to it.

use std::fmt;
use std::path::{Path, PathBuf};

/// Suffixes of the files that SQLite keeps next to a database.
pub(super) const JOURNAL_SUFFIXES: [&str; 3] = ["-wal", "-shm", "-journal"];

/// Location of a database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum DatabaseLocation {
    /// A database file.
    File(PathBuf),
    /// An in-memory database, gone when the store is dropped.
    Memory,
}

impl DatabaseLocation {
    /// Returns the path of the file; `:memory:` without one.
    pub(super) fn path(&self) -> PathBuf {
        match self {
            Self::File(path) => path.clone(),
            Self::Memory => PathBuf::from(":memory:"),
        }
    }
}

impl fmt::Display for DatabaseLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => write!(f, "sqlite {}", path.to_string_lossy()),
            Self::Memory => f.write_str("sqlite (memory)"),
        }
    }
}

/// Returns the path of the write-ahead log of the database at `path`.
pub(super) fn wal_path(path: &Path) -> PathBuf {
    with_suffix(path, "-wal")
}

/// Returns the path of the shared-memory file of the database at `path`.
pub(super) fn shm_path(path: &Path) -> PathBuf {
    with_suffix(path, "-shm")
}

/// Appends `end` to the path of a database.
pub(super) fn with_suffix(database: &Path, end: &str) -> PathBuf {
    let mut name = database.as_os_str().to_owned();
    name.push(end);
    PathBuf::from(name)
}
