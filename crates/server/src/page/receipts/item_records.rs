//! Records of the items of receipts.

use super::body::ReceiptSection;
use heirloom_engine::{AsOf, Engine, Filter};
use heirloom_model::{Fault, Record, RecordId};
use std::collections::HashMap;

/// Records by id.
pub(super) type RecordsById = HashMap<RecordId, Record>;

/// Loads the records of items, also retired ones.
pub(super) fn load_records(
    engine: &Engine,
    sections: &[ReceiptSection],
) -> Result<RecordsById, Fault> {
    let items = sections.iter().flat_map(|section| &section.items);
    find_records(engine, items.filter_map(|item| item.id).collect())
}

/// Loads records, also retired ones.
pub(super) fn find_records(engine: &Engine, mut ids: Vec<RecordId>) -> Result<RecordsById, Fault> {
    ids.sort_unstable();
    ids.dedup();
    if ids.is_empty() {
        return Ok(HashMap::new());
    }
    let limit = ids.len();
    let filter = Filter {
        as_of: AsOf::Ever,
        ..Filter::current(&[], engine.now())
    };
    let found = engine.records().find(&filter.ids(ids).limit(limit))?;
    Ok(found
        .into_iter()
        .map(|record| (record.id, record))
        .collect())
}
