//! Rarity of words in general language, from the order of the vocabulary of word pieces.
//!
//! Document frequencies of a young memory do not distinguish `talk` from `uplink`: both occur once. The vocabulary is
//! ordered by frequency, so by Zipf's law the rank of a piece gives its information.

use crate::index::word_pieces::{self, PIECES, UNKNOWN};

/// First piece of the vocabulary that is ordered by frequency; the ones before are marks and single letters.
const ORDERED_FROM: usize = 1_994;
/// Information of a word of several pieces or of none, nats: rarer than any single piece.
const COMPOSED_NATS: f64 = 13.0;
/// Information below which a word adds almost no evidence, nats.
const COMMON_NATS: f64 = 7.0;
/// Range in which the weight of a word rises from 0 to 1, nats.
const RANGE_NATS: f64 = 4.5;
/// Bounds of the weight.
const WEIGHT_MIN: f64 = 0.05;
const WEIGHT_MAX: f64 = 1.3;
/// Maximum number of characters of a word that are looked at.
const WORD_CHARS: usize = 64;
/// Number of pieces of a word that are read; more than one is composed.
const WORD_PIECES: usize = 2;

/// Sum of the frequencies of the ordered pieces, before normalisation.
const TOTAL: f64 = {
    let mut sum = 0.0;
    let mut place = 2;
    while place < PIECES - ORDERED_FROM {
        sum += 1.0 / place as f64;
        place += 1;
    }
    sum
};

/// Returns true for pieces of words; false for marks, single letters and unknown pieces.
pub(super) fn is_word_piece(piece: u16) -> bool {
    piece != UNKNOWN && usize::from(piece) >= ORDERED_FROM + 2
}

/// Returns the information of a piece, nats.
pub(super) fn piece_nats(piece: u16) -> f64 {
    let place = usize::from(piece).saturating_sub(ORDERED_FROM).max(2);
    #[expect(clippy::cast_precision_loss, reason = "a rank in the vocabulary")]
    let place = place as f64;
    place.ln() + TOTAL.ln()
}

/// Returns true if the word at the beginning of a text is one piece of the vocabulary.
pub(super) fn is_vocabulary_word(text: &str) -> bool {
    let pieces = word_pieces::pieces(first_word(text), WORD_PIECES);
    matches!(pieces.as_slice(), [piece] if *piece != UNKNOWN)
}

/// Returns the weight of the word at the beginning of a text, from nearly 0 for a very common one to a little over 1.
pub(super) fn word_rarity(text: &str) -> f64 {
    let nats = match word_pieces::pieces(first_word(text), WORD_PIECES).as_slice() {
        [piece] if *piece != UNKNOWN => piece_nats(*piece),
        _ => COMPOSED_NATS,
    };
    ((nats - COMMON_NATS) / RANGE_NATS).clamp(WEIGHT_MIN, WEIGHT_MAX)
}

/// Returns the word at the beginning of a text, at most [`WORD_CHARS`] of it: no vocabulary has longer words.
fn first_word(text: &str) -> &str {
    let mut chars = text.char_indices().take(WORD_CHARS);
    let end = match chars.find(|(_, c)| !c.is_alphanumeric()) {
        Some((end, _)) => end,
        None => text
            .char_indices()
            .nth(WORD_CHARS)
            .map_or(text.len(), |(end, _)| end),
    };
    text.get(..end).unwrap_or_default()
}
