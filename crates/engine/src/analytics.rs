//! What worked and what did not: success rates, medians and repeated failures over episodes.
//!
//! Pure: episodes in, numbers out. The same episodes give the same numbers in the same order.

mod approach;
mod attempts;

pub use approach::approach_key;
pub use attempts::Episodic;

use attempts::Attempt;
use heirloom_model::Timestamp;
use heirloom_model::clock::iso_week;
use std::collections::BTreeMap;

/// Numbers over a group of attempts.
#[derive(Debug, Clone, PartialEq)]
pub struct Group {
    /// What they have in common; `None` where it was not said.
    pub name: Option<String>,
    /// Attempts, those whose end nobody told included.
    pub attempts: usize,
    /// Attempts that worked.
    pub successes: usize,
    /// Attempts that did not.
    pub failures: usize,
    /// Successes among the attempts whose end is known, 0 to 1; `None` if there is no such attempt.
    pub rate: Option<f64>,
    /// Half of them took at most so long, where that is known.
    pub median_duration_ms: Option<u64>,
    /// Half of them took at most so many tokens, read and written, where that is known.
    pub median_tokens: Option<u64>,
}

/// An approach that failed again and again and never worked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RepeatedFailure {
    /// The approach, as it was last worded.
    pub approach: String,
    /// How often it failed.
    pub failures: usize,
    /// The tasks that it failed for, by name.
    pub tasks: Vec<String>,
    /// Why it failed the last time, if somebody said so.
    pub last_outcome: Option<String>,
    /// When it failed last.
    pub last_at: Timestamp,
}

/// What episodes say when they are counted.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Analytics {
    /// By approach, the most tried first; what names no approach is left out.
    pub by_approach: Vec<Group>,
    /// By agent, the busiest first.
    pub by_agent: Vec<Group>,
    /// By type of task, the most frequent first.
    pub by_category: Vec<Group>,
    /// By ISO week in UTC, oldest first.
    pub by_week: Vec<Group>,
    /// Approaches that failed at least twice and never worked, the most frequent first.
    pub repeated_failures: Vec<RepeatedFailure>,
}

/// Failures from which on an approach counts as failing repeatedly.
const REPEATED_FROM: usize = 2;

/// Counts `episodes`, in whatever order; `types` has the type of each task that has one.
///
/// An episode that opens an attempt and the one that ends it (the same task, agent and approach) are one attempt.
/// Approaches are the same up to case, spacing and punctuation.
pub fn analyse(episodes: &[Episodic], types: &BTreeMap<String, String>) -> Analytics {
    let attempts = attempts::of(episodes);
    let with_approach: Vec<_> = attempts.iter().filter(|one| one.key.is_some()).collect();
    let category = |one: &Attempt<'_>| {
        let task = one.last.task.as_ref()?;
        types.get(task).cloned()
    };
    let mut by_approach = grouped(&with_approach, |one| one.key.clone());
    let mut newest: BTreeMap<&Option<String>, &Episodic> = BTreeMap::new();
    for one in &with_approach {
        let known = newest.entry(&one.key).or_insert(one.last);
        if (known.at, known.id) < (one.last.at, one.last.id) {
            *known = one.last;
        }
    }
    for group in &mut by_approach {
        group.name = (newest.get(&group.name)).and_then(|one| one.approach.clone());
    }
    in_order(&mut by_approach);
    let all: Vec<_> = attempts.iter().collect();
    let mut by_week = grouped(&all, |one| Some(iso_week(one.last.at)));
    by_week.sort_by(|a, b| a.name.cmp(&b.name));
    Analytics {
        by_approach,
        by_agent: grouped(&all, |one| one.last.agent.clone()),
        by_category: grouped(&all, category),
        by_week,
        repeated_failures: repeated(&with_approach),
    }
}

/// Numbers for each name, the largest group first, then by name.
fn grouped(attempts: &[&Attempt<'_>], name: impl Fn(&Attempt<'_>) -> Option<String>) -> Vec<Group> {
    let mut members: BTreeMap<Option<String>, Vec<&Attempt<'_>>> = BTreeMap::new();
    for one in attempts {
        members.entry(name(one)).or_default().push(one);
    }
    let mut groups: Vec<_> = members
        .into_iter()
        .map(|(name, members)| group(name, &members))
        .collect();
    in_order(&mut groups);
    groups
}

/// The largest first, then by name.
fn in_order(groups: &mut [Group]) {
    groups.sort_by(|a, b| (b.attempts.cmp(&a.attempts)).then_with(|| a.name.cmp(&b.name)));
}

#[expect(
    clippy::cast_precision_loss,
    reason = "nobody has so many attempts that a rate would notice"
)]
fn group(name: Option<String>, members: &[&Attempt<'_>]) -> Group {
    let successes = members.iter().filter(|one| one.succeeded()).count();
    let failures = members.iter().filter(|one| one.failed()).count();
    let ended = successes + failures;
    Group {
        name,
        attempts: members.len(),
        successes,
        failures,
        rate: (ended > 0).then(|| successes as f64 / ended as f64),
        median_duration_ms: median(members.iter().filter_map(|one| one.duration_ms())),
        median_tokens: median(members.iter().filter_map(|one| one.tokens())),
    }
}

/// The middle of the values; of two in the middle what lies between them, rounded down.
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

fn repeated(attempts: &[&Attempt<'_>]) -> Vec<RepeatedFailure> {
    let mut members: BTreeMap<&str, Vec<&Attempt<'_>>> = BTreeMap::new();
    for one in attempts {
        if let Some(key) = &one.key {
            members.entry(key).or_default().push(one);
        }
    }
    let mut found: Vec<_> = members.values().filter_map(|m| failing(m)).collect();
    found.sort_by(|a, b| (b.failures.cmp(&a.failures)).then_with(|| a.approach.cmp(&b.approach)));
    found
}

/// What there is to say of an approach that keeps failing; `None` if it does not.
fn failing(members: &[&Attempt<'_>]) -> Option<RepeatedFailure> {
    if members.iter().any(|one| one.succeeded()) {
        return None;
    }
    let mut failed: Vec<_> = members.iter().filter(|one| one.failed()).collect();
    if failed.len() < REPEATED_FROM {
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
