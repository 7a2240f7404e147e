//! Limits of the stored outputs of agents.

/// Length of the end of an agent's last output that prompts contain, characters.
pub const OUTPUT_CHARS_MAX: usize = 2_000;
/// Maximum size of an accepted output, bytes.
pub const OUTPUT_INPUT_BYTES_MAX: usize = 16 << 20;
/// Maximum size of the stored end of an output, bytes of JSON: with its metadata it fits a record's attributes.
pub const OUTPUT_FULL_BYTES_MAX: usize = 768 << 10;
/// Longest metadata of an output, bytes of JSON.
pub const OUTPUT_METADATA_BYTES_MAX: usize = 64 << 10;
/// Maximum size of an output file, bytes.
pub const OUTPUT_FILE_BYTES_MAX: u64 = 32 << 20;
/// Longest file name of an output without extension, bytes; a longer one ends with a hash.
pub const OUTPUT_NAME_BYTES_MAX: usize = 200;
/// Maximum number of output files, and of histories, that one import or list reads.
pub const OUTPUT_FILES_MAX: usize = 4_000;
