//! Limits of receipts of contexts.

/// Longest excerpt of an item in a receipt, characters.
pub const RECEIPT_EXCERPT_CHARS_MAX: usize = 80;
/// Number of context receipts that a project keeps.
pub const RECEIPTS_KEPT: usize = 200;
/// Number of omitted items per section that a stored receipt lists; further ones are counted.
pub const RECEIPT_LEFT_OUT_MAX: usize = 20;
/// Maximum size of the texts that a stored receipt keeps, bytes; longer ones are not kept.
pub const RECEIPT_TEXT_BYTES_MAX: usize = 128 << 10;
/// Busy timeout for storing a receipt, milliseconds: it must not delay a prompt.
pub const RECEIPT_WAIT_MS: u64 = 200;
/// Maximum size of a stored receipt, bytes.
pub const RECEIPT_BYTES_MAX: usize = 4 << 20;
