//! Many replays as one line.

use super::Row;

/// Replays of several conversations, against the same without a window.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Sum {
    /// Requests.
    pub turns: usize,
    /// Input, cost and cost with fetching again, against no window.
    pub input: f64,
    /// See `input`.
    pub cost: f64,
    /// See `input`.
    pub cost_refetch: f64,
    /// The cost of the median conversation, against no window.
    pub cost_median: f64,
    /// The cost of the worst conversation, against no window.
    pub cost_worst: f64,
    /// The part of the input that the cache served.
    pub hits: f64,
    /// Shares of all requests.
    pub breaks: f64,
    /// See `breaks`.
    pub goal: f64,
    /// See `breaks`.
    pub near: f64,
    /// Tokens of the largest request.
    pub peak: usize,
    /// Averages over all requests.
    pub recall: f64,
    /// See `recall`.
    pub fresh: f64,
    /// See `recall`.
    pub old: f64,
    /// Fetches a request.
    pub refetched: f64,
    /// Tokens that no id gives back.
    pub lost: usize,
}

/// Sums up: `none[i]` is the conversation of `rows[i]` without a window.
pub fn sum(rows: &[Row], none: &[Row]) -> Sum {
    let all = |of: fn(&Row) -> f64| rows.iter().map(of).sum::<f64>();
    let base = |of: fn(&Row) -> f64| none.iter().map(of).sum::<f64>();
    let turns: usize = rows.iter().map(|row| row.turns).sum();
    let share = |of: fn(&Row) -> f64| all(of) / turns as f64;
    let mut ratios: Vec<f64> = rows
        .iter()
        .zip(none)
        .map(|(row, none)| row.cost / none.cost)
        .collect();
    ratios.sort_by(f64::total_cmp);
    let middle = ratios.len() / 2;
    let median = match ratios.len() {
        0 => 1.0,
        even if even % 2 == 0 => f64::midpoint(ratios[middle - 1], ratios[middle]),
        _ => ratios[middle],
    };
    Sum {
        turns,
        input: all(|row| row.input) / base(|row| row.input),
        cost: all(|row| row.cost) / base(|row| row.cost),
        cost_refetch: all(|row| row.cost_refetch) / base(|row| row.cost),
        cost_median: median,
        cost_worst: ratios.last().copied().unwrap_or(1.0),
        hits: all(|row| row.hits) / all(|row| row.input),
        breaks: share(|row| row.breaks as f64),
        goal: share(|row| row.goal as f64),
        near: share(|row| row.near as f64),
        peak: rows.iter().map(|row| row.peak).max().unwrap_or(0),
        recall: share(|row| row.recall * row.turns as f64),
        fresh: share(|row| row.fresh * row.turns as f64),
        old: share(|row| row.old * row.turns as f64),
        refetched: share(|row| row.refetched as f64),
        lost: rows.iter().map(|row| row.lost).sum(),
    }
}
