//! Retry policy: the statuses after which a request is repeated, the back-off between two attempts, and the service's
//! `Retry-After`.

use ureq::http::StatusCode;

/// Returns true for a status after which the same request may succeed later.
pub(crate) fn is_retryable(status: StatusCode) -> bool {
    matches!(status.as_u16(), 408 | 429 | 500..=599)
}

/// Returns the wait before the next attempt, milliseconds: `Retry-After` if the service sent it, otherwise `backoff_ms`.
///
/// `retry` is `None` if a retry does not help, otherwise it contains the `Retry-After`. Returns `None` then, or if the
/// wait is longer than `most_ms`.
pub(crate) fn wait_ms(retry: Option<Option<u64>>, backoff_ms: u64, most_ms: u64) -> Option<u64> {
    let wait_ms = retry?.unwrap_or(backoff_ms);
    (wait_ms <= most_ms).then_some(wait_ms)
}
