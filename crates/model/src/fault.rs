//! What an error is for its three readers: a kind for the code, a message and a hint for the person.

use std::fmt;

/// What code may branch on; each kind has one exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ErrorKind {
    /// Something went wrong that is nobody's usage error: I/O, a damaged store, a child that failed.
    Failed,
    /// The caller said something that cannot be understood.
    Usage,
    /// What was named does not exist.
    NotFound,
    /// Understood, and not allowed: policy, trust, role, memory switched off.
    Refused,
    /// A person or a signal ended it.
    Interrupted,
}

impl ErrorKind {
    /// The process exit code of this kind.
    pub fn exit_code(self) -> u8 {
        match self {
            Self::Failed => 1,
            Self::Usage => 2,
            Self::NotFound => 3,
            Self::Refused => 4,
            Self::Interrupted => 130,
        }
    }

    /// Its name in JSON.
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

/// Failures that pass, or that whoever asked can mend: what a server tells apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Trouble {
    /// There is no room on the disk.
    Full,
    /// Somebody else holds what is needed, for too long.
    Busy,
    /// It has changed meanwhile.
    Stale,
}

/// An error folded for a surface: kind, message, and what to do next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// What code may branch on.
    pub kind: ErrorKind,
    /// What went wrong, and where.
    pub message: String,
    /// What to do next, if there is something.
    pub hint: Option<String>,
    /// Which trouble a failure is, where that is known.
    pub trouble: Option<Trouble>,
}

impl Fault {
    /// A fault without a hint.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            hint: None,
            trouble: None,
        }
    }

    /// A failure of ours or of the machine.
    pub fn failed(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Failed, message)
    }

    /// A wrong use.
    pub fn usage(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Usage, message)
    }

    /// Something that is not there.
    pub fn not_found(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::NotFound, message)
    }

    /// Something that is not allowed.
    pub fn refused(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Refused, message)
    }

    /// The same fault with the trouble that it is.
    #[must_use]
    pub fn trouble(mut self, trouble: Trouble) -> Self {
        self.trouble = Some(trouble);
        self
    }

    /// The same fault with what to do next.
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
