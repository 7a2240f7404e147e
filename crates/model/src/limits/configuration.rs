//! Limits of the configuration.

/// Largest config file, bytes.
pub const CONFIG_BYTES_MAX: u64 = 1 << 20;
/// Maximum number of `--set` options of one call.
pub const SET_FLAGS_MAX: usize = 100;
