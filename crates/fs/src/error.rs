//! Errors of file operations.

use heirloom_model::text::EscapedPath;
use heirloom_model::{ErrorKind, Fault, TransientCause};
use std::path::PathBuf;

/// Error of a file operation. A write that returns an error left the old content.
#[derive(Debug, thiserror::Error)]
pub enum FsError {
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
        /// Error text of the system.
        problem: String,
    },
    /// The disk is full.
    #[error("the disk is full: {0}")]
    DiskFull(String),
    /// The operating system refused the operation.
    #[error("{action} {}: {source}", .path.to_escaped())]
    Io {
        /// Operation that failed, as a verb.
        action: &'static str,
        /// Path of the file.
        path: PathBuf,
        /// Error of the operating system.
        source: std::io::Error,
    },
    /// The target is a symbolic link, which may lead to a file of someone else.
    #[error("cannot {action} {}: it is a symbolic link, and links are not followed", .path.to_escaped())]
    Linked {
        /// Operation that was refused, as a verb.
        action: &'static str,
        /// Path of the link.
        path: PathBuf,
    },
}

impl From<FsError> for Fault {
    fn from(error: FsError) -> Self {
        let (kind, hint) = match &error {
            FsError::DiskFull(_) => (
                ErrorKind::Failed,
                "free some space and try again; nothing was half-written",
            ),
            FsError::WriteFailed { .. } => (
                ErrorKind::Failed,
                "free some space, or raise the limit (`ulimit -f`), and try again; nothing was half-written",
            ),
            FsError::ReadOnly(_) => (
                ErrorKind::Failed,
                "reading works; to write, make the file and its folder writable for this user",
            ),
            FsError::Io { .. } => (
                ErrorKind::Failed,
                "check the path, its owner and its permissions; `heirloom doctor` looks closer",
            ),
            FsError::Linked { .. } => (
                ErrorKind::Refused,
                "remove the link; its target was not touched",
            ),
        };
        let mut fault = Self::new(kind, error.to_string());
        fault.transient_cause = matches!(error, FsError::DiskFull(_) | FsError::WriteFailed { .. })
            .then_some(TransientCause::DiskFull);
        fault.hint(hint)
    }
}
