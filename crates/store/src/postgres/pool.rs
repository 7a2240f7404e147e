//! Pool of connections to PostgreSQL.

use crate::StoreError;
use deadpool::managed::{self, Metrics, RecycleError, RecycleResult};
use heirloom_model::limits;
use heirloom_model::text::EscapedPath;
use std::ops::Deref;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio_postgres::Client;
use tokio_postgres::config::Host;

/// Connection, and a mark that it must not be used again.
#[derive(Debug)]
pub(super) struct PooledConnection {
    client: Client,
    is_discarded: AtomicBool,
}

/// Connection of the pool while a session uses it.
pub(crate) struct PooledClient(managed::Object<Connector>);

impl PooledClient {
    /// Marks the connection so that the pool closes it instead of lending it again.
    pub(super) fn discard(&self) {
        self.0.is_discarded.store(true, Ordering::Relaxed);
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
pub(super) struct Connector {
    config: tokio_postgres::Config,
}

impl Connector {
    /// Returns the parameters of the connections.
    pub(super) fn config(&self) -> &tokio_postgres::Config {
        &self.config
    }
}

impl managed::Manager for Connector {
    type Type = PooledConnection;
    type Error = tokio_postgres::Error;

    async fn create(&self) -> Result<PooledConnection, tokio_postgres::Error> {
        let (client, connection) = self.config.connect(tokio_postgres::NoTls).await?;
        // Ends when the client is dropped or the connection is lost; the client's calls return the error.
        tokio::spawn(async move { drop(connection.await) });
        Ok(PooledConnection {
            client,
            is_discarded: AtomicBool::new(false),
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
pub(super) type ConnectionPool = managed::Pool<Connector>;

/// Parses the address of a database.
pub(super) fn parse_url(url: &str) -> Result<tokio_postgres::Config, StoreError> {
    let mut config: tokio_postgres::Config = url.parse().map_err(|error: tokio_postgres::Error| {
        StoreError::Invalid(format!(
            "the address of the database is not of the form postgres://USER@HOST:PORT/DATABASE: {error}"
        ))
    })?;
    config
        .keepalives_idle(Duration::from_secs(limits::POSTGRES_HEARTBEAT_S))
        .connect_timeout(Duration::from_secs(limits::POSTGRES_CONNECT_TIMEOUT_S));
    if config.get_application_name().is_none() {
        config.application_name("heirloom");
    }
    Ok(config)
}

/// Describes the server for messages: hosts, ports and the name of the database, without user and password.
pub(super) fn describe_server(config: &tokio_postgres::Config) -> String {
    let ports = config.get_ports();
    let hosts = config.get_hosts().iter().enumerate().map(|(n, host)| {
        let name = match host {
            Host::Tcp(name) => name.clone(),
            Host::Unix(path) => path.to_escaped(),
        };
        let port = ports.get(n).or(ports.first()).copied().unwrap_or(5_432);
        format!("{name}:{port}")
    });
    let hosts: Vec<String> = hosts.collect();
    let name = config.get_dbname().or(config.get_user()).unwrap_or("");
    format!("{}/{name}", hosts.join(","))
}

/// Creates a pool with at most `size` connections; it opens none.
pub(super) fn create_pool(
    config: tokio_postgres::Config,
    size: usize,
) -> Result<ConnectionPool, managed::BuildError> {
    managed::Pool::builder(Connector { config })
        .max_size(size)
        .wait_timeout(Some(Duration::from_secs(limits::POSTGRES_POOL_TIMEOUT_S)))
        .create_timeout(Some(Duration::from_secs(
            limits::POSTGRES_CONNECT_TIMEOUT_S,
        )))
        .runtime(deadpool::Runtime::Tokio1)
        .build()
}

/// Lends a connection.
pub(super) async fn acquire(
    pool: &ConnectionPool,
) -> Result<PooledClient, managed::PoolError<tokio_postgres::Error>> {
    pool.get().await.map(PooledClient)
}
