//! Limits of retention.

/// Default retention of episodes, days.
pub const EPISODES_KEPT_DAYS_DEFAULT: u32 = 30;
/// Largest accepted retention, days: a century. 0 keeps records for good.
pub const RETENTION_DAYS_MAX: u32 = 36_500;
