//! Percentiles, and how a figure is printed.

use std::time::Duration;

/// Sorted times of repeated runs.
pub(crate) struct Times(Vec<f64>);

impl Times {
    /// Times in milliseconds.
    pub(crate) fn of(times: &[Duration]) -> Self {
        let mut ms: Vec<_> = times.iter().map(|time| time.as_secs_f64() * 1e3).collect();
        ms.sort_by(f64::total_cmp);
        Self(ms)
    }

    /// The value below which `share` (0 to 1) of the times lie, milliseconds.
    pub(crate) fn quantile(&self, share: f64) -> f64 {
        let place = (share * self.0.len().saturating_sub(1) as f64).round() as usize;
        self.0.get(place).copied().unwrap_or(f64::NAN)
    }

    /// The median, milliseconds.
    pub(crate) fn p50(&self) -> f64 {
        self.quantile(0.5)
    }

    /// Prints one line: name, median, 99th percentile, number of runs.
    pub(crate) fn print(&self, name: &str) {
        println!(
            "{name:40} p50 {:8.3} ms   p99 {:8.3} ms   n {}",
            self.p50(),
            self.quantile(0.99),
            self.0.len()
        );
    }
}
