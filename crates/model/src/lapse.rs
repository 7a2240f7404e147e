//! Times during which a record was not current although it is not retired any more.

use jiff::Timestamp;

/// From a record's retirement until it was brought back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Lapse {
    /// When it was retired.
    pub retired_at: Timestamp,
    /// When it came back; never before it was retired.
    pub restored_at: Timestamp,
}
