//! Sketches: vectors quantised to two bits for each number, an eighth of their size. Each level is relative to the
//! mean and deviation of its dimension.
//!
//! The scores of all sketches select the few vectors worth an exact comparison: of the 50 most similar among 100,000,
//! 47 are among the 512 best sketches. The query is not quantised, only the vectors are (asymmetric distances: Jégou,
//! Douze, Schmid, Product quantization for nearest neighbor search, 2011). The contribution of two numbers is looked
//! up in tables that fit a register, for 64 vectors at once (André, Kermarrec, Le Scouarnec, Cache locality is not
//! enough, 2015).

use super::quantizer_stats::{DEVIATIONS, MEANS};
use super::{DIMS, QueryVector, ROW_BYTES, bounded, split};
use fearless_simd::{Bytes, Level, Simd, SimdBase, SimdInto, dispatch, u8x64, u16x32};

/// Size of a sketch, bytes.
const SKETCH_BYTES: usize = DIMS / 4;
/// Sketches in a block.
pub const SKETCHES: usize = 64;
/// Size of a sketch block, bytes.
pub const SKETCHES_BYTES: usize = SKETCHES * SKETCH_BYTES;

/// Block of 64 sketches: the first byte of each, then the second of each, and so on. Byte `n` of a sketch has the
/// levels of the numbers `n`, `n + 64`, `n + 128` and `n + 192`, the first one in the lowest bits. Unused positions
/// have any bytes.
pub type SketchBlock = [u8; SKETCHES_BYTES];

/// Fixed-point factor of the tables of means and deviations.
const UNITS: f32 = 32_768.0;
/// Pairs of numbers, each with a table of 16 sums.
const PAIRS: usize = DIMS / 2;
/// Maximum table entry: two of them fit a byte.
const SUM_MAX: f32 = 127.0;

/// Sketches of many vectors.
#[derive(Debug, Clone, Default)]
pub struct Sketches {
    blocks: Vec<SketchBlock>,
    len: usize,
}

impl Sketches {
    /// Adds the sketches of packed rows; bytes after the last complete row are ignored.
    pub fn extend(&mut self, packed: &[u8]) {
        let rows = packed.as_chunks::<ROW_BYTES>().0;
        let blocks = (self.len + rows.len()).div_ceil(SKETCHES);
        self.blocks.resize(blocks, [0; SKETCHES_BYTES]);
        dispatch!(Level::new(), simd => sketch_rows(simd, rows, self.len, &mut self.blocks));
        self.len += rows.len();
    }

    /// Returns the number of sketches.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns true if there are no sketches.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns all blocks; the last one is padded.
    pub fn blocks(&self) -> &[SketchBlock] {
        &self.blocks
    }
}

// A plain loop, because a closure is not compiled for the widest registers.
#[inline(always)]
fn sketch_rows<S: Simd>(_: S, rows: &[[u8; ROW_BYTES]], first: usize, blocks: &mut [SketchBlock]) {
    for (row, place) in rows.iter().zip(first..) {
        let (scale, values) = split(row);
        let mut sketch = [0_u8; SKETCH_BYTES];
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
        if let Some(block) = blocks.get_mut(place / SKETCHES) {
            let lane = block.iter_mut().skip(place % SKETCHES).step_by(SKETCHES);
            lane.zip(sketch).for_each(|(to, from)| *to = from);
        }
    }
}

/// Lookup tables of a query for scoring sketches.
#[derive(Debug, Clone, PartialEq)]
pub struct SketchQuery {
    /// Contribution of the two levels in each half of a sketch byte, the lower half first.
    tables: [[u8; 16]; PAIRS],
    /// Cosine of one unit of a sum.
    scale: f32,
    /// Cosine of a sketch whose sums are all 0.
    base: f32,
}

impl SketchQuery {
    /// Computes the tables of a query.
    pub fn of(query: &QueryVector) -> Self {
        let mut steps = [0.0_f32; DIMS];
        let mut base = 0.0;
        let tables = MEANS.iter().zip(&DEVIATIONS);
        for ((step, value), (mean, deviation)) in steps.iter_mut().zip(&query.values).zip(tables) {
            let value = f32::from(*value) * query.scale / UNITS;
            let (mean, deviation) = (f32::from(*mean), f32::from(*deviation));
            *step = value * deviation;
            // The middle of the lowest level is one and a half deviations below the mean.
            base += value * (mean - 1.5 * deviation);
        }
        let [first, second, third, fourth] =
            [0, 1, 2, 3].map(|quarter| steps.get(quarter * SKETCH_BYTES..).unwrap_or_default());
        let lower = first.iter().zip(second);
        let upper = third.iter().zip(fourth);
        let pairs = lower.zip(upper).flat_map(|(lower, upper)| [lower, upper]);
        let widest = pairs.clone().map(|(a, b)| 3.0 * (a.abs() + b.abs()));
        let scale = widest.fold(f32::MIN_POSITIVE, f32::max) / SUM_MAX;
        let mut tables = [[0; 16]; PAIRS];
        for (table, (a, b)) in tables.iter_mut().zip(pairs) {
            let least = 3.0 * (a.min(0.0) + b.min(0.0));
            base += least;
            for (levels, sum) in (0_u8..).zip(table) {
                let added = a * f32::from(levels & 3) + b * f32::from(levels >> 2);
                *sum = ((added - least) / scale).round() as u8;
            }
        }
        Self {
            tables,
            scale,
            base,
        }
    }

    /// Writes the approximate cosine with each sketched vector to `scores`, up to its length.
    pub fn scores(&self, blocks: &[SketchBlock], scores: &mut [f32]) {
        dispatch!(Level::new(), simd => score(simd, self, blocks, scores));
    }
}

#[inline(always)]
fn score<S: Simd>(simd: S, sketch_query: &SketchQuery, blocks: &[SketchBlock], scores: &mut [f32]) {
    for (block, scores) in blocks.iter().zip(scores.chunks_mut(SKETCHES)) {
        let sums = table_sums(simd, &sketch_query.tables, block);
        for (score, sum) in scores.iter_mut().zip(sums) {
            *score = bounded(sketch_query.base + f32::from(sum) * sketch_query.scale);
        }
    }
}

/// Returns the sum of the table entries of each sketch of a block. Byte `n` of the sketches selects an entry of table
/// `2 * n` by its lower half and one of the next table by its upper half; both together are at most 254.
#[inline(always)]
pub(super) fn table_sums<S: Simd>(simd: S, tables: &[[u8; 16]], block: &[u8]) -> [u16; SKETCHES] {
    // Pairwise sums of bytes: those at odd positions separately, and both as one 16-bit number whose upper half
    // overflows.
    let mut both: u16x32<S> = 0_u16.simd_into(simd);
    let mut odd: u16x32<S> = 0_u16.simd_into(simd);
    let (pairs, rest) = tables.as_chunks::<2>();
    debug_assert!(rest.is_empty());
    for (bytes, [lower, upper]) in block.as_chunks::<SKETCHES>().0.iter().zip(pairs) {
        let bytes = u8x64::from_slice(simd, bytes);
        let table = |table: &[u8; 16]| u8x64::block_splat((*table).simd_into(simd));
        let lower = simd.swizzle_dyn_within_blocks_u8x64(table(lower), bytes & 15);
        let upper = simd.swizzle_dyn_within_blocks_u8x64(table(upper), bytes >> 4);
        let added: u16x32<S> = (lower + upper).bitcast();
        both += added;
        odd += added >> 8;
    }
    let even = both - (odd << 8);
    let mut sums = [0; SKETCHES];
    let all = sums.as_chunks_mut::<2>().0.iter_mut();
    for ((to, even), odd) in all.zip(even.as_slice()).zip(odd.as_slice()) {
        *to = [*even, *odd];
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::super::Vector;
    use super::*;

    /// Reference computation, number by number.
    fn by_hand(query: &QueryVector, row: &[u8; ROW_BYTES]) -> f32 {
        let (scale, values) = split(row);
        let numbers = values.iter().zip(MEANS.iter().zip(&DEVIATIONS));
        let terms = numbers
            .zip(&query.values)
            .map(|((value, (mean, deviation)), query_value)| {
                let (mean, deviation) = (f32::from(*mean), f32::from(*deviation));
                let off = (f32::from(value.cast_signed()) * scale * UNITS - mean) / deviation;
                let level = [-1.0, 0.0, 1.0].iter().filter(|cut| off > **cut).count() as f32;
                f32::from(*query_value) * query.scale * (mean + (level - 1.5) * deviation) / UNITS
            });
        terms.sum()
    }

    #[test]
    fn table_sums_match_reference() {
        let texts: Vec<String> = (0..150)
            .map(|n| format!("the cache of part {n} is stale after {} retries", n * n))
            .collect();
        let packed: Vec<u8> = texts
            .iter()
            .flat_map(|text| Vector::of_document(text).unwrap().to_bytes())
            .collect();
        let query = QueryVector::of("a stale part of the cache", 150, |_| 9).unwrap();
        // Independent of the batch size.
        for step in [1, 7, 64, 150] {
            let mut sketches = Sketches::default();
            assert!(sketches.is_empty());
            for rows in packed.chunks(step * ROW_BYTES) {
                sketches.extend(rows);
            }
            assert_eq!(sketches.len(), 150);
            assert_eq!(sketches.blocks().len(), 3);
            let mut scores = vec![0.0; 150];
            SketchQuery::of(&query).scores(sketches.blocks(), &mut scores);
            for (score, row) in scores.iter().zip(packed.as_chunks().0) {
                let right = by_hand(&query, row);
                assert!((score - right).abs() < 0.02, "{score} {right}");
            }
        }
    }

    /// Rows of a damaged index.
    #[test]
    fn sketches_of_any_bytes_have_scores() {
        for byte in [0, 1, 0x7f, 0x80, 0xff] {
            let mut sketches = Sketches::default();
            sketches.extend(&[byte; 3 * ROW_BYTES + 5]);
            let mut scores = vec![9.0; 5];
            let query = QueryVector::of("words", 10, |_| 1).unwrap();
            SketchQuery::of(&query).scores(sketches.blocks(), &mut scores);
            assert!(scores.iter().all(|score| (-1.0..=1.0).contains(score)));
        }
    }
}
