//! A vector in an eighth of its bytes: two bits a number, which say how far it lies from what is usual there.
//!
//! A look at the sketches of all vectors tells which few are worth a look at their numbers: of the 50 nearest to a
//! question among 100,000, 47 are among the 512 whose sketches are nearest. The question is not cut: scalar
//! quantisation with an asymmetric distance (Jégou, Douze, Schmid: Product quantization for nearest neighbor search,
//! 2011, section III).

use super::spread::{DEVIATIONS, MEANS};
use super::{DIMS, Question, ROW_BYTES, bounded, split};
use fearless_simd::{Level, Simd, dispatch};

/// Bytes of a sketch.
pub const SKETCH_BYTES: usize = DIMS / 4;
/// Numbers of the two tables to 1.
const UNITS: f32 = 32_768.0;

/// A sketch: byte `n` has the levels of the numbers `n`, `n + 64`, `n + 128` and `n + 192`, the first one lowest.
pub type Sketch = [u8; SKETCH_BYTES];

/// The sketches of packed rows, appended to `out`; bytes behind the last whole row are not read.
pub fn sketches(packed: &[u8], out: &mut Vec<Sketch>) {
    let rows = packed.as_chunks::<ROW_BYTES>().0;
    let start = out.len();
    out.resize(start + rows.len(), [0; SKETCH_BYTES]);
    let to = out.get_mut(start..).unwrap_or_default();
    dispatch!(Level::new(), simd => sketch_rows(simd, rows, to));
}

#[inline(always)]
fn sketch_rows<S: Simd>(_: S, rows: &[[u8; ROW_BYTES]], out: &mut [Sketch]) {
    for (row, sketch) in rows.iter().zip(out) {
        let (scale, values) = split(row);
        for (quarter, ((values, means), deviations)) in values
            .chunks_exact(SKETCH_BYTES)
            .zip(MEANS.chunks_exact(SKETCH_BYTES))
            .zip(DEVIATIONS.chunks_exact(SKETCH_BYTES))
            .enumerate()
        {
            let numbers = values.iter().zip(means).zip(deviations);
            for (byte, ((value, mean), deviation)) in sketch.iter_mut().zip(numbers) {
                let off = f32::from(value.cast_signed()) * scale * UNITS - f32::from(*mean);
                let deviation = f32::from(*deviation);
                let level =
                    u8::from(off > -deviation) + u8::from(off > 0.0) + u8::from(off > deviation);
                *byte |= level << (2 * quarter);
            }
        }
    }
}

/// A question as it is put to sketches.
#[derive(Debug, Clone, PartialEq)]
pub struct Rough {
    /// What a level counts at each number.
    weights: [i16; DIMS],
    scale: f32,
    /// The cosine of a sketch whose levels are all 0.
    base: f32,
}

impl Rough {
    /// The question's numbers, each times what a level is there.
    pub fn of(question: &Question) -> Self {
        let mut steps = [0.0_f32; DIMS];
        let mut base = 0.0;
        let tables = MEANS.iter().zip(&DEVIATIONS);
        for ((step, value), (mean, deviation)) in steps.iter_mut().zip(&question.values).zip(tables)
        {
            let value = f32::from(*value) * question.scale / UNITS;
            let (mean, deviation) = (f32::from(*mean), f32::from(*deviation));
            *step = value * deviation;
            // The middle of the lowest level is one and a half deviations below the mean.
            base += value * (mean - 1.5 * deviation);
        }
        let most = steps
            .iter()
            .fold(f32::MIN_POSITIVE, |most, step| most.max(step.abs()));
        let scale = most / f32::from(i16::MAX);
        let mut weights = [0; DIMS];
        for (weight, step) in weights.iter_mut().zip(&steps) {
            *weight = (step / scale) as i16;
        }
        Self {
            weights,
            scale,
            base,
        }
    }

    /// About the cosine with each vector that is sketched, put into `scores` in their order.
    pub fn scores(&self, sketches: &[Sketch], scores: &mut [f32]) {
        dispatch!(Level::new(), simd => score_sketches(simd, self, sketches, scores));
    }
}

// Plain loops: what stands in a closure is not made for the processor's widest registers.
#[inline(always)]
fn score_sketches<S: Simd>(_: S, rough: &Rough, sketches: &[Sketch], scores: &mut [f32]) {
    for (sketch, score) in sketches.iter().zip(scores) {
        let mut levels = [0_i16; DIMS];
        for (n, byte) in sketch.iter().enumerate() {
            let byte = i16::from(*byte);
            levels[n] = byte & 3;
            levels[n + SKETCH_BYTES] = byte >> 2 & 3;
            levels[n + 2 * SKETCH_BYTES] = byte >> 4 & 3;
            levels[n + 3 * SKETCH_BYTES] = byte >> 6;
        }
        let mut sum = 0_i32;
        for (weight, level) in rough.weights.iter().zip(&levels) {
            sum += i32::from(*weight) * i32::from(*level);
        }
        *score = bounded(rough.base + sum as f32 * rough.scale);
    }
}
