//! Vectors of external models, of any length, in the packed form of the built-in ones.

use super::bounded;
use fearless_simd::{Level, Simd, dispatch};
use heirloom_model::limits::EMBEDDING_DIMS_MAX;

/// Returns the size of a packed row of `dims` numbers, bytes.
pub fn row_bytes(dims: usize) -> usize {
    4 + dims
}

/// Packs a vector; its magnitude is ignored. `None` if it has no direction, has a number that is not finite, or is
/// too long.
pub fn pack_row(numbers: &[f32]) -> Option<Vec<u8>> {
    let (scale, values) = packed(numbers)?;
    let mut row = Vec::with_capacity(row_bytes(numbers.len()));
    row.extend_from_slice(&scale.to_le_bytes());
    row.extend(values.iter().map(|value| value.cast_unsigned()));
    Some(row)
}

/// Returns the numbers of a packed row; `None` for a row without a vector.
pub fn unpack_row(row: &[u8]) -> Option<Vec<f32>> {
    let (scale, values) = row.split_first_chunk()?;
    let scale = f32::from_le_bytes(*scale);
    // Damaged bytes may have any scale.
    let is_there = scale.is_finite() && scale > 0.0;
    is_there.then(|| {
        (values
            .iter()
            .map(|value| f32::from(value.cast_signed()) * scale))
        .collect()
    })
}

/// Rounds `numbers` to 8 bits each, with the scale that makes the length 1.
fn packed(numbers: &[f32]) -> Option<(f32, Vec<i8>)> {
    if numbers.is_empty() || numbers.len() > EMBEDDING_DIMS_MAX {
        return None;
    }
    if numbers.iter().any(|number| !number.is_finite()) {
        return None;
    }
    // Double precision, because squares of single-precision numbers can overflow or vanish.
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

/// Query vector of an external model, prepared for many comparisons with packed rows of its length.
#[derive(Debug, Clone, PartialEq)]
pub struct ExternalQueryVector {
    scale: f32,
    values: Vec<i16>,
}

impl ExternalQueryVector {
    /// Creates a query; `None` where [`pack_row`] returns `None`.
    pub fn of(numbers: &[f32]) -> Option<Self> {
        let (scale, values) = packed(numbers)?;
        Some(Self {
            scale,
            values: values.into_iter().map(i16::from).collect(),
        })
    }

    /// Returns the number of dimensions.
    pub fn dims(&self) -> usize {
        self.values.len()
    }

    pub(super) fn values(&self) -> &[i16] {
        &self.values
    }

    /// Returns the cosine with a packed row, -1 to 1; `None` for a row without a vector.
    pub fn score(&self, row: &[u8]) -> Option<f32> {
        dispatch!(Level::new(), simd => score_row(simd, self, row))
    }

    /// Appends the cosine with each packed row, -1 to 1, to `out`; `None` for a row without a vector. Bytes after the
    /// last complete row are ignored.
    pub fn scores(&self, rows: &[u8], out: &mut Vec<Option<f32>>) {
        dispatch!(Level::new(), simd => score_rows(simd, self, rows, out));
    }
}

#[inline(always)]
fn score_rows<S: Simd>(
    simd: S,
    query: &ExternalQueryVector,
    rows: &[u8],
    out: &mut Vec<Option<f32>>,
) {
    for row in rows.chunks_exact(row_bytes(query.dims())) {
        out.push(score_row(simd, query, row));
    }
}

#[inline(always)]
fn score_row<S: Simd>(_: S, query: &ExternalQueryVector, row: &[u8]) -> Option<f32> {
    let (scale, values) = row.split_first_chunk()?;
    let scale = f32::from_le_bytes(*scale);
    // Damaged bytes may have any scale.
    let is_there = scale.is_finite() && scale > 0.0;
    let mut dot = 0_i32;
    for (a, b) in query.values.iter().zip(values) {
        dot += i32::from(*a) * i32::from(b.cast_signed());
    }
    is_there.then(|| bounded(dot as f32 * query.scale * scale))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn cosine(a: &[f32], b: &[f32]) -> Option<f32> {
        let mut scores = Vec::new();
        ExternalQueryVector::of(a)?.scores(&pack_row(b)?, &mut scores);
        scores[0]
    }

    #[test]
    fn vector_without_direction_has_no_row() {
        for bad in [
            &[][..],
            &[0.0, 0.0],
            &[1.0, f32::NAN],
            &[f32::INFINITY, 1.0],
        ] {
            assert_eq!(pack_row(bad), None, "{bad:?}");
            assert_eq!(ExternalQueryVector::of(bad), None, "{bad:?}");
        }
        assert!(pack_row(&vec![1.0; EMBEDDING_DIMS_MAX]).is_some());
        assert_eq!(pack_row(&vec![1.0; EMBEDDING_DIMS_MAX + 1]), None);
    }

    #[test]
    fn magnitude_does_not_affect_cosine() {
        for factor in [1e-38, 1e-3, 1.0, 1e37] {
            let near = cosine(&[3.0, 4.0, 0.0], &[3.0 * factor, 4.0 * factor, 0.0]);
            assert!((near.unwrap() - 1.0).abs() < 0.01, "{factor} {near:?}");
        }
        assert_eq!(cosine(&[1.0, 0.0], &[0.0, 2.0]), Some(0.0));
        assert_eq!(cosine(&[1.0], &[-5.0]), Some(-1.0));
    }

    #[test]
    fn row_without_vector_has_no_score() {
        let query = ExternalQueryVector::of(&[1.0, 1.0]).unwrap();
        let none = [0_u8; 6];
        let scaleless = [0, 0, 0, 0, 1, 0];
        let row = pack_row(&[1.0, 1.0]).unwrap();
        let mut damaged = row.clone();
        damaged[..4].copy_from_slice(&f32::NAN.to_le_bytes());
        let rows = [&none[..], &row, &scaleless, &damaged, &[1, 2]].concat();
        let mut scores = Vec::new();
        query.scores(&rows, &mut scores);
        assert_eq!(scores.len(), 4);
        assert_eq!([scores[0], scores[2], scores[3]], [None; 3]);
        assert!(scores[1].unwrap() > 0.99);
    }

    proptest! {
        #[test]
        fn rounding_changes_cosine_little(
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
        fn any_rows_have_valid_scores(rows: Vec<u8>, numbers in prop::collection::vec(-9.0_f32..9.0, 1..20)) {
            if let Some(query) = ExternalQueryVector::of(&numbers) {
                let mut scores = Vec::new();
                query.scores(&rows, &mut scores);
                prop_assert_eq!(scores.len(), rows.len() / row_bytes(numbers.len()));
                prop_assert!(scores.iter().flatten().all(|score| (-1.0..=1.0).contains(score)));
            }
        }
    }
}
