//! Frames of a write-ahead log: which are intact, which SQLite would recover, and which it would drop.
//!
//! SQLite recovers frames up to the first with a wrong salt or checksum, and silently drops the rest. After a power
//! failure that is the end of a transaction that was never acknowledged; after damage it is acknowledged writes. Each
//! frame contains its cumulative checksum, so the frames after a broken one can still be verified:
//! <https://sqlite.org/walformat.html>.

mod flip;

use crate::sqlite::file_format::u32_at;
use flip::Flip;
use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};

/// Size of the log header, bytes.
pub(in crate::sqlite) const HEADER_BYTES: usize = 32;
/// Size of a frame header, bytes.
pub(in crate::sqlite) const FRAME_HEADER_BYTES: usize = 24;
/// Magic number of a log whose checksums use little-endian words; one more for big-endian.
const MAGIC: u32 = 0x377f_0682;
const VERSION: u32 = 3_007_000;
/// Page size of every database that Heirloom creates, bytes.
const PAGE_BYTES: usize = 4_096;
/// Maximum number of different bits in salts that are taken for equal but damaged. Salts of another generation of the
/// log differ in about half of their bits.
const SALT_BITS_FLIPPED: u32 = 2;
/// Maximum number of lost pages that a message lists.
const PAGES_NAMED: usize = 8;

/// Cumulative checksum.
pub(in crate::sqlite) type Checksum = (u32, u32);
/// Two random numbers in every frame of one generation of the log.
pub(in crate::sqlite) type Salts = [u8; 8];

/// Header of a log.
#[derive(Debug, Clone, Copy)]
pub(in crate::sqlite) struct Header {
    pub(in crate::sqlite) page_size: usize,
    pub(in crate::sqlite) big_end: bool,
    pub(in crate::sqlite) salts: Salts,
    pub(in crate::sqlite) sum: Checksum,
}

impl Header {
    /// Parses a header; `None` if its checksum is wrong.
    pub(in crate::sqlite) fn read(log: &[u8]) -> Option<Self> {
        let header = Self::parse_unchecked(log)?;
        let summed = checksum((0, 0), log.get(..24)?, header.big_end);
        (u32_at(log, 4)? == VERSION && summed == header.sum).then_some(header)
    }

    fn parse_unchecked(log: &[u8]) -> Option<Self> {
        let magic = u32_at(log, 0)?;
        let page_size = usize::try_from(u32_at(log, 8)?).ok()?;
        let is_sound = magic & !1 == MAGIC
            && page_size.is_power_of_two()
            && (512..=65_536).contains(&page_size);
        is_sound.then_some(Self {
            page_size,
            big_end: magic == MAGIC + 1,
            salts: log.get(16..24)?.try_into().ok()?,
            sum: (u32_at(log, 24)?, u32_at(log, 28)?),
        })
    }

    /// Derives a damaged header from the frames after it; `None` if no frame verifies.
    fn derive_from_frames(log: &[u8]) -> Option<Self> {
        let first = log.get(HEADER_BYTES..)?;
        let salts = first.get(8..16)?.try_into().ok()?;
        let sum = (u32_at(log, 24)?, u32_at(log, 28)?);
        let stored = Self::parse_unchecked(log).map(|header| header.page_size);
        let sizes = stored.into_iter().chain([PAGE_BYTES]);
        let candidates = sizes.flat_map(|page_size| {
            [false, true].map(|big_end| Self {
                page_size,
                big_end,
                salts,
                sum,
            })
        });
        let verified = |header: &Self| {
            let states = header.verify_frames(log, None);
            states.iter().filter(|state| state.is_strict).count()
        };
        let best = candidates.max_by_key(verified)?;
        (verified(&best) > 0).then_some(best)
    }

    pub(in crate::sqlite) fn frame_bytes(&self) -> usize {
        FRAME_HEADER_BYTES + self.page_size
    }

    /// Verifies each frame.
    fn verify_frames<'a>(&self, log: &'a [u8], known: Option<&LogEnd>) -> Vec<FrameState<'a>> {
        let mut states: Vec<FrameState<'a>> = Vec::new();
        // Checksum before the next frame: as stored in the previous frame, and as computed.
        let mut stored = self.sum;
        let mut summed = checksum((0, 0), log.get(..24).unwrap_or_default(), self.big_end);
        let body = log.get(HEADER_BYTES..).unwrap_or_default();
        let frames: Vec<&[u8]> = body.chunks_exact(self.frame_bytes()).collect();
        for (place, frame) in frames.iter().copied().enumerate() {
            let (head, page) = frame.split_at(FRAME_HEADER_BYTES);
            let (start, other_start) = (stored, summed);
            let ends = (u32_at(head, 16).unwrap_or(0), u32_at(head, 20).unwrap_or(0));
            let salts: Salts = head
                .get(8..16)
                .and_then(|salts| salts.try_into().ok())
                .unwrap_or_default();
            let mut state = FrameState {
                number: u32_at(head, 0).unwrap_or(0),
                commit: u32_at(head, 4).unwrap_or(0),
                content: None,
                is_strict: false,
                is_flipped: false,
            };
            stored = ends;
            if !are_similar_salts(&salts, &self.salts) {
                // Frame of an earlier generation, or not a frame.
                summed = ends;
                states.push(state);
                continue;
            }
            summed = self.checksum_of(start, head, page);
            let is_known = known.is_some_and(|known| {
                u32::try_from(place + 1) == Ok(known.frames) && known.sum == summed
            });
            // A damaged checksum looks like a damaged page, but the next frame continues from the correct one.
            let is_followed = || {
                let next = frames.get(place + 1);
                next.is_some_and(|next| self.continues_from(summed, next))
            };
            if summed == ends || is_known || is_followed() {
                state.is_strict = summed == ends && salts == self.salts;
                state.content = Some(Cow::Borrowed(page));
            } else if start != other_start && self.checksum_of(other_start, head, page) == ends {
                state.content = Some(Cow::Borrowed(page));
                summed = ends;
            } else {
                let ends_fit =
                    (frames.get(place + 1)).is_some_and(|next| self.continues_from(ends, next));
                let flip = flip::find_flip(frame, start, ends, self.big_end, ends_fit);
                state.is_flipped = flip.is_some();
                match flip {
                    Some(Flip::Page(whole)) => {
                        state.number = u32_at(&whole, 0).unwrap_or(0);
                        state.commit = u32_at(&whole, 4).unwrap_or(0);
                        let page = whole.get(FRAME_HEADER_BYTES..).unwrap_or_default();
                        state.content = Some(Cow::Owned(page.to_vec()));
                        summed = ends;
                    }
                    Some(Flip::Sum) => state.content = Some(Cow::Borrowed(page)),
                    Some(Flip::Unknown) | None => {}
                }
            }
            states.push(state);
        }
        states
    }

    /// Returns true if the frame continues from this checksum.
    fn continues_from(&self, start: Checksum, frame: &[u8]) -> bool {
        let (head, page) = frame.split_at(FRAME_HEADER_BYTES);
        let ends = u32_at(head, 16).zip(u32_at(head, 20));
        ends == Some(self.checksum_of(start, head, page))
    }

    fn checksum_of(&self, start: Checksum, head: &[u8], page: &[u8]) -> Checksum {
        let summed = checksum(start, head.get(..8).unwrap_or_default(), self.big_end);
        checksum(summed, page, self.big_end)
    }
}

/// Verified state of a frame.
struct FrameState<'a> {
    number: u32,
    /// Pages of the database after the commit that this frame ends; zero inside a transaction.
    commit: u32,
    /// Page content, if it is intact or was corrected.
    content: Option<Cow<'a, [u8]>>,
    /// True if SQLite recovers the frame, provided that it recovers the one before.
    is_strict: bool,
    /// True if a single flipped bit explains the mismatch; no power failure causes that.
    is_flipped: bool,
}

/// End of the log as stored in the WAL index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::sqlite) struct LogEnd {
    /// Number of committed frames.
    pub(in crate::sqlite) frames: u32,
    pub(in crate::sqlite) salts: Salts,
    /// Checksum of the last of them.
    pub(in crate::sqlite) sum: Checksum,
}

/// Content of a log.
#[derive(Debug, Default)]
pub(in crate::sqlite) struct LogScan<'a> {
    /// Page size, bytes; `None` if the log cannot be read.
    pub(in crate::sqlite) page_size: Option<usize>,
    /// Last committed content of each page.
    pub(in crate::sqlite) pages: HashMap<u32, Cow<'a, [u8]>>,
    /// Number of committed frames whose content is lost.
    pub(in crate::sqlite) frames_bad: usize,
    /// Pages whose last content is lost.
    pub(in crate::sqlite) pages_lost: BTreeSet<u32>,
    /// Acknowledged frames that SQLite would drop.
    pub(in crate::sqlite) damage: Option<LogDamage>,
    /// Offset of an incomplete last transaction, as after a power failure.
    pub(in crate::sqlite) torn_at: Option<usize>,
}

/// Committed frames that SQLite would drop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::sqlite) struct LogDamage {
    /// Offset of the first mismatch.
    pub(in crate::sqlite) at: usize,
    /// Number of frames that would be dropped.
    pub(in crate::sqlite) frames: usize,
    /// Number of transactions that would be dropped.
    pub(in crate::sqlite) commits: usize,
    /// Number of frames whose content is lost.
    pub(in crate::sqlite) frames_bad: usize,
    /// Pages whose last content is lost.
    pub(in crate::sqlite) pages_lost: BTreeSet<u32>,
}

impl LogDamage {
    /// Describes the damage in one sentence.
    pub(in crate::sqlite) fn describe(&self) -> String {
        let lost = if self.frames_bad == 0 {
            "all of their content can be recovered".to_owned()
        } else if self.pages_lost.is_empty() {
            format!(
                "{} frames cannot be read, their pages were written again later",
                self.frames_bad
            )
        } else {
            let named: Vec<String> = (self.pages_lost.iter().take(PAGES_NAMED))
                .map(ToString::to_string)
                .collect();
            let more = match self.pages_lost.len().saturating_sub(PAGES_NAMED) {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            format!(
                "{} frames cannot be read, with the last content of the pages {}{more}",
                self.frames_bad,
                named.join(", ")
            )
        };
        format!(
            "from byte {} on {} acknowledged transactions in {} frames would be dropped; {lost}",
            self.at, self.commits, self.frames
        )
    }
}

/// Reads a whole log. `known` is used only if it is of this generation of the log.
pub(in crate::sqlite) fn scan<'a>(log: &'a [u8], known: Option<&LogEnd>) -> LogScan<'a> {
    let sound = Header::read(log);
    let Some(header) = sound.or_else(|| Header::derive_from_frames(log)) else {
        return LogScan::default();
    };
    let known = known.filter(|known| known.salts == header.salts);
    let states = header.verify_frames(log, known);
    let is_commit = |(place, state): (usize, &FrameState<'_>)| {
        ((state.content.is_some() || state.is_flipped) && state.commit > 0)
            || known.is_some_and(|known| u32::try_from(place + 1) == Ok(known.frames))
    };
    // Frames that SQLite recovers, and the last commit among them and among all.
    let recovered = match sound {
        Some(_) => states.iter().take_while(|state| state.is_strict).count(),
        None => 0,
    };
    let commits: Vec<usize> = (states.iter().enumerate())
        .filter(|found| is_commit(*found))
        .map(|(place, _)| place + 1)
        .collect();
    let accepted = commits.iter().copied().rfind(|end| *end <= recovered);
    let accepted = accepted.unwrap_or(0);
    let end = commits.last().copied().unwrap_or(0);
    let mut found = LogScan {
        page_size: Some(header.page_size),
        ..LogScan::default()
    };
    let after = states.get(recovered..end).unwrap_or_default();
    let commits_after = commits.iter().filter(|place| **place > accepted).count();
    let is_flipped =
        |state: &FrameState<'_>| !state.is_strict && (state.is_flipped || state.content.is_some());
    let has_flips = after.iter().any(is_flipped);
    let is_acknowledged = known.is_some_and(|known| {
        usize::try_from(known.frames)
            .is_ok_and(|frames| frames > accepted && frames <= states.len())
    });
    // Each run of lost frames may be the end of one incomplete transaction.
    let is_damaged = end > accepted
        && (sound.is_none() || has_flips || is_acknowledged || commits_after > lost_runs(after));
    let at = match sound {
        Some(_) => HEADER_BYTES + recovered * header.frame_bytes(),
        None => 0,
    };
    if end > accepted && !is_damaged {
        found.torn_at = Some(at);
    }
    found.apply(states, if is_damaged { end } else { accepted }, &commits);
    found.damage = is_damaged.then(|| LogDamage {
        at,
        frames: end - accepted,
        commits: commits_after,
        frames_bad: found.frames_bad,
        pages_lost: found.pages_lost.clone(),
    });
    found
}

impl<'a> LogScan<'a> {
    /// Collects the content of the first `end` frames.
    fn apply(&mut self, states: Vec<FrameState<'a>>, end: usize, commits: &[usize]) {
        let pages_after = |place: usize| {
            let commit = commits.iter().find(|commit| **commit > place)?;
            Some(states.get(commit - 1)?.commit).filter(|pages| *pages > 0)
        };
        let sizes: Vec<Option<u32>> = (0..end).map(pages_after).collect();
        for (state, size) in states.into_iter().take(end).zip(sizes) {
            if let Some(page) = state.content {
                self.pages_lost.remove(&state.number);
                self.pages.insert(state.number, page);
                continue;
            }
            self.frames_bad += 1;
            // A page number beyond the end of the database is damaged too.
            let is_page = state.number > 0 && size.is_none_or(|size| state.number <= size);
            if is_page {
                self.pages_lost.insert(state.number);
            }
        }
    }
}

/// Counts the runs of frames without content.
fn lost_runs(states: &[FrameState<'_>]) -> usize {
    let mut runs = 0;
    let mut is_inside = false;
    for state in states {
        let is_lost = state.content.is_none();
        runs += usize::from(is_lost && !is_inside);
        is_inside = is_lost;
    }
    runs
}

/// Returns true if the salts are equal except for one or two flipped bits.
pub(in crate::sqlite) fn are_similar_salts(found: &Salts, expected: &Salts) -> bool {
    (u64::from_be_bytes(*found) ^ u64::from_be_bytes(*expected)).count_ones() <= SALT_BITS_FLIPPED
}

/// Continues the checksum over `bytes`, whose length is a multiple of eight.
pub(in crate::sqlite) fn checksum(start: Checksum, bytes: &[u8], big_end: bool) -> Checksum {
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
