//! Warm and cold processes return identical results: caches never become stale.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[expect(dead_code, reason = "other tests fill more")]
#[path = "support/test_records.rs"]
mod test_records;

use heirloom_model::{IdSource, Kind, Timestamp};
use heirloom_search::index::tokenizer::QueryTerms;
use heirloom_store::{Filter, Lane, PurgeTarget, SearchQuery, SearchResults, SqliteStore, Store};
use std::path::Path;
use test_records::{at, folder, project, put, record};

fn now() -> Timestamp {
    at(20_000)
}

const QUESTIONS: [&str; 3] = ["17", "17 and 301", "what is 299"];

fn ask(store: &SqliteStore, query: &str) -> SearchResults {
    ask_for(store, query, &[])
}

fn ask_for(store: &SqliteStore, query: &str, kinds: &[Kind]) -> SearchResults {
    let search = SearchQuery {
        words: Some(QueryTerms::of(query)),
        semantic_text: Some(query.to_owned()),
        vector: None,
        sentence: None,
        filter: Filter::current(kinds, now()),
        lane: Lane::Memory,
        key_filters: Vec::new(),
        limit_per_arm: 20,
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

/// Queries `warm` often enough to fill all caches and compares it with a new store.
fn assert_same_results(warm: &SqliteStore, path: &Path) {
    for query in QUESTIONS {
        let fresh = ask(&SqliteStore::open(path).unwrap(), query);
        for _ in 0..5 {
            assert_eq!(ask(warm, query), fresh, "{query}");
        }
        for kinds in [&[Kind::Knowledge][..], &[Kind::Error, Kind::Task]] {
            let fresh = ask_for(&SqliteStore::open(path).unwrap(), query, kinds);
            for _ in 0..3 {
                assert_eq!(ask_for(warm, query, kinds), fresh, "{query} {kinds:?}");
            }
        }
    }
}

#[test]
fn warm_store_sees_tails_merges_and_rebuilds() {
    let folder = folder();
    let path = folder.path().join("heirloom.db");
    let warm = SqliteStore::create(&path).unwrap();
    let other = SqliteStore::open(&path).unwrap();
    let ids = IdSource::default();
    for (from, count) in [(0, 3), (3, 1), (4, 200), (204, 60), (264, 1), (265, 600)] {
        fill(&other, &ids, from, count);
        assert_same_results(&warm, &path);
    }
    let p = project("github.com/acme/shop");
    let doomed = ask(&warm, QUESTIONS[1]).hits[0].id;
    other
        .purge(&p, &PurgeTarget::Records(vec![doomed]), now(), "test")
        .unwrap();
    assert_same_results(&warm, &path);
    fill(&warm, &ids, 9_000, 20);
    assert_same_results(&warm, &path);
}

#[test]
fn warm_counts_follow_writes_of_other_stores() {
    let folder = folder();
    let path = folder.path().join("heirloom.db");
    let warm = SqliteStore::create(&path).unwrap();
    let other = SqliteStore::open(&path).unwrap();
    let ids = IdSource::default();
    let p = project("github.com/acme/shop");
    for round in 0..6 {
        fill(&other, &ids, round * 10, 10);
        for _ in 0..5 {
            let fresh = SqliteStore::open(&path).unwrap();
            assert_eq!(
                warm.counts(&p, now()).unwrap(),
                fresh.counts(&p, now()).unwrap()
            );
        }
        let counts = warm.counts(&p, now()).unwrap();
        let all: u64 = counts.iter().map(|(_, count)| count).sum();
        assert_eq!(all, (round as u64 + 1) * 10);
    }
    other
        .purge(&p, &PurgeTarget::Project, now(), "test")
        .unwrap();
    assert_eq!(warm.counts(&p, now()).unwrap(), []);
}

#[test]
fn warm_store_sees_replaced_content() {
    let folder = folder();
    let (path, copy) = (
        folder.path().join("heirloom.db"),
        folder.path().join("copy.db"),
    );
    let ids = IdSource::default();
    // As many records as the live store has, all different.
    let elsewhere = SqliteStore::create(&copy).unwrap();
    fill(&elsewhere, &ids, 5_000, 300);
    drop(elsewhere);
    let warm = SqliteStore::create(&path).unwrap();
    fill(&warm, &ids, 0, 300);
    assert_same_results(&warm, &path);
    SqliteStore::restore(&path, &copy, now()).unwrap();
    assert_same_results(&warm, &path);
}
