//! Errors of a store.

use heirloom_fs::FsError;
use heirloom_model::text::EscapedPath;
use heirloom_model::{ErrorKind, Fault, RecordId, TransientCause};
use std::path::PathBuf;

/// Error of a store operation. A write that returns an error had no effect.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// No record or session of that id exists in the project.
    #[error("no {what} `{id}` in project `{project}`")]
    NotFound {
        /// `record` or `session`.
        what: &'static str,
        /// Id that was requested.
        id: String,
        /// Project that was searched.
        project: String,
    },
    /// The record is not in the state that the change needs.
    #[error("record {id} {problem}")]
    Stale {
        /// Id of the record.
        id: RecordId,
        /// Reason: already retired, still current, identity taken…
        problem: String,
    },
    /// A value exceeds its cap or is not well-formed.
    #[error("{0}")]
    Invalid(String),
    /// The database was written by a newer Heirloom.
    #[error("{} has schema version {found}; this Heirloom knows versions up to {known}", .path.to_escaped())]
    Newer {
        /// Path of the database.
        path: PathBuf,
        /// Schema version of the database.
        found: u32,
        /// Newest schema version that this binary supports.
        known: u32,
    },
    /// The operation is valid but refused, because it would destroy data.
    #[error("{0}")]
    Refused(String),
    /// Another file replaced the open database.
    #[error("another file took the place of {} while it was in use; nothing was written", .0.to_escaped())]
    Replaced(PathBuf),
    /// No database exists at this path.
    #[error("no database at {}", .0.to_escaped())]
    Missing(PathBuf),
    /// The file is damaged or is not a Heirloom database.
    #[error("{} is damaged or is not a Heirloom database: {problem}", .path.to_escaped())]
    Damaged {
        /// Path of the database.
        path: PathBuf,
        /// Damage that was found.
        problem: String,
    },
    /// The file or its file system is read-only.
    #[error("{} is read-only: nothing was written", .0.to_escaped())]
    ReadOnly(PathBuf),
    /// A write did not reach the disk, and the system did not give a more specific error.
    #[error(
        "a write to {} failed: the disk may be full, or a limit on file sizes was reached ({problem})",
        .path.to_escaped()
    )]
    WriteFailed {
        /// Path of the file.
        path: PathBuf,
        /// Error text of SQLite or the system.
        problem: String,
    },
    /// The disk is full.
    #[error("the disk is full: {0}")]
    DiskFull(String),
    /// Another process held the database for longer than the busy timeout.
    #[error("another process held the database for over {waited_ms} ms")]
    Busy {
        /// Time that this process waited, milliseconds.
        waited_ms: u64,
    },
    /// The operating system refused a file operation.
    #[error("{action} {}: {source}", .path.to_escaped())]
    Io {
        /// Operation that failed, as a verb.
        action: &'static str,
        /// Path of the file.
        path: PathBuf,
        /// Error of the operating system.
        source: std::io::Error,
    },
    /// A file of the store is a symbolic link, and its target may belong to someone else.
    #[error("cannot {action} {}: it is a symbolic link, and links are not followed", .path.to_escaped())]
    Linked {
        /// Operation that was refused, as a verb.
        action: &'static str,
        /// Path of the link.
        path: PathBuf,
    },
    /// The database server refused an operation or cannot be reached.
    #[error("the database at {server}: {problem}")]
    Server {
        /// Host, port and name of the database.
        server: String,
        /// Error text of the server or of the connection.
        problem: String,
        /// Next step for the person.
        hint: &'static str,
        /// True if the operation may succeed later.
        is_transient: bool,
    },
    /// Any other error of the database.
    #[error("database error: {0}")]
    Backend(String),
}

impl From<FsError> for StoreError {
    fn from(error: FsError) -> Self {
        match error {
            FsError::ReadOnly(path) => Self::ReadOnly(path),
            FsError::WriteFailed { path, problem } => Self::WriteFailed { path, problem },
            FsError::DiskFull(problem) => Self::DiskFull(problem),
            FsError::Io {
                action,
                path,
                source,
            } => Self::Io {
                action,
                path,
                source,
            },
            FsError::Linked { action, path } => Self::Linked { action, path },
        }
    }
}

impl StoreError {
    /// Returns the error of the file operation that failed, or the error itself if it has another cause.
    fn into_fs_error(self) -> Result<FsError, Self> {
        match self {
            Self::ReadOnly(path) => Ok(FsError::ReadOnly(path)),
            Self::WriteFailed { path, problem } => Ok(FsError::WriteFailed { path, problem }),
            Self::DiskFull(problem) => Ok(FsError::DiskFull(problem)),
            Self::Io {
                action,
                path,
                source,
            } => Ok(FsError::Io {
                action,
                path,
                source,
            }),
            Self::Linked { action, path } => Ok(FsError::Linked { action, path }),
            other @ (Self::NotFound { .. }
            | Self::Stale { .. }
            | Self::Invalid(_)
            | Self::Newer { .. }
            | Self::Refused(_)
            | Self::Replaced(_)
            | Self::Missing(_)
            | Self::Damaged { .. }
            | Self::Busy { .. }
            | Self::Server { .. }
            | Self::Backend(_)) => Err(other),
        }
    }
}

impl From<StoreError> for Fault {
    fn from(error: StoreError) -> Self {
        let error = match error.into_fs_error() {
            Ok(error) => return error.into(),
            Err(error) => error,
        };
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
                Some("`heirloom list` shows the records"),
            ),
            StoreError::Stale { .. } => (
                ErrorKind::Failed,
                Some("`heirloom history ID` shows its present state"),
            ),
            StoreError::Invalid(_) => (ErrorKind::Usage, None),
            StoreError::Newer { .. } => (
                ErrorKind::Failed,
                Some("install the newer Heirloom; the database was left untouched"),
            ),
            StoreError::Refused(_) => (
                ErrorKind::Refused,
                Some("nothing was changed; choose another file or another name"),
            ),
            StoreError::Replaced(_) => (
                ErrorKind::Failed,
                Some("try again: the new file is opened then; `heirloom doctor` checks it"),
            ),
            StoreError::Missing(_) => (ErrorKind::NotFound, Some("run `heirloom init` here")),
            StoreError::Damaged { .. } => (
                ErrorKind::Failed,
                Some(
                    "nothing was changed; `heirloom doctor` lists the damage, `heirloom doctor --repair` recovers the readable rows and retains the damaged file, `heirloom restore FILE` goes back to a backup",
                ),
            ),
            StoreError::Busy { .. } => (
                ErrorKind::Failed,
                Some("see which process holds the database, then try again"),
            ),
            StoreError::Server { hint, .. } => (ErrorKind::Failed, Some(*hint)),
            StoreError::Backend(_)
            | StoreError::ReadOnly(_)
            | StoreError::WriteFailed { .. }
            | StoreError::DiskFull(_)
            | StoreError::Io { .. }
            | StoreError::Linked { .. } => (ErrorKind::Failed, None),
        };
        let mut fault = Self::new(kind, message);
        fault.transient_cause = transient_cause(&error);
        match hint {
            Some(hint) => fault.hint(hint),
            None => fault,
        }
    }
}

/// Returns the cause of a transient failure, which may succeed on retry.
fn transient_cause(error: &StoreError) -> Option<TransientCause> {
    if matches!(error, StoreError::Busy { .. }) {
        return Some(TransientCause::Busy);
    }
    if let StoreError::Server { is_transient, .. } = error {
        return is_transient.then_some(TransientCause::Unavailable);
    }
    matches!(error, StoreError::Stale { .. }).then_some(TransientCause::Stale)
}
