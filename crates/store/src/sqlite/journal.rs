//! Whether the journal is as long as the processes that wrote it say.
//!
//! SQLite takes a journal that is gone or cut short for one that was never longer, and begins without what was
//! acknowledged. What it shares between processes beside the journal (`-shm`) outlives a process that dies, and
//! says how many frames there were: <https://sqlite.org/walformat.html>.

use super::failure::{Failure, damaged};
use super::shared::Look;
use super::{Place, open};

/// Bytes of the shared index that are read: two headers and how far the journal was carried over.
const INDEX_BYTES: usize = 100;
/// The version that stands at the beginning of a shared index.
const INDEX_VERSION: u32 = 3_007_000;
/// Bytes before the first frame of a journal, and before the page of each frame.
const JOURNAL_HEAD: u64 = 32;
const FRAME_HEAD: u64 = 24;

/// Fails if frames are missing that were acknowledged and are not in the database yet.
pub(super) fn check(look: &Look) -> Result<(), Failure> {
    let Some(before) = length_told(look) else {
        return Ok(());
    };
    let path = look.path();
    let journal = open::journal_of(path);
    let length = journal.metadata().map_or(0, |found| found.len());
    // Another process that closes the database carries the journal over before it removes it: what is
    // told then is another length, or none.
    if length >= before || length_told(look) != Some(before) {
        return Ok(());
    }
    let problem = format!(
        "its journal {} has {length} of {before} bytes, acknowledged writes are missing: put the journal \
         back if you have it",
        journal.display(),
    );
    Err(damaged(&Place::File(path.to_owned()), problem).into())
}

/// How long the journal must be, if something in it is not in the database yet.
fn length_told(look: &Look) -> Option<u64> {
    let index = Index::told(look)?;
    let is_needed = index.frames > index.carried_over;
    is_needed.then(|| JOURNAL_HEAD + u64::from(index.frames) * (FRAME_HEAD + index.page))
}

/// How many pages the journal has, and how many of them are not in the database yet.
pub(super) fn pages(look: &Look) -> Option<(u32, u32)> {
    let index = Index::told(look)?;
    let waiting = index.frames.saturating_sub(index.carried_over);
    Some((index.frames, waiting))
}

/// A state of the database: the head of the shared index, which each write changes and seals with a sum.
pub(super) type Stamp = [u8; 48];

/// The state now; none while somebody writes it.
pub(super) fn stamp(look: &Look) -> Option<Stamp> {
    let mut index = [0; INDEX_BYTES];
    look.begin(&mut index)?;
    let (first, second) = index.split_at(48);
    let stamp: Stamp = first.try_into().ok()?;
    (second.get(..48) == Some(first) && stamp[12] == 1).then_some(stamp)
}

/// What processes share of a journal.
struct Index {
    frames: u32,
    carried_over: u32,
    page: u64,
}

impl Index {
    /// Nothing while somebody writes it.
    fn told(look: &Look) -> Option<Self> {
        let mut index = [0; INDEX_BYTES];
        look.begin(&mut index)?;
        let number = |at: usize| {
            index
                .get(at..at + 4)?
                .try_into()
                .ok()
                .map(u32::from_ne_bytes)
        };
        let is_whole =
            index[..48] == index[48..96] && number(0)? == INDEX_VERSION && index[12] == 1;
        let page = match u16::from_ne_bytes(index[14..16].try_into().ok()?) {
            1 => 65_536,
            bytes => u64::from(bytes),
        };
        is_whole.then_some(Self {
            frames: number(16)?,
            carried_over: number(96)?,
            page,
        })
    }
}
