//! Vectors of any length, as other models make them: the packed form is that of the built-in ones.

use super::bounded;
use fearless_simd::{Level, Simd, dispatch};
use heirloom_model::limits::EMBEDDING_DIMS_MAX;

/// Bytes of a packed row of so many numbers: the scale and the numbers.
pub fn row_bytes(dims: usize) -> usize {
    4 + dims
}

/// The packed row of a vector, whose length does not matter; none for one that has no direction, has a number
/// that is none, or is too long.
pub fn row_of(numbers: &[f32]) -> Option<Vec<u8>> {
    let (scale, values) = packed(numbers)?;
    let mut row = Vec::with_capacity(row_bytes(numbers.len()));
    row.extend_from_slice(&scale.to_le_bytes());
    row.extend(values.iter().map(|value| value.cast_unsigned()));
    Some(row)
}

/// The direction of `numbers` in 8 bits each, with the scale that makes its length 1.
fn packed(numbers: &[f32]) -> Option<(f32, Vec<i8>)> {
    if numbers.is_empty() || numbers.len() > EMBEDDING_DIMS_MAX {
        return None;
    }
    if numbers.iter().any(|number| !number.is_finite()) {
        return None;
    }
    // In double precision: no square of a single one overflows it or vanishes.
    let squares = numbers.iter().map(|number| f64::from(*number).powi(2));
    let length = squares.sum::<f64>().sqrt();
    let largest = numbers
        .iter()
        .fold(0.0_f64, |most, number| most.max(f64::from(*number).abs()));
    if length <= 0.0 {
        return None;
    }
    let rounded = |number: &f32| (f64::from(*number) / largest * 127.0).round() as i8;
    let scale = (largest / length / 127.0) as f32;
    Some((scale, numbers.iter().map(rounded).collect()))
}

/// A question's vector, ready for many comparisons with packed rows of its length.
#[derive(Debug, Clone, PartialEq)]
pub struct AnyQuestion {
    scale: f32,
    values: Vec<i16>,
}

impl AnyQuestion {
    /// The question that has this vector; none where [`row_of`] has none.
    pub fn of(numbers: &[f32]) -> Option<Self> {
        let (scale, values) = packed(numbers)?;
        Some(Self {
            scale,
            values: values.into_iter().map(i16::from).collect(),
        })
    }

    /// How many numbers it has.
    pub fn dims(&self) -> usize {
        self.values.len()
    }

    /// The cosine with each packed row, -1 to 1, appended to `out` in their order; none for a row without a
    /// vector. Bytes behind the last whole row are not read.
    pub fn scores(&self, rows: &[u8], out: &mut Vec<Option<f32>>) {
        dispatch!(Level::new(), simd => score_rows(simd, self, rows, out));
    }
}

#[inline(always)]
fn score_rows<S: Simd>(_: S, question: &AnyQuestion, rows: &[u8], out: &mut Vec<Option<f32>>) {
    for row in rows.chunks_exact(row_bytes(question.dims())) {
        let (scale, values) = row.split_at(4);
        let scale = f32::from_le_bytes(scale.first_chunk().copied().unwrap_or_default());
        // Damaged bytes may say any scale.
        let is_there = scale.is_finite() && scale > 0.0;
        let mut dot = 0_i32;
        for (a, b) in question.values.iter().zip(values) {
            dot += i32::from(*a) * i32::from(b.cast_signed());
        }
        out.push(is_there.then(|| bounded(dot as f32 * question.scale * scale)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn cosine(a: &[f32], b: &[f32]) -> Option<f32> {
        let mut scores = Vec::new();
        AnyQuestion::of(a)?.scores(&row_of(b)?, &mut scores);
        scores[0]
    }

    #[test]
    fn a_vector_without_a_direction_has_no_row() {
        for bad in [
            &[][..],
            &[0.0, 0.0],
            &[1.0, f32::NAN],
            &[f32::INFINITY, 1.0],
        ] {
            assert_eq!(row_of(bad), None, "{bad:?}");
            assert_eq!(AnyQuestion::of(bad), None, "{bad:?}");
        }
        assert!(row_of(&vec![1.0; EMBEDDING_DIMS_MAX]).is_some());
        assert_eq!(row_of(&vec![1.0; EMBEDDING_DIMS_MAX + 1]), None);
    }

    #[test]
    fn length_and_size_do_not_matter() {
        for factor in [1e-38, 1e-3, 1.0, 1e37] {
            let near = cosine(&[3.0, 4.0, 0.0], &[3.0 * factor, 4.0 * factor, 0.0]);
            assert!((near.unwrap() - 1.0).abs() < 0.01, "{factor} {near:?}");
        }
        assert_eq!(cosine(&[1.0, 0.0], &[0.0, 2.0]), Some(0.0));
        assert_eq!(cosine(&[1.0], &[-5.0]), Some(-1.0));
    }

    #[test]
    fn rows_without_a_vector_have_no_score() {
        let question = AnyQuestion::of(&[1.0, 1.0]).unwrap();
        let none = [0_u8; 6];
        let scaleless = [0, 0, 0, 0, 1, 0];
        let row = row_of(&[1.0, 1.0]).unwrap();
        let mut damaged = row.clone();
        damaged[..4].copy_from_slice(&f32::NAN.to_le_bytes());
        let rows = [&none[..], &row, &scaleless, &damaged, &[1, 2]].concat();
        let mut scores = Vec::new();
        question.scores(&rows, &mut scores);
        assert_eq!(scores.len(), 4);
        assert_eq!([scores[0], scores[2], scores[3]], [None; 3]);
        assert!(scores[1].unwrap() > 0.99);
    }

    proptest! {
        #[test]
        fn rounding_hardly_moves_a_cosine(
            pair in (1_usize..600).prop_flat_map(|dims| {
                let vector = prop::collection::vec(-1.0_f32..1.0, dims);
                (vector.clone(), vector)
            }),
        ) {
            let (a, b) = pair;
            let length = |v: &[f32]| v.iter().map(|n| n * n).sum::<f32>().sqrt();
            prop_assume!(length(&a) > 1e-3 && length(&b) > 1e-3);
            let exact = a.iter().zip(&b).map(|(a, b)| a * b).sum::<f32>() / length(&a) / length(&b);
            let near = cosine(&a, &b).unwrap();
            prop_assert!((near - exact).abs() < 0.02, "{near} {exact}");
        }

        #[test]
        fn any_bytes_have_scores(rows: Vec<u8>, numbers in prop::collection::vec(-9.0_f32..9.0, 1..20)) {
            if let Some(question) = AnyQuestion::of(&numbers) {
                let mut scores = Vec::new();
                question.scores(&rows, &mut scores);
                prop_assert_eq!(scores.len(), rows.len() / row_bytes(numbers.len()));
                prop_assert!(scores.iter().flatten().all(|score| (-1.0..=1.0).contains(score)));
            }
        }
    }
}
