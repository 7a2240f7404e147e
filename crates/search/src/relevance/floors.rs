//! Relevances from which a hit is shown, rendered or told. The numbers are fitted: `cargo xtask fit relevance` writes them to
//! `coefficients.rs`.

use super::coefficients;

/// Relevance from which a record is told with a prompt, unasked.
pub const TELL_MIN: f64 = coefficients::STRONG_MIN;
/// Relevance from which a further record is told after one that reaches [`TELL_MIN`].
pub const TELL_MORE_MIN: f64 = coefficients::TELL_MORE_MIN;
/// Floor of recall: hits below it are weak.
pub const FLOOR: f64 = coefficients::LIKELY_MIN;
/// Floor of a context, which also takes doubtful records after the good ones if they fit.
pub const CONTEXT_FLOOR: f64 = coefficients::CONTEXT_MIN;

/// Grade of a hit, as it is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Grade {
    /// Below the floor: recall leaves it out unless all hits are requested.
    Weak,
    /// Above the floor.
    Likely,
    /// Relevant enough to be told without being asked for.
    Strong,
}

impl Grade {
    /// All grades, best first.
    pub const ALL: [Self; 3] = [Self::Strong, Self::Likely, Self::Weak];

    /// Returns the grade of a relevance.
    pub fn of(relevance: f64) -> Self {
        if relevance >= TELL_MIN {
            Self::Strong
        } else if relevance >= FLOOR {
            Self::Likely
        } else {
            Self::Weak
        }
    }

    /// Returns the name in JSON and at the terminal.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Weak => "weak",
            Self::Likely => "likely",
            Self::Strong => "strong",
        }
    }
}
