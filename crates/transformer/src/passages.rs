//! Division of texts into tokens and passages.

use crate::weight_file::POSITIONS;
use heirloom_model::limits::SENTENCE_PASSAGES_MAX;
use heirloom_search::index::word_pieces::pieces;

/// Maximum number of word pieces of a passage: the positions of the model without the two marks.
pub const PASSAGE_PIECES: usize = POSITIONS - 2;

/// Piece before a text (`[CLS]`).
const START: u16 = 101;
/// Piece after a text (`[SEP]`).
const END: u16 = 102;

/// Limits of the passages of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PassageLimits {
    /// Maximum number of word pieces of a passage; at most [`PASSAGE_PIECES`] are used.
    pub pieces: usize,
    /// Maximum number of passages; the rest of the text is not read.
    pub passages: usize,
}

impl Default for PassageLimits {
    fn default() -> Self {
        Self {
            pieces: PASSAGE_PIECES,
            passages: SENTENCE_PASSAGES_MAX,
        }
    }
}

/// Returns the tokens of each passage of a text, with the marks around them. A text without pieces has no passages.
pub(crate) fn split_passages(text: &str, limits: PassageLimits) -> Vec<Vec<u16>> {
    let size = limits.pieces.clamp(1, PASSAGE_PIECES);
    let pieces = pieces(text, size.saturating_mul(limits.passages));
    let passages = pieces.chunks(size);
    passages
        .map(|passage| [&[START], passage, &[END]].concat())
        .collect()
}

/// Returns the tokens of the first passage; `None` for a text without pieces.
pub(crate) fn first_passage(text: &str) -> Option<Vec<u16>> {
    let limits = PassageLimits {
        pieces: PASSAGE_PIECES,
        passages: 1,
    };
    split_passages(text, limits).pop()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passages_have_at_most_the_limit_of_pieces() {
        let text = "word ".repeat(20);
        let sizes = |pieces, passages| -> Vec<usize> {
            let found = split_passages(&text, PassageLimits { pieces, passages });
            found.iter().map(|passage| passage.len() - 2).collect()
        };
        assert_eq!(sizes(8, 9), [8, 8, 4]);
        assert_eq!(sizes(8, 2), [8, 8]);
        assert!(sizes(8, 0).is_empty());
        assert_eq!(sizes(0, 2), [1, 1]);
        assert_eq!(sizes(usize::MAX, usize::MAX), [20]);
    }

    #[test]
    fn text_beyond_the_passages_of_a_text_is_not_read() {
        let whole = "word ".repeat(PASSAGE_PIECES * SENTENCE_PASSAGES_MAX);
        let passages = |text: &str| split_passages(text, PassageLimits::default());
        assert_eq!(passages(&whole).len(), SENTENCE_PASSAGES_MAX);
        assert_eq!(passages(&format!("{whole}more")), passages(&whole));
    }

    #[test]
    fn passage_is_between_marks() {
        assert_eq!(first_passage("word"), Some(vec![START, 2773, END]));
        assert_eq!(first_passage(" \n\0"), None);
    }
}
