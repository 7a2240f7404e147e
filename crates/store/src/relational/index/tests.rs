//! Tests of the index: incremental and rebuilt, deferred merges, and the check.

use super::index_state::read_state;
use super::*;
use crate::lane::LaneKey;
use crate::relational::write::apply::apply;
use crate::{Change, SqliteStore, Store};
use heirloom_model::{
    Confidence, IdSource, Kind, MergeRule, Message, ProjectName, Record, Role, Scope, Session,
    Timestamp,
};
use proptest::prelude::*;
use rusqlite::types::Value;

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(1_777_629_600 + second).unwrap()
}

fn record(ids: &IdSource, second: i64, text: &str, key: Option<String>) -> Record {
    Record {
        project: ProjectName::new("p").unwrap(),
        id: ids.next(at(second)),
        kind: Kind::Note,
        key,
        text: text.to_owned(),
        attrs: serde_json::Map::new(),
        scope: Scope::default(),
        source: "user".to_owned(),
        confidence: Confidence::FULL,
        tokens: 1,
        recorded_at: at(second),
        true_from: None,
        true_to: None,
        retired_at: None,
        replaced_by: None,
        expires_at: None,
    }
}

/// Returns all rows of the index that do not depend on how it was built; expects a merged tail.
fn dump(store: &SqliteStore) -> Vec<Vec<Value>> {
    let connection = store.lock();
    let sqls = [
        "SELECT lane, texts, len, head_len, merged FROM index_totals WHERE texts > 0 ORDER BY 1",
        "SELECT * FROM ordinals ORDER BY 1, 2, 3",
        "SELECT * FROM postings ORDER BY 1, 2, 3, 4",
        "SELECT * FROM gone WHERE bits <> zeroblob(length(bits)) ORDER BY 1, 2, 3",
        "SELECT * FROM vectors ORDER BY 1",
        "SELECT * FROM piece_counts ORDER BY 1, 2",
        "SELECT id, ordinal FROM records ORDER BY 1",
        "SELECT id, ordinal FROM messages ORDER BY 1",
    ];
    let mut all = Vec::new();
    for sql in sqls {
        let mut statement = connection.prepare_cached(sql).unwrap();
        let columns = statement.column_count();
        let mut rows = statement.query([]).unwrap();
        while let Some(row) = rows.next().unwrap() {
            all.push((0..columns).map(|n| row.get(n).unwrap()).collect());
        }
    }
    all
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn incremental_index_equals_bulk_build(
        words in prop::collection::vec(("[a-e]{1,3}( [a-z]{1,4}){0,12}", 0..40_u8), 1..700),
        batch in 1_usize..90,
        put_off in 0_usize..4,
    ) {
        let store = SqliteStore::memory().unwrap();
        let project = ProjectName::new("p").unwrap();
        let ids = IdSource::default();
        let mut changes = Vec::new();
        for (n, (text, key)) in words.iter().enumerate() {
            // Some keys repeat, so that later records replace earlier ones.
            let key = (*key < 8).then(|| key.to_string());
            let record = record(&ids, i64::try_from(n).unwrap(), text, key);
            changes.push(Change::Put { record: Box::new(record), merge: MergeRule::Replace });
        }
        for (n, changes) in changes.chunks(batch).enumerate() {
            // Some writes defer the merge to later ones.
            if n % 4 < put_off {
                apply((&*store.lock()).into(), &project, changes).unwrap();
            } else {
                store.apply(&project, changes).unwrap();
            }
        }
        prop_assert_eq!(check((&*store.lock()).into()).unwrap(), Vec::<String>::new());
        tail_merge::merge((&*store.lock()).into(), LaneKey::memory(1)).unwrap();
        let grown = dump(&store);
        rebuild((&*store.lock()).into(), 1).unwrap();
        prop_assert_eq!(check((&*store.lock()).into()).unwrap(), Vec::<String>::new());
        prop_assert_eq!(dump(&store), grown);
    }
}

#[test]
fn merge_is_deferred_until_tail_limit() {
    let store = SqliteStore::memory().unwrap();
    let project = ProjectName::new("p").unwrap();
    let ids = IdSource::default();
    let put = |n: i64| Change::Put {
        record: Box::new(record(&ids, n, &format!("word{n}"), None)),
        merge: MergeRule::Keep,
    };
    let waiting = || {
        tail_merge::TailLength::of((&*store.lock()).into(), LaneKey::memory(1))
            .unwrap()
            .unwrap()
    };
    let changes: Vec<Change> = (0..5_000).map(put).collect();
    apply((&*store.lock()).into(), &project, &changes).unwrap();
    assert_eq!((waiting().texts, waiting().merged), (5_000, 0));
    assert!(waiting().is_merge_due() && !waiting().is_at_limit());
    // Part by part while there is more; a short tail stays.
    assert!(merge_next_part((&*store.lock()).into()).unwrap());
    assert_eq!(waiting().merged, 4_096);
    assert!(merge_next_part((&*store.lock()).into()).unwrap());
    assert_eq!(waiting().merged, 5_000);
    apply((&*store.lock()).into(), &project, &[put(5_000)]).unwrap();
    assert!(!merge_next_part((&*store.lock()).into()).unwrap());
    // A writer without a maintenance thread merges what others deferred.
    apply(
        (&*store.lock()).into(),
        &project,
        &changes_from(&ids, 5_001..6_000),
    )
    .unwrap();
    store.apply(&project, &[put(6_000)]).unwrap();
    assert_eq!((waiting().texts, waiting().merged), (6_001, 6_001));
    let many = changes_from(&ids, 6_001..6_001 + 16_384);
    for changes in many.chunks(2_000) {
        apply((&*store.lock()).into(), &project, changes).unwrap();
    }
    assert_eq!(waiting().merged, 6_001 + 16_384);
    assert_eq!(
        check((&*store.lock()).into()).unwrap(),
        Vec::<String>::new()
    );
}

fn changes_from(ids: &IdSource, seconds: std::ops::Range<i64>) -> Vec<Change> {
    let put = |n: i64| Change::Put {
        record: Box::new(record(ids, n, &format!("word{}", n % 999), None)),
        merge: MergeRule::Keep,
    };
    seconds.map(put).collect()
}

/// Ids have the time of the writer; transactions may commit in another order, and turns come between records.
#[test]
fn rebuild_keeps_ordinals() {
    let store = SqliteStore::memory().unwrap();
    let project = ProjectName::new("p").unwrap();
    let ids = IdSource::default();
    let session = Session {
        project: project.clone(),
        id: "s".to_owned(),
        agent: None,
        task: None,
        started_at: at(0),
        ended_at: None,
        attrs: serde_json::Map::new(),
    };
    store.put_session(&session).unwrap();
    let mut records: Vec<Record> = (0..300)
        .map(|n| record(&ids, n, &format!("word{n} shared"), None))
        .collect();
    records.reverse();
    for (seq, record) in records.into_iter().enumerate() {
        let put = Change::Put {
            record: Box::new(record),
            merge: MergeRule::Keep,
        };
        store.apply(&project, &[put]).unwrap();
        let turn = Message {
            id: ids.next(at(1_000)),
            seq: seq as u64,
            role: Role::User,
            sender: None,
            text: format!("said {seq}"),
            attrs: serde_json::Map::new(),
            tokens: 1,
            at: at(1_000),
        };
        store.append_messages(&project, "s", &[turn]).unwrap();
    }
    for lane in LaneKey::both(1) {
        tail_merge::merge((&*store.lock()).into(), lane).unwrap();
    }
    let grown = dump(&store);
    rebuild((&*store.lock()).into(), 1).unwrap();
    assert_eq!(
        check((&*store.lock()).into()).unwrap(),
        Vec::<String>::new()
    );
    assert_eq!(dump(&store), grown);
}

#[test]
fn check_finds_every_inconsistency() {
    let store = SqliteStore::memory().unwrap();
    let project = ProjectName::new("p").unwrap();
    let ids = IdSource::default();
    let changes: Vec<Change> = (0..300)
        .map(|n| Change::Put {
            record: Box::new(record(&ids, n, &format!("word{n} shared"), None)),
            merge: MergeRule::Keep,
        })
        .collect();
    store.apply(&project, &changes[..256]).unwrap();
    store.apply(&project, &changes[256..]).unwrap();
    let session = Session {
        project: project.clone(),
        id: "s".to_owned(),
        agent: None,
        task: None,
        started_at: at(0),
        ended_at: None,
        attrs: serde_json::Map::new(),
    };
    store.put_session(&session).unwrap();
    let turn = Message {
        id: ids.next(at(1_000)),
        seq: 0,
        role: Role::User,
        sender: None,
        text: "said".to_owned(),
        attrs: serde_json::Map::new(),
        tokens: 1,
        at: at(1_000),
    };
    store.append_messages(&project, "s", &[turn]).unwrap();
    assert_eq!(
        check((&*store.lock()).into()).unwrap(),
        Vec::<String>::new()
    );
    for harm in [
        "UPDATE records SET ordinal = NULL WHERE ordinal = 7",
        "UPDATE messages SET ordinal = 3",
        "DELETE FROM ordinals WHERE ordinal = 5",
        "DELETE FROM tail WHERE ordinal = 299",
        "UPDATE index_totals SET texts = texts + 1",
        "UPDATE records SET retired_at = recorded_at WHERE ordinal = 1",
        "DELETE FROM postings WHERE block = 0 AND length(data) = 20 AND term % 3 = 0; \
         UPDATE postings SET data = substr(data, 2) WHERE length(data) > 500",
    ] {
        let mut connection = store.lock();
        let transaction = connection.transaction().unwrap();
        transaction.execute_batch(harm).unwrap();
        assert_ne!(
            check((&*transaction).into()).unwrap(),
            Vec::<String>::new(),
            "{harm}"
        );
        let epoch = || {
            read_state((&*transaction).into(), LaneKey::memory(1))
                .unwrap()
                .unwrap()
                .epoch()
        };
        let before = epoch();
        rebuild_all((&*transaction).into()).unwrap();
        assert_ne!(epoch(), before, "caches of other processes are discarded");
        assert_eq!(
            check((&*transaction).into()).unwrap(),
            Vec::<String>::new(),
            "{harm}"
        );
        transaction.rollback().unwrap();
    }
}
