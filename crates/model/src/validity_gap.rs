//! Validity gaps: past times in which a record was not current although it is current now.

use jiff::Timestamp;

/// Time span from a record's retirement to its restoration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ValidityGap {
    /// Time of the retirement.
    pub retired_at: Timestamp,
    /// Time of the restoration; never before the retirement.
    pub restored_at: Timestamp,
}
