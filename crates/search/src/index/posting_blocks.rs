//! Posting lists, packed into blocks.
//!
//! A block is a header and the postings of one stem in order of their ordinals, each as the gap to the previous
//! ordinal and a posting code ([`crate::index::posting_code`]). All integers are little-endian.
//!
//! | bytes | |
//! |---|---|
//! | 1 | width of a gap, 1 to 4 bytes |
//! | 2 | postings |
//! | 4, 4 | first and last ordinal |
//! | 4, 4 | texts that have the stem, and that have it in their head, this block and all before it |
//! | 1 | the code of the first posting |
//! | width + 1 each | gap and code of the others |
//!
//! Blocks are built by appending one posting after the other, so that the same postings give the same blocks however
//! they are divided over merges.

use crate::index::posting_code;

/// Maximum size of a block, bytes: on pages of 4 KB a longer row of a table without a rowid needs an overflow page.
pub const BLOCK_BYTES: usize = 900;

const HEADER: usize = 19;

/// Posting: the ordinal of a text and its posting code.
pub type Posting = (u32, u8);

/// Parsed block.
#[derive(Debug, Clone, Copy)]
pub struct Block<'b> {
    bytes: &'b [u8],
    width: usize,
    count: usize,
}

impl<'b> Block<'b> {
    /// Parses a block; `None` if the bytes are not one.
    pub fn read(bytes: &'b [u8]) -> Option<Self> {
        let width = usize::from(*bytes.first()?);
        let count = usize::from(u16::from_le_bytes(bytes.get(1..3)?.try_into().ok()?));
        let is_whole = (1..=4).contains(&width)
            && count > 0
            && bytes.len() == HEADER + 1 + (count - 1) * (width + 1);
        is_whole.then_some(Self {
            bytes,
            width,
            count,
        })
    }

    fn number(&self, at: usize) -> u32 {
        let bytes = self.bytes.get(at..at + 4);
        bytes
            .and_then(|bytes| bytes.try_into().ok())
            .map_or(0, u32::from_le_bytes)
    }

    /// Returns the number of postings.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Returns true if the block has no postings, which is never true for a parsed one.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Returns the ordinal of the first posting.
    pub fn first(&self) -> u32 {
        self.number(3)
    }

    /// Returns the ordinal of the last posting.
    pub fn last(&self) -> u32 {
        self.number(7)
    }

    /// Returns the document frequency of the stem up to this block.
    pub fn df(&self) -> u32 {
        self.number(11)
    }

    /// Returns the number of texts with the stem in their head, up to this block.
    pub fn head_df(&self) -> u32 {
        self.number(15)
    }

    /// Calls `each` with every posting, in order.
    pub fn for_each(&self, each: impl FnMut(u32, u8)) {
        match self.width {
            1 => self.for_each_of::<2>(each),
            2 => self.for_each_of::<3>(each),
            3 => self.for_each_of::<4>(each),
            _ => self.for_each_of::<5>(each),
        }
    }

    /// Iterates over postings of a constant size, so that the compiler specialises the loop.
    #[inline(always)]
    fn for_each_of<const BYTES: usize>(&self, mut each: impl FnMut(u32, u8)) {
        let mut ordinal = self.first();
        let body = self.bytes.get(HEADER..).unwrap_or(&[]);
        let Some((first, rest)) = body.split_first() else {
            return;
        };
        each(ordinal, *first);
        for posting in rest.as_chunks::<BYTES>().0 {
            let Some((code, bytes)) = posting.split_last() else {
                return;
            };
            let mut gap = [0; 4];
            for (to, from) in gap.iter_mut().zip(bytes) {
                *to = *from;
            }
            ordinal = ordinal.wrapping_add(u32::from_le_bytes(gap));
            each(ordinal, *code);
        }
    }

    /// Adds the score of each posting's code in `table` to `scores`, which begin with the ordinal `first`.
    pub fn add_scores(&self, table: &[f32; 256], first: u32, scores: &mut [f32]) {
        self.for_each(|ordinal, code| {
            let place = ordinal.wrapping_sub(first) as usize;
            if let (Some(score), Some(value)) =
                (scores.get_mut(place), table.get(usize::from(code)))
            {
                *score += value;
            }
        });
    }
}

/// Block that is being built.
#[derive(Debug, Clone, PartialEq, Eq)]
struct BlockBuilder {
    width: usize,
    postings: Vec<Posting>,
    df: u32,
    head_df: u32,
}

impl BlockBuilder {
    fn new(df: u32, head_df: u32) -> Self {
        Self {
            width: 1,
            postings: Vec::new(),
            df,
            head_df,
        }
    }

    fn of(block: Block<'_>) -> Self {
        let mut postings = Vec::with_capacity(block.len() + 1);
        block.for_each(|ordinal, code| postings.push((ordinal, code)));
        Self {
            width: block.width,
            postings,
            df: block.df(),
            head_df: block.head_df(),
        }
    }

    /// Adds a posting; returns false if the block would be too long.
    fn add(&mut self, posting: Posting) -> bool {
        let width = match self.postings.last() {
            None => 1,
            Some((last, _)) => self.width.max(width_of(posting.0.wrapping_sub(*last))),
        };
        if HEADER + 1 + self.postings.len() * (width + 1) > BLOCK_BYTES {
            return false;
        }
        self.width = width;
        self.postings.push(posting);
        self.df = self.df.saturating_add(1);
        self.head_df = self
            .head_df
            .saturating_add(u32::from(posting_code::is_in_head(posting.1)));
        true
    }

    fn bytes(&self) -> Vec<u8> {
        let (Some(first), Some(last)) = (self.postings.first(), self.postings.last()) else {
            return Vec::new();
        };
        let mut bytes = Vec::with_capacity(HEADER + 1 + self.postings.len() * (self.width + 1));
        bytes.push(u8::try_from(self.width).unwrap_or(4));
        let count = u16::try_from(self.postings.len()).unwrap_or(u16::MAX);
        bytes.extend_from_slice(&count.to_le_bytes());
        for number in [first.0, last.0, self.df, self.head_df] {
            bytes.extend_from_slice(&number.to_le_bytes());
        }
        bytes.push(first.1);
        for pair in self.postings.windows(2) {
            if let [(before, _), (ordinal, code)] = pair {
                let gap = ordinal.wrapping_sub(*before).to_le_bytes();
                bytes.extend_from_slice(gap.get(..self.width).unwrap_or(&gap));
                bytes.push(*code);
            }
        }
        bytes
    }
}

fn width_of(gap: u32) -> usize {
    match gap {
        0..=0xff => 1,
        0x100..=0xffff => 2,
        0x1_0000..=0xff_ffff => 3,
        _ => 4,
    }
}

/// Changed block: its number and bytes.
pub type Changed = (u32, Vec<u8>);

/// Appends postings, whose ordinals are higher than all existing ones, to the newest block of a stem. Returns the
/// changed blocks.
pub fn append(newest: Option<(u32, Block<'_>)>, postings: &[Posting]) -> Vec<Changed> {
    let (mut number, mut growing) = match newest {
        Some((number, block)) => (number, BlockBuilder::of(block)),
        None => (0, BlockBuilder::new(0, 0)),
    };
    let mut changed = Vec::new();
    for posting in postings {
        if growing.add(*posting) {
            continue;
        }
        let next = BlockBuilder::new(growing.df, growing.head_df);
        changed.push((number, growing.bytes()));
        growing = next;
        number += 1;
        growing.add(*posting);
    }
    changed.push((number, growing.bytes()));
    changed
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read_all(blocks: &[Vec<u8>]) -> Vec<Posting> {
        let mut all = Vec::new();
        for bytes in blocks {
            let block = Block::read(bytes).unwrap();
            block.for_each(|ordinal, code| all.push((ordinal, code)));
        }
        all
    }

    /// Returns all blocks of a stem after these merges.
    fn merged(parts: &[Vec<Posting>]) -> Vec<Vec<u8>> {
        let mut blocks: Vec<Vec<u8>> = Vec::new();
        for part in parts.iter().filter(|part| !part.is_empty()) {
            let newest = blocks.last().cloned();
            let number = u32::try_from(blocks.len()).unwrap().saturating_sub(1);
            let newest = newest
                .as_deref()
                .map(|bytes| (number, Block::read(bytes).unwrap()));
            for (number, bytes) in append(newest, part) {
                let number = number as usize;
                blocks.resize(blocks.len().max(number + 1), Vec::new());
                blocks[number] = bytes;
            }
        }
        blocks
    }

    fn postings() -> impl Strategy<Value = Vec<Posting>> {
        let gap = prop_oneof![
            6 => 1_u32..4,
            2 => 1_u32..400,
            1 => 1_u32..100_000,
            1 => 1_u32..20_000_000,
        ];
        prop::collection::vec((gap, any::<u8>()), 1..1_500).prop_map(|gaps| {
            let mut ordinal = 0_u32;
            let add = |(gap, code): (u32, u8)| {
                ordinal = ordinal.saturating_add(gap);
                (ordinal, code)
            };
            let mut all: Vec<Posting> = gaps.into_iter().map(add).collect();
            all.dedup_by_key(|posting| posting.0);
            all
        })
    }

    proptest! {
        #[test]
        fn blocks_do_not_depend_on_merges(all in postings(), cuts in prop::collection::vec(0_usize..1_500, 0..12)) {
            let bulk = merged(std::slice::from_ref(&all));
            prop_assert_eq!(read_all(&bulk), all.clone());
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(all.len())).collect();
            cuts.extend([0, all.len()]);
            cuts.sort_unstable();
            let parts: Vec<Vec<Posting>> = cuts.windows(2).map(|pair| all[pair[0]..pair[1]].to_vec()).collect();
            prop_assert_eq!(merged(&parts), bulk.clone());
            let newest = Block::read(bulk.last().unwrap()).unwrap();
            prop_assert_eq!(newest.df() as usize, all.len());
            prop_assert_eq!(newest.head_df() as usize, all.iter().filter(|posting| posting_code::is_in_head(posting.1)).count());
            prop_assert_eq!(newest.last(), all.last().unwrap().0);
            prop_assert!(bulk.iter().all(|block| block.len() <= BLOCK_BYTES));
        }

        #[test]
        fn any_bytes_are_rejected_or_read_to_their_end(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            if let Some(block) = Block::read(&bytes) {
                let mut count = 0;
                block.for_each(|_, _| count += 1);
                prop_assert_eq!(count, block.len());
                let mut scores = [0.0; 8];
                block.add_scores(&[1.0; 256], 0, &mut scores);
                let (mut low, mut high) = ([0.0; 3], [0.0; 5]);
                block.add_scores(&[1.0; 256], 0, &mut low);
                block.add_scores(&[1.0; 256], 3, &mut high);
                prop_assert_eq!([&low[..], &high[..]].concat(), scores);
            }
        }
    }
}
