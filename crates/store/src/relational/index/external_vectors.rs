//! Vectors of one external model. They share a table with the built-in ones; the keys of their rows are negative.
//!
//! They arrive later than the texts, in any order, and may never be complete. So a header row lists which ordinals
//! have a vector, and the model and index generation that they belong to. Rows from another index generation are
//! stale and ignored.

mod record_vectors;

pub(crate) use record_vectors::model_vectors;

use super::index_entry::turn_text;
use super::index_state::{IndexState, read_state};
use super::ordinals::read_id;
use super::vector_rows;
use super::writer::{GONE_ORDINALS, RETIRED_BLOCKS};
use crate::lane::{Lane, LaneKey};
use crate::relational::row_codec;
use crate::sql::failure::Failure;
use crate::sql::{Connection, QueryBatch};
use crate::{EmbeddingBacklog, StoreError, UnembeddedText, VectorBatch};
use heirloom_model::ProjectName;
use heirloom_model::limits::EMBEDDING_TEXT_BYTES_MAX;
use heirloom_search::index::vector::{self, ExternalVectorSet, pack_row, row_bytes};
use rusqlite::params;
use std::collections::BTreeMap;
use std::ops::Range;

/// Vectors in a row; fewer than of the built-in ones, because they are longer.
pub(super) const BLOCK: u32 = ExternalVectorSet::BLOCK as u32;
/// Block number of the header, after all blocks.
const HEAD: u32 = u32::MAX;
/// Size of a header before the model's name: generation, serial, dimensions, length of the name.
const FIXED_BYTES: usize = 8 + 8 + 4 + 2;

/// Returns the key of a block or of the header.
fn key(lane: LaneKey, block: u32) -> i64 {
    !(lane.number() << 32 | i64::from(block))
}

/// Returns the keys of all blocks of a lane and of its header.
pub(super) fn keys(lane: LaneKey) -> Range<i64> {
    -((lane.number() + 1) << 32)..-(lane.number() << 32)
}

/// Header of a project's external vectors.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct ExternalHeader {
    /// Index generation that the vectors belong to.
    generation: i64,
    /// Number of writes, by which caches detect a change.
    pub(super) serial: u64,
    /// Dimensions of a vector; 0 before the first vector.
    pub(super) dims: usize,
    pub(super) model: String,
    /// One bit for each ordinal that was embedded.
    bits: Vec<u8>,
}

impl ExternalHeader {
    /// Reads the header of a project; `None` if it is missing or of another index generation.
    pub(super) fn read(
        connection: Connection<'_>,
        lane: LaneKey,
        generation: i64,
    ) -> Result<Option<Self>, Failure> {
        let found = vector_rows::read(connection, lane.project, key(lane, HEAD))?;
        let found = found.and_then(|bytes| Self::from_bytes(&bytes));
        Ok(found.filter(|head| head.generation == generation))
    }

    /// Adds the query of [`ExternalHeader::read`] to a batch.
    pub(super) fn prefetch(batch: &mut QueryBatch<'_>, lane: LaneKey) -> Result<(), Failure> {
        vector_rows::prefetch(batch, lane.project, key(lane, HEAD))
    }

    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (generation, rest) = bytes.split_first_chunk()?;
        let (serial, rest) = rest.split_first_chunk()?;
        let (dims, rest) = rest.split_first_chunk()?;
        let (length, rest) = rest.split_first_chunk()?;
        let (model, bits) = rest.split_at_checked(u16::from_le_bytes(*length).into())?;
        Some(Self {
            generation: i64::from_le_bytes(*generation),
            serial: u64::from_le_bytes(*serial),
            dims: usize::try_from(u32::from_le_bytes(*dims)).ok()?,
            model: String::from_utf8(model.to_vec()).ok()?,
            bits: bits.to_vec(),
        })
    }

    fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(FIXED_BYTES + self.model.len() + self.bits.len());
        bytes.extend(self.generation.to_le_bytes());
        bytes.extend(self.serial.to_le_bytes());
        bytes.extend(u32::try_from(self.dims).unwrap_or(u32::MAX).to_le_bytes());
        let length = u16::try_from(self.model.len()).unwrap_or(u16::MAX);
        bytes.extend(length.to_le_bytes());
        bytes.extend(self.model.as_bytes());
        bytes.extend(&self.bits);
        bytes
    }

    fn set(&mut self, ordinal: u32) {
        let place = ordinal as usize / 8;
        if self.bits.len() <= place {
            self.bits.resize(place + 1, 0);
        }
        if let Some(byte) = self.bits.get_mut(place) {
            *byte |= 1 << (ordinal % 8);
        }
    }

    fn count(&self) -> u64 {
        ones(&self.bits)
    }

    /// Returns true if the vectors of this header are the first ones of a later header.
    pub(super) fn has_prefix_of(&self, later: &Self) -> bool {
        let is_same = self.generation == later.generation
            && self.model == later.model
            && self.dims == later.dims;
        let later_bits = later.bits.iter().copied().chain(std::iter::repeat(0));
        is_same && (self.bits.iter().zip(later_bits)).all(|(own, later)| own & !later == 0)
    }

    /// Returns the blocks with vectors that a later header lists in addition.
    pub(super) fn changed_blocks(&self, later: &Self) -> Vec<u32> {
        let own = self.bits.iter().copied().chain(std::iter::repeat(0));
        let added: Vec<u8> = (later.bits.iter().zip(own))
            .map(|(later, own)| later & !own)
            .collect();
        let mut blocks: Vec<u32> = set_bits(&added).map(|ordinal| ordinal / BLOCK).collect();
        blocks.dedup();
        blocks
    }
}

fn ones(bits: &[u8]) -> u64 {
    bits.iter().map(|byte| u64::from(byte.count_ones())).sum()
}

/// Counts the texts without a vector of `model` and reads up to `limit` of them, the newest first: the next prompts are
/// about them more often than about old ones. Records are before turns.
pub(crate) fn embedding_backlog(
    connection: Connection<'_>,
    project: &ProjectName,
    model: &str,
    limit: usize,
) -> Result<EmbeddingBacklog, Failure> {
    let mut found = EmbeddingBacklog::default();
    let Some(number) = row_codec::project(connection, project)? else {
        return Ok(found);
    };
    for lane in LaneKey::both(number) {
        if let Some(index) = read_state(connection, lane)? {
            add_backlog(connection, lane, &index, model, limit, &mut found)?;
        }
    }
    Ok(found)
}

/// Adds the texts of one lane to a backlog, which has the texts of one lane only.
fn add_backlog(
    connection: Connection<'_>,
    lane: LaneKey,
    index: &IndexState,
    model: &str,
    limit: usize,
    found: &mut EmbeddingBacklog,
) -> Result<(), Failure> {
    let head = ExternalHeader::read(connection, lane, index.generation)?;
    let own = match head {
        Some(head) if head.model == model => head,
        Some(head) => {
            let (_, known) = (found.other.take()).unwrap_or_else(|| (head.model.clone(), 0));
            found.other = Some((head.model.clone(), known + head.count()));
            ExternalHeader::default()
        }
        None => ExternalHeader::default(),
    };
    let retired = retired_bits(connection, lane, index)?;
    found.texts += u64::from(index.texts()) - ones(&retired);
    found.dims = found.dims.or((own.dims > 0).then_some(own.dims));
    let missing = missing_bits(&own, &retired, index);
    let count = match model {
        vector::MODEL => 0,
        _ => ones(&missing),
    };
    if count > 0 && found.missing == 0 {
        (found.lane, found.generation) = (lane.lane, index.generation);
        let mut ordinals: Vec<u32> = set_bits(&missing).collect();
        ordinals.reverse();
        for ordinal in ordinals.into_iter().take(limit) {
            let text = text(connection, lane, ordinal)?;
            found.next.push(UnembeddedText { ordinal, text });
        }
    }
    found.missing += count;
    Ok(())
}

/// Counts the texts without a vector of the header's model, and all current texts.
pub(super) fn count_missing(
    connection: Connection<'_>,
    lane: LaneKey,
    index: &IndexState,
    head: Option<&ExternalHeader>,
) -> Result<(u64, u64), Failure> {
    let retired = retired_bits(connection, lane, index)?;
    let texts = u64::from(index.texts()) - ones(&retired);
    let Some(head) = head else {
        return Ok((texts, texts));
    };
    Ok((ones(&missing_bits(head, &retired, index)), texts))
}

/// Returns a bitmap of the ordinals that are neither embedded nor retired.
fn missing_bits(head: &ExternalHeader, retired: &[u8], index: &IndexState) -> Vec<u8> {
    let texts = index.texts();
    let mut missing = vec![0; retired.len()];
    for (place, byte) in missing.iter_mut().enumerate() {
        let known = head.bits.get(place).copied().unwrap_or(0);
        *byte = !(known | retired.get(place).copied().unwrap_or(0));
    }
    // Clear the bits after the last ordinal.
    if let Some(last) = missing.get_mut(texts as usize / 8) {
        *last &= (1_u8 << (texts % 8)).wrapping_sub(1);
    }
    missing
}

/// Returns a bitmap of the retired ordinals.
fn retired_bits(
    connection: Connection<'_>,
    lane: LaneKey,
    index: &IndexState,
) -> Result<Vec<u8>, Failure> {
    let texts = index.texts() as usize;
    let mut all = vec![0_u8; texts / 8 + 1];
    let mut statement = connection.prepare_cached(RETIRED_BLOCKS)?;
    let mut rows = statement.query(lane.values())?;
    while let Some(row) = rows.next()? {
        let from = row.get::<u32>(0)? as usize * (GONE_ORDINALS as usize / 8);
        let bits = row.get_ref(1)?.as_blob().unwrap_or(&[]);
        for (byte, retired) in all.iter_mut().skip(from).zip(bits) {
            *byte |= retired;
        }
    }
    if let Some(last) = all.last_mut() {
        *last &= (1_u8 << (texts % 8)).wrapping_sub(1);
    }
    Ok(all)
}

/// Iterates over the positions of the set bits.
fn set_bits(bits: &[u8]) -> impl Iterator<Item = u32> {
    let some = bits.iter().zip(0_u32..).filter(|(byte, _)| **byte != 0);
    some.flat_map(|(byte, place)| {
        (0..8)
            .filter(move |bit| byte & (1 << bit) != 0)
            .map(move |bit| place * 8 + bit)
    })
}

/// Reads the first part of the indexed text of an ordinal.
fn text(connection: Connection<'_>, lane: LaneKey, ordinal: u32) -> Result<String, Failure> {
    let id = read_id(connection, lane, ordinal)?;
    let values = params![lane.project, id.as_bytes()];
    let mut text: String = match lane.lane {
        Lane::Archive => {
            let sql = "SELECT id, seq, role, sender, text, attrs, tokens, at FROM messages \
                 WHERE project = ?1 AND id = ?2";
            let mut statement = connection.prepare_cached(sql)?;
            let mut rows = statement.query(values)?;
            match rows.next()? {
                Some(row) => turn_text(&row_codec::message(row)?).into_owned(),
                None => String::new(),
            }
        }
        Lane::Memory => {
            let sql = "SELECT text FROM records WHERE project = ?1 AND id = ?2";
            let mut statement = connection.prepare_cached(sql)?;
            statement.query_row(values, |row| row.get(0))?
        }
    };
    text.truncate(text.floor_char_boundary(EMBEDDING_TEXT_BYTES_MAX));
    Ok(text)
}

/// Writes vectors; returns false if they are of another index generation.
pub(crate) fn store_vectors(
    connection: Connection<'_>,
    project: &ProjectName,
    vectors: &VectorBatch,
) -> Result<bool, Failure> {
    let Some(number) = row_codec::project(connection, project)? else {
        return Ok(false);
    };
    let lane = LaneKey {
        project: number,
        lane: vectors.lane,
    };
    if vectors.rows.is_empty() {
        return remove_other_models(connection, number, &vectors.model).map(|()| true);
    }
    let index = read_state(connection, lane)?;
    let Some(index) = index.filter(|index| index.generation == vectors.generation) else {
        return Ok(false);
    };
    let known = ExternalHeader::read(connection, lane, index.generation)?;
    let mut head = match known.filter(|head| head.model == vectors.model) {
        Some(head) => head,
        None => {
            vector_rows::delete_in(connection, number, keys(lane))?;
            ExternalHeader {
                generation: index.generation,
                model: vectors.model.clone(),
                ..ExternalHeader::default()
            }
        }
    };
    if vectors.model == vector::MODEL {
        return Ok(true);
    }
    let mut blocks: BTreeMap<u32, Vec<(u32, Vec<u8>)>> = BTreeMap::new();
    for (ordinal, numbers) in &vectors.rows {
        let row = checked(&mut head, &index, *ordinal, numbers.as_deref())?;
        head.set(*ordinal);
        if let Some(row) = row {
            let block = blocks.entry(ordinal / BLOCK).or_default();
            block.push((ordinal % BLOCK, row));
        }
    }
    for (block, rows) in blocks {
        write(connection, lane, block, head.dims, &rows)?;
    }
    head.serial += 1;
    vector_rows::write(connection, number, key(lane, HEAD), &head.to_bytes())?;
    Ok(true)
}

/// Deletes the vectors of other models in both lanes.
fn remove_other_models(
    connection: Connection<'_>,
    project: i64,
    model: &str,
) -> Result<(), Failure> {
    for lane in LaneKey::both(project) {
        let generation = read_state(connection, lane)?.map_or(0, |index| index.generation);
        let head = ExternalHeader::read(connection, lane, generation)?;
        if head.is_none_or(|head| head.model != model) {
            vector_rows::delete_in(connection, project, keys(lane))?;
        }
    }
    Ok(())
}

/// Packs a vector after checking it against the header. The first vector determines the dimensions.
fn checked(
    head: &mut ExternalHeader,
    index: &IndexState,
    ordinal: u32,
    numbers: Option<&[f32]>,
) -> Result<Option<Vec<u8>>, Failure> {
    let invalid = |problem: String| Err(Failure::Store(StoreError::Invalid(problem)));
    if ordinal >= index.texts() {
        return invalid(format!("nothing has the ordinal {ordinal}"));
    }
    let Some(numbers) = numbers else {
        return Ok(None);
    };
    if head.dims == 0 {
        head.dims = numbers.len();
    }
    if numbers.len() != head.dims {
        return invalid(format!(
            "a vector of `{}` has {} numbers; the stored ones have {}",
            head.model,
            numbers.len(),
            head.dims
        ));
    }
    match pack_row(numbers) {
        Some(row) => Ok(Some(row)),
        None => {
            invalid("a vector has no direction: its numbers are all 0, or it has none".to_owned())
        }
    }
}

/// Writes rows at their positions in a block.
fn write(
    connection: Connection<'_>,
    lane: LaneKey,
    block: u32,
    dims: usize,
    rows: &[(u32, Vec<u8>)],
) -> Result<(), Failure> {
    let mut data = read_block(connection, lane, block)?;
    let bytes = row_bytes(dims);
    for (place, row) in rows {
        let from = *place as usize * bytes;
        if data.len() < from + bytes {
            data.resize(from + bytes, 0);
        }
        if let Some(slot) = data.get_mut(from..from + bytes) {
            slot.copy_from_slice(row);
        }
    }
    vector_rows::write(connection, lane.project, key(lane, block), &data)
}

/// Returns the rows of a block; none if it has no vector.
pub(super) fn read_block(
    connection: Connection<'_>,
    lane: LaneKey,
    block: u32,
) -> Result<Vec<u8>, Failure> {
    let found = vector_rows::read(connection, lane.project, key(lane, block))?;
    Ok(found.unwrap_or_default())
}

/// Calls `each` with the number and the rows of every block, in order.
pub(super) fn each_block(
    connection: Connection<'_>,
    lane: LaneKey,
    mut each: impl FnMut(u32, &[u8]),
) -> Result<(), Failure> {
    let keys = key(lane, HEAD) + 1..key(lane, 0) + 1;
    vector_rows::each_in(connection, lane.project, keys, true, |key, rows| {
        let block = u32::try_from(!key & i64::from(u32::MAX)).unwrap_or(u32::MAX);
        each(block, rows);
    })
}

#[cfg(test)]
mod tests;
