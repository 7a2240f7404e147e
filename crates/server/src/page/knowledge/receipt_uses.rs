//! Receipts that contained an entry.

use crate::page::record_label;
use crate::page::view::knowledge::ReceiptUse;
use crate::page::view::{Times, plural};
use heirloom_engine::{Engine, ReceiptHead};
use heirloom_model::{Fault, RecordId, limits};

/// Maximum number of shown receipts.
const SHOWN: usize = 6;

/// Uses of an entry in contexts.
pub(super) struct ReceiptUses {
    pub(super) summary: String,
    pub(super) receipts: Vec<ReceiptUse>,
}

/// Loads the uses of all versions of an entry; `ids` are their ids.
pub(super) fn load(engine: &Engine, ids: &[RecordId], times: &Times) -> Result<ReceiptUses, Fault> {
    let uses = engine.contexts().delivery_counts(ids)?;
    let Some(last) = uses.values().map(|used| used.last_at).max() else {
        return Ok(ReceiptUses {
            summary: "No context has included it yet.".to_owned(),
            receipts: Vec::new(),
        });
    };
    let count: u64 = uses.values().map(|used| used.count).sum();
    let count = usize::try_from(count).unwrap_or(usize::MAX);
    let heads = engine.contexts().receipt_heads(limits::RECEIPTS_KEPT)?;
    let receipts = heads.iter().filter_map(|head| {
        let record = ids.iter().find(|id| head.records.contains(id))?;
        Some(receipt_use(head, *record, times))
    });
    Ok(ReceiptUses {
        summary: format!(
            "In {}, last {}.",
            plural(count, "context", "contexts"),
            times.full(last)
        ),
        receipts: receipts.take(SHOWN).collect(),
    })
}

fn receipt_use(head: &ReceiptHead, record: RecordId, times: &Times) -> ReceiptUse {
    let receipt = &head.receipt;
    let named = |name: &str| receipt.body.get(name).and_then(|value| value.as_str());
    let task = record_label::named_task(named("task"));
    let task = task.map(|task| format!("task {}", record_label::task_label(task)));
    let agent = named("agent").map(record_label::source_label);
    let parts: Vec<String> = [task, agent].into_iter().flatten().collect();
    ReceiptUse {
        href: format!("/receipts/{}?record={record}#sent", receipt.id),
        at: times.full(receipt.at),
        detail: parts.join(", "),
    }
}
