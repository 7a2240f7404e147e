//! Detection of a write-ahead log that lacks acknowledged writes, before SQLite recovers without them.
//!
//! SQLite treats a missing, truncated or damaged log as one that ended earlier. Two things show the difference: the
//! WAL index in shared memory (`-shm`) outlives a killed process and has the number of committed frames, and intact
//! frames after a broken one show that it was not the last. Every process that opens a database checks both; the
//! whole log is read only on suspicion, so that opening costs microseconds. <https://sqlite.org/walformat.html>.

use super::shm_reader::ShmHandle;
use super::wal_frames::{self, Checksum, FRAME_HEADER_BYTES, HEADER_BYTES, Header, LogEnd, Salts};
use crate::relational::index::ContentStamp;
use crate::sql::failure::Failure;
use crate::sqlite::database_location::{DatabaseLocation, wal_path};
use crate::sqlite::error_conversion::damaged;
use crate::sqlite::file_format::u32_at;
use heirloom_fs::durable::regular_file::{self, LinkPolicy};
use heirloom_fs::positioned_io::read_exact_at;
use heirloom_model::limits::SALVAGE_BYTES_MAX;
use heirloom_model::text::EscapedPath;
use rusqlite::Connection;
use std::fs::File;

/// Bytes of the WAL index that are read: two headers and the checkpoint progress.
const INDEX_BYTES: usize = 100;
/// Version number at the start of a WAL index.
const INDEX_VERSION: u32 = 3_007_000;
/// Maximum number of times that a log is read again because another process wrote to it.
const READ_ATTEMPTS_MAX: usize = 5;
/// Number of transactions at the end of a log that are verified before SQLite recovers it. Earlier damage leaves two
/// commits after it, which reveal it at any later time. Damage in the last transactions is revealed only by the WAL
/// index, which SQLite overwrites when it opens the database.
const COMMITS_VERIFIED: usize = 2;
/// Number of frames after the last recovered one whose salts are all read. After those, only every sixteenth is read.
const FRAMES_SAMPLED: u64 = 32;
const FRAMES_SKIPPED: u64 = 16;

/// Fails if acknowledged frames are missing or damaged. Must run before SQLite opens the database.
pub(in crate::sqlite) fn check(shm: &ShmHandle) -> Result<(), Failure> {
    check_length(shm)?;
    let Some(index) = WalIndex::read(shm).filter(|index| index.known.frames > 0) else {
        return Ok(());
    };
    let Ok(journal) = regular_file::open(&wal_path(shm.path()), LinkPolicy::Refuse) else {
        return Ok(());
    };
    match verify_last_commits(&journal.file, &index) {
        Some(true) => Ok(()),
        // Another process may have restarted the log meanwhile; the full check finds out.
        Some(false) | None => check_frames(shm).map(drop),
    }
}

/// Fails if SQLite has dropped acknowledged frames. Must run before anything is written to the database.
pub(in crate::sqlite) fn check_recovered(
    shm: &ShmHandle,
    connection: &Connection,
) -> Result<(), Failure> {
    let journal = wal_path(shm.path());
    let length = journal.metadata().map_or(0, |found| found.len());
    if length <= HEADER_BYTES as u64 {
        return Ok(());
    }
    // The first read recovers the log.
    connection.pragma_query_value(None, "schema_version", |row| row.get::<_, u32>(0))?;
    let Some(index) = WalIndex::read(shm) else {
        return Ok(());
    };
    let is_suspicious = match regular_file::open(&journal, LinkPolicy::Refuse) {
        Ok(journal) => has_frames_after_end(&journal.file, length, &index).unwrap_or(true),
        Err(_) => false,
    };
    if is_suspicious {
        check_frames(shm)?;
    }
    Ok(())
}

/// Reads the whole log; fails if SQLite would drop acknowledged frames. Returns a description of an incomplete last
/// transaction, which was never acknowledged.
pub(in crate::sqlite) fn check_frames(shm: &ShmHandle) -> Result<Option<String>, Failure> {
    let path = shm.path();
    let journal = wal_path(path);
    for _ in 0..READ_ATTEMPTS_MAX {
        let index = WalIndex::read(shm);
        let length = journal.metadata().map_or(0, |found| found.len());
        if length <= HEADER_BYTES as u64 || length > SALVAGE_BYTES_MAX {
            return Ok(None);
        }
        let Ok(log) = regular_file::read(&journal, LinkPolicy::Refuse, SALVAGE_BYTES_MAX) else {
            return Ok(None);
        };
        let known = index.as_ref().map(|index| index.known);
        let found = wal_frames::scan(&log, known.as_ref());
        let Some(damage) = found.damage else {
            let torn = found.torn_at.map(|at| {
                format!(
                    "the last transaction in {} is not complete from byte {at} on, as after a power failure; it was \
                     not acknowledged",
                    journal.to_escaped()
                )
            });
            return Ok(torn);
        };
        if WalIndex::read(shm).map(|index| index.known) != known {
            // Another process is writing.
            continue;
        }
        let problem = format!(
            "its journal {} is damaged: {}",
            journal.to_escaped(),
            damage.describe()
        );
        return Err(damaged(&DatabaseLocation::File(path.to_owned()), problem).into());
    }
    Ok(None)
}

/// Returns the end of the log according to the WAL index.
pub(in crate::sqlite) fn log_end(shm: &ShmHandle) -> Option<LogEnd> {
    WalIndex::read(shm).map(|index| index.known)
}

/// Fails if the log is shorter than before.
fn check_length(shm: &ShmHandle) -> Result<(), Failure> {
    let Some(before) = required_length(shm) else {
        return Ok(());
    };
    let path = shm.path();
    let journal = wal_path(path);
    let length = journal.metadata().map_or(0, |found| found.len());
    // Another process that closes the database checkpoints the log before it removes it. Then the WAL index has
    // another length, or none.
    if length >= before || required_length(shm) != Some(before) {
        return Ok(());
    }
    let problem = format!(
        "its journal {} has {length} of {before} bytes, acknowledged writes are missing: put the journal \
         back if you have it",
        journal.to_escaped(),
    );
    Err(damaged(&DatabaseLocation::File(path.to_owned()), problem).into())
}

/// Returns the length that the log must have, bytes, if part of it is not checkpointed.
fn required_length(shm: &ShmHandle) -> Option<u64> {
    let index = WalIndex::read(shm)?;
    let is_needed = index.known.frames > index.carried_over;
    is_needed.then(|| index.frame_offset(u64::from(index.known.frames) + 1))
}

/// Verifies the last transactions of the log. Earlier damage is revealed by the frames after it.
fn verify_last_commits(journal: &File, index: &WalIndex) -> Option<bool> {
    let mut head = [0; HEADER_BYTES];
    read_exact_at(journal, &mut head, 0).ok()?;
    let Some(header) = Header::read(&head) else {
        return Some(false);
    };
    if header.salts != index.known.salts {
        // The index belongs to another generation of the log.
        return Some(true);
    }
    if header.page_size as u64 != index.page {
        return Some(false);
    }
    let last = u64::from(index.known.frames);
    let end = frame_header(journal, index, last)?;
    if end.commit == 0 || end.sum != index.known.sum {
        return Some(false);
    }
    let mut first = last;
    let mut commits = 0;
    while first > 1 && commits < COMMITS_VERIFIED {
        first -= 1;
        let head = frame_header(journal, index, first)?;
        if head.salts != index.known.salts {
            return Some(false);
        }
        commits += usize::from(head.commit > 0);
    }
    let mut sum = match first {
        1 => header.sum,
        _ => frame_header(journal, index, first - 1)?.sum,
    };
    let mut frame = vec![0; header.frame_bytes()];
    for number in first..=last {
        read_exact_at(journal, &mut frame, index.frame_offset(number)).ok()?;
        let (head, page) = frame.split_at(FRAME_HEADER_BYTES);
        sum = wal_frames::checksum(sum, head.get(..8)?, header.big_end);
        sum = wal_frames::checksum(sum, page, header.big_end);
        let ends = (u32_at(head, 16)?, u32_at(head, 20)?);
        if sum != ends || head.get(8..16)? != index.known.salts {
            return Some(false);
        }
    }
    Some(true)
}

/// Returns true if frames of this generation of the log follow the last recovered one.
fn has_frames_after_end(journal: &File, length: u64, index: &WalIndex) -> Option<bool> {
    let mut head = [0; HEADER_BYTES];
    read_exact_at(journal, &mut head, 0).ok()?;
    let Some(header) = Header::read(&head) else {
        return Some(true);
    };
    let frame_bytes = header.frame_bytes() as u64;
    let frames = (length - HEADER_BYTES as u64) / frame_bytes;
    let recovered = u64::from(index.known.frames);
    if recovered > 0 && header.salts != index.known.salts {
        // Another process is restarting the log.
        return Some(false);
    }
    let sampled = |number: &u64| {
        let after = number - recovered;
        after <= FRAMES_SAMPLED || after.is_multiple_of(FRAMES_SKIPPED)
    };
    for number in (recovered + 1..=frames).filter(sampled) {
        let at = HEADER_BYTES as u64 + (number - 1) * frame_bytes;
        let mut salts: Salts = [0; 8];
        read_exact_at(journal, &mut salts, at + 8).ok()?;
        if wal_frames::are_similar_salts(&salts, &header.salts) {
            return Some(true);
        }
    }
    Some(false)
}

/// Header of a frame.
struct FrameHeader {
    commit: u32,
    salts: Salts,
    sum: Checksum,
}

/// Reads the header of a frame; frames are numbered from 1.
fn frame_header(journal: &File, index: &WalIndex, number: u64) -> Option<FrameHeader> {
    let mut head = [0; FRAME_HEADER_BYTES];
    read_exact_at(journal, &mut head, index.frame_offset(number)).ok()?;
    Some(FrameHeader {
        commit: u32_at(&head, 4)?,
        salts: head.get(8..16)?.try_into().ok()?,
        sum: (u32_at(&head, 16)?, u32_at(&head, 20)?),
    })
}

/// Returns the number of pages in the log, and how many of them are not checkpointed.
pub(in crate::sqlite) fn page_counts(shm: &ShmHandle) -> Option<(u32, u32)> {
    let index = WalIndex::read(shm)?;
    let waiting = index.known.frames.saturating_sub(index.carried_over);
    Some((index.known.frames, waiting))
}

/// Returns the current state; `None` during a write.
pub(in crate::sqlite) fn stamp(shm: &ShmHandle) -> Option<ContentStamp> {
    let mut index = [0; INDEX_BYTES];
    shm.read_start(&mut index)?;
    let (first, second) = index.split_at(48);
    let stamp: ContentStamp = first.try_into().ok()?;
    (second.get(..48) == Some(first) && stamp[12] == 1).then_some(stamp)
}

/// Content of the WAL index.
struct WalIndex {
    known: LogEnd,
    carried_over: u32,
    page: u64,
}

impl WalIndex {
    /// Reads the WAL index; `None` during a write.
    fn read(shm: &ShmHandle) -> Option<Self> {
        let mut index = [0; INDEX_BYTES];
        shm.read_start(&mut index)?;
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
            known: LogEnd {
                frames: number(16)?,
                salts: index.get(32..40)?.try_into().ok()?,
                sum: (number(24)?, number(28)?),
            },
            carried_over: number(96)?,
            page,
        })
    }

    /// Returns the offset of a frame; frames are numbered from 1.
    fn frame_offset(&self, number: u64) -> u64 {
        let frame = FRAME_HEADER_BYTES as u64 + self.page;
        HEADER_BYTES as u64 + number.saturating_sub(1) * frame
    }
}
