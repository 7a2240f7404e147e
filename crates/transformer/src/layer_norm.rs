//! Layer normalisation.

use crate::vector::{DIMS, FloatBytes};
use fearless_simd::prelude::*;
use fearless_simd::{Simd, f32x16};

/// Constant that is added to the variance; the model's.
const EPSILON: f32 = 1e-12;

/// Factors and offsets of a layer normalisation, [`DIMS`] each.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LayerNorm {
    pub(crate) factors: &'static [FloatBytes],
    pub(crate) offsets: &'static [FloatBytes],
}

impl LayerNorm {
    /// Adds `added` to the rows of `rows`, if there is one, and normalises them.
    #[inline(always)]
    pub(crate) fn normalise<S: Simd>(&self, simd: S, rows: &mut [f32], added: Option<&[f32]>) {
        if let Some(added) = added {
            for (number, more) in rows.iter_mut().zip(added) {
                *number += more;
            }
        }
        for row in rows.as_chunks_mut::<DIMS>().0 {
            self.normalise_row(simd, row);
        }
    }

    #[inline(always)]
    fn normalise_row<S: Simd>(&self, simd: S, row: &mut [f32; DIMS]) {
        let parts = row.as_chunks_mut::<16>().0;
        let mut sum = f32x16::splat(simd, 0.0);
        for part in &*parts {
            sum += f32x16::load_array_ref(simd, part);
        }
        let mean = f32x16::splat(simd, sum.reduce_sum() / DIMS as f32);
        let mut squares = f32x16::splat(simd, 0.0);
        for part in &*parts {
            let centred = f32x16::load_array_ref(simd, part) - mean;
            squares = centred.mul_add(centred, squares);
        }
        let variance = squares.reduce_sum() / DIMS as f32;
        let factor = f32x16::splat(simd, (variance + EPSILON).sqrt().recip());
        let factors = self.factors.as_chunks::<16>().0;
        let offsets = self.offsets.as_chunks::<16>().0;
        for ((part, factors), offsets) in parts.iter_mut().zip(factors).zip(offsets) {
            let centred = f32x16::load_array_ref(simd, part) - mean;
            let factors = f32x16::load_array(simd, factors.map(f32::from_le_bytes));
            let offsets = f32x16::load_array(simd, offsets.map(f32::from_le_bytes));
            (centred * factor)
                .mul_add(factors, offsets)
                .store_array(part);
        }
    }
}
