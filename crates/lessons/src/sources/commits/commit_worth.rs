//! Worth of a commit: by whether its message gives a reason for a choice.

use crate::cues::Cues;

/// Returns the worth of a commit with this subject and these sentences.
pub(super) fn commit_worth(subject: &str, text: &str, cues: &Cues) -> f32 {
    let (worth, phrases) = (&cues.commits.worth, &cues.commits.phrases);
    let is_minor = phrases
        .subjects_of_less_worth
        .begins(&subject.to_lowercase());
    match (is_minor, phrases.reason.is_in(&text.to_lowercase())) {
        (true, _) => worth.minor,
        (false, true) => worth.choice,
        (false, false) => worth.weak_choice,
    }
}
