//! Pauses between the attempts of a request.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::time::Duration;

/// Exponential back-off with full jitter.
///
/// A request is repeated if its connection failed or the server answered 408, 429 or 503. Reads can be repeated, and each
/// write has an idempotency key, so that its repetition has no second effect.
///
/// The default has 6 attempts, pauses of at most 0.2 s at first and 5 s later, and ends after a minute.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RetryPolicy {
    attempts: u32,
    first_pause: Duration,
    longest_pause: Duration,
    total: Duration,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self {
            attempts: 6,
            first_pause: Duration::from_millis(200),
            longest_pause: Duration::from_secs(5),
            total: Duration::from_mins(1),
        }
    }
}

impl RetryPolicy {
    /// Creates a policy with this number of attempts; 1 disables retries.
    #[must_use]
    pub fn with_attempts(attempts: u32) -> Self {
        Self {
            attempts,
            ..Self::default()
        }
    }

    /// Sets the upper bound of the first pause; it doubles with each attempt.
    #[must_use]
    pub fn first_pause(mut self, pause: Duration) -> Self {
        self.first_pause = pause;
        self
    }

    /// Sets the upper bound of all pauses, except those that the server asks for with `Retry-After`.
    #[must_use]
    pub fn longest_pause(mut self, pause: Duration) -> Self {
        self.longest_pause = pause;
        self
    }

    /// Sets the time after which no attempt begins, and none waits for its answer.
    #[must_use]
    pub fn total(mut self, total: Duration) -> Self {
        self.total = total;
        self
    }

    /// Returns the time that is left of the total.
    pub(crate) fn remaining(&self, elapsed: Duration) -> Duration {
        self.total
            .saturating_sub(elapsed)
            .max(Duration::from_millis(1))
    }

    /// Returns the pause after an attempt, counted from 1; `None` if there is no next one.
    pub(crate) fn pause(
        &self,
        attempt: u32,
        elapsed: Duration,
        retry_after: Option<Duration>,
    ) -> Option<Duration> {
        if attempt >= self.attempts {
            return None;
        }
        let factor = 2_u32.saturating_pow(attempt.saturating_sub(1).min(30));
        let bound = self
            .first_pause
            .saturating_mul(factor)
            .min(self.longest_pause);
        let pause = bound
            .mul_f64(random_fraction())
            .saturating_add(retry_after.unwrap_or_default());
        (elapsed.saturating_add(pause) < self.total).then_some(pause)
    }
}

/// Returns a new idempotency key: unique, not secret.
pub(crate) fn new_idempotency_key() -> String {
    format!("{:016x}{:016x}", random_bits(), random_bits())
}

/// Returns bits from the seed of the standard library's hash maps, which saves a crate of random numbers.
fn random_bits() -> u64 {
    // A forked process continues with the seed of its parent.
    RandomState::new().hash_one(std::process::id())
}

/// Returns a number from 0 to 1.
fn random_fraction() -> f64 {
    f64::from((random_bits() >> 32) as u32) / f64::from(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_to_their_bound_and_end() {
        let policy = RetryPolicy::default();
        for (attempt, bound_ms) in [(1, 200), (2, 400), (3, 800), (5, 3_200)] {
            for _ in 0..50 {
                let pause = policy.pause(attempt, Duration::ZERO, None).unwrap();
                assert!(pause <= Duration::from_millis(bound_ms), "{pause:?}");
            }
        }
        assert_eq!(policy.pause(6, Duration::ZERO, None), None);
        let long = RetryPolicy::with_attempts(u32::MAX);
        let pause = long.pause(4_000_000_000, Duration::ZERO, None).unwrap();
        assert!(pause <= Duration::from_secs(5));
    }

    #[test]
    fn retry_after_is_added_within_the_total_time() {
        let policy = RetryPolicy::default();
        let asked = Some(Duration::from_secs(7));
        let pause = policy.pause(1, Duration::ZERO, asked).unwrap();
        assert!(pause >= Duration::from_secs(7) && pause <= Duration::from_millis(7_200));
        assert_eq!(policy.pause(1, Duration::from_secs(55), asked), None);
    }

    #[test]
    fn keys_and_fractions_differ() {
        let keys: std::collections::BTreeSet<String> =
            (0..1_000).map(|_| new_idempotency_key()).collect();
        assert_eq!(keys.len(), 1_000);
        let fractions: Vec<f64> = (0..1_000).map(|_| random_fraction()).collect();
        assert!(fractions.iter().all(|value| (0.0..=1.0).contains(value)));
        let mean = fractions.iter().sum::<f64>() / 1_000.0;
        assert!((0.4..0.6).contains(&mean), "{mean}");
    }
}
