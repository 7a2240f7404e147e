//! PostgreSQL implementation of the store: one database for many machines.
//!
//! The operations are those of [`crate::relational`]. Each runs in a session, which is one connection of a pool. Writes
//! wait until the next query of the transaction or its commit and are sent with it, so an operation takes as many round
//! trips as it has queries. Writers of one project are serial by the row lock of its index totals.

mod address;
pub(crate) mod dialect;
mod documents;
mod fleet_status;
mod nul_encoding;
mod pool;
mod project_numbers;
mod schema;
mod server_error;
pub(crate) mod session;
mod store_impl;
mod tls;
mod transaction;
pub(crate) mod values;

use crate::StoreError;
use crate::relational::index::ProjectCache;
pub use address::{AddressSources, PostgresAddress};
pub use fleet_status::{FleetNode, FleetProgram, FleetProject, FleetStatus};
use heirloom_model::limits;
use pool::ConnectionPool;
use project_numbers::ProjectNumbers;
use session::{PgSession, TranslationCache};
use std::sync::Arc;
use tokio::runtime::{self, Runtime};

/// A [`Store`](crate::Store) in a PostgreSQL database.
#[derive(Debug)]
pub struct PostgresStore {
    /// Host, port and name of the database, for messages.
    server: String,
    pool: ConnectionPool,
    translations: Arc<TranslationCache>,
    projects: Arc<ProjectNumbers>,
    cache: ProjectCache,
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
            translations: Arc::default(),
            projects: Arc::default(),
            cache: ProjectCache::default(),
            runtime: Some(runtime),
        })
    }

    /// Takes a connection from the pool.
    fn session(&self) -> Result<PgSession, StoreError> {
        let Some(runtime) = &self.runtime else {
            return Err(StoreError::Backend("the store is closed".to_owned()));
        };
        let client = runtime
            .block_on(pool::acquire(&self.pool))
            .map_err(|error| server_error::of_pool(error, &self.server))?;
        Ok(PgSession::new(
            client,
            runtime.handle().clone(),
            Arc::clone(&self.translations),
            Arc::clone(&self.projects),
        ))
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
