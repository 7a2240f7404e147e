//! Back-off of writers that wait for the lock of the database.

use std::hash::{BuildHasher, RandomState};
use std::thread;
use std::time::{Duration, Instant};

/// First pause of a writer that finds the database locked, microseconds: the duration of one or two writes.
const PAUSE_FIRST_US: u64 = 500;
/// Longest pause of a young wait, microseconds.
const PAUSE_YOUNG_US: u64 = 16_000;
/// Pause of an old wait, microseconds: forty processes that retry at this rate use a tenth of a processor.
const PAUSE_OLD_US: u64 = 1_000;
/// Back-off numerator: `pause_us = PAUSE_AGED_US_MS2 / waited_ms²`, so long waiters poll more often (fairness). A
/// wait is old after 32 ms, the time that forty writers take for one write each.
const PAUSE_AGED_US_MS2: u64 = 1_000_000;

/// Returns a busy handler that retries with back-off until the timeout.
///
/// SQLite does not notify waiting writers when the lock is free, so all of them poll, and the first to try gets it.
/// For fairness an old wait polls more often than a young one: see [`pause_us`]. Pauses have random jitter, so that
/// many processes do not wake in step.
pub(super) fn busy_handler(wait_ms: u64) -> impl FnMut(i32) -> bool + Send + 'static {
    let jitter = RandomState::new();
    let mut since = Instant::now();
    move |attempt| {
        if attempt == 0 {
            since = Instant::now();
        }
        let waited = since.elapsed();
        if waited >= Duration::from_millis(wait_ms) {
            return false;
        }
        let usual_us = pause_us(attempt, waited);
        let random = jitter.hash_one((attempt, since)) % usual_us;
        thread::sleep(Duration::from_micros(usual_us / 2 + random));
        true
    }
}

/// Returns the mean pause after a failed attempt, microseconds.
///
/// A new waiter retries soon, because usually there is only one other writer, and then backs off exponentially. From
/// then on the pause shrinks with the square of the waiting time, so that old waiters are served before young ones. A
/// lower bound keeps the waiters from taking the processor from the writer.
fn pause_us(attempt: i32, waited: Duration) -> u64 {
    let doubled = PAUSE_FIRST_US << attempt.clamp(0, 16);
    let waited_ms = u64::try_from(waited.as_millis()).unwrap_or(u64::MAX);
    let aged = PAUSE_AGED_US_MS2 / waited_ms.saturating_mul(waited_ms).max(1);
    doubled.min(PAUSE_YOUNG_US).min(aged.max(PAUSE_OLD_US))
}

#[cfg(test)]
mod tests {
    use super::*;
    use heirloom_model::limits::BUSY_TIMEOUT_MS;

    #[test]
    fn pause_shrinks_with_waiting_time() {
        let pause = |attempt, waited_ms| pause_us(attempt, Duration::from_millis(waited_ms));
        let first: Vec<u64> = (0..7).map(|attempt| pause(attempt, 0)).collect();
        assert_eq!(first, [500, 1_000, 2_000, 4_000, 8_000, 16_000, 16_000]);
        let aged = [1, 8, 16, 20, 25, 32, 100, 29_999].map(|waited_ms| pause(9, waited_ms));
        assert_eq!(
            aged,
            [16_000, 15_625, 3_906, 2_500, 1_600, 1_000, 1_000, 1_000]
        );
        assert_eq!(pause(i32::MAX, u64::MAX), 1_000);
        assert_eq!(pause(-1, 0), 500);
    }

    #[test]
    fn busy_handler_gives_up_after_timeout() {
        let mut waits = busy_handler(20);
        let begun = Instant::now();
        assert!((0..).any(|attempt| !waits(attempt)));
        assert!(begun.elapsed() >= Duration::from_millis(20));
        let mut waits = busy_handler(BUSY_TIMEOUT_MS);
        assert!((0..10).all(&mut waits), "each wait starts again");
    }
}
