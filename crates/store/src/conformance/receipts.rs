//! Checks of receipts and delivery statistics.

use super::Check;
use super::test_project::{BY, TestProject, at, ok};
use crate::receipts::{Receipt, RecentReceipts, RecordUsage};
use crate::{Change, PurgeTarget, Store, StoreError};
use heirloom_model::record::Attrs;
use heirloom_model::{RecordId, limits};
use serde_json::Value;

pub(super) const CHECKS: &[Check] = &[
    (
        "the most recent receipts are stored, newest first",
        recent_receipts,
    ),
    (
        "a receipt header contains the delivered records",
        receipt_headers,
    ),
    ("deliveries are counted", delivery_counts),
    ("a receipt has a size limit", size_limit),
    ("a purge deletes receipts", purged),
];

fn receipt(w: &TestProject<'_>, records: &[RecordId], text: &str, second: i64) -> Receipt {
    let mut body = Attrs::new();
    body.insert("says".to_owned(), text.into());
    for (n, id) in records.iter().enumerate() {
        body.insert(format!("record {n}"), id.to_string().into());
    }
    Receipt {
        id: w.id(second),
        at: at(second),
        session: Some("s".to_owned()),
        iteration: Some(3),
        records: records.to_vec(),
        body,
    }
}

fn store_receipt(w: &TestProject<'_>, receipt: &Receipt) {
    w.change(Change::StoreReceipt(Box::new(receipt.clone())));
}

fn bodies(w: &TestProject<'_>, newest: usize) -> Vec<String> {
    let stats = ok(w
        .store
        .delivery_stats(&w.project, RecentReceipts::Full(newest), &[]));
    let bodies = stats
        .receipts
        .iter()
        .map(|one| one.body["says"].to_string());
    bodies.collect()
}

fn recent_receipts(store: &dyn Store) {
    let w = TestProject::new(store);
    assert_eq!(bodies(&w, 10), Vec::<String>::new());
    let most = limits::RECEIPTS_KEPT;
    let all: Vec<Receipt> = (0..most + 1)
        .map(|n| receipt(&w, &[], &n.to_string(), i64::try_from(n).unwrap_or(0)))
        .collect();
    let changes: Vec<Change> = all
        .iter()
        .map(|one| Change::StoreReceipt(Box::new(one.clone())))
        .collect();
    w.apply(&changes[..most]);
    assert_eq!(bodies(&w, most + 5).len(), most);
    w.apply(&changes[most..]);
    let stats = ok(store.delivery_stats(&w.project, RecentReceipts::Full(most + 5), &[])).receipts;
    assert_eq!(stats.len(), most);
    let newest = Receipt {
        iteration: None,
        ..all[most].clone()
    };
    assert_eq!(stats[0], newest);
    assert_eq!(stats[most - 1].id, all[1].id);
    assert_eq!(bodies(&w, 2).len(), 2);
    let one = |id| ok(store.delivery_stats(&w.project, RecentReceipts::One(id), &[])).receipts;
    assert_eq!(one(all[most].id), [newest]);
    assert_eq!(one(all[0].id), []);
    let other = TestProject::of(store, "another");
    assert_eq!(bodies(&other, 10), Vec::<String>::new());
}

fn receipt_headers(store: &dyn Store) {
    let w = TestProject::new(store);
    let (one, two) = (
        w.created(&w.fact("k", "one", 1)),
        w.created(&w.fact("l", "two", 1)),
    );
    let mut stored = receipt(&w, &[two, one, w.id(1)], "x", 5);
    store_receipt(&w, &receipt(&w, &[], "old", 4));
    let full_body = stored.body.clone();
    for name in ["sections", "text", "rules"] {
        let value = Value::Array(Vec::new());
        stored.body.insert(name.to_owned(), value);
    }
    store_receipt(&w, &stored);
    let heads = ok(store.delivery_stats(&w.project, RecentReceipts::Headers(1), &[])).receipts;
    let expected = Receipt {
        iteration: None,
        records: vec![one, two],
        body: full_body,
        ..stored
    };
    assert_eq!(heads, [expected]);
    let all = ok(store.delivery_stats(&w.project, RecentReceipts::Headers(9), &[])).receipts;
    assert_eq!((all.len(), all[1].records.len()), (2, 0));
}

fn delivery_counts(store: &dyn Store) {
    let w = TestProject::new(store);
    let id = w.created(&w.fact("k", "one", 1));
    let never = w.created(&w.fact("l", "two", 1));
    let unknown = w.id(1);
    for second in [5, 6] {
        store_receipt(&w, &receipt(&w, &[id, unknown], "x", second));
    }
    let stats = ok(store.delivery_stats(
        &w.project,
        RecentReceipts::Full(0),
        &[never, id, id, unknown],
    ));
    let used = RecordUsage {
        record: id,
        count: 2,
        last_at: at(6),
        delivery_times: vec![at(5), at(6)],
    };
    assert_eq!((stats.receipts, stats.usage), (Vec::new(), vec![used]));
    let many = vec![id; limits::CHANGES_MAX + 1];
    assert!(matches!(
        store.delivery_stats(&w.project, RecentReceipts::Full(0), &many),
        Err(StoreError::Invalid(_))
    ));
}

fn size_limit(store: &dyn Store) {
    let w = TestProject::new(store);
    let mut one = receipt(&w, &[], "", 1);
    let size = Value::Object(one.body.clone()).to_string().len();
    for (more, fits) in [(0, true), (1, false)] {
        let long = "x".repeat(limits::RECEIPT_BYTES_MAX - size + more);
        one.id = w.id(2);
        one.body.insert("says".to_owned(), long.into());
        let stored = store.apply(&w.project, &[Change::StoreReceipt(Box::new(one.clone()))]);
        assert_eq!(stored.is_ok(), fits, "{more}");
    }
}

fn purged(store: &dyn Store) {
    let w = TestProject::new(store);
    let id = w.created(&w.fact("k", "the word is sesame", 1));
    let stays = w.created(&w.fact("l", "two", 1));
    store_receipt(&w, &receipt(&w, &[id, stays], "a", 5));
    store_receipt(&w, &receipt(&w, &[stays], "b", 6));
    store_receipt(&w, &receipt(&w, &[], "tahini", 7));
    let purge = |selection| ok(store.purge(&w.project, &selection, at(9), BY));
    purge(PurgeTarget::Records(vec![id]));
    assert_eq!(bodies(&w, 9), ["\"tahini\"", "\"b\""]);
    assert_eq!(
        ok(store.delivery_stats(&w.project, RecentReceipts::Full(0), &[id])).usage,
        []
    );
    assert_eq!(
        ok(store.delivery_stats(&w.project, RecentReceipts::Full(0), &[stays])).usage[0].count,
        2
    );
    purge(PurgeTarget::Containing("TAHINI".to_owned()));
    assert_eq!(bodies(&w, 9), ["\"b\""]);
    purge(PurgeTarget::Project);
    assert_eq!(bodies(&w, 9), Vec::<String>::new());
}
