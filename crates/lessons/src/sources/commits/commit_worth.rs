//! Worth of a commit: by whether its message gives a reason, names a choice, or sets something up.

use crate::cues::Cues;

/// Kind of a commit by what its message teaches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CommitKind {
    /// It gives a reason.
    Reason,
    /// It names a choice.
    Choice,
    /// It sets something up, or changes only tests or texts.
    Other,
}

/// Returns the worth of a commit with this subject and these sentences.
pub(super) fn commit_worth(subject: &str, text: &str, is_choice: bool, cues: &Cues) -> f32 {
    let worth = &cues.commits.worth;
    match commit_kind(subject, text, is_choice, cues) {
        CommitKind::Reason => worth.choice,
        CommitKind::Choice => worth.weak_choice,
        CommitKind::Other => worth.setup,
    }
}

fn commit_kind(subject: &str, text: &str, is_choice: bool, cues: &Cues) -> CommitKind {
    let phrases = &cues.commits.phrases;
    let is_of_less_worth = phrases
        .subjects_of_less_worth
        .begins(&subject.to_lowercase());
    let has_reason = phrases.reason.is_in(&text.to_lowercase());
    match (is_choice && !is_of_less_worth, has_reason) {
        (true, true) => CommitKind::Reason,
        (true, false) => CommitKind::Choice,
        (false, _) => CommitKind::Other,
    }
}
