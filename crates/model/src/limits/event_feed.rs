//! Limits of the event feed of a server.

/// Number of recent changes that a server keeps for followers; a follower that is further behind reads the store.
pub const SERVER_EVENTS_KEPT: usize = 1_000;
/// Polling interval for writes of other processes, milliseconds.
pub const SERVER_EVENTS_PAUSE_MS: u64 = 250;
/// Polling interval for writes of other machines if the database server notifies of them, milliseconds.
pub const SERVER_EVENTS_PAUSE_NOTIFIED_MS: u64 = 5_000;
/// Interval in which the access of an idle event stream is checked, seconds.
pub const SERVER_EVENTS_ACCESS_S: u64 = 2;
/// Keep-alive interval of an idle event stream, seconds.
pub const SERVER_EVENTS_IDLE_S: u64 = 15;
