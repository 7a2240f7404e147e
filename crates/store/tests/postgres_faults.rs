//! Faults of PostgreSQL: nothing is lost, and each has a message of its own with a hint.
#![expect(clippy::unwrap_used, reason = "a helper of a test may fail it")]

#[path = "support/postgres.rs"]
#[expect(dead_code, reason = "each test file uses a part of it")]
mod test_database;
#[path = "support/test_records.rs"]
#[expect(dead_code, reason = "each test file uses a part of it")]
mod test_records;

use heirloom_model::{IdSource, ProjectName, Record};
use heirloom_store::{Change, Filter, PostgresStore, Store, StoreChange, StoreError};
use heirloom_testkit::{Prerequisite, require};
use std::fmt::Debug;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};
use test_database::{TestDatabase, TestSession, address};
use test_records::{at, project, put, record};

/// Returns the problem and the hint of an error of the server, and whether it is transient.
fn server_error<T: Debug>(result: Result<T, StoreError>) -> (String, &'static str, bool) {
    match result {
        Err(StoreError::Server {
            problem,
            hint,
            is_transient,
            server,
        }) => {
            assert!(!server.contains('@'), "{server}");
            (problem, hint, is_transient)
        }
        other => panic!("not an error of the server: {other:?}"),
    }
}

/// Creates a store with a record, and returns its URL.
fn store_with_record(database: &TestDatabase, options: &str) -> (String, PostgresStore, Record) {
    let url = format!("{}{options}", database.new_url());
    let store = PostgresStore::create(&address(&url)).unwrap();
    let record = record(&IdSource::default(), &shop(), 0, 100);
    store.apply(&shop(), &[put(record.clone())]).unwrap();
    (url, store, record)
}

fn shop() -> ProjectName {
    project("shop")
}

#[test]
fn killed_backends_lose_no_write() {
    let database = require!(Prerequisite::Postgres, TestDatabase::new());
    let name = format!("killed_{}", std::process::id());
    let options = format!("&application_name={name}");
    let (url, store, first) = store_with_record(&database, &options);
    let killer = TestSession::connect(&url.replace(&name, "killer"));
    let (ids, written) = (IdSource::default(), Mutex::new(vec![first]));
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        for thread in 0..4 {
            let (store, ids, written, is_over) = (&store, &ids, &written, &is_over);
            scope.spawn(move || {
                let shop = project(if thread < 2 { "shop" } else { "other" });
                let mut number = 1_000 * thread + 1;
                while !is_over.load(Ordering::Relaxed) {
                    let record = record(ids, &shop, number, 100);
                    store.apply(&shop, &[put(record.clone())]).unwrap();
                    assert_eq!(store.get(&shop, record.id).unwrap(), record);
                    written.lock().unwrap().push(record);
                    number += 1;
                }
            });
        }
        for _ in 0..40 {
            thread::sleep(Duration::from_millis(25));
            killer.execute(&format!(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = '{name}'"
            ));
        }
        is_over.store(true, Ordering::Relaxed);
    });
    let written = written.into_inner().unwrap();
    println!("{} writes", written.len());
    for record in &written {
        assert_eq!(store.get(&record.project, record.id).unwrap(), *record);
    }
    let all = |name| {
        let filter = Filter {
            limit: 1_000,
            ..Filter::current(&[], at(0))
        };
        store.count(&project(name), &filter).unwrap()
    };
    if written.len() < 1_000 {
        assert_eq!(all("shop") + all("other"), written.len() as u64);
    }
    assert_eq!(store.check().unwrap(), Vec::<String>::new());
}

#[test]
fn refused_login_names_password() {
    let database = require!(Prerequisite::Postgres, TestDatabase::new());
    let url = database.new_url();
    let (before, after) = url.split_once('@').unwrap();
    let (user, _) = before.rsplit_once(':').unwrap();
    let opened = PostgresStore::connect(&address(&format!("{user}:wrong@{after}")));
    let (problem, hint, is_transient) = server_error(opened);
    assert!(hint.contains("PGPASSWORD"), "{problem}: {hint}");
    assert!(!is_transient && !problem.contains("wrong"));
}

#[test]
fn missing_database_and_missing_tables_name_fleet_init() {
    let database = require!(Prerequisite::Postgres, TestDatabase::new());
    let url = database.new_url();
    let (_, hint, _) = server_error(PostgresStore::connect(&address(&url)));
    assert!(hint.contains("fleet init"), "{hint}");
    let (before, after) = url.rsplit_once("/heirloom").unwrap();
    let (_, hint, _) = server_error(PostgresStore::connect(&address(&format!(
        "{before}/missing{after}"
    ))));
    assert!(hint.contains("create the database"), "{hint}");
}

#[test]
fn read_only_server_refuses_writes_and_answers_reads() {
    let database = require!(Prerequisite::Postgres, TestDatabase::new());
    let (url, _, first) = store_with_record(&database, "");
    let store = PostgresStore::connect(&address(&format!(
        "{url}%20-cdefault_transaction_read_only%3Don"
    )));
    let store = store.unwrap();
    assert_eq!(store.get(&shop(), first.id).unwrap(), first);
    for name in ["shop", "new"] {
        let new = record(&IdSource::default(), &project(name), 1, 100);
        let refused = store.apply(&project(name), &[put(new)]);
        let (problem, hint, is_transient) = server_error(refused);
        assert!(problem.contains("read-only"), "{problem}");
        assert!(hint.contains("target_session_attrs") && is_transient);
    }
}

#[test]
fn newer_schema_refuses_writes() {
    let database = require!(Prerequisite::Postgres, TestDatabase::new());
    let (url, store, first) = store_with_record(&database, "");
    TestSession::connect(&url).execute("UPDATE schema_state SET version = 99");
    let new = record(&IdSource::default(), &shop(), 1, 100);
    let refused = store.apply(&shop(), &[put(new)]);
    assert!(
        matches!(refused, Err(StoreError::Newer { found: 99, .. })),
        "{refused:?}"
    );
    assert_eq!(store.get(&shop(), first.id).unwrap(), first);
    let opened = PostgresStore::connect(&address(&url));
    assert!(
        matches!(opened, Err(StoreError::Newer { found: 99, .. })),
        "{opened:?}"
    );
}

#[test]
fn commits_without_durability_are_refused() {
    let database = require!(Prerequisite::Postgres, TestDatabase::new());
    let (url, _, _) = store_with_record(&database, "");
    let opened = PostgresStore::connect(&address(&format!("{url}%20-csynchronous_commit%3Doff")));
    let (problem, hint, is_transient) = server_error(opened);
    assert!(problem.contains("synchronous_commit is off"), "{problem}");
    assert!(hint.contains("synchronous_commit = on") && !is_transient);
}

#[test]
fn deadlock_is_resolved() {
    let database = require!(Prerequisite::Postgres, TestDatabase::new());
    let name = format!("deadlock_{}", std::process::id());
    let (url, store, first) = store_with_record(&database, &format!("&application_name={name}"));
    let other = TestSession::connect(&url.replace(&name, "other"));
    other.execute("BEGIN; SELECT id FROM records FOR UPDATE");
    thread::scope(|scope| {
        let retired = scope.spawn(|| {
            let retire = Change::Retire {
                id: first.id,
                at: at(9),
                by: "user".to_owned(),
            };
            store.apply(&shop(), &[retire])
        });
        other.wait_for_lock_of(&name);
        // The server ends one of both transactions.
        other.try_execute("SELECT * FROM index_totals FOR UPDATE");
        other.try_execute("ROLLBACK");
        retired.join().unwrap().unwrap();
    });
    assert!(store.get(&shop(), first.id).unwrap().retired_at.is_some());
    assert_eq!(store.check().unwrap(), Vec::<String>::new());
}

#[test]
fn project_that_another_writer_creates_meanwhile_is_used() {
    let database = require!(Prerequisite::Postgres, TestDatabase::new());
    let name = format!("created_{}", std::process::id());
    let options = format!("&application_name={name}");
    let (url, store, _) = store_with_record(&database, &options);
    let other = TestSession::connect(&url.replace(&name, "other"));
    other.execute(
        "BEGIN; INSERT INTO projects (name, created_at) VALUES ('fresh', 1); \
         INSERT INTO index_totals SELECT id, lane, 0, 0, 0, 0, 0 FROM projects, generate_series(0, 1) AS lane WHERE name = 'fresh'",
    );
    let fresh = project("fresh");
    let new = record(&IdSource::default(), &fresh, 1, 100);
    thread::scope(|scope| {
        let written = scope.spawn(|| store.apply(&fresh, &[put(new.clone())]));
        other.wait_for_lock_of(&name);
        other.execute("COMMIT");
        written.join().unwrap().unwrap();
    });
    assert_eq!(store.get(&fresh, new.id).unwrap(), new);
    assert_eq!(store.check().unwrap(), Vec::<String>::new());
}

#[test]
fn slow_statement_is_cancelled() {
    let database = require!(Prerequisite::Postgres, TestDatabase::new());
    let name = format!("slow_{}", std::process::id());
    let options = format!("&application_name={name}");
    let (url, store, first) = store_with_record(&database, &options);
    let store = store.with_statement_timeout(Duration::from_millis(300));
    let blocker = TestSession::connect(&url.replace(&name, "blocker"));
    blocker.execute("BEGIN; SELECT pg_sleep(0); SELECT * FROM index_totals FOR UPDATE");
    let begin = Instant::now();
    let new = put(record(&IdSource::default(), &shop(), 1, 100));
    let (problem, hint, is_transient) =
        server_error(store.apply(&shop(), std::slice::from_ref(&new)));
    assert!(
        begin.elapsed() < Duration::from_secs(3),
        "{:?}",
        begin.elapsed()
    );
    assert!(
        hint.contains("took too long") && is_transient,
        "{problem}: {hint}"
    );
    let waiting = format!(
        "SELECT count(*) FROM pg_stat_activity WHERE application_name = '{name}' AND wait_event_type = 'Lock'"
    );
    assert_eq!(blocker.number(&waiting), 0);
    // Reads do not wait for the lock.
    assert_eq!(store.get(&shop(), first.id).unwrap(), first);
    blocker.execute("COMMIT");
    store.apply(&shop(), &[new]).unwrap();
    assert_eq!(store.check().unwrap(), Vec::<String>::new());
}

#[test]
fn watcher_reports_writes_of_other_process_and_reconnects() {
    let database = require!(Prerequisite::Postgres, TestDatabase::new());
    let name = format!("watching_{}", std::process::id());
    let (url, writer, _) = store_with_record(&database, "");
    let reader =
        PostgresStore::connect(&address(&format!("{url}&application_name={name}"))).unwrap();
    let (sender, changes) = mpsc::channel();
    let watcher = reader
        .watch(move |change| drop(sender.send(change)))
        .unwrap();
    let own = project(&format!("own_{name}"));
    // Other tests notify on the same channel.
    let wait_for = |wanted: &StoreChange| {
        let end = Instant::now() + Duration::from_secs(10);
        while changes.recv_timeout(end - Instant::now()).unwrap() != *wanted {}
    };
    let write = |number| {
        let record = record(&IdSource::default(), &own, number, 100);
        writer.apply(&own, &[put(record)]).unwrap();
    };
    wait_for(&StoreChange::Unknown);
    write(1);
    wait_for(&StoreChange::Project(own.clone()));
    database.execute(&format!(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = '{name}'"
    ));
    wait_for(&StoreChange::Unknown);
    write(2);
    wait_for(&StoreChange::Project(own.clone()));
    drop(watcher);
    drop(reader);
}
