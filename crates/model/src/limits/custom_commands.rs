//! Limits of custom commands.

/// Maximum size of a custom command's file, bytes.
pub const COMMAND_BYTES_MAX: u64 = 256 << 10;
/// Longest template of a custom command, bytes.
pub const COMMAND_TEMPLATE_BYTES_MAX: usize = 64 << 10;
/// Maximum number of parts (texts, places, programs, files) of a template.
pub const COMMAND_PARTS_MAX: usize = 1_000;
/// Longest name of a custom command, folders included, bytes.
pub const COMMAND_NAME_BYTES_MAX: usize = 200;
/// Longest description of a custom command, bytes.
pub const COMMAND_DESCRIPTION_BYTES_MAX: usize = 4 << 10;
/// Maximum number of arguments of a custom command.
pub const COMMAND_ARGS_MAX: usize = 100;
/// Maximum total size of a custom command's arguments, bytes: each fits into an environment variable.
pub const COMMAND_ARGS_BYTES_MAX: usize = 96 << 10;
/// Longest prompt that a custom command renders, bytes.
pub const COMMAND_RENDERED_BYTES_MAX: usize = 4 << 20;
/// Maximum output of one program of a custom command, bytes.
pub const COMMAND_OUTPUT_BYTES_MAX: usize = 1 << 20;
/// Maximum size of a file that a custom command inserts, bytes.
pub const COMMAND_FILE_BYTES_MAX: u64 = 1 << 20;
/// Default timeout of a custom command's programs, seconds.
pub const COMMAND_TIMEOUT_S_DEFAULT: u64 = 30;
/// Largest accepted timeout of a custom command's programs, seconds.
pub const COMMAND_TIMEOUT_S_MAX: u64 = 3_600;
/// Maximum number of files of custom commands that are read from one folder.
pub const COMMAND_FILES_MAX: usize = 1_000;
/// Maximum folder depth of custom commands.
pub const COMMAND_FOLDER_DEPTH_MAX: usize = 8;
