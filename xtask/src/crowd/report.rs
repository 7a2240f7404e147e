//! The figures of a crowd.

use super::readers::ReaderReport;
use super::writers::WriterReport;
use std::fmt::Write;
use std::time::Duration;

/// Formats the results, one figure per line.
pub(super) fn text(written: &[WriterReport], readers: &[ReaderReport], took: Duration) -> String {
    let mut writes: Vec<Duration> = (written.iter())
        .flat_map(|one| one.times.iter().copied())
        .collect();
    let mut ends: Vec<Duration> = written.iter().map(|one| one.took).collect();
    writes.sort();
    ends.sort();
    let mut text = String::new();
    line(&mut text, "a write", &writes);
    if let (Some(first), Some(last)) = (ends.first(), ends.last()) {
        let ratio = last.as_secs_f64() / first.as_secs_f64().max(1e-9);
        let told = format!(
            "first writer done after {:.0} ms, last after {:.0} ms, ratio {ratio:.2}",
            ms(*first),
            ms(*last)
        );
        put(&mut text, "fairness", &told);
    }
    for reader in readers {
        let mut times = reader.times.clone();
        times.sort();
        line(&mut text, reader.what, &times);
    }
    let rate = writes.len() as f64 / took.as_secs_f64();
    put(
        &mut text,
        "all",
        &format!("{:.0} ms, {rate:.0} writes/s", ms(took)),
    );
    text
}

fn line(text: &mut String, name: &str, sorted: &[Duration]) {
    let told = format!(
        "p50 {:.2} ms, p99 {:.2} ms, max {:.2} ms, n {}",
        ms(quantile(sorted, 0.5)),
        ms(quantile(sorted, 0.99)),
        ms(quantile(sorted, 1.0)),
        sorted.len()
    );
    put(text, name, &told);
}

fn put(text: &mut String, name: &str, told: &str) {
    // Writing to a string cannot fail.
    writeln!(text, "{name:12} {told}").unwrap_or_default();
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

/// Returns the quantile `share` (0 to 1) of sorted times; zero if empty.
fn quantile(sorted: &[Duration], share: f64) -> Duration {
    let place = (share * sorted.len().saturating_sub(1) as f64).round() as usize;
    sorted.get(place).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn report_prints_each_figure() {
        let times: Vec<_> = (1..=101).map(Duration::from_millis).collect();
        assert_eq!(quantile(&times, 0.5), Duration::from_millis(51));
        assert_eq!(quantile(&times, 0.99), Duration::from_millis(100));
        assert_eq!(quantile(&times, 1.0), Duration::from_millis(101));
        assert_eq!(quantile(&[], 0.5), Duration::ZERO);
        let one = |took: u64| WriterReport {
            ids: Vec::new(),
            times: times.clone(),
            took: Duration::from_millis(took),
        };
        let text = text(&[one(100), one(150)], &[], Duration::from_secs(1));
        assert!(
            text.contains("p50 51.00 ms, p99 100.00 ms, max 101.00 ms, n 202"),
            "{text}"
        );
        assert!(text.contains("first writer done after 100 ms, last after 150 ms, ratio 1.50"));
        assert!(text.contains("202 writes/s"));
    }
}
