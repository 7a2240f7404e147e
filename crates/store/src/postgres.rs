//! PostgreSQL implementation of the store: one database for many machines.
//!
//! The operations are those of [`crate::relational`]. Each runs in a session, which is one connection of a pool. Writes
//! wait until the next query of the transaction or its commit and are sent with it, so an operation takes as many round
//! trips as it has queries. Writers of one project are serial by the row lock of its index totals.

mod change_watcher;
mod commit_tokens;
mod fleet_status;
mod grouped_write;
mod isolation;
mod schema;
mod server_error;
mod shared_store;
mod store_impl;
mod transaction;

pub use change_watcher::{ChangeWatcher, StoreChange};

use crate::StoreError;
use crate::relational::index::ProjectCache;
use crate::relational::write::project_queues::ProjectQueues;
pub use crate::sql::postgres::address::{AddressSources, PostgresAddress};
use crate::sql::postgres::blocking;
use crate::sql::postgres::plan_log::PlanLog;
use crate::sql::postgres::pool::{self, ConnectionPool};
use crate::sql::postgres::session::{PgSession, SharedState};
pub use fleet_status::{FleetNode, FleetProgram, FleetProject, FleetStatus};
use heirloom_model::{IdSource, limits};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::Duration;
use tokio::runtime::{self, Runtime};

/// A [`Store`](crate::Store) in a PostgreSQL database.
#[derive(Debug)]
pub struct PostgresStore {
    /// Host, port and name of the database, for messages.
    server: String,
    pool: ConnectionPool,
    shared: Arc<SharedState>,
    cache: ProjectCache,
    /// Writes that wait for the writer of their project.
    queues: ProjectQueues,
    /// Source of the tokens of transactions.
    ids: IdSource,
    /// Runs the connections; `None` after the drop began.
    runtime: Option<Runtime>,
}

impl PostgresStore {
    /// Connects to the database at `address`, which has the schema of this version.
    ///
    /// Errors: `Server` if it cannot be reached, refuses the login or has no schema; `Newer` if the schema is of a
    /// newer version; `Refused` if the database acknowledges commits before they are durable.
    pub fn connect(address: &PostgresAddress) -> Result<Self, StoreError> {
        let store = Self::without_check(address)?;
        schema::check(&store)?;
        Ok(store)
    }

    /// Creates the schema in the database at `address`, or migrates an older one, and connects to it. Of several processes
    /// one does that; the others wait.
    pub fn create(address: &PostgresAddress) -> Result<Self, StoreError> {
        let store = Self::without_check(address)?;
        schema::create(&store)?;
        schema::check(&store)?;
        Ok(store)
    }

    /// Sets the longest time of a round trip. A statement that takes longer is cancelled.
    #[must_use]
    pub fn with_statement_timeout(mut self, longest: Duration) -> Self {
        // The shared state has one owner until the first session begins, and sessions end with their operation.
        if let Some(shared) = Arc::get_mut(&mut self.shared) {
            shared.statement_timeout = longest;
        }
        self
    }

    /// Calls `log` with each statement and its plan before the statement runs. Every statement takes two round trips then.
    #[must_use]
    pub fn with_plan_log(mut self, log: impl Fn(&str, &str) + Send + Sync + 'static) -> Self {
        if let Some(shared) = Arc::get_mut(&mut self.shared) {
            shared.plan_log = Some(PlanLog::new(log));
        }
        self
    }

    /// Sets the number of connections that the store opens at most. Those that are open are closed.
    ///
    /// Errors: `Backend` if the pool cannot be created.
    pub fn with_connections(mut self, most: usize) -> Result<Self, StoreError> {
        let address = self.pool.manager().address().clone();
        self.pool = pool::create_pool(address, most.max(1))
            .map_err(|error| StoreError::Backend(error.to_string()))?;
        Ok(self)
    }

    /// Returns the number of round trips to the server since the store was opened.
    pub fn round_trips(&self) -> u64 {
        self.shared.round_trips.load(Ordering::Relaxed)
    }

    fn without_check(address: &PostgresAddress) -> Result<Self, StoreError> {
        let server = address.server();
        let runtime = runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("postgres")
            .enable_all()
            .build()
            .map_err(|error| StoreError::Backend(format!("no thread could be started: {error}")))?;
        let pool = pool::create_pool(address.clone(), limits::POSTGRES_CONNECTIONS_MAX)
            .map_err(|error| StoreError::Backend(error.to_string()))?;
        Ok(Self {
            server,
            pool,
            shared: Arc::default(),
            cache: ProjectCache::default(),
            queues: ProjectQueues::default(),
            ids: IdSource::default(),
            runtime: Some(runtime),
        })
    }

    /// Takes a connection from the pool.
    fn session(&self) -> Result<PgSession, StoreError> {
        let Some(runtime) = &self.runtime else {
            return Err(StoreError::Backend("the store is closed".to_owned()));
        };
        let mut attempt = 1;
        let client = loop {
            match blocking::wait(runtime.handle(), pool::acquire(&self.pool)) {
                Ok(client) => break client,
                Err(error)
                    if attempt < limits::POSTGRES_ATTEMPTS_MAX
                        && server_error::is_interrupted(&error) =>
                {
                    thread::sleep(transaction::backoff(attempt));
                    attempt += 1;
                }
                Err(error) => return Err(server_error::of_pool(error, &self.server)),
            }
        };
        let handle = runtime.handle().clone();
        Ok(PgSession::new(client, handle, Arc::clone(&self.shared)))
    }
}

impl Drop for PostgresStore {
    fn drop(&mut self) {
        self.pool.close();
        // Waiting for the connections to close is not possible where the store is dropped inside another runtime.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}
