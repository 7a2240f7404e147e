//! Rows of many vectors in memory, each in two parts: the first numbers carry most of a direction, so that a scan of
//! them alone, half the bytes, tells which few rows are worth the rest.

use super::question::score_rows;
use super::{DIMS, Question, ROW_BYTES, bounded, split};
use fearless_simd::{Level, Simd, dispatch};

/// Numbers of a vector's first part.
const FIRST: usize = 128;

/// Packed vectors, their parts apart.
#[derive(Debug, Clone, Default)]
pub struct Rows {
    scales: Vec<f32>,
    first: Vec<[u8; FIRST]>,
    rest: Vec<[u8; DIMS - FIRST]>,
}

impl Rows {
    /// Adds packed rows; bytes behind the last whole one are not read.
    pub fn extend(&mut self, packed: &[u8]) {
        for row in packed.as_chunks::<ROW_BYTES>().0 {
            let (scale, values) = split(row);
            if let (Some(first), Some(rest)) = (values.first_chunk(), values.last_chunk()) {
                self.scales.push(scale);
                self.first.push(*first);
                self.rest.push(*rest);
            }
        }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.scales.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.scales.is_empty()
    }

    /// Bytes that they take.
    pub fn bytes(&self) -> usize {
        self.len() * ROW_BYTES
    }
}

impl Question {
    /// What the first part of each of the first `count` rows says of its cosine, appended to `out`.
    pub fn rough_scores(&self, rows: &Rows, count: usize, out: &mut Vec<f32>) {
        let start = out.len();
        out.resize(start + count.min(rows.len()), 0.0);
        let scores = out.get_mut(start..).unwrap_or_default();
        dispatch!(Level::new(), simd => roughly(simd, self, rows, scores));
    }

    /// The cosine with each of these rows, put into `scores` at its place.
    pub fn exact_scores(&self, rows: &Rows, places: &[u32], scores: &mut [f32]) {
        dispatch!(Level::new(), simd => exactly(simd, self, rows, places, scores));
    }

    /// Both at once, of rows as they are stored: appended to `rough` and `exact`.
    pub fn scores_both(&self, packed: &[u8], rough: &mut Vec<f32>, exact: &mut Vec<f32>) {
        let rows = packed.as_chunks::<ROW_BYTES>().0;
        let (rough_from, exact_from) = (rough.len(), exact.len());
        rough.resize(rough_from + rows.len(), 0.0);
        exact.resize(exact_from + rows.len(), 0.0);
        let rough = rough.get_mut(rough_from..).unwrap_or_default();
        let exact = exact.get_mut(exact_from..).unwrap_or_default();
        dispatch!(Level::new(), simd => roughly_packed(simd, self, rows, rough));
        dispatch!(Level::new(), simd => score_rows(simd, self, rows, exact));
    }
}

// Plain loops: what stands in a closure is not made for the processor's widest registers.
#[inline(always)]
fn roughly<S: Simd>(_: S, question: &Question, rows: &Rows, scores: &mut [f32]) {
    let first: &[i16; FIRST] = question.values.first_chunk().unwrap_or(&[0; FIRST]);
    for ((row, scale), score) in rows.first.iter().zip(&rows.scales).zip(scores) {
        *score = bounded(dot(first, row) as f32 * question.scale * scale);
    }
}

#[inline(always)]
fn exactly<S: Simd>(_: S, question: &Question, rows: &Rows, places: &[u32], scores: &mut [f32]) {
    let first: &[i16; FIRST] = question.values.first_chunk().unwrap_or(&[0; FIRST]);
    let rest: &[i16; DIMS - FIRST] = question.values.last_chunk().unwrap_or(&[0; DIMS - FIRST]);
    for place in places {
        let at = *place as usize;
        if let (Some(a), Some(b), Some(scale), Some(score)) = (
            rows.first.get(at),
            rows.rest.get(at),
            rows.scales.get(at),
            scores.get_mut(at),
        ) {
            *score = bounded((dot(first, a) + dot(rest, b)) as f32 * question.scale * scale);
        }
    }
}

// Two plain loops over a block that is in the cache: one loop over both parts is made for single numbers.
#[inline(always)]
fn roughly_packed<S: Simd>(
    _: S,
    question: &Question,
    rows: &[[u8; ROW_BYTES]],
    scores: &mut [f32],
) {
    let first: &[i16; FIRST] = question.values.first_chunk().unwrap_or(&[0; FIRST]);
    for (row, score) in rows.iter().zip(scores) {
        let (scale, values) = split(row);
        let mut dot = 0_i32;
        for (a, b) in first.iter().zip(values) {
            dot += i32::from(*a) * i32::from(b.cast_signed());
        }
        *score = bounded(dot as f32 * question.scale * scale);
    }
}

#[inline(always)]
fn dot<const N: usize>(a: &[i16; N], b: &[u8; N]) -> i32 {
    let mut dot = 0;
    for (a, b) in a.iter().zip(b) {
        dot += i32::from(*a) * i32::from(b.cast_signed());
    }
    dot
}

#[cfg(test)]
mod tests {
    use super::super::Vector;
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn all_ways_give_the_same_scores(packed in prop::collection::vec(any::<u8>(), 0..5 * ROW_BYTES)) {
            let question = Question::of("the words of a question", 10, |_| 1).unwrap();
            let mut cosines = Vec::new();
            question.scores(&packed, &mut cosines);
            let (mut rough, mut exact) = (Vec::new(), Vec::new());
            question.scores_both(&packed, &mut rough, &mut exact);
            prop_assert_eq!(&exact, &cosines);

            let mut rows = Rows::default();
            rows.extend(&packed);
            prop_assert_eq!(rows.len(), cosines.len());
            let mut scores = Vec::new();
            question.rough_scores(&rows, usize::MAX, &mut scores);
            prop_assert_eq!(&scores, &rough);
            let places: Vec<u32> = (0..9).collect();
            question.exact_scores(&rows, &places, &mut scores);
            prop_assert_eq!(&scores, &cosines);
        }
    }

    /// What ranks high by all numbers ranks high by the first ones.
    #[test]
    fn the_first_part_tells_what_is_near() {
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
        let mut rough = Vec::new();
        question.rough_scores(&rows, rows.len(), &mut rough);
        let mut exact = rough.clone();
        let places: Vec<u32> = (0..64).collect();
        question.exact_scores(&rows, &places, &mut exact);
        let best = |scores: &[f32], count: usize| -> Vec<usize> {
            crate::score::best(scores, count, |_| true)
                .into_iter()
                .map(|(place, _)| place)
                .collect()
        };
        let near = best(&rough, 16);
        assert!(best(&exact, 4).iter().all(|place| near.contains(place)));
        assert_eq!(rows.bytes(), 64 * ROW_BYTES);
        assert!(!rows.is_empty());
    }
}
