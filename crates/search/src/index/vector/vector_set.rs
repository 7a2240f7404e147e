//! Set of vectors in memory, each with its sketch.

use super::query_vector::row_score;
use super::sketch::{SKETCHES_BYTES, Sketches};
use super::{QueryVector, ROW_BYTES};
use fearless_simd::{Level, Simd, dispatch};

/// Packed vectors and their sketches.
#[derive(Debug, Clone, Default)]
pub struct VectorSet {
    packed: Vec<[u8; ROW_BYTES]>,
    sketches: Sketches,
}

impl VectorSet {
    /// Adds packed rows; bytes after the last complete one are ignored.
    pub fn extend(&mut self, packed: &[u8]) {
        self.packed.extend(packed.as_chunks().0);
        self.sketches.extend(packed);
    }

    /// Returns the sketches of all vectors.
    pub fn sketches(&self) -> &Sketches {
        &self.sketches
    }

    /// Returns the number of vectors.
    pub fn len(&self) -> usize {
        self.packed.len()
    }

    /// Returns true if there are no vectors.
    pub fn is_empty(&self) -> bool {
        self.packed.is_empty()
    }

    /// Returns the memory size, bytes.
    pub fn bytes(&self) -> usize {
        self.len() * ROW_BYTES + self.sketches.blocks().len() * SKETCHES_BYTES
    }
}

impl QueryVector {
    /// Writes the exact cosine of each of these rows to its position in `scores`; positions without a row are
    /// unchanged.
    pub fn exact_scores(&self, rows: &VectorSet, places: &[u32], scores: &mut [f32]) {
        dispatch!(Level::new(), simd => score_exactly(simd, self, rows, places, scores));
    }
}

// A plain loop, because a closure is not compiled for the widest registers.
#[inline(always)]
fn score_exactly<S: Simd>(
    _: S,
    query: &QueryVector,
    rows: &VectorSet,
    places: &[u32],
    scores: &mut [f32],
) {
    for at in places.iter().map(|place| *place as usize) {
        if let (Some(row), Some(score)) = (rows.packed.get(at), scores.get_mut(at)) {
            *score = row_score(query, row);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{SketchQuery, Vector};
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn exact_scores_match_sequential_scores(packed in prop::collection::vec(any::<u8>(), 0..5 * ROW_BYTES)) {
            let query = QueryVector::of("the words of a question", 10, |_| 1).unwrap();
            let mut cosines = Vec::new();
            query.scores(&packed, &mut cosines);
            let mut rows = VectorSet::default();
            rows.extend(&packed);
            prop_assert_eq!(rows.len(), cosines.len());
            prop_assert_eq!(rows.sketches().len(), cosines.len());
            let mut scores = vec![7.0; cosines.len() + 2];
            let places: Vec<u32> = (0..9).collect();
            query.exact_scores(&rows, &places, &mut scores);
            let (found, rest) = scores.split_at(cosines.len());
            prop_assert_eq!(found, &cosines);
            prop_assert_eq!(rest, [7.0; 2]);
        }
    }

    /// Vectors with high exact scores must have high sketch scores.
    #[test]
    fn sketches_rank_similar_vectors_high() {
        let words = [
            "parser", "cache", "login", "retry", "worker", "index", "flag", "path",
        ];
        let mut rows = VectorSet::default();
        for a in words {
            for b in words {
                let text = format!("the {a} of the {b} is {}", a.len() * b.len());
                rows.extend(&Vector::of_document(&text).unwrap().to_bytes());
            }
        }
        let query = QueryVector::of("parser cache", 64, |_| 9).unwrap();
        let mut sketch_query = vec![0.0; rows.len()];
        SketchQuery::of(&query).scores(rows.sketches().blocks(), &mut sketch_query);
        let mut exact = sketch_query.clone();
        let places: Vec<u32> = (0..64).collect();
        query.exact_scores(&rows, &places, &mut exact);
        let best = |scores: &[f32], count: usize| -> Vec<usize> {
            crate::index::bm25::top_scores(scores, count, |_| true)
                .into_iter()
                .map(|(place, _)| place)
                .collect()
        };
        let near = best(&sketch_query, 16);
        assert!(best(&exact, 4).iter().all(|place| near.contains(place)));
        let off = sketch_query.iter().zip(&exact).map(|(a, b)| (a - b).abs());
        assert!(
            off.fold(0.0, f32::max) < 0.15,
            "a sketch approximates the cosine"
        );
        assert_eq!(rows.bytes(), 64 * ROW_BYTES + SKETCHES_BYTES);
        assert!(!rows.is_empty());
    }
}
