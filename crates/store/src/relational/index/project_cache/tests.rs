//! Tests of the rules of the cache, and of results that must not depend on it.

use super::*;
use crate::lane::Lane;
use crate::{Change, Filter, SearchQuery, SearchResults, SqliteStore, Store};
use heirloom_model::{
    Confidence, IdSource, Kind, MergeRule, ProjectName, Record, Scope, Timestamp,
};
use heirloom_search::index::tokenizer::QueryTerms;
use rusqlite::Connection;

const PROJECT: LaneKey = LaneKey {
    project: 1,
    lane: Lane::Memory,
};
const OTHER: LaneKey = LaneKey {
    project: 1,
    lane: Lane::Archive,
};

fn warm_cache(bytes_max: usize) -> ProjectCache {
    let cache = ProjectCache::with_limit(bytes_max);
    for _ in 0..=COLD_QUERIES {
        cache.begin_query(PROJECT);
        cache.begin_query(OTHER);
    }
    cache
}

/// Adds a stem to the cached postings and returns their number; `None` without a cache.
fn add(cache: &ProjectCache, lane: LaneKey, merged: u32, bytes: usize) -> Option<usize> {
    let version = ((0, 0), merged);
    let added = cache.with(lane, version, |cached: &mut CachedPostings| {
        Ok(cached.add_for_test(bytes))
    });
    added.unwrap()
}

#[test]
fn first_queries_do_not_use_cache() {
    let cache = ProjectCache::default();
    for _ in 0..COLD_QUERIES {
        cache.begin_query(PROJECT);
        assert_eq!(add(&cache, PROJECT, 0, 10), None);
    }
    cache.begin_query(PROJECT);
    assert_eq!(add(&cache, PROJECT, 0, 10), Some(1));
    assert_eq!(add(&cache, OTHER, 0, 10), None, "a project of its own");
}

#[test]
fn entry_of_another_version_is_discarded() {
    let cache = warm_cache(1_000);
    assert_eq!(add(&cache, PROJECT, 0, 10), Some(1));
    assert_eq!(add(&cache, PROJECT, 0, 10), Some(2));
    assert_eq!(add(&cache, PROJECT, 7, 10), Some(1));
    assert_eq!(cache.lock().bytes, 10);
}

#[test]
fn failed_work_discards_entry() {
    let cache = warm_cache(1_000);
    assert_eq!(add(&cache, PROJECT, 0, 10), Some(1));
    let failed = cache.with(PROJECT, ((0, 0), 0), |cached: &mut CachedPostings| {
        cached.add_for_test(10);
        Err::<(), _>(Failure::Damaged("a block".to_owned()))
    });
    assert!(failed.is_err());
    assert_eq!(cache.lock().bytes, 0);
    assert_eq!(add(&cache, PROJECT, 0, 10), Some(1));
}

#[test]
fn entries_up_to_limit_stay() {
    let cache = warm_cache(100);
    assert_eq!(add(&cache, PROJECT, 0, 60), Some(1));
    assert_eq!(add(&cache, OTHER, 0, 40), Some(1));
    assert_eq!(cache.lock().bytes, 100);
    assert_eq!(add(&cache, PROJECT, 0, 0), Some(2));
    assert_eq!(add(&cache, OTHER, 0, 0), Some(2));
}

#[test]
fn other_projects_are_dropped_above_limit() {
    let cache = warm_cache(100);
    assert_eq!(add(&cache, PROJECT, 0, 60), Some(1));
    assert_eq!(add(&cache, OTHER, 0, 41), Some(1));
    assert_eq!(cache.lock().bytes, 41);
    assert_eq!(add(&cache, OTHER, 0, 0), Some(2));
    assert_eq!(add(&cache, PROJECT, 0, 0), Some(1));
}

#[test]
fn entry_above_limit_is_not_cached_until_its_version_changes() {
    let cache = warm_cache(100);
    assert_eq!(add(&cache, PROJECT, 0, 101), Some(1));
    assert_eq!(cache.lock().bytes, 0);
    assert_eq!(add(&cache, PROJECT, 0, 1), None);
    assert_eq!(add(&cache, PROJECT, 1, 1), Some(1));
    assert_eq!(ProjectCache::default().bytes_max, PROJECT_CACHE_BYTES_MAX);
}

/// Writes records whose words depend on their number.
#[test]
fn slow_read_of_one_project_delays_no_other() {
    let cache = warm_cache(100);
    let answer = cache.with(PROJECT, ((0, 0), 0), |cached: &mut CachedPostings| {
        // The thread ends although this read has not.
        let other = std::thread::scope(|scope| {
            let thread = scope.spawn(|| add(&cache, OTHER, 0, 60));
            thread.join().unwrap()
        });
        assert_eq!(other, Some(1));
        Ok(cached.add_for_test(60))
    });
    assert_eq!(answer.unwrap(), Some(1));
    assert_eq!(cache.lock().bytes, 60, "the other project was dropped");
}

#[test]
fn entries_in_use_are_not_dropped() {
    let cache = warm_cache(100);
    assert_eq!(add(&cache, PROJECT, 0, 60), Some(1));
    let answer = cache.with(PROJECT, ((0, 0), 0), |cached: &mut CachedPostings| {
        let other = std::thread::scope(|scope| {
            let thread = scope.spawn(|| add(&cache, OTHER, 0, 60));
            thread.join().unwrap()
        });
        assert_eq!(other, Some(1), "it is answered, and not kept");
        Ok(cached.add_for_test(0))
    });
    assert_eq!(answer.unwrap(), Some(2));
    assert_eq!(cache.lock().bytes, 60);
}

fn write(store: &SqliteStore, ids: &IdSource, numbers: std::ops::Range<i64>) {
    let project = ProjectName::new("p").unwrap();
    let kinds = [Kind::Note, Kind::Knowledge];
    let changes: Vec<Change> = numbers
        .map(|n| {
            let at = Timestamp::from_second(1_777_629_600 + n).unwrap();
            let record = Record {
                project: project.clone(),
                id: ids.next(at),
                kind: if n % 3 == 0 { kinds[1] } else { kinds[0] },
                key: (n % 3 == 0).then(|| n.to_string()),
                text: format!("fixes the parser number {} of module {}", n % 17, n % 5),
                attrs: serde_json::Map::new(),
                scope: Scope::default(),
                source: "user".to_owned(),
                confidence: Confidence::FULL,
                tokens: 1,
                recorded_at: at,
                true_from: None,
                true_to: None,
                retired_at: None,
                replaced_by: None,
                expires_at: None,
            };
            Change::Put {
                record: Box::new(record),
                merge: MergeRule::Keep,
            }
        })
        .collect();
    store.apply(&project, &changes).unwrap();
}

fn search(connection: &Connection, cache: &ProjectCache, kinds: &[Kind]) -> SearchResults {
    let query = SearchQuery {
        words: Some(QueryTerms::of("parser number 11")),
        semantic_text: Some("bugs of the parser in module 3".to_owned()),
        vector: None,
        sentence: None,
        filter: Filter::current(kinds, Timestamp::UNIX_EPOCH),
        lane: Lane::Memory,
        key_filters: Vec::new(),
        limit_per_arm: 20,
    };
    let project = ProjectName::new("p").unwrap();
    super::super::search(connection.into(), &project, &query, cache).unwrap()
}

#[test]
fn results_do_not_depend_on_cache_in_any_snapshot() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("heirloom.db");
    let store = SqliteStore::create(&path).unwrap();
    let ids = IdSource::default();
    let cache = warm_cache(PROJECT_CACHE_BYTES_MAX);
    let mut snapshots = Vec::new();
    // Each number of writes with and without a merge.
    for numbers in [0..300, 300..340, 340..700, 700..701, 701..1_100] {
        write(&store, &ids, numbers);
        let snapshot = Connection::open(&path).unwrap();
        snapshot.execute_batch("BEGIN").unwrap();
        snapshots.push(snapshot);
        // Older snapshots after newer ones, and once more.
        for snapshot in snapshots.iter().chain(snapshots.iter().rev()) {
            for kinds in [&[][..], &[Kind::Knowledge]] {
                let cold = search(snapshot, &ProjectCache::default(), kinds);
                assert!(!cold.hits.is_empty());
                assert_eq!(search(snapshot, &cache, kinds), cold);
            }
        }
    }
}
