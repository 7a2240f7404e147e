//! Product of quantised activations with a matrix of int8 weights.
//!
//! Weights are widened to 16 bits and multiplied in pairs with 32-bit sums (`pmaddwd` and its relatives), so the sums
//! are exact and equal on every processor. The 8-bit instructions (`pmaddubsw`, `vpdpbusd`) need 8-bit activations,
//! which cost accuracy: see [`crate::activations`].
//!
//! The outer loop is over panels of 16 outputs, so each weight is read from memory once; a panel of at most 24 KiB stays
//! in the first-level cache for all tiles of tokens.

use crate::activations::{Activations, Tile};
use crate::approximation::gelu;
use crate::vector::FloatBytes;
use fearless_simd::prelude::*;
use fearless_simd::{Simd, f32x16, i8x64, i16x32, i32x16, u8x64};

/// Number of outputs of a panel.
pub(crate) const PANEL: usize = 16;

/// Weights of 4 inputs and 16 outputs: for inputs 0 and 1 the two weights of each output, then for inputs 2 and 3.
pub(crate) type WeightBlock = [u8; 64];

/// Number of inputs of a block.
const BLOCK_INPUTS: usize = 4;

/// Matrix of int8 weights with a scale and a bias for each output.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Matrix {
    pub(crate) inputs: usize,
    pub(crate) outputs: usize,
    /// Panels of 16 outputs, each with the blocks of all inputs.
    pub(crate) weights: &'static [WeightBlock],
    pub(crate) scales: &'static [[FloatBytes; PANEL]],
    pub(crate) biases: &'static [[FloatBytes; PANEL]],
}

/// Function that is applied to each output.
#[derive(Debug, Clone, Copy)]
pub(crate) enum OutputFunction {
    Identity,
    /// GELU and a factor of each output.
    Gelu(&'static [[FloatBytes; PANEL]]),
}

/// Panel of a matrix.
#[derive(Clone, Copy)]
struct Panel<'a> {
    weights: &'a [WeightBlock],
    scales: &'a [FloatBytes; PANEL],
    biases: &'a [FloatBytes; PANEL],
    /// Factors after GELU; without them the outputs are not changed.
    gelu_factors: Option<&'a [FloatBytes; PANEL]>,
}

impl Matrix {
    /// Writes the outputs of each token to `rows`, which has `outputs` numbers for each of them.
    #[inline(always)]
    pub(crate) fn multiply<S: Simd>(
        &self,
        simd: S,
        activations: &Activations,
        function: OutputFunction,
        rows: &mut [f32],
    ) {
        debug_assert_eq!(activations.inputs(), self.inputs);
        let panels = self.weights.chunks_exact(self.inputs / BLOCK_INPUTS);
        let panels = panels.zip(self.scales).zip(self.biases).enumerate();
        for (number, ((weights, scales), biases)) in panels {
            let gelu_factors = match function {
                OutputFunction::Identity => None,
                OutputFunction::Gelu(factors) => factors.get(number),
            };
            let panel = Panel {
                weights,
                scales,
                biases,
                gelu_factors,
            };
            for tile in activations.tiles() {
                let out = rows
                    .get_mut(tile.start * self.outputs + number * PANEL..)
                    .unwrap_or_default();
                multiply_tile(simd, panel, tile, out, self.outputs);
            }
        }
    }
}

/// Selects the kernel for the number of tokens, which must be known to the compiler to hold the sums in registers.
#[inline(always)]
fn multiply_tile<S: Simd>(
    simd: S,
    panel: Panel<'_>,
    tile: Tile<'_>,
    out: &mut [f32],
    stride: usize,
) {
    match tile.scales.len() {
        1 => tile_kernel::<S, 1>(simd, panel, tile, out, stride),
        2 => tile_kernel::<S, 2>(simd, panel, tile, out, stride),
        3 => tile_kernel::<S, 3>(simd, panel, tile, out, stride),
        4 => tile_kernel::<S, 4>(simd, panel, tile, out, stride),
        5 => tile_kernel::<S, 5>(simd, panel, tile, out, stride),
        6 => tile_kernel::<S, 6>(simd, panel, tile, out, stride),
        _ => debug_assert!(false, "tiles have at most 6 tokens"),
    }
}

/// Multiplies one panel with one tile; `vectorize` makes it a function of its own, so that it is compiled once.
#[inline(always)]
fn tile_kernel<S: Simd, const TOKENS: usize>(
    simd: S,
    panel: Panel<'_>,
    tile: Tile<'_>,
    out: &mut [f32],
    stride: usize,
) {
    simd.vectorize(
        #[inline(always)]
        || {
            let sums = sum_products::<S, TOKENS>(simd, panel.weights, tile.pairs);
            let scales = f32x16::load_array(simd, panel.scales.map(f32::from_le_bytes));
            let biases = f32x16::load_array(simd, panel.biases.map(f32::from_le_bytes));
            let factors = panel
                .gelu_factors
                .map(|factors| f32x16::load_array(simd, factors.map(f32::from_le_bytes)));
            let rows = out.chunks_mut(stride);
            for ((sum, scale), row) in sums.into_iter().zip(tile.scales).zip(rows) {
                let sum: f32x16<S> = sum.to_float();
                let output = sum.mul_add(scales * f32x16::splat(simd, *scale), biases);
                let output = factors.map_or(output, |factors| gelu(simd, output) * factors);
                if let Some(row) = row.first_chunk_mut::<PANEL>() {
                    output.store_array(row);
                }
            }
        },
    );
}

/// Sums the products of 16 outputs for each token.
#[inline(always)]
fn sum_products<S: Simd, const TOKENS: usize>(
    simd: S,
    weights: &[WeightBlock],
    pairs: &[i32],
) -> [i32x16<S>; TOKENS] {
    if simd.level().is_fallback() {
        return sum_products_in_scalars(weights, pairs).map(|sums| i32x16::load_array(simd, sums));
    }
    let mut sums = [i32x16::splat(simd, 0); TOKENS];
    let pairs = pairs.as_chunks::<TOKENS>().0.as_chunks::<2>().0;
    for (block, [first, second]) in weights.iter().zip(pairs) {
        let block: i8x64<S> = u8x64::load_array_ref(simd, block).bitcast();
        let (lower, upper) = simd.widen_i8x64(block);
        for (weights, numbers) in [(lower, first), (upper, second)] {
            for (sum, pair) in sums.iter_mut().zip(numbers) {
                let pair: i16x32<S> = i32x16::splat(simd, *pair).bitcast();
                *sum += simd.pairwise_dot_product_i16x32(weights, pair);
            }
        }
    }
    sums
}

/// Sums the products of 16 outputs for each token without SIMD vectors, which are slow where they are emulated.
fn sum_products_in_scalars<const TOKENS: usize>(
    weights: &[WeightBlock],
    pairs: &[i32],
) -> [[i32; PANEL]; TOKENS] {
    let mut sums = [[0_i32; PANEL]; TOKENS];
    let blocks = weights.as_flattened().as_chunks::<{ 2 * PANEL }>().0;
    for (block, pairs) in blocks.iter().zip(pairs.as_chunks::<TOKENS>().0) {
        for (sums, pair) in sums.iter_mut().zip(pairs) {
            let (first, second) = (i32::from(*pair as i16), pair >> 16);
            for (sum, [weight, other]) in sums.iter_mut().zip(block.as_chunks::<2>().0) {
                let product = i32::from(weight.cast_signed()) * first;
                let other = i32::from(other.cast_signed()) * second;
                *sum = sum.wrapping_add(product.wrapping_add(other));
            }
        }
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;
    use fearless_simd::{Level, dispatch};

    const INPUTS: usize = 64;
    const OUTPUTS: usize = 32;

    /// Creates a matrix of any weights.
    fn matrix() -> Matrix {
        let weights: Vec<u8> = (0..INPUTS * OUTPUTS)
            .map(|at| (at * 89 % 255) as u8)
            .collect();
        let floats = |step: f32| -> &'static [[FloatBytes; PANEL]] {
            let numbers = (0..OUTPUTS).map(|at| (1.0 + at as f32 * step).to_le_bytes());
            numbers.collect::<Vec<FloatBytes>>().leak().as_chunks().0
        };
        Matrix {
            inputs: INPUTS,
            outputs: OUTPUTS,
            weights: weights.leak().as_chunks().0,
            scales: floats(0.25),
            biases: floats(-0.5),
        }
    }

    /// Multiplies without the panels' order of the kernel.
    fn multiply_exactly(matrix: &Matrix, row: &[f32], output: usize) -> f64 {
        let (panel, output_of_panel) = (output / PANEL, output % PANEL);
        let products = row.iter().enumerate().map(|(input, number)| {
            let block = matrix.weights[panel * INPUTS / BLOCK_INPUTS + input / BLOCK_INPUTS];
            let weight = block[input % 4 / 2 * 32 + 2 * output_of_panel + input % 2];
            f64::from(weight.cast_signed()) * f64::from(*number)
        });
        let float = |bytes: &[[FloatBytes; PANEL]]| {
            f64::from(f32::from_le_bytes(bytes[panel][output_of_panel]))
        };
        products.sum::<f64>() * float(matrix.scales) + float(matrix.biases)
    }

    #[test]
    fn products_match_reference_for_every_tile_size_and_level() {
        let matrix = matrix();
        for tokens in 1..=14 {
            let rows: Vec<f32> = (0..tokens * INPUTS)
                .map(|at| ((at * 7919 % 1009) as f32 - 500.0) / 300.0)
                .collect();
            let mut first: Option<Vec<f32>> = None;
            let mut activations = Activations::default();
            dispatch!(Level::new(), simd => activations.quantise(simd, &rows, INPUTS));
            for level in [Level::new(), Level::baseline(), Level::fallback()] {
                let mut out = vec![0.0; tokens * OUTPUTS];
                dispatch!(level, simd => {
                    matrix.multiply(simd, &activations, OutputFunction::Identity, &mut out);
                });
                for (at, number) in out.iter().enumerate() {
                    let row = &rows[at / OUTPUTS * INPUTS..][..INPUTS];
                    let exact = multiply_exactly(&matrix, row, at % OUTPUTS);
                    // Half a unit of each activation, times its weight.
                    assert!((f64::from(*number) - exact).abs() < 4.0, "{number} {exact}");
                }
                let first = first.get_or_insert_with(|| out.clone());
                let difference = first.iter().zip(&out).map(|(a, b)| (a - b).abs());
                assert!(difference.fold(0.0, f32::max) < 0.01, "{level:?}");
            }
        }
    }
}
