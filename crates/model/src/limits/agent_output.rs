//! Limits of the output of agent programs: signals, streams, tool calls.

/// Longest text of one signal, bytes.
pub const SIGNAL_TEXT_BYTES_MAX: usize = 16 << 10;
/// Maximum number of signals per parser; further ones are counted in one diagnostic.
pub const SIGNALS_MAX: usize = 100_000;
/// Maximum number of diagnostics per parser; further ones are counted.
pub const DIAGNOSTICS_MAX: usize = 1_000;
/// Longest line of plain output that is searched for a signal, bytes.
pub const PLAIN_LINE_BYTES_MAX: usize = 64 << 10;
/// Longest line of a JSON stream, bytes.
pub const STREAM_LINE_BYTES_MAX: usize = 32 << 20;
/// Lines after which output in an unknown format is treated as plain text.
pub const STREAM_AUTO_LINES_MAX: u64 = 200;
/// Bytes after which output in an unknown format is treated as plain text.
pub const STREAM_AUTO_BYTES_MAX: usize = 1 << 20;
/// Maximum length of a tool call's input in stream events, characters.
pub const TOOL_INPUT_CHARS_MAX: usize = 200;
/// Maximum size of a tool's output of which tests are read; the middle of a longer one is left out.
pub const TOOL_OUTPUT_BYTES_MAX: usize = 256 << 10;
/// Maximum size of the final text that a stream reader keeps, bytes.
pub const FINAL_TEXT_BYTES_MAX: usize = 256 << 10;
/// Maximum number of signal prefixes that may be active.
pub const SIGNAL_PREFIXES_MAX: usize = 16;
