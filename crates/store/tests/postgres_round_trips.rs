//! Number of round trips of the operations over PostgreSQL.
#![expect(clippy::unwrap_used, reason = "a helper of a test may fail it")]

#[path = "support/postgres.rs"]
#[expect(dead_code, reason = "each test file uses a part of it")]
mod test_database;
#[path = "support/test_records.rs"]
#[expect(dead_code, reason = "each test file uses a part of it")]
mod test_records;

use heirloom_model::{
    IdSource, ImportBatch, Kind, Mark, Message, ProjectName, Record, Role, Session,
};
use heirloom_search::index::tokenizer::QueryTerms;
use heirloom_store::{Change, Filter, Lane, PostgresStore, Receipt, SearchQuery, Store};
use heirloom_testkit::{Prerequisite, require};
use test_database::{TestDatabase, address};
use test_records::{at, project, put, record};

/// Returns the round trips of a call.
fn round_trips<T>(store: &PostgresStore, call: impl FnOnce() -> T) -> (T, u64) {
    let before = store.round_trips();
    let done = call();
    (done, store.round_trips() - before)
}

/// Applies changes in at most this many round trips.
fn apply_within(store: &PostgresStore, project: &ProjectName, changes: &[Change], most: u64) {
    let (applied, count) = round_trips(store, || store.apply(project, changes).unwrap());
    assert_eq!(applied.len(), changes.len());
    assert!(count <= most, "{count} round trips, at most {most}");
}

fn records(ids: &IdSource, project: &ProjectName, from: usize, count: usize) -> Vec<Record> {
    let numbers = from..from + count;
    numbers
        .map(|number| record(ids, project, number, 200))
        .collect()
}

fn puts(records: &[Record]) -> Vec<Change> {
    records.iter().cloned().map(put).collect()
}

fn message(ids: &IdSource, text: &str) -> Message {
    Message {
        id: ids.next(at(500)),
        seq: 0,
        role: Role::Assistant,
        sender: None,
        text: text.to_owned(),
        attrs: serde_json::Map::new(),
        tokens: 3,
        at: at(500),
    }
}

fn receipt(ids: &IdSource, records: &[Record]) -> Change {
    Change::StoreReceipt(Box::new(Receipt {
        id: ids.next(at(600)),
        at: at(600),
        session: None,
        iteration: None,
        records: records.iter().map(|record| record.id).collect(),
        body: serde_json::Map::new(),
    }))
}

fn session(project: &ProjectName, id: &str) -> Session {
    Session {
        project: project.clone(),
        id: id.to_owned(),
        agent: None,
        task: None,
        started_at: at(0),
        ended_at: None,
        attrs: serde_json::Map::new(),
    }
}

#[test]
fn apply_takes_at_most_three_round_trips() {
    let database = require!(Prerequisite::Postgres, TestDatabase::new());
    let store = database.new_store();
    let (ids, shop) = (IdSource::default(), project("shop"));
    let first = records(&ids, &shop, 0, 60);
    apply_within(&store, &shop, &puts(&first[..1]), 3);
    apply_within(&store, &shop, &puts(&first[1..2]), 3);
    apply_within(&store, &shop, &puts(&first[1..2]), 3);
    apply_within(&store, &shop, &puts(&first[2..22]), 3);
    apply_within(&store, &shop, &puts(&first[22..60]), 3);
    // The same keys again: each replaces the record of the first call.
    let second = records(&ids, &shop, 0, 60)
        .into_iter()
        .map(|record| Record {
            text: format!("{} again", record.text),
            recorded_at: at(1_000),
            ..record
        });
    let second: Vec<Record> = second.collect();
    apply_within(&store, &shop, &puts(&second[..1]), 3);
    apply_within(&store, &shop, &puts(&second[1..21]), 3);
    assert!(store.get(&shop, first[5].id).unwrap().retired_at.is_some());
    let retire = |record: &Record| Change::Retire {
        id: record.id,
        at: at(2_000),
        by: "user".to_owned(),
    };
    let restore = |record: &Record| Change::Restore {
        id: record.id,
        at: at(2_001),
        by: "user".to_owned(),
    };
    let mark = |record: &Record| Change::Mark {
        id: record.id,
        mark: Mark::Pinned(true),
        at: at(1_999),
        by: "user".to_owned(),
    };
    let mut mixed = puts(&second[21..30]);
    mixed.extend(puts(&records(&ids, &shop, 100, 10)));
    mixed.extend(second[..10].iter().map(mark));
    mixed.extend(second[..10].iter().map(retire));
    mixed.extend(second[..5].iter().map(restore));
    mixed.push(receipt(&ids, &second[..5]));
    mixed.extend(puts(&records(&ids, &shop, 110, 5)));
    assert_eq!(mixed.len(), 50);
    apply_within(&store, &shop, &mixed, 4);
    assert!(store.get(&shop, second[3].id).unwrap().retired_at.is_none());
    assert!(store.get(&shop, second[8].id).unwrap().retired_at.is_some());
    assert_eq!(store.check().unwrap(), Vec::<String>::new());
}

#[test]
fn import_and_messages_take_few_round_trips() {
    let database = require!(Prerequisite::Postgres, TestDatabase::new());
    let store = database.new_store();
    let (ids, shop) = (IdSource::default(), project("shop"));
    let batch = ImportBatch {
        id: ids.next(at(1)),
        source: "test".to_owned(),
        by: "import".to_owned(),
        at: at(1),
    };
    let mut changes = vec![
        Change::BeginBatch(batch),
        Change::ImportSession(Box::new(session(&shop, "s"))),
    ];
    changes.extend((0..30).map(|number| Change::ImportMessage {
        session: "s".to_owned(),
        message: Box::new(message(&ids, &format!("message {number}"))),
    }));
    changes.extend(puts(&records(&ids, &shop, 0, 10)));
    apply_within(&store, &shop, &changes, 3);
    apply_within(&store, &shop, &changes[..32], 3);
    let messages = store.messages(&shop, "s", 0, 100).unwrap();
    assert_eq!(messages.len(), 30);
    let more: Vec<Message> = (0..5)
        .map(|n| message(&ids, &format!("more {n}")))
        .collect();
    let (first, count) = round_trips(&store, || store.append_messages(&shop, "s", &more).unwrap());
    assert_eq!(first, 30);
    assert!(count <= 3, "{count} round trips");
    assert_eq!(store.check().unwrap(), Vec::<String>::new());
}

#[test]
fn merge_of_tail_takes_few_round_trips() {
    let database = require!(Prerequisite::Postgres, TestDatabase::new());
    let store = database.new_store();
    let (ids, shop) = (IdSource::default(), project("shop"));
    let all = records(&ids, &shop, 0, 300);
    apply_within(&store, &shop, &puts(&all[..250]), 8);
    apply_within(&store, &shop, &puts(&all[250..]), 6);
    assert_eq!(store.check().unwrap(), Vec::<String>::new());
}

/// Creates a search for these words in records of these kinds.
fn query(words: &str, kinds: &[Kind]) -> SearchQuery {
    SearchQuery {
        words: Some(QueryTerms::of(words)),
        semantic_text: Some(words.to_owned()),
        vector: None,
        sentence: None,
        filter: Filter::current(kinds, at(3_000)),
        lane: Lane::Memory,
        key_filters: Vec::new(),
        limit_per_arm: 20,
    }
}

#[test]
fn search_takes_few_round_trips() {
    let database = require!(Prerequisite::Postgres, TestDatabase::new());
    let url = database.new_url();
    let store = PostgresStore::create(&address(&url)).unwrap();
    let (ids, shop) = (IdSource::default(), project("shop"));
    let text = |record: Record| Record {
        text: format!("the deployment of service {} failed at night", record.text),
        ..record
    };
    let all = records(&ids, &shop, 0, 330).into_iter().map(text);
    let all: Vec<Record> = all.collect();
    store.apply(&shop, &puts(&all[..300])).unwrap();
    store.apply(&shop, &puts(&all[300..])).unwrap();
    store.put_session(&session(&shop, "s")).unwrap();
    let turns: Vec<Message> = (0..5)
        .map(|n| message(&ids, &format!("deployment {n} failed")))
        .collect();
    for (kinds, has_turns) in [
        (&[][..], false),
        (&[Kind::Note, Kind::Knowledge], false),
        (&[], true),
    ] {
        if has_turns {
            store.append_messages(&shop, "s", &turns).unwrap();
        }
        let store = PostgresStore::connect(&address(&url)).unwrap();
        let mut expected = None;
        for number in 0..8 {
            let search = query("failed deployment", kinds);
            let (found, count) = round_trips(&store, || store.search(&shop, &search).unwrap());
            println!("search {number}, turns {has_turns}: {count} round trips");
            assert!(!found.hits.is_empty());
            let most = match number {
                0..=4 => 6,
                _ => 3 + u64::from(has_turns),
            };
            assert!(count <= most, "search {number}: {count} round trips");
            let ids: Vec<_> = found.hits.iter().map(|hit| hit.id).collect();
            assert_eq!(*expected.get_or_insert(ids.clone()), ids);
        }
        let (_, count) = round_trips(&store, || store.counts(&shop, at(3_000)).unwrap());
        assert!(count <= 2, "{count} round trips");
    }
}

/// A large project has merged blocks and no sidecar file.
#[test]
fn search_of_large_project_takes_few_round_trips() {
    let database = require!(Prerequisite::Postgres, TestDatabase::new());
    let store = database.new_store();
    let (ids, shop) = (IdSource::default(), project("shop"));
    let all: Vec<Record> = (0..4_600)
        .map(|number| record(&ids, &shop, number, 10))
        .map(|record| Record {
            text: format!("{} of the deployment", record.text),
            ..record
        })
        .collect();
    for chunk in all.chunks(1_000) {
        store.apply(&shop, &puts(chunk)).unwrap();
    }
    for _ in 0..6 {
        let search = query("failed deployment", &[]);
        let (found, count) = round_trips(&store, || store.search(&shop, &search).unwrap());
        assert!(!found.hits.is_empty());
        assert!(count <= 6, "{count} round trips");
    }
    assert_eq!(store.check().unwrap(), Vec::<String>::new());
}
