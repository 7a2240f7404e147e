//! Records of the items of receipts.

use super::body::ReceiptSection;
use crate::records_by_id::{RecordsById, find_any};
use heirloom_engine::Engine;
use heirloom_model::Fault;

/// Loads the records of items, also retired ones.
pub(super) fn load_records(
    engine: &Engine,
    sections: &[ReceiptSection],
) -> Result<RecordsById, Fault> {
    let items = sections.iter().flat_map(|section| &section.items);
    find_any(engine, items.filter_map(|item| item.id))
}
