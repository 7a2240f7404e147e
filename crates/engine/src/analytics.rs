//! Analytics over episodes: success rates, medians and repeated failures.
//!
//! Pure functions with a deterministic order.

mod approach;
mod attempts;

pub use approach::approach_key;
pub use attempts::EpisodeRow;

use attempts::Attempt;
use heirloom_model::Timestamp;
use heirloom_model::clock::iso_week;
use std::collections::BTreeMap;

/// Statistics of a group of attempts.
#[derive(Debug, Clone, PartialEq)]
pub struct AttemptGroup {
    /// The common value of the group; `None` if it is unknown.
    pub name: Option<String>,
    /// Number of attempts, including those without a recorded end.
    pub attempts: usize,
    /// Number of successful attempts.
    pub successes: usize,
    /// Number of failed attempts.
    pub failures: usize,
    /// Success rate among ended attempts, 0 to 1; `None` without such attempts.
    pub rate: Option<f64>,
    /// Median duration of the attempts with a known duration.
    pub median_duration_ms: Option<u64>,
    /// Median number of tokens, input and output, of the attempts with a known number.
    pub median_tokens: Option<u64>,
}

impl AttemptGroup {
    /// Returns the number of attempts whose result is not known; they are no part of the rate.
    pub fn unknown(&self) -> usize {
        (self.attempts).saturating_sub(self.successes + self.failures)
    }
}

/// An approach that failed repeatedly and never succeeded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RepeatedFailure {
    /// The approach in its latest wording.
    pub approach: String,
    /// Number of failures.
    pub failures: usize,
    /// The tasks for which it failed, sorted by name.
    pub tasks: Vec<String>,
    /// Reason of the last failure, if recorded.
    pub last_outcome: Option<String>,
    /// Time of the last failure.
    pub last_at: Timestamp,
}

/// Analytics of all episodes.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct AnalyticsReport {
    /// By approach, the most frequent first; attempts without an approach are left out.
    pub by_approach: Vec<AttemptGroup>,
    /// By agent, the most frequent first.
    pub by_agent: Vec<AttemptGroup>,
    /// By type of task, the most frequent first.
    pub by_category: Vec<AttemptGroup>,
    /// By ISO week in UTC, oldest first.
    pub by_week: Vec<AttemptGroup>,
    /// Approaches that failed at least twice and never worked, the most frequent first.
    pub repeated_failures: Vec<RepeatedFailure>,
}

/// Number of failures from which an approach counts as failing repeatedly.
const REPEATED_FAILURES_MIN: usize = 2;

/// Analyses `episodes`, in any order; `types` has the type of each task that has one.
///
/// An episode that opens an attempt and the one that ends it (the same task, agent and approach) are one attempt.
/// Approaches are compared without case, spacing and punctuation.
pub fn analyse(episodes: &[EpisodeRow], types: &BTreeMap<String, String>) -> AnalyticsReport {
    let attempts = attempts::build_attempts(episodes);
    let with_approach: Vec<_> = attempts.iter().filter(|one| one.key.is_some()).collect();
    let category = |one: &Attempt<'_>| {
        let task = one.last.task.as_ref()?;
        types.get(task).cloned()
    };
    let mut by_approach = group_by_name(&with_approach, |one| one.key.clone());
    let mut newest: BTreeMap<&Option<String>, &EpisodeRow> = BTreeMap::new();
    for one in &with_approach {
        let known = newest.entry(&one.key).or_insert(one.last);
        if (known.at, known.id) < (one.last.at, one.last.id) {
            *known = one.last;
        }
    }
    for group in &mut by_approach {
        group.name = (newest.get(&group.name)).and_then(|one| one.approach.clone());
    }
    sort_by_size(&mut by_approach);
    let all: Vec<_> = attempts.iter().collect();
    let mut by_week = group_by_name(&all, |one| Some(iso_week(one.last.at)));
    by_week.sort_by(|a, b| a.name.cmp(&b.name));
    AnalyticsReport {
        by_approach,
        by_agent: group_by_name(&all, |one| one.last.agent.clone()),
        by_category: group_by_name(&all, category),
        by_week,
        repeated_failures: repeated_failures(&with_approach),
    }
}

/// Groups the attempts by name, the largest group first, then by name.
fn group_by_name(
    attempts: &[&Attempt<'_>],
    name: impl Fn(&Attempt<'_>) -> Option<String>,
) -> Vec<AttemptGroup> {
    let mut members: BTreeMap<Option<String>, Vec<&Attempt<'_>>> = BTreeMap::new();
    for one in attempts {
        members.entry(name(one)).or_default().push(one);
    }
    let mut groups: Vec<_> = members
        .into_iter()
        .map(|(name, members)| group(name, &members))
        .collect();
    sort_by_size(&mut groups);
    groups
}

/// Sorts the largest group first, then by name.
fn sort_by_size(groups: &mut [AttemptGroup]) {
    groups.sort_by(|a, b| (b.attempts.cmp(&a.attempts)).then_with(|| a.name.cmp(&b.name)));
}

#[expect(
    clippy::cast_precision_loss,
    reason = "the number of attempts is small"
)]
fn group(name: Option<String>, members: &[&Attempt<'_>]) -> AttemptGroup {
    let successes = members.iter().filter(|one| one.succeeded()).count();
    let failures = members.iter().filter(|one| one.failed()).count();
    let ended = successes + failures;
    AttemptGroup {
        name,
        attempts: members.len(),
        successes,
        failures,
        rate: (ended > 0).then(|| successes as f64 / ended as f64),
        median_duration_ms: median(members.iter().filter_map(|one| one.duration_ms())),
        median_tokens: median(members.iter().filter_map(|one| one.tokens())),
    }
}

/// Returns the median; of two middle values their mean, rounded down.
fn median(values: impl Iterator<Item = u64>) -> Option<u64> {
    let mut values: Vec<_> = values.collect();
    values.sort_unstable();
    let upper = *values.get(values.len() / 2)?;
    if values.len() % 2 == 1 {
        return Some(upper);
    }
    let lower = values[values.len() / 2 - 1];
    Some(lower + (upper - lower) / 2)
}

fn repeated_failures(attempts: &[&Attempt<'_>]) -> Vec<RepeatedFailure> {
    let mut members: BTreeMap<&str, Vec<&Attempt<'_>>> = BTreeMap::new();
    for one in attempts {
        if let Some(key) = &one.key {
            members.entry(key).or_default().push(one);
        }
    }
    let mut found: Vec<_> = members
        .values()
        .filter_map(|m| failing_approach(m))
        .collect();
    found.sort_by(|a, b| (b.failures.cmp(&a.failures)).then_with(|| a.approach.cmp(&b.approach)));
    found
}

/// Returns the report on an approach; `None` if it does not fail repeatedly.
fn failing_approach(members: &[&Attempt<'_>]) -> Option<RepeatedFailure> {
    if members.iter().any(|one| one.succeeded()) {
        return None;
    }
    let mut failed: Vec<_> = members.iter().filter(|one| one.failed()).collect();
    if failed.len() < REPEATED_FAILURES_MIN {
        return None;
    }
    failed.sort_by_key(|one| (one.last.at, one.last.id));
    let mut tasks: Vec<_> = failed
        .iter()
        .filter_map(|one| one.last.task.clone())
        .collect();
    tasks.sort();
    tasks.dedup();
    let last = failed.last()?;
    Some(RepeatedFailure {
        approach: last.last.approach.clone()?,
        failures: failed.len(),
        tasks,
        last_outcome: last.last.outcome.clone(),
        last_at: last.last.at,
    })
}

#[cfg(test)]
mod tests;
