//! Activations as 16-bit integers, in the order in which the kernel reads them.

use crate::approximation::ROUNDING;
use fearless_simd::prelude::*;
use fearless_simd::{Simd, f32x16, i16x32, i32x16};

/// Maximum number of tokens of a tile: 6 sums of 16 outputs fill 12 of the 16 registers of AVX2.
pub(crate) const TILE_TOKENS: usize = 6;

/// Largest quantised activation. Measured with 8 bits the cosine to exact vectors falls to 0.979, with 14 bits it is as
/// good as with floats. Sums of 1,536 products with weights of at most 127 fit 32 bits.
const ACTIVATION_MAX: f32 = 8_191.0;

/// Quantised activations of several tokens; each token has a scale.
///
/// Tokens are grouped in tiles of nearly equal size. A tile has, for each pair of inputs, the two 16-bit numbers of each
/// of its tokens, packed in 32 bits.
#[derive(Debug, Default)]
pub(crate) struct Activations {
    pairs: Vec<i32>,
    scales: Vec<f32>,
    inputs: usize,
}

/// Tokens of a tile and their activations.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Tile<'a> {
    /// Number of the first token.
    pub(crate) start: usize,
    /// Scale of each token.
    pub(crate) scales: &'a [f32],
    /// For each pair of inputs the packed numbers of each token.
    pub(crate) pairs: &'a [i32],
}

impl Activations {
    /// Quantises rows of `inputs` numbers, a multiple of 32.
    #[inline(always)]
    pub(crate) fn quantise<S: Simd>(&mut self, simd: S, rows: &[f32], inputs: usize) {
        let tokens = rows.len() / inputs;
        self.inputs = inputs;
        self.scales.resize(tokens, 0.0);
        self.pairs.resize(tokens * inputs / 2, 0);
        for (start, count) in tiles(tokens) {
            let pairs = &mut self.pairs[start * inputs / 2..(start + count) * inputs / 2];
            for token in 0..count {
                let row = &rows[(start + token) * inputs..(start + token + 1) * inputs];
                self.scales[start + token] = quantise_row(simd, row, pairs, count, token);
            }
        }
    }

    /// Returns the tiles in order.
    #[inline(always)]
    pub(crate) fn tiles(&self) -> impl Iterator<Item = Tile<'_>> {
        let half = self.inputs / 2;
        tiles(self.scales.len()).map(move |(start, count)| Tile {
            start,
            scales: &self.scales[start..start + count],
            pairs: &self.pairs[start * half..(start + count) * half],
        })
    }

    /// Returns the number of inputs of each token.
    pub(crate) fn inputs(&self) -> usize {
        self.inputs
    }
}

/// Divides tokens into tiles of at most [`TILE_TOKENS`]: first token and size. Sizes differ by at most one, because a
/// small tile at the end costs nearly as much as a full one.
#[inline(always)]
fn tiles(tokens: usize) -> impl Iterator<Item = (usize, usize)> {
    let count = tokens.div_ceil(TILE_TOKENS);
    let size = tokens.checked_div(count).unwrap_or_default();
    let larger = tokens - size * count;
    (0..count).map(move |tile| {
        (
            tile * size + tile.min(larger),
            size + usize::from(tile < larger),
        )
    })
}

/// Quantises a row, writes its pairs to every `tokens`-th position from `token` on, and returns its scale.
#[inline(always)]
fn quantise_row<S: Simd>(
    simd: S,
    row: &[f32],
    pairs: &mut [i32],
    tokens: usize,
    token: usize,
) -> f32 {
    let numbers = row.as_chunks::<16>().0;
    let mut most = f32x16::splat(simd, f32::MIN_POSITIVE);
    for part in numbers {
        most = most.max(f32x16::load_array_ref(simd, part).abs());
    }
    let scale = most.reduce_max() / ACTIVATION_MAX;
    let factor = f32x16::splat(simd, scale.recip().min(f32::MAX));
    let rounding = f32x16::splat(simd, ROUNDING);
    let rounded = |part: &[f32; 16]| -> i32x16<S> {
        f32x16::load_array_ref(simd, part)
            .mul_add(factor, rounding)
            .bitcast()
    };
    let groups = pairs.chunks_exact_mut(16 * tokens);
    for ([first, second], group) in numbers.as_chunks::<2>().0.iter().zip(groups) {
        // The lower halves are the numbers: see `ROUNDING`.
        let packed: i16x32<S> = simd.narrow_i32x16(rounded(first), rounded(second));
        let packed: i32x16<S> = packed.bitcast();
        let packed = packed.to_array();
        for (places, pair) in group.chunks_exact_mut(tokens).zip(packed) {
            places[token] = pair;
        }
    }
    scale
}

#[cfg(test)]
mod tests {
    use super::*;
    use fearless_simd::{Level, dispatch};

    #[test]
    fn tiles_cover_tokens_in_nearly_equal_sizes() {
        for tokens in 0..200 {
            let tiles: Vec<_> = tiles(tokens).collect();
            let mut next = 0;
            for (start, size) in &tiles {
                assert_eq!(*start, next);
                assert!((1..=TILE_TOKENS).contains(size));
                next += size;
            }
            assert_eq!(next, tokens);
            let sizes = tiles.iter().map(|(_, size)| size);
            assert!(tokens == 0 || sizes.clone().max().unwrap() - sizes.min().unwrap() <= 1);
        }
    }

    #[test]
    fn quantised_rows_match_rounded_numbers() {
        let tokens = 8;
        let rows: Vec<f32> = (0..tokens * 64)
            .map(|at| ((at * 37 % 101) as f32 - 50.0) / 7.0)
            .collect();
        for level in [Level::new(), Level::fallback()] {
            let mut activations = Activations::default();
            dispatch!(level, simd => activations.quantise(simd, &rows, 64));
            for tile in activations.tiles() {
                for (token, scale) in tile.scales.iter().enumerate() {
                    for input in 0..64 {
                        let pair = tile.pairs[input / 2 * tile.scales.len() + token];
                        let number = if input % 2 == 0 {
                            pair as i16
                        } else {
                            (pair >> 16) as i16
                        };
                        let exact = rows[(tile.start + token) * 64 + input] / scale;
                        assert!((f32::from(number) - exact).abs() < 0.51, "{number} {exact}");
                    }
                }
            }
        }
    }

    #[test]
    fn zeros_and_extreme_numbers_have_finite_scales() {
        for number in [0.0, f32::MIN_POSITIVE, 1e-45, f32::MAX] {
            let mut activations = Activations::default();
            dispatch!(Level::new(), simd => activations.quantise(simd, &[number; 32], 32));
            assert!(activations.scales[0].is_finite() && activations.scales[0] > 0.0);
        }
    }
}
