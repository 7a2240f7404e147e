//! Concurrent writes to one project over PostgreSQL share a transaction; those to different projects run in parallel.
#![expect(clippy::unwrap_used, reason = "a helper of a test may fail it")]

#[path = "support/postgres.rs"]
#[expect(dead_code, reason = "each test file uses a part of it")]
mod test_database;
#[path = "support/test_records.rs"]
#[expect(dead_code, reason = "each test file uses a part of it")]
mod test_records;

use heirloom_model::{IdSource, RecordId};
use heirloom_store::{Change, Filter, Store, StoreError};
use heirloom_testkit::{Prerequisite, require};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};
use test_database::{TestDatabase, TestSession, address};
use test_records::{at, project, put, record};

const THREADS: usize = 32;

#[test]
fn concurrent_writes_share_a_transaction() {
    let database = require!(Prerequisite::Postgres, TestDatabase::new());
    let url = database.new_url();
    let name = format!("group_{}", std::process::id());
    let named = format!("{url}&application_name={name}");
    let store = heirloom_store::PostgresStore::create(&address(&named)).unwrap();
    let (ids, shop) = (IdSource::default(), project("shop"));
    store
        .apply(&shop, &[put(record(&ids, &shop, 0, 100))])
        .unwrap();
    let blocker = TestSession::connect(&url);
    blocker.execute("BEGIN; SELECT * FROM index_totals FOR UPDATE");
    let before = store.round_trips();
    let changes: Vec<Change> = (0..THREADS)
        .map(|number| match number % 8 {
            7 => Change::Retire {
                id: RecordId::from_bytes([9; 16]),
                at: at(1),
                by: "user".to_owned(),
            },
            _ => put(record(&ids, &shop, number + 1, 100)),
        })
        .collect();
    let begun = AtomicUsize::new(0);
    let results: Vec<Result<_, StoreError>> = thread::scope(|scope| {
        let (store, shop, begun) = (&store, &shop, &begun);
        let write = |change| {
            move || {
                begun.fetch_add(1, Ordering::Relaxed);
                store.apply(shop, std::slice::from_ref(change))
            }
        };
        let all: Vec<_> = changes
            .iter()
            .map(|change| scope.spawn(write(change)))
            .collect();
        // The first write waits for the lock, the others for the first.
        TestSession::connect(&url).wait_for_lock_of(&name);
        while begun.load(Ordering::Relaxed) < THREADS {
            thread::yield_now();
        }
        // From its beginning a write takes some microseconds to the queue.
        thread::sleep(Duration::from_millis(500));
        blocker.execute("COMMIT");
        all.into_iter().map(|one| one.join().unwrap()).collect()
    });
    let count = store.round_trips() - before;
    for (number, result) in results.iter().enumerate() {
        match number % 8 {
            7 => assert!(
                matches!(result, Err(StoreError::NotFound { .. })),
                "{result:?}"
            ),
            _ => assert_eq!(result.as_ref().unwrap().len(), 1),
        }
    }
    // Two transactions, and a few round trips for each refused write: alone they would take twice 32.
    println!("{count} round trips of {THREADS} writes");
    assert!(count <= 4 + 3 * 4, "{count} round trips");
    let found = store.find(&shop, &Filter::current(&[], at(0))).unwrap();
    assert_eq!(found.len(), THREADS - THREADS / 8 + 1);
    assert_eq!(store.check().unwrap(), Vec::<String>::new());
}

#[test]
fn many_threads_write_each_record_once() {
    let database = require!(Prerequisite::Postgres, TestDatabase::new());
    let store = database.new_store();
    let ids = IdSource::default();
    let shops = [project("one"), project("two")];
    thread::scope(|scope| {
        for thread in 0..THREADS {
            let (store, ids, shop) = (&store, &ids, &shops[thread % 2]);
            scope.spawn(move || {
                for number in 0..8 {
                    let record = record(ids, shop, 100 * thread + number, 100);
                    store.apply(shop, &[put(record)]).unwrap();
                }
            });
        }
    });
    for shop in &shops {
        let found = store.find(shop, &Filter::current(&[], at(0))).unwrap();
        assert_eq!(found.len(), THREADS * 8 / 2);
    }
    assert_eq!(store.check().unwrap(), Vec::<String>::new());
}

#[test]
fn writer_of_other_project_does_not_wait() {
    let database = require!(Prerequisite::Postgres, TestDatabase::new());
    let url = database.new_url();
    let store = heirloom_store::PostgresStore::create(&address(&url)).unwrap();
    let (ids, shop, other) = (IdSource::default(), project("shop"), project("other"));
    for project in [&shop, &other] {
        store
            .apply(project, &[put(record(&ids, project, 0, 100))])
            .unwrap();
    }
    let blocker = TestSession::connect(&url);
    blocker.execute(
        "BEGIN; SELECT * FROM index_totals WHERE project = (SELECT id FROM projects WHERE name = 'shop') FOR UPDATE",
    );
    thread::scope(|scope| {
        let blocked = scope.spawn(|| store.apply(&shop, &[put(record(&ids, &shop, 1, 100))]));
        thread::sleep(Duration::from_millis(100));
        let begin = Instant::now();
        store
            .apply(&other, &[put(record(&ids, &other, 1, 100))])
            .unwrap();
        assert!(begin.elapsed() < Duration::from_secs(2));
        assert!(!blocked.is_finished());
        blocker.execute("COMMIT");
        blocked.join().unwrap().unwrap();
    });
}
