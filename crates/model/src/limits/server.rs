//! Limits of the server: connections, request bodies, concurrent calls.

/// Maximum number of projects that a server keeps open (LRU cache).
pub const OPEN_PROJECTS_MAX: usize = 64;
/// Maximum number of concurrent engine calls of a server; further ones wait in order.
pub const SERVER_CALLS_MAX: usize = 64;
/// Polling interval of a server for its stop flag, milliseconds.
pub const SERVER_STOP_PAUSE_MS: u64 = 50;
/// Maximum size of a request body, bytes.
pub const SERVER_BODY_BYTES_MAX: usize = 8 << 20;
/// Maximum total size of request bodies over 64 KiB in memory, bytes; further ones wait.
pub const SERVER_BODIES_BYTES_MAX: usize = 64 << 20;
/// Timeout of a request body, seconds.
pub const SERVER_BODY_S: u64 = 30;
/// Timeout of a request head, and of an idle connection, seconds.
pub const SERVER_HEAD_S: u64 = 30;
/// Longest head of a request, bytes.
pub const SERVER_HEAD_BYTES_MAX: usize = 64 << 10;
/// Write timeout of a response that the client does not read, seconds.
pub const SERVER_WRITE_S: u64 = 30;
/// Maximum number of concurrent connections; further ones wait to be accepted.
pub const SERVER_CONNECTIONS_MAX: usize = 4_096;
/// Grace period for requests in flight when a server stops, seconds.
pub const SERVER_STOP_S: u64 = 10;
/// Maximum nesting depth of JSON requests.
pub const SERVER_JSON_DEPTH_MAX: usize = 64;
/// Pruning interval of a server, seconds: a day.
pub const SERVER_PRUNE_S: u64 = 86_400;
/// Delay of a server's first pruning after its start, seconds.
pub const SERVER_PRUNE_FIRST_S: u64 = 60;
/// Maximum number of records that one step of a server's pruning, and one request, retires.
pub const PRUNE_STEP_RECORDS_MAX: usize = 1_000;
/// Maximum number of concurrent engine calls that are read-only or bound by computation.
pub const SERVER_COMPUTE_CALLS_MAX: usize = 4;
/// Maximum number of records that one form of the page changes, and that one undo reverts.
pub const BULK_CHANGES_MAX: usize = 100;
/// Maximum number of pinned, and of muted, records that the page lists.
pub const MARKED_ROWS_SHOWN_MAX: usize = 50;
/// Time after which a client may repeat a request that the server or its database could not answer, seconds.
pub const SERVER_RETRY_AFTER_S: u16 = 2;
/// Interval of the periodic health checks of a server, and the age at which a visit of the health page repeats them, seconds.
pub const SERVER_HEALTH_S: u64 = 3_600;
/// Delay of a server's first health checks after its start, seconds.
pub const SERVER_HEALTH_FIRST_S: u64 = 10;
/// Interval of the periodic health checks while nothing is written, seconds: a day.
pub const SERVER_HEALTH_IDLE_S: u64 = 86_400;
/// Time for which "Check again" waits for the result before the page is shown without it, milliseconds.
pub const SERVER_HEALTH_WAIT_MS: u64 = 2_000;
