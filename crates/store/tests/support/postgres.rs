//! Stores on a PostgreSQL server for tests.

use heirloom_store::PostgresStore;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio_postgres::{Client, NoTls};

/// Variable with the URL of the server.
pub(crate) const URL_VARIABLE: &str = "HEIRLOOM_TEST_POSTGRES";

/// Server for tests. Each store has a schema of its own, which is dropped with the value.
pub(crate) struct TestDatabase {
    url: String,
    made: AtomicUsize,
}

impl TestDatabase {
    /// Returns the server that the variable names; `None` if it is not set.
    pub(crate) fn new() -> Option<Self> {
        let url = std::env::var(URL_VARIABLE).ok()?;
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
    #[allow(dead_code)]
    pub(crate) fn address(&self) -> String {
        let (_, after) = self.url.split_once('@').unwrap();
        after.split(['/', '?']).next().unwrap().to_owned()
    }

    /// Creates an empty store.
    #[allow(dead_code)]
    pub(crate) fn new_store(&self) -> PostgresStore {
        PostgresStore::create(&self.new_url()).unwrap()
    }

    /// Executes statements on the server.
    pub(crate) fn execute(&self, sql: &str) {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        runtime.block_on(async {
            let (client, connection) = tokio_postgres::connect(&self.url, NoTls).await.unwrap();
            let client: Client = client;
            let running = tokio::spawn(connection);
            client.batch_execute(sql).await.unwrap();
            drop(client);
            drop(running.await);
        });
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
