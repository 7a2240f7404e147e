//! Query vectors and exact cosine scores.

use super::weighted_sum::WeightedSum;
use super::{DIMS, ROW_BYTES, Vector, bounded, split};
use crate::index::word_pieces;
use fearless_simd::{Level, Simd, dispatch};
use heirloom_model::limits::QUESTION_PIECES_MAX;

/// Vector of a query, prepared for many comparisons.
#[derive(Debug, Clone, PartialEq)]
pub struct QueryVector {
    pub(super) scale: f32,
    /// Wider than necessary, so that the products need no widening.
    pub(super) values: [i16; DIMS],
}

impl QueryVector {
    /// Computes the vector of a query. A piece weighs the more, the fewer of `documents` have it according to `df`.
    /// `None` for a query without a known piece.
    pub fn of(text: &str, documents: u32, df: impl Fn(u16) -> u32) -> Option<Self> {
        Self::of_pieces(&Self::pieces(text), documents, df)
    }

    /// Returns the word pieces of a query, in order.
    pub fn pieces(text: &str) -> Vec<u16> {
        word_pieces::pieces(text, QUESTION_PIECES_MAX)
    }

    /// Computes the vector from word pieces; see [`QueryVector::of`].
    pub fn of_pieces(pieces: &[u16], documents: u32, df: impl Fn(u16) -> u32) -> Option<Self> {
        let all = (f64::from(documents) + 1.0).ln();
        let weighted = pieces.iter().map(|&piece| {
            let rarity = all - (f64::from(df(piece)) + 0.5).ln();
            // Inconsistent counts must not turn a piece into its opposite.
            (piece, rarity.max(0.0) as f32)
        });
        let mut sum = WeightedSum::default();
        sum.add_weighted(weighted);
        Some(Self::from(&sum.unit()?.quantised()))
    }

    /// Appends the cosine with each packed row, -1 to 1, to `out`. Bytes after the last complete row are ignored; a
    /// damaged row has some score, never NaN.
    pub fn scores(&self, packed: &[u8], out: &mut Vec<f32>) {
        let rows = packed.as_chunks::<ROW_BYTES>().0;
        let start = out.len();
        out.resize(start + rows.len(), 0.0);
        let scores = out.get_mut(start..).unwrap_or_default();
        dispatch!(Level::new(), simd => score_rows(simd, self, rows, scores));
    }
}

impl From<&Vector> for QueryVector {
    /// Creates a query for texts similar to a document.
    fn from(vector: &Vector) -> Self {
        Self {
            scale: vector.scale,
            values: vector.values.map(i16::from),
        }
    }
}

/// Compiled for each SIMD width; the variant is chosen at run time.
#[inline(always)]
pub(super) fn score_rows<S: Simd>(
    _: S,
    query: &QueryVector,
    rows: &[[u8; ROW_BYTES]],
    scores: &mut [f32],
) {
    for (row, score) in rows.iter().zip(scores) {
        *score = row_score(query, row);
    }
}

/// Computes the cosine with one packed row; inlined, so that it is compiled for the SIMD width of its caller.
#[inline(always)]
pub(super) fn row_score(query: &QueryVector, row: &[u8; ROW_BYTES]) -> f32 {
    let (scale, values) = split(row);
    let mut dot = 0_i32;
    for (a, b) in query.values.iter().zip(values) {
        dot += i32::from(*a) * i32::from(b.cast_signed());
    }
    bounded(dot as f32 * query.scale * scale)
}

#[cfg(test)]
mod tests {
    use super::super::EMPTY_ROW;
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn scores_are_cosines_in_row_order() {
        let texts = ["the cache is stale", "the parser fails", "rows of a table"];
        let vectors = texts.map(|text| Vector::of_document(text).unwrap());
        let mut packed: Vec<u8> = vectors.iter().flat_map(Vector::to_bytes).collect();
        packed.extend(EMPTY_ROW);
        packed.extend([7; ROW_BYTES - 1]);
        let query = QueryVector::from(&vectors[1]);
        let mut scores = vec![9.0];
        query.scores(&packed, &mut scores);
        let expected: Vec<f32> = vectors
            .iter()
            .map(|vector| vector.cosine(&vectors[1]))
            .collect();
        assert_eq!(scores, [&[9.0], &expected[..], &[0.0]].concat());
        assert!(scores[2] > 0.99 && scores[1] < 0.9);
    }

    #[test]
    fn rare_pieces_weigh_more() {
        let rows: Vec<u8> = ["parser", "cache"]
            .iter()
            .flat_map(|text| Vector::of_document(text).unwrap().to_bytes())
            .collect();
        let near = |common: &str| {
            let common = word_pieces::pieces(common, 1)[0];
            let df = |piece| if piece == common { 900 } else { 2 };
            let mut scores = Vec::new();
            let query = QueryVector::of("parser cache", 1_000, df).unwrap();
            query.scores(&rows, &mut scores);
            scores[0] > scores[1]
        };
        assert!(near("cache") && !near("parser"));
    }

    #[test]
    fn query_without_direction_is_none() {
        assert_eq!(QueryVector::of("", 10, |_| 0), None);
        assert_eq!(QueryVector::of("🦀", 10, |_| 0), None);
        // A damaged store may count more documents with the piece than there are.
        assert_eq!(QueryVector::of("parser", 0, |_| u32::MAX), None);
        assert!(QueryVector::of("parser", 0, |_| 0).is_some());
        assert!(QueryVector::of("the", 10, |_| 10).is_some());
    }

    #[test]
    fn query_pieces_beyond_limit_are_ignored() {
        let words = |count: usize| "a ".repeat(count);
        let query = |text: &str| QueryVector::of(text, 10, |_| 1).unwrap();
        let full = query(&words(QUESTION_PIECES_MAX));
        assert_eq!(query(&(words(QUESTION_PIECES_MAX) + "zebra")), full);
        assert_ne!(query(&(words(QUESTION_PIECES_MAX - 1) + "zebra")), full);
    }

    proptest! {
        #[test]
        fn any_bytes_have_scores(packed in prop::collection::vec(any::<u8>(), 0..4 * ROW_BYTES)) {
            let query = QueryVector::of("the words of a question", 10, |_| 1).unwrap();
            let mut scores = Vec::new();
            query.scores(&packed, &mut scores);
            prop_assert_eq!(scores.len(), packed.len() / ROW_BYTES);
            prop_assert!(scores.iter().all(|score| (-1.0..=1.0).contains(score)));
        }

        #[test]
        fn any_query_is_reproducible(text: String, documents: u32, df: u32) {
            let query = QueryVector::of(&text, documents, |_| df);
            prop_assert_eq!(&query, &QueryVector::of(&text, documents, |_| df));
        }
    }
}
