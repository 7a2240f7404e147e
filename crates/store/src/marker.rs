//! Marker file of a store: it proves that a database once existed in its folder, and contains the store's id.

use crate::DATABASE;
use heirloom_model::{Clock, IdSource, SystemClock};
use serde::{Deserialize, Serialize};

/// Name of the marker file. With it a missing database is an error and not a first run.
pub const MARKER: &str = "store.json";

/// Content of the marker file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoreMarker {
    /// File name of the database.
    #[serde(rename = "database", default)]
    database: String,
    /// Random id of the store; a copy has the same. Missing in the markers of older versions.
    #[serde(rename = "store", default, skip_serializing_if = "Option::is_none")]
    store: Option<String>,
}

impl StoreMarker {
    /// Creates the marker of a new store.
    pub fn new() -> Self {
        Self {
            database: DATABASE.to_owned(),
            store: Some(IdSource::default().next(SystemClock.now()).to_string()),
        }
    }

    /// Parses a marker file; `None` for another content.
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        serde_json::from_slice(bytes).ok()
    }

    /// Returns the content of the marker file.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = serde_json::to_vec(self).unwrap_or_default();
        bytes.push(b'\n');
        bytes
    }

    /// Returns the id of the store, unless an older version created it.
    pub fn store_id(&self) -> Option<&str> {
        self.store.as_deref().filter(|id| !id.is_empty())
    }
}

impl Default for StoreMarker {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marker_of_an_older_version_has_no_id() {
        let old = StoreMarker::parse(b"{\"database\": \"heirloom.db\"}\n").unwrap();
        assert_eq!(old.store_id(), None);
        assert_eq!(StoreMarker::parse(b"torn"), None);
        let (one, other) = (StoreMarker::new(), StoreMarker::new());
        assert_ne!(one.store_id(), other.store_id());
        assert_eq!(StoreMarker::parse(&one.to_bytes()), Some(one));
    }
}
