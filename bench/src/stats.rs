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

    /// The 99th percentile, milliseconds.
    pub(crate) fn p99(&self) -> f64 {
        self.quantile(0.99)
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
            self.p99(),
            self.0.len()
        );
    }
}

/// The median of what each run of one took more than the same run of the other, milliseconds.
pub(crate) fn median_more(one: &[Duration], other: &[Duration]) -> f64 {
    let ms = |time: &Duration| time.as_secs_f64() * 1e3;
    let pairs = one.iter().zip(other);
    median(pairs.map(|(one, other)| ms(one) - ms(other)).collect())
}

/// The median of how many times as long as the same run of the other each run of one took.
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

/// The memory that this process has in use, MB; 0 where the system does not tell.
pub(crate) fn resident_mb() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kb = line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<f64>().ok());
    kb.unwrap_or(0.0) / 1e3
}
