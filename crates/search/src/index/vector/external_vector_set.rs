//! Set of a project's external vectors, with a sketch of each for a fast first pass over all of them.
//!
//! A sketch has one bit for each number: its sign. The sum of the query's numbers at the positive places is close
//! enough to the cosine to select the few vectors worth an exact comparison (see [`ExternalVectorSet::candidates`]).
//! The query itself is not quantised to signs. As with the sketches of built-in vectors, the contribution of four
//! bits is looked up in a table that fits a register, for 64 vectors at once.

use super::external_vector::{ExternalQueryVector, row_bytes};
use super::sketch::{SKETCHES, table_sums};
use crate::index::bm25::top_scores;
use fearless_simd::{Level, Simd, dispatch};
use std::sync::Arc;

/// Numbers of a vector that its sketch covers: with more, the 16-bit sums could overflow.
const SKETCH_DIMS_MAX: usize = 2_048;
/// Maximum table entry: two of them fit a byte.
const SUM_MAX: f32 = 127.0;

/// Vectors of one external model in order of their ordinals. A copy shares the blocks.
#[derive(Debug, Clone, Default)]
pub struct ExternalVectorSet {
    dims: usize,
    blocks: Vec<Option<Arc<VectorBlock>>>,
    bytes: usize,
}

/// Vectors of 64 consecutive ordinals.
#[derive(Debug)]
struct VectorBlock {
    /// Packed rows. A block may end before its last ordinal.
    rows: Vec<u8>,
    /// Byte `n` of every sketch, then byte `n + 1` of every sketch, and so on. Bit `k` of byte `n` is the sign of
    /// number `k * bytes + n`, for sketches of `bytes` bytes.
    sketches: Vec<u8>,
    /// One bit for each row that has a vector.
    present: u64,
}

impl ExternalVectorSet {
    /// Number of ordinals in a block.
    pub const BLOCK: usize = SKETCHES;

    /// Creates an empty set of vectors with `dims` numbers.
    pub fn new(dims: usize) -> Self {
        Self {
            dims,
            ..Self::default()
        }
    }

    /// Sets the packed rows of a block; bytes after its last complete row are ignored.
    pub fn set_block(&mut self, block: usize, rows: &[u8]) {
        if self.blocks.len() <= block {
            self.blocks.resize(block + 1, None);
        }
        let row = row_bytes(self.dims);
        let rows = rows.get(..Self::BLOCK * row).unwrap_or(rows);
        let new = VectorBlock::of(rows, self.dims);
        self.bytes += new.bytes();
        let slot = self.blocks.get_mut(block);
        let former = slot.and_then(|slot| slot.replace(Arc::new(new)));
        self.bytes -= former.map_or(0, |block| block.bytes());
    }

    /// Returns the approximate memory size, bytes.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Returns the cosine of a query with the vector of an ordinal, -1 to 1; `None` for an ordinal without a vector.
    pub fn cosine(&self, query: &ExternalQueryVector, ordinal: u32) -> Option<f32> {
        let at = ordinal as usize;
        let block = self.blocks.get(at / Self::BLOCK)?.as_ref()?;
        let from = at % Self::BLOCK * row_bytes(self.dims);
        query.score(block.rows.get(from..from + row_bytes(self.dims))?)
    }

    /// Returns the cosine of a query with each of the first `count` ordinals.
    pub fn cosines(&self, query: &ExternalQueryVector, count: usize) -> Vec<Option<f32>> {
        let mut scores = Vec::with_capacity(count + Self::BLOCK);
        for (place, block) in self.blocks.iter().enumerate() {
            scores.resize(place * Self::BLOCK, None);
            if let Some(block) = block {
                query.scores(&block.rows, &mut scores);
            }
        }
        scores.resize(count, None);
        scores
    }

    /// Returns up to `each` ordinals with a vector from each of about `places` blocks that are evenly apart.
    pub fn sample(&self, places: usize, each: usize) -> Vec<u32> {
        let filled = self.blocks.iter().enumerate();
        let filled: Vec<(usize, u64)> = filled
            .filter_map(|(place, block)| Some((place, block.as_ref()?.present)))
            .filter(|(_, present)| *present != 0)
            .collect();
        let apart = (filled.len() / places.max(1)).max(1);
        let ordinals = filled.iter().step_by(apart).flat_map(|(place, present)| {
            let lanes = (0..Self::BLOCK).filter(move |lane| present >> lane & 1 == 1);
            lanes.take(each).map(move |lane| place * Self::BLOCK + lane)
        });
        ordinals
            .map(|ordinal| u32::try_from(ordinal).unwrap_or(u32::MAX))
            .collect()
    }

    /// Returns the ordinals with the `count` best sketches among those for which `is_wanted` returns true, best first.
    pub fn candidates(
        &self,
        query: &ExternalQueryVector,
        count: usize,
        is_wanted: impl Fn(u32) -> bool,
    ) -> Vec<u32> {
        let tables = SignTables::of(query.values());
        let mut scores = vec![0.0; self.blocks.len() * Self::BLOCK];
        dispatch!(Level::new(), simd => score_blocks(simd, &tables, &self.blocks, &mut scores));
        let ordinal = |place: usize| u32::try_from(place).unwrap_or(u32::MAX);
        let best = top_scores(&scores, count, |place| is_wanted(ordinal(place)));
        best.into_iter().map(|(place, _)| ordinal(place)).collect()
    }
}

impl VectorBlock {
    fn of(rows: &[u8], dims: usize) -> Self {
        let bytes = sketch_bytes(dims);
        let mut block = Self {
            rows: rows.to_vec(),
            sketches: vec![0; bytes * SKETCHES],
            present: 0,
        };
        let mut signs = vec![0_u8; bytes];
        for (lane, row) in rows.chunks_exact(row_bytes(dims)).enumerate() {
            let Some((scale, values)) = row.split_first_chunk() else {
                continue;
            };
            let scale = f32::from_le_bytes(*scale);
            block.present |= u64::from(scale.is_finite() && scale > 0.0) << lane;
            signs.fill(0);
            let values = values.get(..SKETCH_DIMS_MAX).unwrap_or(values);
            for (bit, part) in values.chunks(bytes).enumerate() {
                for (byte, value) in signs.iter_mut().zip(part) {
                    *byte |= u8::from(value.cast_signed() > 0) << bit;
                }
            }
            let lanes = block.sketches.iter_mut().skip(lane).step_by(SKETCHES);
            lanes.zip(&signs).for_each(|(to, from)| *to = *from);
        }
        block
    }

    fn bytes(&self) -> usize {
        self.rows.len() + self.sketches.len() + size_of::<Self>()
    }
}

/// Returns the size of the sketch of a vector, bytes.
fn sketch_bytes(dims: usize) -> usize {
    dims.min(SKETCH_DIMS_MAX).div_ceil(8)
}

/// Lookup tables of a query: for each byte of a sketch, the sums of its lower and of its upper four bits.
struct SignTables(Vec<[u8; 16]>);

impl SignTables {
    fn of(values: &[i16]) -> Self {
        let bytes = sketch_bytes(values.len());
        let nibbles = (0..bytes).flat_map(|byte| [0, 4].map(|bit| (byte, bit)));
        let numbers = nibbles.map(|(byte, bit)| {
            let number = |bit: usize| {
                let place = bit * bytes + byte;
                let covered = place < SKETCH_DIMS_MAX;
                let value = values.get(place).filter(|_| covered);
                value.map_or(0.0, |value| f32::from(*value))
            };
            [0, 1, 2, 3].map(|more| number(bit + more))
        });
        let numbers: Vec<[f32; 4]> = numbers.collect();
        let range = |four: &[f32; 4]| four.iter().map(|number| number.abs()).sum::<f32>();
        let widest = numbers.iter().map(range).fold(f32::MIN_POSITIVE, f32::max);
        let tables = numbers.iter().map(|four| {
            let least: f32 = four.iter().map(|number| number.min(0.0)).sum();
            std::array::from_fn(|bits| {
                let set = four
                    .iter()
                    .enumerate()
                    .filter(|(bit, _)| bits >> bit & 1 == 1);
                let sum: f32 = set.map(|(_, number)| number).sum();
                ((sum - least) / widest * SUM_MAX).round() as u8
            })
        });
        Self(tables.collect())
    }
}

/// Writes the sum of each sketch, plus 1; 0 for an ordinal without a vector.
#[inline(always)]
fn score_blocks<S: Simd>(
    simd: S,
    tables: &SignTables,
    blocks: &[Option<Arc<VectorBlock>>],
    scores: &mut [f32],
) {
    for (block, scores) in blocks.iter().zip(scores.chunks_mut(SKETCHES)) {
        let Some(block) = block else {
            continue;
        };
        let sums = table_sums(simd, &tables.0, &block.sketches);
        for (lane, (score, sum)) in scores.iter_mut().zip(sums).enumerate() {
            let is_there = block.present >> lane & 1 == 1;
            *score = if is_there { f32::from(sum) + 1.0 } else { 0.0 };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::pack_row;
    use super::*;
    use proptest::prelude::*;

    /// Returns vectors that are scattered around a few directions, as those of texts are.
    fn vectors(count: usize, dims: usize) -> Vec<Vec<f32>> {
        let mut state = 7_u64;
        let mut number = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            ((state >> 40) as f32 / (1 << 24) as f32) - 0.5
        };
        let centers: Vec<Vec<f32>> = (0..20)
            .map(|_| (0..dims).map(|_| number()).collect())
            .collect();
        (0..count)
            .map(|n| {
                centers[n % 20]
                    .iter()
                    .map(|center| center + number() * 1.6)
                    .collect()
            })
            .collect()
    }

    fn set_of(vectors: &[Vec<f32>]) -> ExternalVectorSet {
        let mut set = ExternalVectorSet::new(vectors[0].len());
        for (block, vectors) in vectors.chunks(ExternalVectorSet::BLOCK).enumerate() {
            let rows: Vec<u8> = vectors.iter().flat_map(|v| pack_row(v).unwrap()).collect();
            set.set_block(block, &rows);
        }
        set
    }

    #[test]
    fn best_sketches_contain_the_most_similar_vectors() {
        for dims in [384, 1_000] {
            let all = vectors(4_000, dims);
            let set = set_of(&all);
            let query = ExternalQueryVector::of(&all[77]).unwrap();
            let mut cosines: Vec<(u32, f32)> = (0..4_000)
                .map(|ordinal| (ordinal, set.cosine(&query, ordinal).unwrap()))
                .collect();
            cosines.sort_by(|a, b| b.1.total_cmp(&a.1));
            let found = set.candidates(&query, 256, |_| true);
            let best = &cosines[..30];
            let kept = best.iter().filter(|(ordinal, _)| found.contains(ordinal));
            assert!(kept.count() >= 28, "{dims}");
            assert_eq!(found[0], 77);
        }
    }

    #[test]
    fn ordinals_without_a_vector_are_no_candidates() {
        let all = vectors(10, 16);
        let row = |n: usize| pack_row(&all[n]).unwrap();
        let mut set = ExternalVectorSet::new(16);
        let rows = [row(0), vec![0; row_bytes(16)], row(2)].concat();
        set.set_block(2, &rows);
        let query = ExternalQueryVector::of(&all[2]).unwrap();
        assert_eq!(set.candidates(&query, 9, |_| true), [130, 128]);
        assert_eq!(set.candidates(&query, 9, |ordinal| ordinal != 130), [128]);
        assert_eq!(set.cosine(&query, 129), None);
        assert_eq!(set.cosine(&query, 0), None);
        assert_eq!(set.cosine(&query, 9_999), None);
        let cosines = set.cosines(&query, 140);
        assert_eq!(cosines.len(), 140);
        assert_eq!(cosines.iter().flatten().count(), 2);
        assert_eq!(cosines[130], set.cosine(&query, 130));
    }

    #[test]
    fn sample_has_ordinals_with_a_vector_from_the_whole_set() {
        let all = vectors(10, 16);
        let rows = |places: &[usize]| -> Vec<u8> {
            let row = |n| match places.contains(&n) {
                true => pack_row(&all[n]).unwrap(),
                false => vec![0; row_bytes(16)],
            };
            (0..10).flat_map(row).collect()
        };
        let mut set = ExternalVectorSet::new(16);
        assert!(set.sample(2, 2).is_empty());
        set.set_block(1, &rows(&[3]));
        set.set_block(2, &rows(&[]));
        set.set_block(5, &rows(&[0, 7, 9]));
        set.set_block(6, &rows(&[1]));
        set.set_block(9, &rows(&[2]));
        assert_eq!(set.sample(4, 2), [67, 320, 327, 385, 578]);
        assert_eq!(set.sample(2, 1), [67, 385]);
    }

    #[test]
    fn block_that_is_set_again_replaces_the_former_one_only_there() {
        let all = vectors(10, 16);
        let row = |n: usize| pack_row(&all[n]).unwrap();
        let query = ExternalQueryVector::of(&all[2]).unwrap();
        let mut set = ExternalVectorSet::new(16);
        set.set_block(0, &row(1));
        let former = set.clone();
        let bytes = set.bytes();
        set.set_block(0, &row(2));
        assert_eq!(set.bytes(), bytes);
        assert!(set.cosine(&query, 0).unwrap() > 0.99);
        assert!(former.cosine(&query, 0).unwrap() < 0.9);
    }

    proptest! {
        /// Rows of a damaged index, and vectors longer than a sketch covers.
        #[test]
        fn any_rows_have_candidates(rows: Vec<u8>, dims in 1_usize..40, far in 0_usize..5) {
            let dims = if far == 0 { SKETCH_DIMS_MAX + dims } else { dims };
            let mut set = ExternalVectorSet::new(dims);
            set.set_block(far, &rows.repeat(20));
            let numbers: Vec<f32> = (0..dims).map(|n| n as f32 - 3.5).collect();
            let query = ExternalQueryVector::of(&numbers).unwrap();
            let found = set.candidates(&query, 50, |_| true);
            prop_assert!(found.iter().all(|ordinal| set.cosine(&query, *ordinal).is_some()));
        }
    }
}
