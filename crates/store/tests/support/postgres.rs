//! Stores on a PostgreSQL server for tests.
#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a helper of a test may fail it, and tests have no config"
)]

use heirloom_store::{AddressSources, PostgresAddress, PostgresStore};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};
use tokio_postgres::{Client, NoTls};

/// Variable with the URL of the server.
pub(crate) const URL_VARIABLE: &str = "HEIRLOOM_TEST_POSTGRES";

/// Parses an address with its password.
pub(crate) fn address(url: &str) -> PostgresAddress {
    PostgresAddress::parse(url, &AddressSources::default()).unwrap()
}

/// Server for tests. Each store has a schema of its own, which is dropped with the value.
pub(crate) struct TestDatabase {
    url: String,
    made: AtomicUsize,
}

impl TestDatabase {
    /// Returns the server that the variable names; `None` if it is not set.
    pub(crate) fn new() -> Option<Self> {
        Self::named_by(URL_VARIABLE)
    }

    /// Returns the server that another variable names; `None` if it is not set.
    pub(crate) fn named_by(variable: &str) -> Option<Self> {
        let url = std::env::var(variable).ok()?;
        Some(Self {
            url,
            made: AtomicUsize::new(0),
        })
    }

    fn schema(number: usize) -> String {
        format!("test_{}_{number}", std::process::id())
    }

    /// Creates an empty store and returns its URL.
    pub(crate) fn new_url(&self) -> String {
        let schema = Self::schema(self.made.fetch_add(1, Ordering::Relaxed));
        self.execute(&format!("CREATE SCHEMA {schema}"));
        let separator = if self.url.contains('?') { '&' } else { '?' };
        format!("{}{separator}options=-csearch_path%3D{schema}", self.url)
    }

    /// Returns the host and the port of the server.
    pub(crate) fn address(&self) -> String {
        let (_, after) = self.url.split_once('@').unwrap();
        after.split(['/', '?']).next().unwrap().to_owned()
    }

    /// Creates an empty store.
    pub(crate) fn new_store(&self) -> PostgresStore {
        PostgresStore::create(&address(&self.new_url())).unwrap()
    }

    /// Executes statements on the server.
    pub(crate) fn execute(&self, sql: &str) {
        TestSession::connect(&self.url).execute(sql);
    }
}

/// Session of another client.
pub(crate) struct TestSession {
    runtime: tokio::runtime::Runtime,
    client: Client,
}

impl TestSession {
    /// Opens a session.
    pub(crate) fn connect(url: &str) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .unwrap();
        let (client, connection) = runtime
            .block_on(tokio_postgres::connect(url, NoTls))
            .unwrap();
        runtime.spawn(connection);
        Self { runtime, client }
    }

    /// Executes statements; returns false if the server refuses them.
    pub(crate) fn try_execute(&self, sql: &str) -> bool {
        self.runtime
            .block_on(self.client.batch_execute(sql))
            .is_ok()
    }

    /// Returns the number that a query counts.
    pub(crate) fn number(&self, sql: &str) -> i64 {
        let row = self
            .runtime
            .block_on(self.client.query_one(sql, &[]))
            .unwrap();
        row.get(0)
    }

    /// Waits until a connection of the program with this name waits for a lock.
    pub(crate) fn wait_for_lock_of(&self, program: &str) {
        let sql = format!(
            "SELECT count(*) FROM pg_stat_activity \
             WHERE application_name = '{program}' AND wait_event_type = 'Lock'"
        );
        let deadline = Instant::now() + Duration::from_secs(30);
        while self.number(&sql) == 0 {
            assert!(Instant::now() < deadline, "{program} waits for no lock");
            thread::sleep(Duration::from_millis(5));
        }
    }

    /// Executes statements.
    pub(crate) fn execute(&self, sql: &str) {
        self.runtime
            .block_on(self.client.batch_execute(sql))
            .unwrap();
    }
}

impl Drop for TestDatabase {
    fn drop(&mut self) {
        for number in 0..self.made.load(Ordering::Relaxed) {
            self.execute(&format!(
                "DROP SCHEMA IF EXISTS {} CASCADE",
                Self::schema(number)
            ));
        }
    }
}
