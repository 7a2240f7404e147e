//! Check of the machine's clock, by which records are ordered.

use super::{Doctor, HealthCheck};
use heirloom_model::limits;
use heirloom_store::OfflineCheckReport;

/// Earliest plausible time of a clock, 2024-01-01T00:00:00Z: Heirloom is younger.
const CLOCK_MIN_S: i64 = 1_704_067_200;

impl Doctor {
    /// Compares the clock with the program's age and with the newest record.
    pub(super) fn check_clock(&self, found: Option<&OfflineCheckReport>) -> HealthCheck {
        let now = self.now();
        if now.as_second() < CLOCK_MIN_S {
            return HealthCheck::warn("clock", format!("it shows {now}"))
                .hint("set the clock of this machine: records are ordered by time");
        }
        let last = found.and_then(|found| found.last_recorded_at);
        let ahead_s = last.map_or(0, |last| last.as_second() - now.as_second());
        if ahead_s > limits::CLOCK_AHEAD_S_MAX {
            let message = format!("the newest record was written {ahead_s} s from now");
            return HealthCheck::warn("clock", message)
                .hint("the clock was ahead then, or is behind now; nothing is lost");
        }
        HealthCheck::ok("clock", now.to_string())
    }
}
