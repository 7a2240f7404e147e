//! What is asked, as a vector, and how near the stored ones are to it.

use super::sum::Sum;
use super::{DIMS, ROW_BYTES, Vector, bounded, split};
use crate::pieces;
use fearless_simd::{Level, Simd, dispatch};
use heirloom_model::limits::QUESTION_PIECES_MAX;

/// The vector of a question, ready for many comparisons.
#[derive(Debug, Clone, PartialEq)]
pub struct Question {
    pub(super) scale: f32,
    /// Wider than they need be: so the products need no widening.
    pub(super) values: [i16; DIMS],
}

impl Question {
    /// The first pieces of a question, each the heavier the fewer of `documents` have it, which `df` tells. None for
    /// a question without a known piece.
    pub fn of(text: &str, documents: u32, df: impl Fn(u16) -> u32) -> Option<Self> {
        Self::of_pieces(&Self::pieces(text), documents, df)
    }

    /// The pieces of a question, in its order.
    pub fn pieces(text: &str) -> Vec<u16> {
        pieces::pieces(text, QUESTION_PIECES_MAX)
    }

    /// As [`Question::of`], of a text's pieces.
    pub fn of_pieces(pieces: &[u16], documents: u32, df: impl Fn(u16) -> u32) -> Option<Self> {
        let all = (f64::from(documents) + 1.0).ln();
        let weighted = pieces.iter().map(|&piece| {
            let rarity = all - (f64::from(df(piece)) + 0.5).ln();
            // Counts that do not belong together must not turn a piece into its opposite.
            (piece, rarity.max(0.0) as f32)
        });
        let mut sum = Sum::default();
        sum.add_weighted(weighted);
        Some(Self::from(&sum.unit()?.quantised()))
    }

    /// The cosine with each packed row, -1 to 1, appended to `out` in their order. Bytes behind the last whole row
    /// are not read; a damaged row has some score, never NaN.
    pub fn scores(&self, packed: &[u8], out: &mut Vec<f32>) {
        let rows = packed.as_chunks::<ROW_BYTES>().0;
        let start = out.len();
        out.resize(start + rows.len(), 0.0);
        let scores = out.get_mut(start..).unwrap_or_default();
        dispatch!(Level::new(), simd => score_rows(simd, self, rows, scores));
    }
}

impl From<&Vector> for Question {
    /// Asks for what is like a document.
    fn from(vector: &Vector) -> Self {
        Self {
            scale: vector.scale,
            values: vector.values.map(i16::from),
        }
    }
}

/// The compiler makes one of these for each width of registers; which one runs is found out when it runs.
#[inline(always)]
pub(super) fn score_rows<S: Simd>(
    _: S,
    question: &Question,
    rows: &[[u8; ROW_BYTES]],
    scores: &mut [f32],
) {
    for (row, score) in rows.iter().zip(scores) {
        let (scale, values) = split(row);
        let mut dot = 0_i32;
        for (a, b) in question.values.iter().zip(values) {
            dot += i32::from(*a) * i32::from(b.cast_signed());
        }
        *score = bounded(dot as f32 * question.scale * scale);
    }
}

#[cfg(test)]
mod tests {
    use super::super::EMPTY_ROW;
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn scores_are_the_cosines_in_their_order() {
        let texts = ["the cache is stale", "the parser fails", "rows of a table"];
        let vectors = texts.map(|text| Vector::of_document(text).unwrap());
        let mut packed: Vec<u8> = vectors.iter().flat_map(Vector::to_bytes).collect();
        packed.extend(EMPTY_ROW);
        packed.extend([7; ROW_BYTES - 1]);
        let question = Question::from(&vectors[1]);
        let mut scores = vec![9.0];
        question.scores(&packed, &mut scores);
        let expected: Vec<f32> = vectors
            .iter()
            .map(|vector| vector.cosine(&vectors[1]))
            .collect();
        assert_eq!(scores, [&[9.0], &expected[..], &[0.0]].concat());
        assert!(scores[2] > 0.99 && scores[1] < 0.9);
    }

    #[test]
    fn rare_pieces_decide() {
        let rows: Vec<u8> = ["parser", "cache"]
            .iter()
            .flat_map(|text| Vector::of_document(text).unwrap().to_bytes())
            .collect();
        let near = |common: &str| {
            let common = pieces::pieces(common, 1)[0];
            let df = |piece| if piece == common { 900 } else { 2 };
            let mut scores = Vec::new();
            let question = Question::of("parser cache", 1_000, df).unwrap();
            question.scores(&rows, &mut scores);
            scores[0] > scores[1]
        };
        assert!(near("cache") && !near("parser"));
    }

    #[test]
    fn a_question_without_a_direction_is_none() {
        assert_eq!(Question::of("", 10, |_| 0), None);
        assert_eq!(Question::of("🦀", 10, |_| 0), None);
        // Nonsense from a damaged store: more documents with the piece than there are.
        assert_eq!(Question::of("parser", 0, |_| u32::MAX), None);
        assert!(Question::of("parser", 0, |_| 0).is_some());
        assert!(Question::of("the", 10, |_| 10).is_some());
    }

    #[test]
    fn pieces_beyond_the_limit_are_not_asked() {
        let words = |count: usize| "a ".repeat(count);
        let asked = |text: &str| Question::of(text, 10, |_| 1).unwrap();
        let full = asked(&words(QUESTION_PIECES_MAX));
        assert_eq!(asked(&(words(QUESTION_PIECES_MAX) + "zebra")), full);
        assert_ne!(asked(&(words(QUESTION_PIECES_MAX - 1) + "zebra")), full);
    }

    proptest! {
        #[test]
        fn any_bytes_have_scores(packed in prop::collection::vec(any::<u8>(), 0..4 * ROW_BYTES)) {
            let question = Question::of("the words of a question", 10, |_| 1).unwrap();
            let mut scores = Vec::new();
            question.scores(&packed, &mut scores);
            prop_assert_eq!(scores.len(), packed.len() / ROW_BYTES);
            prop_assert!(scores.iter().all(|score| (-1.0..=1.0).contains(score)));
        }

        #[test]
        fn any_question_is_answered(text: String, documents: u32, df: u32) {
            let asked = Question::of(&text, documents, |_| df);
            prop_assert_eq!(&asked, &Question::of(&text, documents, |_| df));
        }
    }
}
