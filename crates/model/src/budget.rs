//! Size limits of texts, in characters or tokens.

use crate::limits::CHARS_PER_TOKEN;
use crate::text;

/// Size limit of a text, in the unit of the request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Budget {
    /// At most this many Unicode scalar values.
    Chars(usize),
    /// At most this many tokens, estimated at four characters each, rounded up.
    Tokens(usize),
}

impl Budget {
    /// Returns the length of the longest text that fits, in characters.
    pub fn chars(self) -> usize {
        match self {
            Self::Chars(chars) => chars,
            Self::Tokens(tokens) => tokens.saturating_mul(CHARS_PER_TOKEN),
        }
    }

    /// Returns true if `text` fits.
    pub fn fits(self, text: &str) -> bool {
        match self {
            Self::Chars(chars) => text::chars(text) <= chars,
            Self::Tokens(tokens) => text::tokens(text) <= tokens,
        }
    }
}
