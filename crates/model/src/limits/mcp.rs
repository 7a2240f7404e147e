//! Limits of the MCP server.

/// Maximum size of an MCP message, bytes; a longer line is skipped.
pub const MCP_MESSAGE_BYTES_MAX: usize = 8 << 20;
/// Page size of an MCP list.
pub const MCP_PAGE_ITEMS: usize = 100;
/// Maximum number of recent contexts that an MCP client sees.
pub const MCP_CONTEXTS_MAX: usize = 50;
/// Maximum number of client roots that are searched for a memory.
pub const MCP_ROOTS_MAX: usize = 100;
/// Longest URI of a resource or root, bytes.
pub const MCP_URI_BYTES_MAX: usize = 8 << 10;
/// Maximum number of concurrent MCP sessions over HTTP; further clients are rejected with a retry time.
pub const MCP_SESSIONS_MAX: usize = 256;
/// Timeout of a client's answer to `roots/list`, milliseconds.
pub const MCP_ROOTS_WAIT_MS: u64 = 5_000;
/// Interval between progress notifications, milliseconds.
pub const MCP_PROGRESS_PAUSE_MS: u64 = 1_000;
/// Time for pending calls to finish after a client disconnects, milliseconds.
pub const MCP_STOP_WAIT_MS: u64 = 60_000;
/// Maximum number of resource subscriptions of an MCP client.
pub const MCP_SUBSCRIPTIONS_MAX: usize = 100;
/// Polling interval of subscribed resource files, milliseconds.
pub const MCP_WATCH_PAUSE_MS: u64 = 2_000;
/// Time after which a client that was refused an MCP session over HTTP may retry, seconds.
pub const MCP_RETRY_AFTER_S: u16 = 30;
