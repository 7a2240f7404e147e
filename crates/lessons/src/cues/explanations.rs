//! Data of explanations.

use crate::phrases::Phrases;
use serde::Deserialize;

/// Contents of `data/explanations.toml`.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct ExplanationCues {
    /// Greatest number of bytes of a text that is read.
    pub(crate) text_bytes_max: usize,
    /// Added for a second code token.
    pub(crate) tokens_bonus: f32,
    /// Added for a remedy that an edit confirmed.
    pub(crate) remedy_bonus: f32,
    /// Greatest worth.
    pub(crate) most: f32,
    /// Least worth of a candidate.
    pub(crate) least: f32,
    /// Groups of cues; the first that matches decides.
    pub(crate) cue: Vec<ExplanationCue>,
    /// Beginnings of sentences about steps, states and persons.
    pub(crate) narration: Phrases,
    /// States of the moment.
    pub(crate) momentary: Phrases,
    /// Words of guesses.
    pub(crate) hedges: Phrases,
    /// Sentences that withdraw an earlier one.
    pub(crate) withdrawals: Phrases,
    /// Words without a referent.
    pub(crate) pronouns: Phrases,
    /// Beginnings of sentences that announce a remedy.
    pub(crate) remedies: Vec<String>,
    /// First words of remedies that only look at something.
    pub(crate) looking: Phrases,
    /// Announced causes.
    pub(crate) diagnosis: DiagnosisCues,
    /// Sentences that are kept.
    #[cfg(test)]
    pub(crate) keep: Vec<String>,
    /// Sentences that are not kept.
    #[cfg(test)]
    pub(crate) drop: Vec<String>,
}

/// Group of cues.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct ExplanationCue {
    /// Worth of a sentence with one of the phrases.
    pub(crate) worth: f32,
    /// True for claims of a cause, which an edit has to confirm.
    #[serde(default)]
    pub(crate) is_cause: bool,
    /// True for absences, which an edit may make outdated.
    #[serde(default)]
    pub(crate) is_absence: bool,
    /// The phrases.
    pub(crate) phrases: Phrases,
}

/// Data of announced causes.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct DiagnosisCues {
    /// Worth of a cause that an edit confirmed.
    pub(crate) confirmed: f32,
    /// Worth of any other cause.
    pub(crate) unconfirmed: f32,
    /// Added for a fix that the same text names.
    pub(crate) fix_bonus: f32,
    /// Added for a second code token.
    pub(crate) tokens_bonus: f32,
    /// Words one of which occurs in every text with an announcement.
    pub(crate) hints: Vec<String>,
    /// Announcements; the cause follows.
    pub(crate) leads: Vec<String>,
    /// Announcements of findings that need not be faults.
    pub(crate) findings: Vec<String>,
    /// Announcements that are the subject of the cause's sentence.
    pub(crate) subjects: Vec<String>,
    /// Headings of sections about a cause.
    pub(crate) headings: Phrases,
    /// Headings of sections about a fix.
    pub(crate) fix_headings: Phrases,
    /// Announcements of a fix.
    pub(crate) fix_leads: Vec<String>,
    /// Beginnings of sentences that go on with a cause.
    pub(crate) consequences: Phrases,
    /// Beginnings of sentences about the state of the work.
    pub(crate) status: Phrases,
    /// Words of guesses.
    pub(crate) hedges: Phrases,
    /// References to something outside of the sentence.
    pub(crate) references: Phrases,
}
