//! Kinds of transactions.

/// Kind of a transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Isolation {
    /// Each statement reads the newest committed data. No transaction is begun.
    None,
    /// All statements read the same snapshot.
    Snapshot,
    /// Statements write, and each reads the newest committed data.
    Write,
}

impl Isolation {
    /// Returns the statement that begins the transaction; `None` without a transaction.
    pub(super) fn begin(self) -> Option<&'static str> {
        match self {
            Self::None => None,
            Self::Snapshot => Some("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"),
            Self::Write => Some("BEGIN ISOLATION LEVEL READ COMMITTED"),
        }
    }
}
