//! Selection: which candidates of a session become records.

use crate::{Candidate, Lesson, Verdict};

/// Decides on the candidates of a session.
pub(crate) fn select_lessons(mut candidates: Vec<Candidate>) -> Vec<Lesson> {
    candidates.sort_by(|one, other| other.worth.total_cmp(&one.worth));
    candidates
        .into_iter()
        .map(|candidate| Lesson {
            candidate,
            verdict: Verdict::Kept,
        })
        .collect()
}
