//! Receipts of contexts, and how often a record was told.

use super::Check;
use super::world::{BY, World, at, ok};
use crate::receipts::{Newest, Receipt, Use};
use crate::{Change, Selection, Store, StoreError};
use heirloom_model::record::Attrs;
use heirloom_model::{RecordId, limits};
use serde_json::Value;

pub(super) const CHECKS: &[Check] = &[
    ("the newest receipts are kept, newest first", kept),
    ("the head of a receipt says which records were told", headed),
    ("what was told is counted", counted),
    ("a receipt has a largest size", sized),
    ("what is purged is in no receipt", purged),
];

fn receipt(w: &World<'_>, records: &[RecordId], says: &str, second: i64) -> Receipt {
    let mut body = Attrs::new();
    body.insert("says".to_owned(), says.into());
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

fn keep(w: &World<'_>, receipt: &Receipt) {
    w.change(Change::Keep(Box::new(receipt.clone())));
}

fn says(w: &World<'_>, newest: usize) -> Vec<String> {
    let told = ok(w.store.told(&w.project, Newest::Whole(newest), &[]));
    let says = told.receipts.iter().map(|one| one.body["says"].to_string());
    says.collect()
}

fn kept(store: &dyn Store) {
    let w = World::new(store);
    assert_eq!(says(&w, 10), Vec::<String>::new());
    let most = limits::RECEIPTS_KEPT;
    let all: Vec<Receipt> = (0..most + 1)
        .map(|n| receipt(&w, &[], &n.to_string(), i64::try_from(n).unwrap_or(0)))
        .collect();
    let changes: Vec<Change> = all
        .iter()
        .map(|one| Change::Keep(Box::new(one.clone())))
        .collect();
    w.apply(&changes[..most]);
    assert_eq!(says(&w, most + 5).len(), most);
    w.apply(&changes[most..]);
    let told = ok(store.told(&w.project, Newest::Whole(most + 5), &[])).receipts;
    assert_eq!(told.len(), most);
    let newest = Receipt {
        iteration: None,
        ..all[most].clone()
    };
    assert_eq!(told[0], newest);
    assert_eq!(told[most - 1].id, all[1].id);
    assert_eq!(says(&w, 2).len(), 2);
    let other = World::of(store, "another");
    assert_eq!(says(&other, 10), Vec::<String>::new());
}

fn headed(store: &dyn Store) {
    let w = World::new(store);
    let (one, two) = (
        w.created(&w.fact("k", "one", 1)),
        w.created(&w.fact("l", "two", 1)),
    );
    let mut kept = receipt(&w, &[two, one, w.id(1)], "x", 5);
    keep(&w, &receipt(&w, &[], "old", 4));
    let said = kept.body.clone();
    kept.body
        .insert("sections".to_owned(), Value::Array(Vec::new()));
    keep(&w, &kept);
    let heads = ok(store.told(&w.project, Newest::Heads(1), &[])).receipts;
    let wanted = Receipt {
        iteration: None,
        records: vec![one, two],
        body: said,
        ..kept
    };
    assert_eq!(heads, [wanted]);
    let all = ok(store.told(&w.project, Newest::Heads(9), &[])).receipts;
    assert_eq!((all.len(), all[1].records.len()), (2, 0));
}

fn counted(store: &dyn Store) {
    let w = World::new(store);
    let id = w.created(&w.fact("k", "one", 1));
    let never = w.created(&w.fact("l", "two", 1));
    let gone = w.id(1);
    for second in [5, 6] {
        keep(&w, &receipt(&w, &[id, gone], "x", second));
    }
    let told = ok(store.told(&w.project, Newest::Whole(0), &[never, id, id, gone]));
    let used = Use {
        record: id,
        times: 2,
        last_at: at(6),
        at: vec![at(5), at(6)],
    };
    assert_eq!((told.receipts, told.uses), (Vec::new(), vec![used]));
    let many = vec![id; limits::CHANGES_MAX + 1];
    assert!(matches!(
        store.told(&w.project, Newest::Whole(0), &many),
        Err(StoreError::Invalid(_))
    ));
}

fn sized(store: &dyn Store) {
    let w = World::new(store);
    let mut one = receipt(&w, &[], "", 1);
    let size = Value::Object(one.body.clone()).to_string().len();
    for (more, fits) in [(0, true), (1, false)] {
        let long = "x".repeat(limits::RECEIPT_BYTES_MAX - size + more);
        one.id = w.id(2);
        one.body.insert("says".to_owned(), long.into());
        let kept = store.apply(&w.project, &[Change::Keep(Box::new(one.clone()))]);
        assert_eq!(kept.is_ok(), fits, "{more}");
    }
}

fn purged(store: &dyn Store) {
    let w = World::new(store);
    let id = w.created(&w.fact("k", "the word is sesame", 1));
    let stays = w.created(&w.fact("l", "two", 1));
    keep(&w, &receipt(&w, &[id, stays], "a", 5));
    keep(&w, &receipt(&w, &[stays], "b", 6));
    keep(&w, &receipt(&w, &[], "tahini", 7));
    let purge = |selection| ok(store.purge(&w.project, &selection, at(9), BY));
    purge(Selection::Records(vec![id]));
    assert_eq!(says(&w, 9), ["\"tahini\"", "\"b\""]);
    assert_eq!(ok(store.told(&w.project, Newest::Whole(0), &[id])).uses, []);
    assert_eq!(
        ok(store.told(&w.project, Newest::Whole(0), &[stays])).uses[0].times,
        2
    );
    purge(Selection::Containing("TAHINI".to_owned()));
    assert_eq!(says(&w, 9), ["\"b\""]);
    purge(Selection::Project);
    assert_eq!(says(&w, 9), Vec::<String>::new());
}
