//! Pool of connections to PostgreSQL.

use super::address::PostgresAddress;
use super::prepared_statements::PreparedStatements;
use super::tls::TlsMode;
use deadpool::managed::{self, Metrics, QueueMode, RecycleError, RecycleResult};
use heirloom_model::limits;
use std::ops::Deref;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio_postgres::{Client, NoTls};

/// Connection, and a mark that it must not be used again.
#[derive(Debug)]
pub(crate) struct PooledConnection {
    client: Client,
    is_discarded: AtomicBool,
    /// `None` if statements must not be prepared.
    statements: Option<PreparedStatements>,
}

/// Connection of the pool while a session uses it.
pub(crate) struct PooledClient(managed::Object<Connector>);

impl PooledClient {
    /// Marks the connection so that the pool closes it instead of lending it again.
    pub(crate) fn discard(&self) {
        self.0.is_discarded.store(true, Ordering::Relaxed);
    }
}

impl PooledClient {
    /// Returns the prepared statements of the connection; `None` if statements must not be prepared.
    pub(crate) fn statements(&self) -> Option<&PreparedStatements> {
        self.0.statements.as_ref()
    }

    /// Cancels the statement that the connection executes, on a connection of its own.
    pub(crate) async fn cancel(&self) -> Result<(), tokio_postgres::Error> {
        let token = self.0.client.cancel_token();
        let pool = managed::Object::pool(&self.0);
        match pool.as_ref().map(|pool| &pool.manager().address.tls) {
            Some(TlsMode::On(tls)) => token.cancel_query(tls.clone()).await,
            Some(TlsMode::Off) | None => token.cancel_query(NoTls).await,
        }
    }
}

impl Deref for PooledClient {
    type Target = Client;

    fn deref(&self) -> &Client {
        &self.0.client
    }
}

/// Opener of connections.
#[derive(Debug)]
pub(crate) struct Connector {
    address: PostgresAddress,
}

impl Connector {
    /// Returns the address of the server.
    pub(crate) fn address(&self) -> &PostgresAddress {
        &self.address
    }
}

impl managed::Manager for Connector {
    type Type = PooledConnection;
    type Error = tokio_postgres::Error;

    async fn create(&self) -> Result<PooledConnection, tokio_postgres::Error> {
        let config = &self.address.config;
        // A connection ends when its client is dropped or when it is lost; the client's calls return the error.
        let client = match &self.address.tls {
            TlsMode::Off => {
                let (client, connection) = config.connect(NoTls).await?;
                tokio::spawn(async move { drop(connection.await) });
                client
            }
            TlsMode::On(tls) => {
                let (client, connection) = config.connect(tls.clone()).await?;
                tokio::spawn(async move { drop(connection.await) });
                client
            }
        };
        Ok(PooledConnection {
            client,
            is_discarded: AtomicBool::new(false),
            statements: (self.address.prepares_statements).then(PreparedStatements::default),
        })
    }

    async fn recycle(
        &self,
        connection: &mut PooledConnection,
        _: &Metrics,
    ) -> RecycleResult<tokio_postgres::Error> {
        if connection.client.is_closed() || connection.is_discarded.load(Ordering::Relaxed) {
            return Err(RecycleError::message("the connection is closed"));
        }
        Ok(())
    }
}

/// Pool of connections.
pub(crate) type ConnectionPool = managed::Pool<Connector>;

/// Creates a pool with at most `size` connections; it opens none. The connection that was used last is lent first, because
/// its statements are prepared and its server process has the catalog in memory.
pub(crate) fn create_pool(
    address: PostgresAddress,
    size: usize,
) -> Result<ConnectionPool, managed::BuildError> {
    managed::Pool::builder(Connector { address })
        .max_size(size)
        .queue_mode(QueueMode::Lifo)
        .wait_timeout(Some(Duration::from_secs(limits::POSTGRES_POOL_TIMEOUT_S)))
        .create_timeout(Some(Duration::from_secs(
            limits::POSTGRES_CONNECT_TIMEOUT_S,
        )))
        .runtime(deadpool::Runtime::Tokio1)
        .build()
}

/// Lends a connection.
pub(crate) async fn acquire(
    pool: &ConnectionPool,
) -> Result<PooledClient, managed::PoolError<tokio_postgres::Error>> {
    pool.get().await.map(PooledClient)
}
