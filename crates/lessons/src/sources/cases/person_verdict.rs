//! Verdicts of a person on the work before their prompt.

use super::request_text::without_politeness;
use crate::cues::OutcomeCues;
use serde::{Deserialize, Serialize};

/// Greatest number of characters of a prompt that is about the work before it as a whole.
const PROMPT_CHARS_MAX: usize = 400;
/// Number of characters at the beginning of a prompt that are searched for a verdict.
const HEAD_CHARS: usize = 200;

/// Verdict of a person on the work before their prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum PersonVerdict {
    /// The person accepts it.
    Assent,
    /// The person says that it does not work, or takes it back.
    Dissent,
}

impl PersonVerdict {
    /// Returns the verdict in a cleaned prompt.
    pub(super) fn read(prompt: &str, cues: &OutcomeCues) -> Option<Self> {
        if prompt.chars().nth(PROMPT_CHARS_MAX).is_some() {
            return None;
        }
        let end = prompt
            .char_indices()
            .nth(HEAD_CHARS)
            .map_or(prompt.len(), |(at, _)| at);
        let lower = prompt.get(..end)?.to_lowercase().replace('’', "'");
        if cues.phrases.dissent.is_in(&lower) {
            return Some(Self::Dissent);
        }
        let bare = without_politeness(&lower, cues);
        cues.phrases.assent.begins(bare).then_some(Self::Assent)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cues::Cues;

    #[test]
    fn read_finds_assent_and_dissent() {
        use PersonVerdict::{Assent, Dissent};
        for (prompt, verdict) in [
            ("still failing e2e", Some(Dissent)),
            (
                "That doesn't work: the worker crashed. Please revert it.",
                Some(Dissent),
            ),
            ("same error", Some(Dissent)),
            ("Great, but the test still fails", Some(Dissent)),
            ("actually revert the commit", Some(Dissent)),
            ("thanks, works", Some(Assent)),
            ("ok commit this", Some(Assent)),
            ("Looks good. Now add a page.", Some(Assent)),
            ("yes", None),
            ("continue", None),
            ("Add a page for orders", None),
            ("did you push?", None),
        ] {
            assert_eq!(
                PersonVerdict::read(prompt, &Cues::get().outcome),
                verdict,
                "{prompt}"
            );
        }
        // The text of an issue is about something else.
        let issue = format!(
            "The export doesn't work. {}",
            "Steps to see it. ".repeat(40)
        );
        assert_eq!(PersonVerdict::read(&issue, &Cues::get().outcome), None);
    }
}
