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
/// Largest database of another program that an import reads, bytes, its write-ahead log included.
pub const FOREIGN_DATABASE_BYTES_MAX: u64 = 512 << 20;
/// Maximum number of rows that an import reads from a database of another program.
pub const FOREIGN_ROWS_MAX: usize = 1_000_000;
/// Largest value in a database of another program, bytes; a larger one is an error.
pub const FOREIGN_VALUE_BYTES_MAX: i32 = 16 << 20;
/// Largest JSON file of an export of conversations, bytes, also as a part of an archive.
pub const CHAT_EXPORT_BYTES_MAX: u64 = 512 << 20;
/// Maximum compression ratio of a file in an archive of an export.
pub const EXPORT_PACKED_RATIO_MAX: u64 = 200;
/// Maximum number of Markdown files of one program's memory that an import reads.
pub const MEMORY_FILES_MAX: usize = 10_000;
/// Maximum number of `@` imports from a `CLAUDE.md` to a file that is read, as Claude Code follows them.
pub const RULES_IMPORT_DEPTH_MAX: usize = 5;
/// Maximum number of values in one pickled object of a vector store.
pub const PICKLE_VALUES_MAX: usize = 1_000_000;
/// Maximum nesting of values in one pickled object.
pub const PICKLE_DEPTH_MAX: usize = 64;
