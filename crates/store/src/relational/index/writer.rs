//! Writer of the index: adds and retires texts, and merges the tail if that is due.

use super::index_entry::IndexEntry;
use super::tail_merge;
use crate::lane::{Lane, LaneKey};
use crate::relational::row_codec;
use crate::sql::failure::Failure;
use crate::sql::{Connection, OptionalRow, SqlError};
use heirloom_model::{ProjectName, RecordId};
use rusqlite::params;

/// Ordinals in a row of `gone`.
pub(super) const GONE_ORDINALS: u32 = 8_192;

/// Statement that adds texts to the totals of a project.
const ADD_TOTALS: &str = "INSERT INTO index_totals VALUES (?1, ?2, ?3, ?4, ?5, 0, 0) \
     ON CONFLICT (project, lane) DO UPDATE SET texts = index_totals.texts + excluded.texts, \
     len = index_totals.len + excluded.len, head_len = index_totals.head_len + excluded.head_len \
     RETURNING texts, merged";

/// Writes the totals of the texts that the transaction has added in PostgreSQL. SQLite has written them by then.
pub(crate) fn write_totals(connection: Connection<'_>) -> Result<(), SqlError> {
    let locked = connection.locked_index();
    let added = locked.map(|locked| locked.borrow_mut().take_added());
    for (lane, added) in added.unwrap_or_default() {
        let (project, lane) = (lane.project, lane.lane);
        let values = params![project, lane, added.texts, added.len, added.head_len];
        connection.prepare_cached(ADD_TOTALS)?.write(values)?;
    }
    Ok(())
}

/// Writes the index entry of a record or a message and returns its ordinal.
pub(crate) fn add(
    connection: Connection<'_>,
    lane: LaneKey,
    id: RecordId,
    entry: &IndexEntry,
) -> Result<u32, Failure> {
    let document = &entry.document;
    let (len, head_len) = (document.len, document.head_len);
    let locked = connection.locked_index();
    let known = locked.and_then(|locked| locked.borrow_mut().add_text(lane, len, head_len));
    let length = match known {
        Some(length) => length,
        None => {
            let mut statement = connection.prepare_cached(ADD_TOTALS)?;
            statement.query_row(params![lane.project, lane.lane, 1, len, head_len], |row| {
                let (texts, merged) = (row.get(0)?, row.get(1)?);
                Ok(tail_merge::TailLength { texts, merged })
            })?
        }
    };
    let ordinal = length.texts.saturating_sub(1);
    let sql = "INSERT INTO ordinals (project, lane, ordinal, id) VALUES (?1, ?2, ?3, ?4)";
    let values = params![lane.project, lane.lane, ordinal, id.as_bytes()];
    connection.prepare_cached(sql)?.write(values)?;
    let sql = "INSERT INTO tail (project, lane, ordinal, terms, pieces, vector) VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
    let values = params![
        lane.project,
        lane.lane,
        ordinal,
        entry.terms(),
        entry.pieces(),
        entry.vector()
    ];
    connection.prepare_cached(sql)?.write(values)?;
    if length.is_at_limit() {
        tail_merge::merge(connection, lane)?;
    }
    Ok(ordinal)
}

/// Merges the tail if it is due, for writers without a maintenance thread.
pub(crate) fn merge_if_due(
    connection: Connection<'_>,
    project: &ProjectName,
) -> Result<(), Failure> {
    let Some(project) = row_codec::project(connection, project)? else {
        return Ok(());
    };
    for lane in LaneKey::both(project) {
        let waiting = tail_merge::TailLength::of(connection, lane)?;
        if waiting.is_some_and(tail_merge::TailLength::is_merge_due) {
            tail_merge::merge(connection, lane)?;
        }
    }
    Ok(())
}

/// Merges a part of a deferred tail. Returns true if there was one.
pub(crate) fn merge_next_part(connection: Connection<'_>) -> Result<bool, Failure> {
    let sql = "SELECT project, texts, merged, lane FROM index_totals WHERE texts > merged";
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query(params![])?;
    while let Some(row) = rows.next()? {
        let project = row.get(0)?;
        let (texts, merged) = (row.get(1)?, row.get(2)?);
        if (tail_merge::TailLength { texts, merged }).is_merge_due() {
            let lane = Lane::of_number(row.get(3)?);
            drop(rows);
            tail_merge::merge_part(connection, LaneKey { project, lane })?;
            return Ok(true);
        }
    }
    Ok(false)
}

/// Marks the text with this ordinal as retired or current.
pub(crate) fn mark_retired(
    connection: Connection<'_>,
    lane: LaneKey,
    ordinal: u32,
    is_gone: bool,
) -> Result<(), Failure> {
    let block = ordinal / GONE_ORDINALS;
    let known = retired_bits(connection, lane, block)?;
    if known.is_none() && !is_gone {
        return Ok(());
    }
    let mut bits = known.unwrap_or_default();
    bits.resize(GONE_ORDINALS as usize / 8, 0);
    let place = ordinal % GONE_ORDINALS;
    if let Some(byte) = bits.get_mut(place as usize / 8) {
        let bit = 1 << (place % 8);
        *byte = if is_gone { *byte | bit } else { *byte & !bit };
    }
    let sql = "INSERT INTO gone VALUES (?1, ?2, ?3, ?4) ON CONFLICT (project, lane, block) DO UPDATE SET bits = excluded.bits";
    connection
        .prepare_cached(sql)?
        .write(params![lane.project, lane.lane, block, bits])?;
    if let Some(locked) = connection.locked_index() {
        let mut locked = locked.borrow_mut();
        locked.set_retired(lane, block, Some(bits));
    }
    Ok(())
}

/// Statement that reads all blocks of retired ordinals.
pub(super) const RETIRED_BLOCKS: &str =
    "SELECT block, bits FROM gone WHERE project = ?1 AND lane = ?2";
/// Statement that reads a block of retired ordinals.
const RETIRED_BLOCK: &str = "SELECT bits FROM gone WHERE project = ?1 AND lane = ?2 AND block = ?3";

/// Reads the blocks of retired ordinals that contain these ordinals and are not known, in one round trip. SQLite reads
/// each when it is needed.
pub(crate) fn read_retired_blocks(
    connection: Connection<'_>,
    lane: LaneKey,
    ordinals: impl IntoIterator<Item = u32>,
) -> Result<(), Failure> {
    let Some(locked) = connection.locked_index() else {
        return Ok(());
    };
    let blocks = ordinals.into_iter().map(|ordinal| ordinal / GONE_ORDINALS);
    let mut blocks: Vec<u32> = blocks.collect();
    blocks.sort_unstable();
    blocks.dedup();
    blocks.retain(|block| locked.borrow().retired(lane, *block).is_none());
    connection.prefetch(|batch| {
        for block in &blocks {
            batch.add(RETIRED_BLOCK, params![lane.project, lane.lane, block])?;
        }
        Ok(())
    })?;
    for block in blocks {
        let bits = retired_bits(connection, lane, block)?;
        locked.borrow_mut().set_retired(lane, block, bits);
    }
    Ok(())
}

/// Returns the bits of a block of retired ordinals; `None` if the block does not exist.
fn retired_bits(
    connection: Connection<'_>,
    lane: LaneKey,
    block: u32,
) -> Result<Option<Vec<u8>>, Failure> {
    let locked = connection.locked_index();
    if let Some(bits) = locked.and_then(|locked| locked.borrow().retired(lane, block)) {
        return Ok(bits);
    }
    let mut statement = connection.prepare_cached(RETIRED_BLOCK)?;
    let bits = statement.query_row(params![lane.project, lane.lane, block], |row| row.get(0));
    Ok(bits.optional()?)
}
