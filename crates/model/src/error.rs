//! Errors as surfaces report them: a kind with its exit code for programs, a message and a hint for people.

use std::fmt;

/// Kind of an error, for programs to branch on; each kind has one exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ErrorKind {
    /// A failure that is not the caller's mistake: I/O, a damaged store, a failed child process.
    Failed,
    /// The request is malformed.
    Usage,
    /// The named object does not exist.
    NotFound,
    /// Valid but not allowed: policy, trust, role, memory switched off.
    Refused,
    /// Interrupted by a person or a signal.
    Interrupted,
}

impl ErrorKind {
    /// Returns the process exit code of this kind.
    pub fn exit_code(self) -> u8 {
        match self {
            Self::Failed => 1,
            Self::Usage => 2,
            Self::NotFound => 3,
            Self::Refused => 4,
            Self::Interrupted => 130,
        }
    }

    /// Returns the name in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Failed => "failed",
            Self::Usage => "usage",
            Self::NotFound => "not_found",
            Self::Refused => "refused",
            Self::Interrupted => "interrupted",
        }
    }
}

/// Cause of a failure that is temporary or that the caller can correct; the server maps it to a status.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TransientCause {
    /// The disk is full.
    DiskFull,
    /// Another process held a lock for too long.
    Busy,
    /// The object changed since it was read.
    Stale,
    /// The database server cannot be used at the moment.
    Unavailable,
}

/// An error for a surface: kind, message, and what to do next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// Kind of the error.
    pub kind: ErrorKind,
    /// Failed operation and its object.
    pub message: String,
    /// Next step for the person, if known.
    pub hint: Option<String>,
    /// Transient cause of a failure, if known.
    pub transient_cause: Option<TransientCause>,
}

impl Fault {
    /// Creates a fault without a hint.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            hint: None,
            transient_cause: None,
        }
    }

    /// Creates a fault of kind `Failed`.
    pub fn failed(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Failed, message)
    }

    /// Creates a fault of kind `Usage`.
    pub fn usage(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Usage, message)
    }

    /// Creates a fault of kind `NotFound`.
    pub fn not_found(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::NotFound, message)
    }

    /// Creates a fault of kind `Refused`.
    pub fn refused(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Refused, message)
    }

    /// Adds the transient cause.
    #[must_use]
    pub fn with_cause(mut self, trouble: TransientCause) -> Self {
        self.transient_cause = Some(trouble);
        self
    }

    /// Adds a hint: what to do next.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Fault {}
