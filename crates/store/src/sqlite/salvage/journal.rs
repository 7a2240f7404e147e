//! The write-ahead log: the pages that were committed after the main file was last brought up to date.

use super::bytes::u32_at;
use std::collections::HashMap;

const HEADER_BYTES: usize = 32;
const FRAME_HEADER_BYTES: usize = 24;
/// The first word of a log whose checksums read words with the small end first; one more for the other.
const MAGIC: u32 = 0x377f_0682;

/// The pages of a log.
#[derive(Debug, Default)]
pub(super) struct Journal<'a> {
    /// The size of its pages; none if there is no log that can be read.
    pub(super) page_size: Option<usize>,
    /// The last committed content of each page.
    pub(super) pages: HashMap<u32, &'a [u8]>,
    /// Frames of committed transactions that could not be read.
    pub(super) frames_bad: usize,
}

/// Reads a log. A frame counts if it belongs to this round of the log, its checksum fits the one before it,
/// and a commit follows.
///
/// SQLite stops at the first frame that does not fit. Here reading goes on behind it: each frame says with
/// which sum it ends, so that those after a broken one can still be verified, and they hold acknowledged
/// writes.
pub(super) fn read(log: &[u8]) -> Journal<'_> {
    let Some((page_size, big_end, salts)) = header(log) else {
        return Journal::default();
    };
    let mut journal = Journal {
        page_size: Some(page_size),
        ..Journal::default()
    };
    let mut sum = (u32_at(log, 24), u32_at(log, 28));
    let mut waiting: Vec<(u32, &[u8])> = Vec::new();
    let mut bad = 0;
    let body = log.get(HEADER_BYTES..).unwrap_or_default();
    for frame in body.chunks_exact(FRAME_HEADER_BYTES + page_size) {
        let (head, page) = frame.split_at(FRAME_HEADER_BYTES);
        let said = (u32_at(head, 16), u32_at(head, 20));
        let start = std::mem::replace(&mut sum, said);
        if head.get(8..16) != Some(salts) {
            // A frame of an earlier round, or a broken one; in the first case the log ends here.
            bad += 1;
            continue;
        }
        let (Some(start), Some(said)) = (both(start), both(said)) else {
            break;
        };
        let summed = checksum(start, head.get(..8).unwrap_or_default(), big_end);
        if checksum(summed, page, big_end) != said {
            bad += 1;
            continue;
        }
        if let Some(number) = u32_at(head, 0) {
            waiting.push((number, page));
        }
        if u32_at(head, 4).is_some_and(|pages| pages > 0) {
            journal.pages.extend(waiting.drain(..));
            journal.frames_bad += std::mem::take(&mut bad);
        }
    }
    journal
}

/// The size of the pages, whether sums read the big end first, and the salts of this round.
fn header(log: &[u8]) -> Option<(usize, bool, &[u8])> {
    let magic = u32_at(log, 0)?;
    let big_end = magic == MAGIC + 1;
    if magic != MAGIC && !big_end {
        return None;
    }
    let page_size = usize::try_from(u32_at(log, 8)?).ok()?;
    let fits = page_size.is_power_of_two() && (512..=65_536).contains(&page_size);
    fits.then_some((page_size, big_end, log.get(16..24)?))
}

fn both<T>(pair: (Option<T>, Option<T>)) -> Option<(T, T)> {
    pair.0.zip(pair.1)
}

/// The running sum over `bytes`, a multiple of eight.
fn checksum(start: (u32, u32), bytes: &[u8], big_end: bool) -> (u32, u32) {
    let word = |four: &[u8]| {
        let four: [u8; 4] = four.try_into().unwrap_or_default();
        if big_end {
            u32::from_be_bytes(four)
        } else {
            u32::from_le_bytes(four)
        }
    };
    bytes.chunks_exact(8).fold(start, |(first, second), eight| {
        let (left, right) = eight.split_at(4);
        let first = first.wrapping_add(word(left)).wrapping_add(second);
        (first, second.wrapping_add(word(right)).wrapping_add(first))
    })
}
