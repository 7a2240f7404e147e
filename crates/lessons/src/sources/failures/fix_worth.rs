//! Worth of a fix for a later session, and failures that the work was meant to cause, whose fix is worth nothing.

use super::change::Change;
use super::open_failure::{FailureStage, OpenFailure};
use super::resolution::{Resolution, is_environment};
use crate::cues::FailureCues;

/// Events that make a failure a long one.
const LONG_EVENTS: u64 = 30;

/// Returns what attempts, an explanation and a long search add to the worth.
pub(super) fn extra_worth(
    open: &OpenFailure,
    closed_at: u64,
    is_explained: bool,
    cues: &FailureCues,
) -> f32 {
    let worth = &cues.worth;
    let attempts =
        f32::from(u8::try_from(open.attempts.saturating_sub(1).min(3)).unwrap_or_default());
    let is_long = closed_at.saturating_sub(open.first.position) > LONG_EVENTS;
    let explained = if is_explained { worth.explained } else { 0.0 };
    let long = if is_long { worth.long } else { 0.0 };
    attempts * worth.attempt + explained + long
}

/// Returns the worth by the kind of the changes.
pub(super) fn worth_of_changes(
    open: &OpenFailure,
    described: &Resolution<'_>,
    cues: &FailureCues,
) -> f32 {
    let worth = &cues.worth;
    let named = &described.named;
    let is_outer = named.iter().any(|change| is_environment(change, cues));
    let is_own_file = |change: &&Change| {
        let path = change.path.to_lowercase();
        open.files.iter().any(|file| path.ends_with(file.as_str()))
    };
    let is_expectation = |change: &&Change| {
        let mut lines = change.added.iter().chain(&change.removed);
        lines.all(|line| is_expectation(line, cues))
    };
    let is_own_slip = open.stage <= FailureStage::Build || named.iter().all(is_expectation);
    let is_slip = open.is_new_code && is_own_slip && named.iter().all(is_own_file);
    let is_test = |change: &&Change| {
        let path = change.path.to_lowercase();
        path.contains("test") || path.contains("spec")
    };
    if !described.is_matched {
        worth.slip
    } else if is_outer {
        worth.environment
    } else if open.error.starts_with('[') {
        worth.finding
    } else if is_slip {
        worth.slip
    } else if named.iter().all(is_test) {
        worth.test
    } else {
        worth.code
    }
}

/// Returns true for a failure that the work was meant to cause: the error names something missing that the session
/// defines afterwards.
pub(super) fn is_intended(open: &OpenFailure, changes: &[&Change], cues: &FailureCues) -> bool {
    let is_missing = [
        "undefined",
        "not defined",
        "cannot find",
        "can't find",
        "not found",
        "no module named",
        "does not exist",
        "could not find",
        "couldn't find",
        "can't resolve",
        "could not resolve",
        "unresolved",
        "undeclared",
        "no attribute",
        "has no member",
        "not a function",
        "failed to resolve",
        "unknown",
        "nomethoderror",
        "uninitialized constant",
        "is not available",
        "is undefined",
    ]
    .iter()
    .any(|phrase| open.error.to_lowercase().contains(phrase));
    if !is_missing {
        return false;
    }
    let words = &open.words;
    changes.iter().any(|change| {
        let defines = |line: &String| {
            let lower = line.to_lowercase();
            let names = defined_name(&lower, cues);
            names.is_some_and(|name| {
                words
                    .iter()
                    .any(|word| name.contains(word.as_str()) && word.len() >= 3)
                    && open.error.to_lowercase().contains(name)
            })
        };
        let stem = change
            .path
            .rsplit('/')
            .next()
            .unwrap_or_default()
            .split('.')
            .next()
            .unwrap_or_default()
            .to_lowercase();
        let is_new_file = change.removed.is_empty() && !change.added.is_empty() && stem.len() >= 3;
        change.added.iter().any(defines) || is_new_file && is_missing_module(open, &stem)
    })
}

/// Returns true if the error names a module by the name of a file.
fn is_missing_module(open: &OpenFailure, stem: &str) -> bool {
    let lower = open.error.to_lowercase();
    let is_module = ["module", "resolve", "import", "package"]
        .iter()
        .any(|word| lower.contains(word));
    is_module
        && lower
            .split(|c: char| !(c.is_alphanumeric() || c == '_' || c == '-'))
            .any(|word| word == stem)
}

/// Returns true for a line that states what a test expects, or names the test.
fn is_expectation(line: &str, cues: &FailureCues) -> bool {
    let lower = line.to_lowercase();
    cues.expectations.begins(&lower)
        || !lower.contains(['(', '=', ':'])
        || lower.starts_with(['"', '\''])
}

/// Returns the name that a line defines, in lower case.
fn defined_name<'l>(lower: &'l str, cues: &FailureCues) -> Option<&'l str> {
    if !cues.definitions.begins(lower) {
        return None;
    }
    let head = lower
        .split(['(', '{', '=', ':', '<', ' '])
        .filter(|word| !word.is_empty());
    let name = head.skip(1).find(|word| !cues.definitions.contains(word))?;
    let name = name.trim_end_matches(['!', '?', ',', ';']);
    (name.len() >= 3).then_some(name)
}
