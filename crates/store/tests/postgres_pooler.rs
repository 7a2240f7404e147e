//! The PostgreSQL store behind PgBouncer in transaction mode, which moves a client between connections.
#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a helper of a test may fail it, and tests have no config"
)]

#[path = "support/postgres.rs"]
#[expect(dead_code, reason = "each test file uses a part of it")]
mod test_database;
#[path = "support/test_records.rs"]
#[expect(dead_code, reason = "each test file uses a part of it")]
mod test_records;

use heirloom_model::IdSource;
use heirloom_store::{PostgresStore, Store, conformance};
use heirloom_testkit::{Prerequisite, require};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use test_database::{TestSession, URL_VARIABLE, address};
use test_records::{project, put, record};

/// Variable with the URL of the pooler.
const POOLER: &str = "HEIRLOOM_TEST_PGBOUNCER";

/// Databases behind the pooler, which are dropped with the value. The pooler refuses the option `search_path`, so each
/// store has a database instead of a schema.
struct PooledDatabases {
    server: String,
    pooler: String,
    test: &'static str,
    made: AtomicUsize,
}

impl PooledDatabases {
    fn new(test: &'static str) -> Option<Self> {
        Some(Self {
            server: std::env::var(URL_VARIABLE).ok()?,
            pooler: std::env::var(POOLER).ok()?,
            test,
            made: AtomicUsize::new(0),
        })
    }

    fn name(&self, number: usize) -> String {
        format!("pooled_{}_{}_{number}", self.test, std::process::id())
    }

    /// Creates an empty database and returns its URL through the pooler.
    fn new_url(&self) -> String {
        let name = self.name(self.made.fetch_add(1, Ordering::Relaxed));
        TestSession::connect(&self.server).execute(&format!("CREATE DATABASE {name}"));
        let (server, _) = self.pooler.rsplit_once('/').unwrap();
        format!("{server}/{name}")
    }
}

impl Drop for PooledDatabases {
    fn drop(&mut self) {
        let session = TestSession::connect(&self.server);
        for number in 0..self.made.load(Ordering::Relaxed) {
            let name = self.name(number);
            session.execute(&format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)"));
        }
    }
}

#[test]
fn store_behind_a_pooler_conforms() {
    let databases = require!(Prerequisite::PgBouncer, PooledDatabases::new("conformance"));
    let make = || -> Box<dyn Store> {
        Box::new(PostgresStore::create(&address(&databases.new_url())).unwrap())
    };
    conformance::run(&make, &|name| println!("{name}"));
}

#[test]
fn clients_that_change_connections_do_not_meet_each_others_statements() {
    let databases = require!(Prerequisite::PgBouncer, PooledDatabases::new("clients"));
    let url = databases.new_url();
    PostgresStore::create(&address(&url)).unwrap();
    let ids = IdSource::default();
    thread::scope(|scope| {
        for client in 0..12 {
            let (url, ids) = (&url, &ids);
            scope.spawn(move || {
                let store = PostgresStore::connect(&address(url)).unwrap();
                let own = project(&format!("shop-{client}"));
                for number in 0..20 {
                    let written = record(ids, &own, number, 100);
                    store.apply(&own, &[put(written.clone())]).unwrap();
                    assert_eq!(store.get(&own, written.id).unwrap(), written);
                }
            });
        }
    });
}
