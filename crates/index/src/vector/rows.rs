//! Many vectors in memory, each with its sketch.

use super::sketch::{SKETCH_BYTES, Sketch, sketches};
use super::{Question, ROW_BYTES, bounded, split};
use fearless_simd::{Level, Simd, dispatch};

/// Packed vectors and their sketches.
#[derive(Debug, Clone, Default)]
pub struct Rows {
    packed: Vec<[u8; ROW_BYTES]>,
    sketches: Vec<Sketch>,
}

impl Rows {
    /// Adds packed rows; bytes behind the last whole one are not read.
    pub fn extend(&mut self, packed: &[u8]) {
        self.packed.extend(packed.as_chunks().0);
        sketches(packed, &mut self.sketches);
    }

    /// The sketch of each.
    pub fn sketches(&self) -> &[Sketch] {
        &self.sketches
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.packed.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.packed.is_empty()
    }

    /// Bytes that they take.
    pub fn bytes(&self) -> usize {
        self.len() * (ROW_BYTES + SKETCH_BYTES)
    }
}

impl Question {
    /// The cosine with each of these rows, put into `scores` at its place. The first row's place is `first`; places
    /// without a row keep their scores.
    pub fn exact_scores(&self, rows: &Rows, first: u32, places: &[u32], scores: &mut [f32]) {
        dispatch!(Level::new(), simd => exactly(simd, self, rows, first, places, scores));
    }
}

// A plain loop: what stands in a closure is not made for the processor's widest registers.
#[inline(always)]
fn exactly<S: Simd>(
    _: S,
    question: &Question,
    rows: &Rows,
    first: u32,
    places: &[u32],
    scores: &mut [f32],
) {
    for place in places {
        let at = place.checked_sub(first);
        if let (Some(row), Some(score)) = (
            at.and_then(|at| rows.packed.get(at as usize)),
            scores.get_mut(*place as usize),
        ) {
            let (scale, values) = split(row);
            let mut dot = 0_i32;
            for (a, b) in question.values.iter().zip(values) {
                dot += i32::from(*a) * i32::from(b.cast_signed());
            }
            *score = bounded(dot as f32 * question.scale * scale);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Rough, Vector};
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn both_ways_give_the_same_scores(packed in prop::collection::vec(any::<u8>(), 0..5 * ROW_BYTES), first in 0..4_u32) {
            let question = Question::of("the words of a question", 10, |_| 1).unwrap();
            let mut cosines = Vec::new();
            question.scores(&packed, &mut cosines);
            let mut rows = Rows::default();
            rows.extend(&packed);
            prop_assert_eq!(rows.len(), cosines.len());
            prop_assert_eq!(rows.sketches().len(), cosines.len());
            let mut scores = vec![7.0; first as usize + cosines.len()];
            let places: Vec<u32> = (0..9).collect();
            question.exact_scores(&rows, first, &places, &mut scores);
            prop_assert_eq!(&scores[first as usize..], &cosines);
            prop_assert!(scores[..first as usize].iter().all(|score| *score == 7.0));
        }
    }

    /// What ranks high by its numbers ranks high by its sketch.
    #[test]
    fn sketches_tell_what_is_near() {
        let words = [
            "parser", "cache", "login", "retry", "worker", "index", "flag", "path",
        ];
        let mut rows = Rows::default();
        for a in words {
            for b in words {
                let text = format!("the {a} of the {b} is {}", a.len() * b.len());
                rows.extend(&Vector::of_document(&text).unwrap().to_bytes());
            }
        }
        let question = Question::of("parser cache", 64, |_| 9).unwrap();
        let mut rough = vec![0.0; rows.len()];
        Rough::of(&question).scores(rows.sketches(), &mut rough);
        let mut exact = rough.clone();
        let places: Vec<u32> = (0..64).collect();
        question.exact_scores(&rows, 0, &places, &mut exact);
        let best = |scores: &[f32], count: usize| -> Vec<usize> {
            crate::score::best(scores, count, |_| true)
                .into_iter()
                .map(|(place, _)| place)
                .collect()
        };
        let near = best(&rough, 16);
        assert!(best(&exact, 4).iter().all(|place| near.contains(place)));
        let off = rough.iter().zip(&exact).map(|(a, b)| (a - b).abs());
        assert!(
            off.fold(0.0, f32::max) < 0.15,
            "a sketch says about the cosine"
        );
        assert_eq!(rows.bytes(), 64 * (ROW_BYTES + SKETCH_BYTES));
        assert!(!rows.is_empty());
    }
}
