//! What can go wrong in a store.

use heirloom_model::{ErrorKind, Fault, RecordId, Trouble};
use std::path::PathBuf;

/// Why a store did not do what it was asked. When a write returns one, nothing of it took effect.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// No record or session of that id in the project.
    #[error("no {what} `{id}` in project `{project}`")]
    NotFound {
        /// `record` or `session`.
        what: &'static str,
        /// The id.
        id: String,
        /// The project that was searched.
        project: String,
    },
    /// The record is not in the state that the change needs.
    #[error("record {id} {problem}")]
    Stale {
        /// The record.
        id: RecordId,
        /// What is wrong: already retired, still current, its place is taken…
        problem: String,
    },
    /// Something is over its cap or is not well-formed.
    #[error("{0}")]
    Invalid(String),
    /// The database was written by a newer Heirloom.
    #[error("{path} has schema version {found}; this Heirloom knows versions up to {known}")]
    Newer {
        /// The database.
        path: PathBuf,
        /// Its version.
        found: u32,
        /// The newest version that this binary knows.
        known: u32,
    },
    /// Understood, and not allowed: it would destroy something.
    #[error("{0}")]
    Refused(String),
    /// Another file took the place of the open database.
    #[error("another file took the place of {0} while it was in use; nothing was written")]
    Replaced(PathBuf),
    /// There is no database where one was expected.
    #[error("no database at {0}")]
    Missing(PathBuf),
    /// The database cannot be read as one.
    #[error("{path} is damaged or is no Heirloom database: {problem}")]
    Damaged {
        /// The database.
        path: PathBuf,
        /// What was found.
        problem: String,
    },
    /// The file, or the file system that it is on, may only be read.
    #[error("{0} is read-only: nothing was written")]
    ReadOnly(PathBuf),
    /// A write did not reach the disk, and the system does not say more.
    #[error(
        "a write to {path} failed: the disk may be full, or a limit on file sizes was reached ({problem})"
    )]
    WriteFailed {
        /// The file.
        path: PathBuf,
        /// What was said.
        problem: String,
    },
    /// The disk is full.
    #[error("the disk is full: {0}")]
    DiskFull(String),
    /// Another process held the database for longer than the wait allows.
    #[error("another process held the database for over {waited_ms} ms")]
    Busy {
        /// How long this process waited.
        waited_ms: u64,
    },
    /// The operating system refused a file operation.
    #[error("{action} {path}: {source}")]
    Io {
        /// What was being done.
        action: &'static str,
        /// To which file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// A file of the store is a symbolic link: what it leads to is somebody else's.
    #[error("cannot {action} {path}: it is a symbolic link, and links are not followed")]
    Linked {
        /// What was being done.
        action: &'static str,
        /// The link.
        path: PathBuf,
    },
    /// Anything else that the database said.
    #[error("the database refused: {0}")]
    Backend(String),
}

impl From<StoreError> for Fault {
    fn from(error: StoreError) -> Self {
        let message = error.to_string();
        let (kind, hint) = match &error {
            StoreError::NotFound {
                what: "session", ..
            } => (
                ErrorKind::NotFound,
                Some(
                    "`heirloom export --all` names every session; `heirloom session add` begins one",
                ),
            ),
            StoreError::NotFound { .. } => (
                ErrorKind::NotFound,
                Some("`heirloom list` shows what there is"),
            ),
            StoreError::Stale { .. } => (
                ErrorKind::Failed,
                Some("`heirloom history ID` shows what became of it"),
            ),
            StoreError::Invalid(_) => (ErrorKind::Usage, None),
            StoreError::Newer { .. } => (
                ErrorKind::Failed,
                Some("install the newer Heirloom; the database was left untouched"),
            ),
            StoreError::Refused(_) => (
                ErrorKind::Refused,
                Some("name another file; nothing was changed"),
            ),
            StoreError::Replaced(_) => (
                ErrorKind::Failed,
                Some("try again: it is opened anew; `heirloom doctor` says what is there"),
            ),
            StoreError::Missing(_) => (ErrorKind::NotFound, Some("run `heirloom init` here")),
            StoreError::Damaged { .. } => (
                ErrorKind::Failed,
                Some(
                    "nothing was changed; `heirloom doctor` says what is wrong, `heirloom doctor --repair` recovers what can be read and keeps the damaged file, `heirloom restore FILE` goes back to a backup",
                ),
            ),
            StoreError::DiskFull(_) => (
                ErrorKind::Failed,
                Some("free some space and try again; nothing was half-written"),
            ),
            StoreError::WriteFailed { .. } => (
                ErrorKind::Failed,
                Some(
                    "free some space, or raise the limit (`ulimit -f`), and try again; nothing was half-written",
                ),
            ),
            StoreError::ReadOnly(_) => (
                ErrorKind::Failed,
                Some(
                    "reading works; to write, make the file and its folder writable for this user",
                ),
            ),
            StoreError::Busy { .. } => (
                ErrorKind::Failed,
                Some("see which process holds the database, then try again"),
            ),
            StoreError::Io { .. } => (
                ErrorKind::Failed,
                Some(
                    "check the path, its owner and its permissions; `heirloom doctor` looks closer",
                ),
            ),
            StoreError::Linked { .. } => (
                ErrorKind::Refused,
                Some("remove the link; what it leads to was not touched"),
            ),
            StoreError::Backend(_) => (ErrorKind::Failed, None),
        };
        let mut fault = Self::new(kind, message);
        fault.trouble = trouble(&error);
        match hint {
            Some(hint) => fault.hint(hint),
            None => fault,
        }
    }
}

/// Failures that pass, told apart.
fn trouble(error: &StoreError) -> Option<Trouble> {
    if matches!(
        error,
        StoreError::DiskFull(_) | StoreError::WriteFailed { .. }
    ) {
        return Some(Trouble::Full);
    }
    if matches!(error, StoreError::Busy { .. }) {
        return Some(Trouble::Busy);
    }
    matches!(error, StoreError::Stale { .. }).then_some(Trouble::Stale)
}
