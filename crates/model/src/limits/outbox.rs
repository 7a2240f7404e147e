//! Limits of the outbox: hook events that wait for a database server.

/// Events of hooks that wait for a database server.
pub const OUTBOX_EVENTS_MAX: usize = 2_000;
/// Maximum size of a waiting event, bytes.
pub const OUTBOX_EVENT_BYTES_MAX: u64 = 16 << 20;
/// Time in which a hook must reach the database server, milliseconds.
pub const OUTBOX_PROBE_MS: u64 = 40;
/// Time in which hooks try no connection after one that failed, seconds.
pub const OUTBOX_PAUSE_S: i64 = 15;
