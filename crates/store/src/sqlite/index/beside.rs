//! A project's vectors in a file beside the database, for a process that asks once: page by page out of the database
//! they take five times as long. First the sketches of all, which are read as a whole, then the rows, of which a
//! question wants few.
//!
//! The file is a copy and nothing but: it is written by whoever had to read many rows from the database, replaced as a
//! whole, and removed when something is purged. Rows never change while an index only grows, so a file is right for as
//! far as it goes if the last of its rows is of the text that has this place now.

use super::super::failure::Failure;
use super::Index;
use crate::durable;
use heirloom_index::vector::{Question, ROW_BYTES, Rough, SKETCHES, SKETCHES_BYTES, Sketches};
use heirloom_model::limits::{VECTORS_BESIDE_LAG, VECTORS_BESIDE_MAX};
use rusqlite::{Connection, OptionalExtension, params};
use std::fs::File;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

/// What a file begins with; another number, another form of rows.
const MAGIC: &[u8; 8] = b"hlmrows2";
/// Magic, generation, version of the schema, count of rows, id of the last.
const HEADER_BYTES: usize = 8 + 8 + 8 + 4 + 16;

/// Blocks of sketches that are read at once: what fits into a processor's own memory.
const BLOCKS_AT_ONCE: usize = 8;
/// Rows that lie so near to each other are read with what is between them: a call of the system costs what copying
/// some kilobytes does.
const ROWS_PASSED_OVER: u32 = 16;
/// And so many of them at once.
const ROWS_WANTED_AT_ONCE: usize = 32;
/// What stands behind the database's name in that of a file, before the project's number.
const SUFFIX: &str = "-vectors-";

/// The rows that are in a file.
pub(super) struct Beside {
    file: File,
    rows: u32,
}

impl Beside {
    /// The file of this project, if there is one that is right.
    pub(super) fn open(
        connection: &Connection,
        project: i64,
        index: &Index,
    ) -> Result<Option<Self>, Failure> {
        let Some(path) = path_of(connection, project) else {
            return Ok(None);
        };
        // Not through a link, and no pipe that would be waited for.
        let is_plain = path.symlink_metadata().is_ok_and(|found| found.is_file());
        let opened = is_plain.then(|| File::open(path).ok()).flatten();
        let Some((file, header)) = opened.and_then(|file| {
            let mut header = [0; HEADER_BYTES];
            file.read_exact_at(&mut header, 0).ok()?;
            Some((file, header))
        }) else {
            return Ok(None);
        };
        let rows = u32::from_le_bytes(part(&header, 24));
        if rows == 0 || rows > index.merged {
            return Ok(None);
        }
        let right = header_of(connection, project, index, rows)?;
        let is_right = right.is_some_and(|right| right == header);
        let is_whole = file
            .metadata()
            .is_ok_and(|found| found.len() == place_of(rows, rows));
        Ok((is_right && is_whole).then_some(Self { file, rows }))
    }

    /// How many rows it has.
    pub(super) fn rows(&self) -> u32 {
        self.rows
    }

    /// A look at every sketch, for as many threads as have time. `scores` has a place for each row.
    pub(super) fn scan<'a>(&'a self, rough: &'a Rough, scores: &'a mut [f32]) -> Scan<'a> {
        let parts = scores.chunks_mut(BLOCKS_AT_ONCE * SKETCHES).enumerate();
        Scan {
            beside: self,
            rough,
            parts: Mutex::new(Box::new(parts)),
            is_cut: AtomicBool::new(false),
        }
    }

    /// The cosine with each of these rows, put into `scores` at its place. Ordinals behind the last row are passed
    /// over; one whose row cannot be read keeps its score.
    pub(super) fn exact_scores(&self, question: &Question, ordinals: &[u32], scores: &mut [f32]) {
        let mut wanted = ordinals.to_vec();
        wanted.retain(|ordinal| *ordinal < self.rows);
        wanted.sort_unstable();
        let (mut bytes, mut cosines) = (Vec::new(), Vec::new());
        for near in wanted.chunk_by(|a, b| b - a <= ROWS_PASSED_OVER) {
            for part in near.chunks(ROWS_WANTED_AT_ONCE) {
                let (Some(first), Some(last)) = (part.first(), part.last()) else {
                    continue;
                };
                bytes.resize((last + 1 - first) as usize * ROW_BYTES, 0);
                let place = place_of(self.rows, *first);
                if self.file.read_exact_at(&mut bytes, place).is_err() {
                    continue;
                }
                let rows = bytes.as_chunks::<ROW_BYTES>().0;
                for ordinal in part {
                    let row = rows.get((ordinal - first) as usize);
                    let score = scores.get_mut(*ordinal as usize);
                    if let (Some(row), Some(score)) = (row, score) {
                        cosines.clear();
                        question.scores(row, &mut cosines);
                        cosines.first().inspect(|cosine| *score = **cosine);
                    }
                }
            }
        }
    }

    /// Whether a row or a sketch is not what the database has.
    fn differs(&self, connection: &Connection, project: i64) -> Result<bool, Failure> {
        let (mut at, mut differs) = (0_u32, false);
        super::matrix::each_block(connection, project, 0, |bytes| {
            let most = (self.rows - at) as usize * ROW_BYTES;
            let bytes = bytes.get(..bytes.len().min(most)).unwrap_or(&[]);
            let mut drawn = Sketches::default();
            drawn.extend(bytes);
            differs |= !self.has(bytes, place_of(self.rows, at));
            differs |= !self.has(drawn.blocks().as_flattened(), sketches_of(at));
            at += rows_in(bytes);
        })?;
        Ok(differs || at < self.rows)
    }

    /// Whether these bytes stand there.
    fn has(&self, bytes: &[u8], place: u64) -> bool {
        let mut found = vec![0; bytes.len()];
        self.file.read_exact_at(&mut found, place).is_ok() && found == bytes
    }
}

/// Where the row of an ordinal stands in a file of so many rows.
fn place_of(rows: u32, ordinal: u32) -> u64 {
    let sketches = (rows as usize).div_ceil(SKETCHES) * SKETCHES_BYTES;
    (HEADER_BYTES + sketches) as u64 + u64::from(ordinal) * ROW_BYTES as u64
}

/// Where the block of sketches of an ordinal stands. The database has vectors in whole blocks of sketches, but for
/// the last one.
fn sketches_of(ordinal: u32) -> u64 {
    (HEADER_BYTES + ordinal as usize / SKETCHES * SKETCHES_BYTES) as u64
}

fn rows_in(bytes: &[u8]) -> u32 {
    u32::try_from(bytes.len() / ROW_BYTES).unwrap_or(0)
}

/// A look at the sketches of a file, part by part.
pub(super) struct Scan<'a> {
    beside: &'a Beside,
    rough: &'a Rough,
    parts: Mutex<Parts<'a>>,
    is_cut: AtomicBool,
}

type Parts<'a> = Box<dyn Iterator<Item = (usize, &'a mut [f32])> + Send + 'a>;

impl Scan<'_> {
    /// Looks at parts that nobody has looked at until there is none.
    pub(super) fn work(&self) {
        let mut bytes = vec![0; BLOCKS_AT_ONCE * SKETCHES_BYTES];
        let next = || {
            let mut parts = self.parts.lock().unwrap_or_else(PoisonError::into_inner);
            parts.next()
        };
        while let Some((part, scores)) = next() {
            let place = HEADER_BYTES + part * BLOCKS_AT_ONCE * SKETCHES_BYTES;
            let count = scores.len().div_ceil(SKETCHES);
            let bytes = bytes.get_mut(..count * SKETCHES_BYTES).unwrap_or_default();
            let read = self.beside.file.read_exact_at(bytes, place as u64);
            if read.is_err() {
                self.is_cut.store(true, Ordering::Relaxed);
                return;
            }
            self.rough.scores(bytes.as_chunks().0, scores);
        }
    }

    /// Whether every row was looked at, when no thread is at it any more.
    pub(super) fn is_whole(&self) -> bool {
        !self.is_cut.load(Ordering::Relaxed)
    }
}

/// The files that pass for right and are not.
pub(super) fn check(connection: &Connection) -> Result<Option<String>, Failure> {
    let mut statement = connection.prepare("SELECT project FROM index_totals")?;
    let projects = statement.query_map([], |row| row.get(0))?;
    for project in projects {
        let project = project?;
        let index = super::of(connection, project)?;
        let beside = match &index {
            Some(index) => Beside::open(connection, project, index)?,
            None => None,
        };
        if let Some(beside) = beside
            && beside.differs(connection, project)?
        {
            return Ok(path_of(connection, project).map(|path| {
                format!("the index: {} has other vectors: remove it", path.display())
            }));
        }
    }
    Ok(None)
}

/// Whether a file with so many rows is to be written anew for an index that has so many merged.
pub(super) fn lags(rows: u32, merged: u32) -> bool {
    let wanted = merged.min(VECTORS_BESIDE_MAX);
    wanted.saturating_sub(rows) >= VECTORS_BESIDE_LAG.max(rows / 8)
}

/// Writes the file with every row that is merged. It is a copy: what goes wrong is no failure of a question.
pub(super) fn write(connection: &Connection, project: i64, index: &Index) -> Result<(), Failure> {
    let rows = index.merged.min(VECTORS_BESIDE_MAX);
    let (Some(path), Some(header)) = (
        path_of(connection, project),
        header_of(connection, project, index, rows)?,
    ) else {
        return Ok(());
    };
    let Ok(scratch) = durable::scratch(&path) else {
        return Ok(());
    };
    let mut at = 0_u32;
    let mut written = scratch.as_file().write_all_at(&header, 0);
    super::matrix::each_block(connection, project, 0, |bytes| {
        let most = (rows - at) as usize * ROW_BYTES;
        let bytes = bytes.get(..bytes.len().min(most)).unwrap_or(&[]);
        let mut drawn = Sketches::default();
        drawn.extend(bytes);
        let blocks = drawn.blocks().as_flattened();
        if written.is_ok() {
            let both = [(bytes, place_of(rows, at)), (blocks, sketches_of(at))];
            let mut both = both.into_iter();
            written = both.try_for_each(|(bytes, at)| scratch.as_file().write_all_at(bytes, at));
        }
        at += rows_in(bytes);
    })?;
    if written.is_ok() && at == rows {
        let settled = durable::settle(scratch, &path);
        drop(settled);
    }
    Ok(())
}

/// Removes the files of every project of the database at `database`.
pub(in super::super) fn forget(database: &Path) {
    let Some(name) = database.file_name() else {
        return;
    };
    let Ok(entries) = durable::folder_of(database).read_dir() else {
        return;
    };
    for entry in entries.flatten() {
        let found = entry.file_name();
        let behind = found.as_bytes().strip_prefix(name.as_bytes());
        if behind.is_some_and(|behind| behind.starts_with(SUFFIX.as_bytes())) {
            let removed = durable::remove_if_there(&entry.path());
            drop(removed);
        }
    }
}

fn path_of(connection: &Connection, project: i64) -> Option<PathBuf> {
    let database = connection.path().filter(|path| !path.is_empty())?;
    Some(PathBuf::from(format!("{database}{SUFFIX}{project}")))
}

/// What a right file of `rows` rows begins with; nothing if there is no such text.
fn header_of(
    connection: &Connection,
    project: i64,
    index: &Index,
    rows: u32,
) -> Result<Option<[u8; HEADER_BYTES]>, Failure> {
    let sql = "SELECT id, (SELECT user_version FROM pragma_user_version) FROM ordinals \
         WHERE project = ?1 AND ordinal = ?2";
    let mut statement = connection.prepare_cached(sql)?;
    let last = statement.query_row(params![project, rows.checked_sub(1)], |row| {
        Ok((row.get::<_, [u8; 16]>(0)?, row.get::<_, i64>(1)?))
    });
    let Some((id, version)) = last.optional()? else {
        return Ok(None);
    };
    let mut header = [0; HEADER_BYTES];
    let parts: [&[u8]; 5] = [
        MAGIC,
        &index.generation.to_le_bytes(),
        &version.to_le_bytes(),
        &rows.to_le_bytes(),
        &id,
    ];
    for (to, from) in header.iter_mut().zip(parts.concat()) {
        *to = from;
    }
    Ok(Some(header))
}

fn part<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    let found = bytes.get(at..).and_then(|bytes| bytes.first_chunk());
    found.copied().unwrap_or([0; N])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_written_anew_when_it_lacks_much() {
        let lag = VECTORS_BESIDE_LAG;
        assert!(!lags(0, lag - 1));
        assert!(lags(0, lag));
        assert!(!lags(100_000, 112_499));
        assert!(lags(100_000, 112_500), "an eighth");
        assert!(!lags(VECTORS_BESIDE_MAX, u32::MAX), "no more than may be");
        assert!(lags(VECTORS_BESIDE_MAX - lag * 9, VECTORS_BESIDE_MAX + 1));
        assert!(!lags(9_000, 5_000));
    }
}
