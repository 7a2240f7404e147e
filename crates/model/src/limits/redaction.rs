//! Limits of redaction and `heirloom redact`.

/// Maximum size of the standard input of `heirloom redact`, bytes.
pub const REDACT_INPUT_BYTES_MAX: usize = 16 << 20;
/// Maximum number of redaction rules in a configuration, and of entries in its allow list.
pub const REDACT_RULES_MAX: usize = 200;
/// Longest regular expression of a redaction rule, bytes.
pub const REDACT_RULE_BYTES_MAX: usize = 2_000;
/// Largest compiled redaction rule, bytes.
pub const REDACT_REGEX_BYTES_MAX: usize = 1 << 20;
/// Longest kind of a redaction rule, bytes.
pub const REDACT_KIND_BYTES_MAX: usize = 40;
/// Maximum size of a file for `redact --check`, bytes.
pub const REDACT_FILE_BYTES_MAX: u64 = 64 << 20;
/// Maximum number of findings that `redact --check` lists; further ones are counted.
pub const REDACT_FINDINGS_MAX: usize = 10_000;
/// Bytes at the beginning of a file that are searched for a NUL, which marks a binary file.
pub const REDACT_BINARY_PROBE_BYTES: usize = 8 << 10;
