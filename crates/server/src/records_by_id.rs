//! Reads records by their ids.

use heirloom_engine::{AsOf, Engine, Filter};
use heirloom_model::{Fault, Record, RecordId};
use std::collections::HashMap;

/// Records by id.
pub(crate) type RecordsById = HashMap<RecordId, Record>;

/// Returns the current ones of these records.
pub(crate) fn find_current(
    engine: &Engine,
    ids: impl IntoIterator<Item = RecordId>,
) -> Result<RecordsById, Fault> {
    find(engine, ids, Filter::current(&[], engine.now()))
}

/// Returns these records, also retired ones.
pub(crate) fn find_any(
    engine: &Engine,
    ids: impl IntoIterator<Item = RecordId>,
) -> Result<RecordsById, Fault> {
    let ever = Filter {
        as_of: AsOf::Ever,
        ..Filter::current(&[], engine.now())
    };
    find(engine, ids, ever)
}

fn find(
    engine: &Engine,
    ids: impl IntoIterator<Item = RecordId>,
    filter: Filter,
) -> Result<RecordsById, Fault> {
    let mut ids: Vec<RecordId> = ids.into_iter().collect();
    ids.sort_unstable();
    ids.dedup();
    if ids.is_empty() {
        return Ok(HashMap::new());
    }
    let limit = ids.len();
    let found = engine.records().find(&filter.ids(ids).limit(limit))?;
    let by_id = found.into_iter().map(|record| (record.id, record));
    Ok(by_id.collect())
}
