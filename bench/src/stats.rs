//! Percentiles, and the format of a figure.

use std::time::Duration;

/// Times of repeated runs, in milliseconds.
pub(crate) struct Times {
    measured: Vec<f64>,
    sorted: Vec<f64>,
}

impl Times {
    /// Converts times to milliseconds.
    pub(crate) fn of(times: &[Duration]) -> Self {
        let measured: Vec<_> = times.iter().map(|time| time.as_secs_f64() * 1e3).collect();
        let mut sorted = measured.clone();
        sorted.sort_by(f64::total_cmp);
        Self { measured, sorted }
    }

    /// Returns the times in the order in which they were measured.
    pub(crate) fn measured(&self) -> &[f64] {
        &self.measured
    }

    /// Returns the quantile `share` (0 to 1) in milliseconds.
    pub(crate) fn quantile(&self, share: f64) -> f64 {
        let place = (share * self.sorted.len().saturating_sub(1) as f64).round() as usize;
        self.sorted.get(place).copied().unwrap_or(f64::NAN)
    }

    /// Returns the 99th percentile in milliseconds.
    pub(crate) fn p99(&self) -> f64 {
        self.quantile(0.99)
    }

    /// Returns the median in milliseconds.
    pub(crate) fn p50(&self) -> f64 {
        self.quantile(0.5)
    }

    /// Prints one line: name, median, 99th percentile, number of runs.
    pub(crate) fn print(&self, name: &str) {
        println!(
            "{name:40} p50 {:8.3} ms   p99 {:8.3} ms   n {}",
            self.p50(),
            self.p99(),
            self.sorted.len()
        );
    }
}

/// Returns the median of the pairwise differences, one minus other, in milliseconds.
pub(crate) fn median_more(one: &[Duration], other: &[Duration]) -> f64 {
    let ms = |time: &Duration| time.as_secs_f64() * 1e3;
    let pairs = one.iter().zip(other);
    median(pairs.map(|(one, other)| ms(one) - ms(other)).collect())
}

/// Returns the median of the pairwise ratios, one divided by other.
pub(crate) fn median_ratio(one: &[Duration], other: &[Duration]) -> f64 {
    let pairs = one.iter().zip(other);
    median(
        pairs
            .map(|(one, other)| one.as_secs_f64() / other.as_secs_f64())
            .collect(),
    )
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

/// Returns the resident memory of this process in MB; 0 if the system does not report it.
pub(crate) fn resident_mb() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kb = line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<f64>().ok());
    kb.unwrap_or(0.0) / 1e3
}
