//! Sidecar file with a project's vectors next to the database, for short-lived processes: reading the vectors page by
//! page from the database takes five times as long. The file has all sketches, which are read completely, and then
//! the full rows, of which a query needs few.
//!
//! The file is only a copy. A process that had to read many rows from the database writes it; it is replaced as a
//! whole, and removed by a purge. The index is append-only within a generation, so a sidecar is a valid prefix if its
//! last row's record id still matches that ordinal.

use super::index_state::{IndexState, read_state};
use crate::lane::LaneKey;
use crate::sql::failure::Failure;
use crate::sql::{Connection, OptionalRow};
use heirloom_fs::durable;
use heirloom_fs::durable::regular_file::{self, LinkPolicy};
use heirloom_fs::positioned_io::{read_exact_at, write_all_at};
use heirloom_model::limits::{SIDECAR_LAG_VECTORS, SIDECAR_VECTORS_MAX};
use heirloom_model::text::EscapedPath;
use heirloom_search::index::vector::{
    QueryVector, ROW_BYTES, SKETCHES, SKETCHES_BYTES, SketchQuery, Sketches,
};
use rusqlite::params;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

/// File magic; the last digit is the format version.
const MAGIC: &[u8; 8] = b"hlmrows2";
/// Size of the header: magic, generation, schema version, row count, id of the last row.
const HEADER_BYTES: usize = 8 + 8 + 8 + 4 + 16;

/// Sketch blocks that are read at once; they fit into the processor's cache.
const BLOCKS_AT_ONCE: usize = 8;
/// Largest gap between two wanted rows that are read in one call: a system call costs as much as copying some
/// kilobytes.
const ROWS_PASSED_OVER: u32 = 16;
/// Maximum number of wanted rows that are read in one call.
const ROWS_WANTED_AT_ONCE: usize = 32;
/// Part of the file name between the database's name and the numbers of the project and the lane.
const SUFFIX: &str = "-vectors-";

/// Open sidecar file.
pub(super) struct VectorSidecar {
    file: File,
    rows: u32,
}

impl VectorSidecar {
    /// Opens the sidecar file of this lane; `None` if there is no valid one.
    pub(super) fn open(
        connection: Connection<'_>,
        lane: LaneKey,
        index: &IndexState,
    ) -> Result<Option<Self>, Failure> {
        let Some(path) = path_of(connection, lane) else {
            return Ok(None);
        };
        // Follows no link and does not block on a pipe.
        let opened = regular_file::open(&path, LinkPolicy::Refuse).ok();
        let opened = opened.map(|opened| opened.file);
        let Some((file, header)) = opened.and_then(|file| {
            let mut header = [0; HEADER_BYTES];
            read_exact_at(&file, &mut header, 0).ok()?;
            Some((file, header))
        }) else {
            return Ok(None);
        };
        let rows = u32::from_le_bytes(header_field(&header, 24));
        if rows == 0 || rows > index.merged {
            return Ok(None);
        }
        let right = header_of(connection, lane, index, rows)?;
        let is_right = right.is_some_and(|right| right == header);
        let is_whole = file
            .metadata()
            .is_ok_and(|found| found.len() == row_offset(rows, rows));
        Ok((is_right && is_whole).then_some(Self { file, rows }))
    }

    /// Returns the number of rows.
    pub(super) fn rows(&self) -> u32 {
        self.rows
    }

    /// Creates a scan of all sketches that several threads can share. `scores` has an element for each row.
    pub(super) fn scan<'a>(
        &'a self,
        sketch_query: &'a SketchQuery,
        scores: &'a mut [f32],
    ) -> SketchScan<'a> {
        let parts = scores.chunks_mut(BLOCKS_AT_ONCE * SKETCHES).enumerate();
        SketchScan {
            sidecar: self,
            sketch_query,
            parts: Mutex::new(Box::new(parts)),
            has_failed: AtomicBool::new(false),
        }
    }

    /// Writes the exact cosine of each of these ordinals to `scores`. Ordinals after the last row are ignored; one
    /// whose row cannot be read keeps its score.
    pub(super) fn exact_scores(&self, query: &QueryVector, ordinals: &[u32], scores: &mut [f32]) {
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
                let place = row_offset(self.rows, *first);
                if read_exact_at(&self.file, &mut bytes, place).is_err() {
                    continue;
                }
                let rows = bytes.as_chunks::<ROW_BYTES>().0;
                for ordinal in part {
                    let row = rows.get((ordinal - first) as usize);
                    let score = scores.get_mut(*ordinal as usize);
                    if let (Some(row), Some(score)) = (row, score) {
                        cosines.clear();
                        query.scores(row, &mut cosines);
                        cosines.first().inspect(|cosine| *score = **cosine);
                    }
                }
            }
        }
    }

    /// Compares all rows and sketches with the database; returns true if one differs.
    fn differs_from_database(
        &self,
        connection: Connection<'_>,
        lane: LaneKey,
    ) -> Result<bool, Failure> {
        let (mut at, mut differs) = (0_u32, false);
        super::vector_blocks::each_block(connection, lane, 0, |bytes| {
            let most = (self.rows - at) as usize * ROW_BYTES;
            let bytes = bytes.get(..bytes.len().min(most)).unwrap_or(&[]);
            let mut sketches = Sketches::default();
            sketches.extend(bytes);
            differs |= !self.has_bytes(bytes, row_offset(self.rows, at));
            differs |= !self.has_bytes(sketches.blocks().as_flattened(), sketches_offset(at));
            at += rows_in(bytes);
        })?;
        Ok(differs || at < self.rows)
    }

    /// Returns true if the file has these bytes at this offset.
    fn has_bytes(&self, bytes: &[u8], place: u64) -> bool {
        let mut found = vec![0; bytes.len()];
        read_exact_at(&self.file, &mut found, place).is_ok() && found == bytes
    }
}

/// Returns the offset of an ordinal's row in a file with `rows` rows.
fn row_offset(rows: u32, ordinal: u32) -> u64 {
    let sketches = (rows as usize).div_ceil(SKETCHES) * SKETCHES_BYTES;
    (HEADER_BYTES + sketches) as u64 + u64::from(ordinal) * ROW_BYTES as u64
}

/// Returns the offset of the sketch block of an ordinal. The database stores vectors in multiples of whole sketch
/// blocks, except for the last block.
fn sketches_offset(ordinal: u32) -> u64 {
    (HEADER_BYTES + ordinal as usize / SKETCHES * SKETCHES_BYTES) as u64
}

fn rows_in(bytes: &[u8]) -> u32 {
    u32::try_from(bytes.len() / ROW_BYTES).unwrap_or(0)
}

/// Scan of the sketches of a sidecar file in parts.
pub(super) struct SketchScan<'a> {
    sidecar: &'a VectorSidecar,
    sketch_query: &'a SketchQuery,
    parts: Mutex<Parts<'a>>,
    has_failed: AtomicBool,
}

type Parts<'a> = Box<dyn Iterator<Item = (usize, &'a mut [f32])> + Send + 'a>;

impl SketchScan<'_> {
    /// Scans parts until none is left.
    pub(super) fn run(&self) {
        let mut bytes = vec![0; BLOCKS_AT_ONCE * SKETCHES_BYTES];
        let next = || {
            let mut parts = self.parts.lock().unwrap_or_else(PoisonError::into_inner);
            parts.next()
        };
        while let Some((part, scores)) = next() {
            let place = HEADER_BYTES + part * BLOCKS_AT_ONCE * SKETCHES_BYTES;
            let count = scores.len().div_ceil(SKETCHES);
            let bytes = bytes.get_mut(..count * SKETCHES_BYTES).unwrap_or_default();
            let read = read_exact_at(&self.sidecar.file, bytes, place as u64);
            if read.is_err() {
                self.has_failed.store(true, Ordering::Relaxed);
                return;
            }
            self.sketch_query.scores(bytes.as_chunks().0, scores);
        }
    }

    /// Returns true if every row was scanned; valid after all threads have finished.
    pub(super) fn is_complete(&self) -> bool {
        !self.has_failed.load(Ordering::Relaxed)
    }
}

/// Returns a finding if a sidecar file that passes for valid differs from the database.
pub(super) fn check(connection: Connection<'_>) -> Result<Option<String>, Failure> {
    let mut statement = connection.prepare_cached("SELECT DISTINCT project FROM index_totals")?;
    let projects: Vec<i64> = statement.query_column(params![])?;
    for lane in projects.into_iter().flat_map(LaneKey::both) {
        let index = read_state(connection, lane)?;
        let sidecar = match &index {
            Some(index) => VectorSidecar::open(connection, lane, index)?,
            None => None,
        };
        if let Some(sidecar) = sidecar
            && sidecar.differs_from_database(connection, lane)?
        {
            return Ok(path_of(connection, lane).map(|path| {
                format!(
                    "the index: {} differs from the database: remove it",
                    path.to_escaped()
                )
            }));
        }
    }
    Ok(None)
}

/// Returns true if a sidecar with `rows` rows should be rewritten for an index with `merged` merged rows.
pub(super) fn is_outdated(rows: u32, merged: u32) -> bool {
    let wanted = merged.min(SIDECAR_VECTORS_MAX);
    wanted.saturating_sub(rows) >= SIDECAR_LAG_VECTORS.max(rows / 8)
}

/// Writes the sidecar file with all merged rows. Errors are ignored, because the file is only a copy.
pub(super) fn write(
    connection: Connection<'_>,
    lane: LaneKey,
    index: &IndexState,
) -> Result<(), Failure> {
    let rows = index.merged.min(SIDECAR_VECTORS_MAX);
    // A database in memory or on a server has no path, and on a server the header's query does not exist.
    let Some(path) = path_of(connection, lane) else {
        return Ok(());
    };
    let Some(header) = header_of(connection, lane, index, rows)? else {
        return Ok(());
    };
    let Ok(scratch) = durable::create_scratch_file(&path) else {
        return Ok(());
    };
    let mut at = 0_u32;
    let mut written = write_all_at(scratch.as_file(), &header, 0);
    super::vector_blocks::each_block(connection, lane, 0, |bytes| {
        let most = (rows - at) as usize * ROW_BYTES;
        let bytes = bytes.get(..bytes.len().min(most)).unwrap_or(&[]);
        let mut sketches = Sketches::default();
        sketches.extend(bytes);
        let blocks = sketches.blocks().as_flattened();
        if written.is_ok() {
            let both = [(bytes, row_offset(rows, at)), (blocks, sketches_offset(at))];
            let mut both = both.into_iter();
            written = both.try_for_each(|(bytes, at)| write_all_at(scratch.as_file(), bytes, at));
        }
        at += rows_in(bytes);
    })?;
    if written.is_ok() && at == rows {
        let persisted = durable::persist(scratch, &path);
        drop(persisted);
    }
    Ok(())
}

/// Removes the sidecar files of all projects of the database.
pub(crate) fn remove_all(database: &Path) {
    let Some(name) = database.file_name() else {
        return;
    };
    let Ok(entries) = durable::folder_of(database).read_dir() else {
        return;
    };
    for entry in entries.flatten() {
        let found = entry.file_name();
        let rest = found
            .as_encoded_bytes()
            .strip_prefix(name.as_encoded_bytes());
        if rest.is_some_and(|rest| rest.starts_with(SUFFIX.as_bytes())) {
            let removed = durable::remove_if_exists(&entry.path());
            drop(removed);
        }
    }
}

fn path_of(connection: Connection<'_>, lane: LaneKey) -> Option<PathBuf> {
    let database = connection.path().filter(|path| !path.is_empty())?;
    Some(PathBuf::from(format!(
        "{database}{SUFFIX}{}-{}",
        lane.project,
        lane.lane.number()
    )))
}

/// Returns the header of a valid file with `rows` rows; `None` if the last row has no text.
fn header_of(
    connection: Connection<'_>,
    lane: LaneKey,
    index: &IndexState,
    rows: u32,
) -> Result<Option<[u8; HEADER_BYTES]>, Failure> {
    let sql = "SELECT id, (SELECT user_version FROM pragma_user_version) FROM ordinals \
         WHERE project = ?1 AND lane = ?2 AND ordinal = ?3";
    let mut statement = connection.prepare_cached(sql)?;
    let last = statement.query_row(
        params![lane.project, lane.lane, rows.checked_sub(1)],
        |row| Ok((row.get::<[u8; 16]>(0)?, row.get::<i64>(1)?)),
    );
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

fn header_field<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    let found = bytes.get(at..).and_then(|bytes| bytes.first_chunk());
    found.copied().unwrap_or([0; N])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sidecar_is_rewritten_when_far_behind() {
        let lag = SIDECAR_LAG_VECTORS;
        assert!(!is_outdated(0, lag - 1));
        assert!(is_outdated(0, lag));
        assert!(!is_outdated(100_000, 112_499));
        assert!(is_outdated(100_000, 112_500), "an eighth");
        assert!(
            !is_outdated(SIDECAR_VECTORS_MAX, u32::MAX),
            "no more than may be"
        );
        assert!(is_outdated(
            SIDECAR_VECTORS_MAX - lag * 9,
            SIDECAR_VECTORS_MAX + 1
        ));
        assert!(!is_outdated(9_000, 5_000));
    }
}
