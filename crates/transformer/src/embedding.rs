//! Input of the first layer: rows of pieces and positions.

use crate::vector::DIMS;
use crate::weight_file::Weights;
use fearless_simd::Simd;

/// Appends the normalised input rows of one text to `rows`. A token beyond the vocabulary, or a position beyond the
/// table, adds a row without its part.
#[inline(always)]
pub(crate) fn embed<S: Simd>(simd: S, weights: &Weights, tokens: &[u16], rows: &mut Vec<f32>) {
    let start = rows.len();
    for (position, token) in tokens.iter().enumerate() {
        let mut row = [0.0; DIMS];
        let token = usize::from(*token);
        if let (Some(scale), Some(packed)) = (
            weights.piece_scales.get(token),
            weights.piece_rows.get(token),
        ) {
            let scale = f32::from_le_bytes(*scale);
            for (number, byte) in row.iter_mut().zip(packed) {
                *number = f32::from(byte.cast_signed()) * scale;
            }
        }
        if let Some(position) = weights.positions.get(position) {
            for (number, bytes) in row.iter_mut().zip(position) {
                *number += f32::from_le_bytes(*bytes);
            }
        }
        rows.extend_from_slice(&row);
    }
    let rows = rows.get_mut(start..).unwrap_or_default();
    weights.embedding_norm.normalise(simd, rows, None);
}
