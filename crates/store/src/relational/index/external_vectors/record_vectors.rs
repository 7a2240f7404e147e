//! Vectors of a model by record, for comparisons of records with each other.

use super::super::index_state::read_state;
use super::super::vector_rows;
use super::{BLOCK, ExternalHeader, key};
use crate::lane::LaneKey;
use crate::relational::row_codec;
use crate::sql::failure::Failure;
use crate::sql::{Connection, OptionalRow};
use heirloom_model::{ProjectName, RecordId};
use heirloom_search::index::vector::{row_bytes, unpack_row};
use rusqlite::params;
use std::collections::{BTreeMap, HashMap};

/// Reads the vectors of a model by record.
pub(crate) fn model_vectors(
    connection: Connection<'_>,
    project: &ProjectName,
    model: &str,
    records: &[RecordId],
) -> Result<HashMap<RecordId, Vec<f32>>, Failure> {
    let mut found = HashMap::new();
    let Some(number) = row_codec::project(connection, project)? else {
        return Ok(found);
    };
    let lane = LaneKey::memory(number);
    let Some(index) = read_state(connection, lane)? else {
        return Ok(found);
    };
    let head = ExternalHeader::read(connection, lane, index.generation)?;
    let Some(head) = head.filter(|head| head.model == model && head.dims > 0) else {
        return Ok(found);
    };
    let mut blocks: BTreeMap<u32, Vec<(u32, RecordId)>> = BTreeMap::new();
    let sql = "SELECT ordinal FROM records WHERE project = ?1 AND id = ?2 AND ordinal IS NOT NULL";
    let mut statement = connection.prepare_cached(sql)?;
    for id in records {
        let values = params![number, id.as_bytes()];
        let ordinal: Option<u32> = statement.query_row(values, |row| row.get(0)).optional()?;
        if let Some(ordinal) = ordinal {
            let block = blocks.entry(ordinal / BLOCK).or_default();
            block.push((ordinal % BLOCK, *id));
        }
    }
    let bytes = row_bytes(head.dims);
    for (block, rows) in blocks {
        let data = vector_rows::read(connection, number, key(lane, block))?.unwrap_or_default();
        for (place, id) in rows {
            let from = place as usize * bytes;
            let row = data.get(from..from + bytes).and_then(unpack_row);
            found.extend(row.map(|numbers| (id, numbers)));
        }
    }
    Ok(found)
}
