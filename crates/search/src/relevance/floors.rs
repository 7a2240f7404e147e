//! Relevances from which a hit is shown, rendered or told. The numbers are fitted: `cargo xtask fit relevance` writes them to
//! `coefficients.rs`.

use super::coefficients;

/// Relevance from which a record is told with a prompt, unasked: a little less than in the fit, which did not know that a
/// failure must be in a pasted log. Of 384 developers' prompts with a relevant record 56.5 instead of 54.9 % are told one, of 176
/// without one 4.5 instead of 4.0 % something.
pub const TELL_MIN: f64 = coefficients::STRONG_MIN - 0.02;
/// Relevance from which a further record is told after one that reaches [`TELL_MIN`].
pub const TELL_MORE_MIN: f64 = coefficients::TELL_MORE_MIN;
/// The same for a case, whose relevance is the chance that its session edited the same files.
///
/// Of 32 recorded prompts about files of an earlier session 13 are told something from 19.5 % on and 15 from 17 %, of 61 about
/// new files 7 and 10, and 70 and 58 % of the items are about the same files.
pub const TELL_CASE_MIN: f64 = 0.17;
/// Cosine of the sentence vectors from which a case is about the question. Of 58 items that 105 prompts of three other projects
/// were told without it, it removes 6 of 23 that are about something else and 17 of 35 that share words with a useful lesson;
/// read by eye, most of these are the newest case, told for "let's commit that".
pub const TELL_CASE_COSINE_MIN: f64 = 0.3;
/// Floor of recall: hits below it are weak, and so are all hits of a question that none of them answers.
pub const FLOOR: f64 = coefficients::LIKELY_MIN;
/// Relevance from which a hit is about the question more likely than by chance, as it is called for people.
pub const LIKELY_MIN: f64 = 0.15;
/// Least relevance, or cosine of the sentence vectors, of the best hit of a question that memory answers.
///
/// Of 176 developers' prompts without a relevant record 62 % have no hit that reaches one of them, of 384 with one 9 %; by
/// a relevance of 12 % alone 61 % and 15 %. Both were chosen on these prompts.
pub const ANSWER_MIN: f64 = 0.22;
/// See [`ANSWER_MIN`].
pub const ANSWER_COSINE_MIN: f64 = 0.29;
/// The same as [`ANSWER_MIN`] for hits without sentence vectors: without the transformer 65 % of these prompts without a
/// relevant record have no such hit, and 17 % of those with one.
pub(super) const ANSWER_WORDS_MIN: f64 = 0.12;
/// The same for questions in other scripts, of which the model of relevance knows only shared words and pairs of
/// characters. Of 43 questions in four scripts, the right record came first for 41, and had this relevance for 40.
pub(super) const ANSWER_OTHER_SCRIPT_MIN: f64 = 0.05;
/// Floor of a context, which also takes doubtful records after the good ones if they fit.
pub const CONTEXT_FLOOR: f64 = coefficients::CONTEXT_MIN;

/// Grade of a hit, as it is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Grade {
    /// Below the floor: recall leaves it out unless all hits are requested.
    Weak,
    /// Above the floor.
    Possible,
    /// About the question more likely than by chance.
    Likely,
    /// Relevant enough to be told without being asked for.
    Strong,
}

impl Grade {
    /// All grades, best first.
    pub const ALL: [Self; 4] = [Self::Strong, Self::Likely, Self::Possible, Self::Weak];

    /// Returns the grade of a relevance.
    pub fn of(relevance: f64) -> Self {
        if relevance >= TELL_MIN {
            Self::Strong
        } else if relevance >= LIKELY_MIN {
            Self::Likely
        } else if relevance >= FLOOR {
            Self::Possible
        } else {
            Self::Weak
        }
    }

    /// Returns the name in JSON and at the terminal.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Weak => "weak",
            Self::Possible => "possible",
            Self::Likely => "likely",
            Self::Strong => "strong",
        }
    }
}
