//! Multi-head self-attention of one text, in 32-bit floats.

use crate::approximation::exp2;
use crate::vector::DIMS;
use crate::weight_file::HEADS;
use fearless_simd::prelude::*;
use fearless_simd::{Simd, f32x16};

/// Dimensions of a head.
const HEAD_DIMS: usize = DIMS / HEADS;
/// Number of queries that share the loads of keys and values.
const TILE_QUERIES: usize = 4;
/// Numbers of a SIMD vector.
const LANES: usize = 16;

/// Buffers of one head.
#[derive(Debug, Default)]
pub(crate) struct AttentionBuffers {
    /// Keys, dimension by dimension, each padded to a multiple of [`LANES`] tokens.
    keys: Vec<f32>,
    /// Values, token by token.
    values: Vec<f32>,
    /// Scores of each query of a tile, padded like the keys.
    scores: Vec<f32>,
}

/// Computes the attention of a text. A row of `inputs` has the queries, keys and values of a token, a row of `out` gets
/// its mixed values.
#[inline(always)]
pub(crate) fn attend<S: Simd>(
    simd: S,
    inputs: &[[f32; 3 * DIMS]],
    buffers: &mut AttentionBuffers,
    out: &mut [[f32; DIMS]],
) {
    for head in 0..HEADS {
        simd.vectorize(
            #[inline(always)]
            || attend_head(simd, head, inputs, buffers, out),
        );
    }
}

#[inline(always)]
fn attend_head<S: Simd>(
    simd: S,
    head: usize,
    inputs: &[[f32; 3 * DIMS]],
    buffers: &mut AttentionBuffers,
    out: &mut [[f32; DIMS]],
) {
    let tokens = inputs.len();
    buffers.load_head(head, inputs);
    let start = head * HEAD_DIMS;
    let queries = inputs.chunks(TILE_QUERIES);
    for (queries, out) in queries.zip(out.chunks_mut(TILE_QUERIES)) {
        if let (Some(queries), Some(out)) = (queries.first_chunk(), out.first_chunk_mut()) {
            attend_tile::<S, TILE_QUERIES>(simd, start, tokens, queries, buffers, out);
            continue;
        }
        for (query, out) in queries.iter().zip(out) {
            let (query, out) = (std::array::from_ref(query), std::array::from_mut(out));
            attend_tile::<S, 1>(simd, start, tokens, query, buffers, out);
        }
    }
}

impl AttentionBuffers {
    /// Copies the keys and values of a head: both are read once for every tile of queries.
    #[inline(always)]
    fn load_head(&mut self, head: usize, inputs: &[[f32; 3 * DIMS]]) {
        let padded = inputs.len().next_multiple_of(LANES);
        self.keys.resize(HEAD_DIMS * padded, 0.0);
        self.values.resize(HEAD_DIMS * inputs.len(), 0.0);
        self.scores.resize(TILE_QUERIES * padded, 0.0);
        let values = self.values.as_chunks_mut::<HEAD_DIMS>().0;
        for ((token, row), value) in inputs.iter().enumerate().zip(values) {
            let start = head * HEAD_DIMS;
            let key = &row[DIMS + start..DIMS + start + HEAD_DIMS];
            for (dim, number) in key.iter().enumerate() {
                self.keys[dim * padded + token] = *number;
            }
            value.copy_from_slice(&row[2 * DIMS + start..2 * DIMS + start + HEAD_DIMS]);
        }
    }
}

/// Computes the attention of `QUERIES` tokens; their queries begin at `start` of each row.
#[inline(always)]
fn attend_tile<S: Simd, const QUERIES: usize>(
    simd: S,
    start: usize,
    tokens: usize,
    queries: &[[f32; 3 * DIMS]; QUERIES],
    buffers: &mut AttentionBuffers,
    out: &mut [[f32; DIMS]; QUERIES],
) {
    let padded = tokens.next_multiple_of(LANES);
    let queries = queries.each_ref().map(|row| &row[start..start + HEAD_DIMS]);
    let scores = &mut buffers.scores[..QUERIES * padded];
    for at in (0..padded).step_by(LANES) {
        let mut sums = [f32x16::splat(simd, 0.0); QUERIES];
        for (dim, keys) in buffers.keys.chunks_exact(padded).enumerate() {
            let keys = f32x16::from_slice(simd, &keys[at..at + LANES]);
            for (sum, query) in sums.iter_mut().zip(queries) {
                *sum = keys.mul_add(f32x16::splat(simd, query[dim]), *sum);
            }
        }
        for (query, sum) in sums.iter().enumerate() {
            let place = query * padded + at;
            sum.store_slice(&mut scores[place..place + LANES]);
        }
    }
    let mut factors = [0.0; QUERIES];
    for (scores, factor) in scores.chunks_exact_mut(padded).zip(&mut factors) {
        scores[tokens..].fill(f32::NEG_INFINITY);
        *factor = soften(simd, scores).recip();
    }
    for half in 0..HEAD_DIMS / LANES {
        let mut sums = [f32x16::splat(simd, 0.0); QUERIES];
        for (token, values) in buffers.values.as_chunks::<HEAD_DIMS>().0.iter().enumerate() {
            let values = f32x16::from_slice(simd, &values[half * LANES..(half + 1) * LANES]);
            for (query, sum) in sums.iter_mut().enumerate() {
                let weight = f32x16::splat(simd, scores[query * padded + token]);
                *sum = values.mul_add(weight, *sum);
            }
        }
        for ((sum, factor), row) in sums.iter().zip(factors).zip(&mut *out) {
            let place = start + half * LANES;
            let mixed = *sum * f32x16::splat(simd, factor);
            mixed.store_slice(&mut row[place..place + LANES]);
        }
    }
}

/// Replaces scores with the numerators of their softmax of base 2 and returns the denominator. Padding of −∞ adds at
/// most 1e-38.
#[inline(always)]
fn soften<S: Simd>(simd: S, scores: &mut [f32]) -> f32 {
    let parts = scores.as_chunks_mut::<LANES>().0;
    let mut most = f32x16::splat(simd, f32::MIN);
    for part in &*parts {
        most = most.max(f32x16::load_array_ref(simd, part));
    }
    let most = f32x16::splat(simd, most.reduce_max());
    let mut sum = f32x16::splat(simd, 0.0);
    for part in parts {
        let power = exp2(simd, f32x16::load_array_ref(simd, part) - most);
        sum += power;
        power.store_array(part);
    }
    sum.reduce_sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use fearless_simd::{Level, dispatch};

    /// Computes one number of the attention in double precision.
    fn attend_exactly(inputs: &[[f32; 3 * DIMS]], token: usize, dim: usize) -> f64 {
        let start = dim / HEAD_DIMS * HEAD_DIMS;
        let score = |key: &[f32; 3 * DIMS]| -> f64 {
            let dims = start..start + HEAD_DIMS;
            dims.map(|dim| f64::from(inputs[token][dim]) * f64::from(key[DIMS + dim]))
                .sum()
        };
        let weights: Vec<f64> = inputs.iter().map(|key| score(key).exp2()).collect();
        let values = inputs.iter().map(|row| f64::from(row[2 * DIMS + dim]));
        let mixed: f64 = weights
            .iter()
            .zip(values)
            .map(|(weight, value)| weight * value)
            .sum();
        mixed / weights.iter().sum::<f64>()
    }

    #[test]
    fn attention_matches_reference_for_any_number_of_tokens() {
        let mut buffers = AttentionBuffers::default();
        // Shrinking and growing: old numbers in the buffers must have no effect.
        for tokens in [33, 1, 2, 16, 3, 17, 5, 0] {
            let inputs: Vec<[f32; 3 * DIMS]> = (0..tokens)
                .map(|token| {
                    std::array::from_fn(|dim| ((token * 131 + dim * 37) % 97) as f32 / 97.0 - 0.5)
                })
                .collect();
            for level in [Level::new(), Level::fallback()] {
                let mut out = vec![[0.0; DIMS]; tokens];
                dispatch!(level, simd => attend(simd, &inputs, &mut buffers, &mut out));
                for (token, row) in out.iter().enumerate() {
                    for (dim, number) in row.iter().enumerate() {
                        let exact = attend_exactly(&inputs, token, dim);
                        assert!(
                            (f64::from(*number) - exact).abs() < 1e-6,
                            "{number} {exact}"
                        );
                    }
                }
            }
        }
    }
}
