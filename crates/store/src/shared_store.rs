//! Features of a store on a database server that many machines share.

use crate::StoreError;
use std::any::Any;
use std::time::Duration;

/// State of a store on a database server, as this process sees it.
#[derive(Debug, Clone, PartialEq)]
pub struct SharedStoreStatus {
    /// Host, port and name of the database.
    pub server: String,
    /// Time of one round trip.
    pub latency: Duration,
    /// Open connections.
    pub connections_open: usize,
    /// Connections in use.
    pub connections_in_use: usize,
    /// Maximum number of connections.
    pub connections_max: usize,
    /// Round trips since the start.
    pub round_trips: u64,
    /// Reads of the cache of projects that found their data.
    pub cache_hits: u64,
    /// Reads of the cache that had to ask the database.
    pub cache_misses: u64,
    /// Size of the cache, bytes.
    pub cache_bytes: usize,
}

/// Store on a database server.
///
/// A document is a small text that all machines share, such as the access tokens. Each has a name, and a version that
/// counts its changes.
pub trait SharedStore {
    /// Returns the version of a document; `None` if it does not exist.
    fn document_version(&self, name: &str) -> Result<Option<i64>, StoreError>;

    /// Returns the version and the text of a document; `None` if it does not exist.
    fn document(&self, name: &str) -> Result<Option<(i64, String)>, StoreError>;

    /// Replaces the version `expected` of a document, or creates it if that is `None`. Returns false, and changes nothing,
    /// if the document has another version.
    fn replace_document(
        &self,
        name: &str,
        expected: Option<i64>,
        text: &str,
    ) -> Result<bool, StoreError>;

    /// Calls `on_change` after every write of any process, and after a lost connection, until the returned value is dropped;
    /// `None` if that is not possible.
    fn watch_changes(&self, on_change: Box<dyn Fn() + Send>) -> Option<Box<dyn Any + Send + Sync>>;

    /// Measures the latency and returns the state of the store.
    fn status(&self) -> Result<SharedStoreStatus, StoreError>;
}
