//! Limits of access tokens and logins.

/// Maximum number of access tokens.
pub const TOKENS_MAX: usize = 1_000;
/// Maximum length of a token's name, characters.
pub const TOKEN_NAME_CHARS_MAX: usize = 80;
/// Maximum size of the token file, bytes.
pub const TOKENS_BYTES_MAX: u64 = 1 << 20;
/// Number of unused login links; the oldest are dropped.
pub const LOGIN_LINKS_MAX: usize = 20;
/// Lifetime of a login link, seconds.
pub const LOGIN_LINK_S: i64 = 120;
/// Maximum number of concurrent logins; the least recently used one is logged out.
pub const LOGINS_MAX: usize = 200;
/// Idle timeout of a login, seconds.
pub const LOGIN_IDLE_TIMEOUT_S: u64 = 12 * 3_600;
