//! Limits of a store over PostgreSQL: each is hit, and one beyond.

#![expect(clippy::unwrap_used, reason = "a helper of a test may fail it")]

#[path = "support/commit_proxy.rs"]
mod commit_proxy;
#[path = "support/proxied_store.rs"]
mod proxied_store;
#[path = "support/postgres.rs"]
#[expect(dead_code, reason = "each test file uses a part of it")]
mod test_database;
#[path = "support/test_records.rs"]
#[expect(dead_code, reason = "each test file uses a part of it")]
mod test_records;

use commit_proxy::Cut;
use heirloom_model::limits::{
    POSTGRES_ATTEMPTS_MAX, POSTGRES_BACKOFF_MS, POSTGRES_CANCEL_GRACE_S,
    POSTGRES_CONNECT_TIMEOUT_S, POSTGRES_CONNECTIONS_MAX, POSTGRES_POOL_TIMEOUT_S,
    POSTGRES_UNCERTAIN_WAIT_S,
};
use heirloom_model::{IdSource, RecordId};
use heirloom_store::{PostgresStore, Store, StoreError};
use heirloom_testkit::{Prerequisite, require};
use proxied_store::{proxied_store, proxied_url};
use std::fmt::Debug;
use std::ops::Range;
use std::thread;
use std::time::{Duration, Instant};
use test_database::{TestDatabase, TestSession, address};
use test_records::{project, put, record};

/// Calls `work` and returns its error; checks its duration in seconds.
fn failure_within<T: Debug>(
    seconds: Range<f64>,
    work: impl FnOnce() -> Result<T, StoreError>,
) -> String {
    let begin = Instant::now();
    let result = work();
    let elapsed = begin.elapsed().as_secs_f64();
    assert!(
        seconds.contains(&elapsed),
        "{elapsed} s, expected {seconds:?}: {result:?}"
    );
    match result {
        Err(StoreError::Server {
            problem,
            is_transient: true,
            ..
        }) => problem,
        other => panic!("not a transient error of the server: {other:?}"),
    }
}

fn seconds(seconds: u64) -> f64 {
    Duration::from_secs(seconds).as_secs_f64()
}

#[test]
fn write_is_repeated_up_to_limit() {
    let database = require!(Prerequisite::Postgres, TestDatabase::new());
    let (store, proxy) = proxied_store(&database);
    let (ids, shop) = (IdSource::default(), project("shop"));
    let attempts = POSTGRES_ATTEMPTS_MAX as usize;
    proxy.cut_commits(Cut::BeforeCommit, attempts - 1);
    let first = record(&ids, &shop, 1, 100);
    let begin = Instant::now();
    store.apply(&shop, &[put(first.clone())]).unwrap();
    // Each wait is twice the one before, and at least half of that.
    let least = POSTGRES_BACKOFF_MS * ((1 << (attempts - 1)) - 1);
    assert!(begin.elapsed() >= Duration::from_millis(least));
    assert_eq!(proxy.cuts(), attempts - 1);
    proxy.cut_commits(Cut::BeforeCommit, attempts);
    let second = record(&ids, &shop, 2, 100);
    failure_within(0.0..30.0, || store.apply(&shop, &[put(second.clone())]));
    assert_eq!(proxy.cuts(), 2 * attempts - 1);
    assert_eq!(store.get(&shop, first.id).unwrap(), first);
    assert!(store.get(&shop, second.id).is_err());
}

#[test]
fn unknown_commit_is_reported_after_wait() {
    let database = require!(Prerequisite::Postgres, TestDatabase::new());
    let (store, proxy) = proxied_store(&database);
    let (ids, shop) = (IdSource::default(), project("shop"));
    proxy.close_after_cut();
    proxy.cut_commits(Cut::AfterCommit, 1);
    let first = record(&ids, &shop, 1, 100);
    let wait = seconds(POSTGRES_UNCERTAIN_WAIT_S);
    let problem = failure_within(wait..wait + 6.0, || {
        store.apply(&shop, &[put(first.clone())])
    });
    assert!(problem.contains("does not say"), "{problem}");
    proxy.open();
    assert_eq!(store.get(&shop, first.id).unwrap(), first);
}

#[test]
fn silent_server_is_given_up() {
    let database = require!(Prerequisite::Postgres, TestDatabase::new());
    let (store, proxy) = proxied_store(&database);
    let store = store.with_statement_timeout(Duration::from_millis(200));
    let shop = project("shop");
    store
        .apply(&shop, &[put(record(&IdSource::default(), &shop, 1, 100))])
        .unwrap();
    proxy.set_silent(true);
    let grace = seconds(POSTGRES_CANCEL_GRACE_S);
    let problem = failure_within(grace..2.0 * grace + 1.0, || store.get(&shop, RecordId::MIN));
    assert!(problem.contains("did not answer"), "{problem}");
    proxy.set_silent(false);
    assert!(matches!(
        store.get(&shop, RecordId::MIN),
        Err(StoreError::NotFound { .. })
    ));
}

#[test]
fn silent_login_is_given_up() {
    let database = require!(Prerequisite::Postgres, TestDatabase::new());
    let (url, proxy) = proxied_url(&database);
    proxy.set_silent(true);
    let longest = seconds(POSTGRES_CONNECT_TIMEOUT_S);
    let problem = failure_within(longest..longest + 2.0, || {
        PostgresStore::connect(&address(&url))
    });
    assert!(problem.contains("did not open a connection"), "{problem}");
}

#[test]
fn exhausted_pool_is_reported_after_wait() {
    let database = require!(Prerequisite::Postgres, TestDatabase::new());
    let url = database.new_url();
    let store = PostgresStore::create(&address(&url)).unwrap();
    let ids = IdSource::default();
    let name = |number: usize| project(&format!("p{number}"));
    for number in 0..POSTGRES_CONNECTIONS_MAX {
        let project = name(number);
        store
            .apply(&project, &[put(record(&ids, &project, 1, 100))])
            .unwrap();
    }
    let blocker = TestSession::connect(&url);
    blocker.execute("BEGIN; SELECT * FROM index_totals FOR UPDATE");
    thread::scope(|scope| {
        let (store, ids) = (&store, &ids);
        let block = |number: usize| {
            scope.spawn(move || {
                let project = name(number);
                store
                    .apply(&project, &[put(record(ids, &project, 2, 100))])
                    .unwrap();
            });
            thread::sleep(Duration::from_millis(20));
        };
        (1..POSTGRES_CONNECTIONS_MAX).for_each(block);
        thread::sleep(Duration::from_millis(200));
        assert!(matches!(
            store.get(&name(0), RecordId::MIN),
            Err(StoreError::NotFound { .. })
        ));
        block(0);
        thread::sleep(Duration::from_millis(200));
        let wait = seconds(POSTGRES_POOL_TIMEOUT_S);
        let problem = failure_within(wait..wait + 2.0, || store.get(&name(0), RecordId::MIN));
        assert!(problem.contains("all connections"), "{problem}");
        blocker.execute("COMMIT");
    });
}
