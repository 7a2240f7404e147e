//! Known failures: what a record of a failure tells about its occurrences, its fix and later successes.

use super::LessonSource;
use heirloom_model::kinds::ErrorRecord;
use heirloom_model::record_meaning::{
    has_passed_without_change, has_resolution_details, known_resolution,
};
use heirloom_model::{Authority, Record, limits, mark};

/// Beginnings of the keys of failures that hooks and imports recorded.
const RECORDED: [&str; 2] = ["command:", "edit:"];

/// Returns true for a failure without a known fix whose command succeeded [`limits::FAILURE_SUCCESSES_MAX`] times since,
/// unless a person wrote or pinned it. It is not told any more.
pub(super) fn is_contradicted(record: &Record) -> bool {
    is_without_fix_since_success(record) && successes(record) >= limits::FAILURE_SUCCESSES_MAX
}

/// Returns true for a failure whose further successes count: of a session, closed by a success, without a known fix and
/// not contradicted yet.
pub(in crate::engine) fn is_countable_failure(record: &Record) -> bool {
    is_without_fix_since_success(record) && !is_contradicted(record)
}

fn is_without_fix_since_success(record: &Record) -> bool {
    has_passed_without_change(record)
        && !has_known_fix(record)
        && is_of_session(record)
        && Authority::of_record(record) != Authority::Person
        && !mark::is_pinned(&record.attrs)
}

/// Returns the number of successes of the command since the failure: the one that closed it, and those after it.
fn successes(record: &Record) -> u64 {
    let again = record.attrs.get(ErrorRecord::PASSED_AGAIN);
    let again = again.and_then(serde_json::Value::as_u64);
    again.unwrap_or_default().saturating_add(1)
}

/// Returns true for a failure that was learned from a session, not reported by an agent or a person.
pub(super) fn is_of_session(record: &Record) -> bool {
    let is_recorded = |key: &String| RECORDED.iter().any(|begin| key.starts_with(begin));
    LessonSource::is_in(record) || record.key.as_ref().is_some_and(is_recorded)
}

/// Returns true if it is known what helped, now or at an earlier occurrence.
pub(super) fn has_known_fix(record: &Record) -> bool {
    helpful_fix(record).is_some()
}

/// Returns what helped, now or at an earlier occurrence.
pub(super) fn helpful_fix(record: &Record) -> Option<&str> {
    let helped = || record.attr_str(ErrorRecord::HELPED);
    known_resolution(record).or_else(|| helped().filter(|helped| has_resolution_details(helped)))
}
