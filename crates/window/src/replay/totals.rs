//! Totals of several replays.

use super::ReplayReport;

/// Totals of several conversations, relative to no compaction.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ReplayTotals {
    /// Number of requests.
    pub turns: usize,
    /// Input tokens, relative to no compaction.
    pub input: f64,
    /// See `input`.
    pub cost: f64,
    /// See `input`.
    pub cost_refetch: f64,
    /// Cost of the median conversation, relative to no compaction.
    pub cost_median: f64,
    /// Cost of the worst conversation, relative to no compaction.
    pub cost_worst: f64,
    /// Share of the input that the cache served.
    pub cached_input: f64,
    /// Share of requests that break the cached prefix.
    pub prefix_breaks: f64,
    /// See `breaks`.
    pub goal: f64,
    /// See `breaks`.
    pub goal_near: f64,
    /// Tokens of the largest request.
    pub largest_request: usize,
    /// Average over all requests.
    pub recall: f64,
    /// See `recall`.
    pub fresh: f64,
    /// See `recall`.
    pub old: f64,
    /// Fetches per request.
    pub refetches: f64,
    /// Tokens that cannot be restored by an id.
    pub lost: usize,
}

/// Computes the totals: `none[i]` is the conversation of `rows[i]` without compaction.
pub fn total(rows: &[ReplayReport], none: &[ReplayReport]) -> ReplayTotals {
    let all = |of: fn(&ReplayReport) -> f64| rows.iter().map(of).sum::<f64>();
    let base = |of: fn(&ReplayReport) -> f64| none.iter().map(of).sum::<f64>();
    let turns: usize = rows.iter().map(|row| row.turns).sum();
    let share = |of: fn(&ReplayReport) -> f64| all(of) / turns as f64;
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
    ReplayTotals {
        turns,
        input: all(|row| row.input) / base(|row| row.input),
        cost: all(|row| row.cost) / base(|row| row.cost),
        cost_refetch: all(|row| row.cost_refetch) / base(|row| row.cost),
        cost_median: median,
        cost_worst: ratios.last().copied().unwrap_or(1.0),
        cached_input: all(|row| row.cached_input) / all(|row| row.input),
        prefix_breaks: share(|row| row.prefix_breaks as f64),
        goal: share(|row| row.goal as f64),
        goal_near: share(|row| row.goal_near as f64),
        largest_request: rows
            .iter()
            .map(|row| row.largest_request)
            .max()
            .unwrap_or(0),
        recall: share(|row| row.recall * row.turns as f64),
        fresh: share(|row| row.fresh * row.turns as f64),
        old: share(|row| row.old * row.turns as f64),
        refetches: share(|row| row.refetches as f64),
        lost: rows.iter().map(|row| row.lost).sum(),
    }
}
