//! Limits of `heirloom run`: iterations, timeouts, captured output.

/// Maximum number of iterations of one `run`.
pub const ITERATIONS_MAX: u32 = 10_000;
/// Largest accepted stall limit: consecutive identical failures of a `run`. Its default is `run.stall_limit` in
/// `config/defaults.toml`.
pub const STALL_LIMIT_MAX: u32 = 10_000;
/// Largest accepted timeout of one iteration, seconds: a week.
pub const ITERATION_TIMEOUT_S_MAX: u64 = 604_800;
/// Grace period between SIGTERM and SIGKILL for a process group, milliseconds.
pub const TERMINATE_GRACE_MS: u64 = 3_000;
/// Grace period for output after the agent has exited, milliseconds.
pub const DRAIN_GRACE_MS: u64 = 2_000;
/// Maximum size of the standard error tail that is kept for the error text, bytes.
pub const STDERR_TAIL_BYTES_MAX: usize = 16 << 10;
/// Maximum number of standard error lines in an outcome's error.
pub const STDERR_TAIL_LINES_MAX: usize = 20;
/// Maximum length of an outcome's error or message, characters.
pub const OUTCOME_TEXT_CHARS_MAX: usize = 2_000;
/// Longest prompt that is passed as an argument, bytes; a longer one is passed through standard input.
pub const PROMPT_ARG_BYTES_MAX: usize = 96 << 10;
/// Maximum number of files in one iteration's outcome.
pub const FILES_PER_OUTCOME_MAX: usize = 1_000;
/// Maximum size of a prompt file, bytes.
pub const PROMPT_FILE_BYTES_MAX: usize = 16 << 20;
