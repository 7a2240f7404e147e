//! Limits of imports and of standard input.

use super::records::RECORD_TEXT_BYTES_MAX;

/// Maximum size of an import file, bytes.
pub const IMPORT_BYTES_MAX: u64 = 1 << 30;
/// Maximum size of a file of another tool that `init` probes on its own, bytes.
pub const INIT_PROBE_BYTES_MAX: u64 = 64 << 20;
/// Longest line of standard input that is read as one record, bytes: the longest text, escaped.
pub const STDIN_LINE_BYTES_MAX: usize = 4 * RECORD_TEXT_BYTES_MAX;
/// Longest turn of `session add`, bytes.
pub const SESSION_ADD_BYTES_MAX: usize = 16 << 20;
