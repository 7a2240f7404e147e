//! Statistics of the hook calls of a project.

use heirloom_capture::HookCallLog;
use heirloom_model::Timestamp;
use std::path::Path;

/// Statistics of hook calls.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct HookCallStats {
    /// Number of recorded calls.
    pub(crate) calls: usize,
    /// Time, program and event of the newest call.
    pub(crate) last: Option<(Timestamp, String)>,
    /// Median duration in milliseconds.
    pub(crate) p50_ms: f64,
    /// 99th percentile of the duration in milliseconds.
    pub(crate) p99_ms: f64,
    /// Number of failed calls.
    pub(crate) failures: usize,
}

/// Computes the statistics of a project's hook calls.
pub(crate) fn hook_call_stats(memory: &Path) -> HookCallStats {
    let mut all = HookCallLog::in_folder(memory).read();
    let last = all
        .last()
        .map(|call| (call.at, format!("{} {}", call.host, call.event)));
    let failures = all.iter().filter(|call| call.failed).count();
    all.sort_by_key(|call| call.took_us);
    let share = |percent: usize| {
        let place = (all.len() * percent / 100).min(all.len().saturating_sub(1));
        #[expect(clippy::cast_precision_loss, reason = "a time of some milliseconds")]
        all.get(place)
            .map_or(0.0, |call| call.took_us as f64 / 1_000.0)
    };
    HookCallStats {
        calls: all.len(),
        last,
        p50_ms: share(50),
        p99_ms: share(99),
        failures,
    }
}
