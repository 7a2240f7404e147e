//! A process that was asked before answers as one that was not: what it keeps in memory is never a memory of its own.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[expect(dead_code, reason = "other tests fill more")]
#[path = "support/fill.rs"]
mod fill;

use fill::{at, folder, project, put, record};
use heirloom_index::words::Question;
use heirloom_model::{IdSource, Kind, Timestamp};
use heirloom_store::{Filter, Found, Search, Selection, SqliteStore, Store};
use std::path::Path;

fn now() -> Timestamp {
    at(20_000)
}

const QUESTIONS: [&str; 3] = ["17", "17 and 301", "what is 299"];

fn ask(store: &SqliteStore, question: &str) -> Found {
    ask_for(store, question, &[])
}

fn ask_for(store: &SqliteStore, question: &str, kinds: &[Kind]) -> Found {
    let search = Search {
        words: Some(Question::of(question)),
        meaning: Some(question.to_owned()),
        vector: None,
        filter: Filter::current(kinds, now()),
        each: 20,
    };
    store
        .search(&project("github.com/acme/shop"), &search)
        .unwrap()
}

fn fill(store: &SqliteStore, ids: &IdSource, from: usize, count: usize) {
    let p = project("github.com/acme/shop");
    let records = (from..from + count).map(|n| put(record(ids, &p, n, 50)));
    store.apply(&p, &records.collect::<Vec<_>>()).unwrap();
}

/// What `warm` says, often enough that it keeps all it ever keeps, is what a process says that starts now.
fn same(warm: &SqliteStore, path: &Path) {
    for question in QUESTIONS {
        let fresh = ask(&SqliteStore::open(path).unwrap(), question);
        for _ in 0..5 {
            assert_eq!(ask(warm, question), fresh, "{question}");
        }
        for kinds in [&[Kind::Knowledge][..], &[Kind::Error, Kind::Task]] {
            let fresh = ask_for(&SqliteStore::open(path).unwrap(), question, kinds);
            for _ in 0..3 {
                assert_eq!(
                    ask_for(warm, question, kinds),
                    fresh,
                    "{question} {kinds:?}"
                );
            }
        }
    }
}

#[test]
fn tails_merges_and_rebuilds_are_seen_by_who_asked_before() {
    let folder = folder();
    let path = folder.path().join("heirloom.db");
    let warm = SqliteStore::create(&path).unwrap();
    let other = SqliteStore::open(&path).unwrap();
    let ids = IdSource::default();
    for (from, count) in [(0, 3), (3, 1), (4, 200), (204, 60), (264, 1), (265, 600)] {
        fill(&other, &ids, from, count);
        same(&warm, &path);
    }
    let p = project("github.com/acme/shop");
    let doomed = ask(&warm, QUESTIONS[1]).hits[0].id;
    other
        .purge(&p, &Selection::Records(vec![doomed]), now(), "test")
        .unwrap();
    same(&warm, &path);
    fill(&warm, &ids, 9_000, 20);
    same(&warm, &path);
}

#[test]
fn another_content_in_its_place_is_seen_by_who_asked_before() {
    let folder = folder();
    let (path, copy) = (
        folder.path().join("heirloom.db"),
        folder.path().join("copy.db"),
    );
    let ids = IdSource::default();
    // As many records as the live store has when it is replaced, and none the same.
    let elsewhere = SqliteStore::create(&copy).unwrap();
    fill(&elsewhere, &ids, 5_000, 300);
    drop(elsewhere);
    let warm = SqliteStore::create(&path).unwrap();
    fill(&warm, &ids, 0, 300);
    same(&warm, &path);
    SqliteStore::restore(&path, &copy, now()).unwrap();
    same(&warm, &path);
}
