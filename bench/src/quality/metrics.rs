//! Metrics of a ranking: recall at k, mean reciprocal rank, and a paired bootstrap test of differences.

use crate::zipf::ZipfGenerator;
use std::collections::HashSet;

/// Number of bootstrap samples for an interval.
const DRAWS: usize = 2_000;

/// Metrics of one query.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct RankMetrics {
    /// Recall at 1, 5 and 10.
    pub(crate) at_1: f64,
    pub(crate) at_5: f64,
    pub(crate) at_10: f64,
    /// Reciprocal rank of the first answer.
    pub(crate) reciprocal: f64,
}

/// Names of the metrics, in the order of the tables.
pub(crate) const METRIC_NAMES: [&str; 4] = ["R@1", "R@5", "R@10", "MRR"];

impl RankMetrics {
    /// Computes the metrics of a ranking.
    pub(crate) fn of(ranked: &[String], gold: &[String]) -> Self {
        let gold: HashSet<&str> = gold.iter().map(String::as_str).collect();
        let is_hit = |id: &&String| gold.contains(id.as_str());
        let recall = |k: usize| {
            ranked.iter().take(k).filter(is_hit).count() as f64 / gold.len().max(1) as f64
        };
        let first = ranked.iter().position(|id| gold.contains(id.as_str()));
        Self {
            at_1: recall(1),
            at_5: recall(5),
            at_10: recall(10),
            reciprocal: first.map_or(0.0, |index| 1.0 / (index + 1) as f64),
        }
    }

    /// Returns all metrics, in the order of [`METRIC_NAMES`].
    pub(crate) fn all(&self) -> [f64; 4] {
        [self.at_1, self.at_5, self.at_10, self.reciprocal]
    }
}

/// Returns the means over some queries, in percent.
pub(crate) fn means(metrics: &[RankMetrics]) -> [f64; 4] {
    let mut sums = [0.0; 4];
    for one in metrics {
        for (sum, mark) in sums.iter_mut().zip(one.all()) {
            *sum += 100.0 * mark;
        }
    }
    sums.map(|sum| sum / metrics.len().max(1) as f64)
}

/// Difference of means in percentage points, with its 95 % bootstrap interval.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Difference {
    mean: f64,
    low: f64,
    high: f64,
}

impl Difference {
    /// Returns true if the interval contains zero.
    pub(crate) fn is_noise(&self) -> bool {
        self.low <= 0.0 && self.high >= 0.0
    }
}

impl std::fmt::Display for Difference {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mark = if self.is_noise() { "" } else { "**" };
        let Self { mean, low, high } = self;
        write!(f, "{mark}{mean:+.1}{mark} [{low:+.1}, {high:+.1}]")
    }
}

/// Computes the differences of the same queries, one minus other, by paired bootstrap.
pub(crate) fn differences(one: &[RankMetrics], other: &[RankMetrics]) -> [Difference; 4] {
    let each: Vec<[f64; 4]> = one
        .iter()
        .zip(other)
        .map(|(one, other)| {
            let other = other.all();
            std::array::from_fn(|n| 100.0 * (one.all()[n] - other[n]))
        })
        .collect();
    let count = each.len().max(1) as f64;
    let mut generator = ZipfGenerator(7);
    let mut draws: [Vec<f64>; 4] = Default::default();
    for _ in 0..DRAWS {
        let mut sums = [0.0; 4];
        for _ in 0..each.len() {
            let drawn = each[generator.index(each.len())];
            for (sum, value) in sums.iter_mut().zip(drawn) {
                *sum += value;
            }
        }
        for (list, sum) in draws.iter_mut().zip(sums) {
            list.push(sum / count);
        }
    }
    let mut means = [0.0; 4];
    for row in &each {
        for (mean, value) in means.iter_mut().zip(row) {
            *mean += value / count;
        }
    }
    std::array::from_fn(|n| {
        draws[n].sort_by(f64::total_cmp);
        let at = |share: f64| draws[n][(share * DRAWS as f64) as usize];
        Difference {
            mean: means[n],
            low: at(0.025),
            high: at(0.975),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn metrics(ranked: &[&str], gold: &[&str]) -> [f64; 4] {
        let owned = |ids: &[&str]| -> Vec<String> { ids.iter().map(|&id| id.to_owned()).collect() };
        RankMetrics::of(&owned(ranked), &owned(gold)).all()
    }

    #[test]
    fn metrics_equal_those_of_the_data_set_script() {
        assert_eq!(metrics(&["a", "b"], &["a"]), [1.0, 1.0, 1.0, 1.0]);
        assert_eq!(metrics(&["x", "a"], &["a", "b"]), [0.0, 0.5, 0.5, 0.5]);
        let late = ["x", "y", "z", "v", "w", "a"];
        assert_eq!(metrics(&late, &["a"]), [0.0, 0.0, 1.0, 1.0 / 6.0]);
        assert_eq!(metrics(&[], &["a"]), [0.0; 4]);
    }

    #[test]
    fn difference_of_metrics_has_an_interval_around_its_mean() {
        let of = |value: f64| RankMetrics {
            at_1: value,
            ..RankMetrics::default()
        };
        let better: Vec<RankMetrics> = (0..100).map(|n| of(f64::from(n % 2))).collect();
        let worse: Vec<RankMetrics> = (0..100)
            .map(|n| of(f64::from(u8::from(n % 4 == 1))))
            .collect();
        let [first, second, ..] = differences(&better, &worse);
        assert!((first.mean - 25.0).abs() < 1e-9 && !first.is_noise());
        assert!(first.low < 25.0 && first.high > 25.0);
        assert!(second.is_noise());
        assert!((means(&better)[0] - 50.0).abs() < 1e-9);
    }
}
