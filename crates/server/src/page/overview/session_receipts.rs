//! Receipts of the week by session: the records that contexts contained, and those that they left out.

use crate::page::json_items::list;
use heirloom_engine::{Engine, ReceiptHead, StoredReceipt};
use heirloom_model::{Fault, RecordId, Timestamp};
use serde_json::Value;
use std::collections::{BTreeMap, HashMap};

/// Maximum number of receipts that are read with their sections, newest first.
const FULL_RECEIPTS: usize = 60;

/// Records of contexts by session, each with its receipt.
pub(super) type ReceiptsOfSessions = HashMap<String, BTreeMap<RecordId, RecordId>>;

/// Groups the records of contexts by session, each with its first receipt.
pub(super) fn records_by_session(
    receipts: Vec<ReceiptHead>,
    from: Timestamp,
) -> ReceiptsOfSessions {
    let mut by_session: ReceiptsOfSessions = HashMap::new();
    for head in receipts.into_iter().filter(|head| head.receipt.at >= from) {
        if let Some(session) = head.session {
            let records = by_session.entry(session).or_default();
            // Newest first: the last insertion is the first receipt.
            records.extend(head.records.into_iter().map(|id| (id, head.receipt.id)));
        }
    }
    by_session
}

/// Groups the records that contexts left out by session, each with a receipt.
pub(super) fn cut_by_session(
    engine: &Engine,
    from: Timestamp,
) -> Result<ReceiptsOfSessions, Fault> {
    let mut by_session: ReceiptsOfSessions = HashMap::new();
    for receipt in engine.contexts().receipts(FULL_RECEIPTS)? {
        let session = receipt.body.get("session").and_then(Value::as_str);
        if let (Some(session), true) = (session, receipt.at >= from) {
            let records = by_session.entry(session.to_owned()).or_default();
            records.extend(cut_records(&receipt).map(|id| (id, receipt.id)));
        }
    }
    Ok(by_session)
}

/// Returns the records that a context did not include.
fn cut_records(receipt: &StoredReceipt) -> impl Iterator<Item = RecordId> {
    let sections = list(receipt.body.get("sections")).iter();
    let items = sections.flat_map(|section| list(section.get("items")));
    items
        .filter(|item| item.get("included") == Some(&Value::Bool(false)))
        .filter_map(|item| item.get("id")?.as_str()?.parse().ok())
}
