//! Documents, which are in a table that every node has, notifications of changes, and the state of the store.

use super::PostgresStore;
use super::isolation::Isolation;
use crate::sql::OptionalRow;
use crate::{SharedStore, SharedStoreStatus, StoreError};
use rusqlite::params;
use std::any::Any;

impl SharedStore for PostgresStore {
    fn document_version(&self, name: &str) -> Result<Option<i64>, StoreError> {
        self.read(|connection| {
            let sql = "SELECT version FROM documents WHERE name = ?1";
            let found = connection.query_row(sql, params![name], |row| row.get(0));
            Ok(found.optional()?)
        })
    }

    fn document(&self, name: &str) -> Result<Option<(i64, String)>, StoreError> {
        self.read(|connection| {
            let sql = "SELECT version, text FROM documents WHERE name = ?1";
            let found =
                connection.query_row(sql, params![name], |row| Ok((row.get(0)?, row.get(1)?)));
            Ok(found.optional()?)
        })
    }

    fn replace_document(
        &self,
        name: &str,
        expected: Option<i64>,
        text: &str,
    ) -> Result<bool, StoreError> {
        self.transact(Isolation::Write, |connection| {
            let changed = match expected {
                Some(version) => {
                    let sql = "UPDATE documents SET version = version + 1, text = ?3 \
                         WHERE name = ?1 AND version = ?2";
                    connection.execute(sql, params![name, version, text])?
                }
                None => {
                    let sql = "INSERT INTO documents (name, version, text) VALUES (?1, 1, ?2) \
                         ON CONFLICT (name) DO NOTHING";
                    connection.execute(sql, params![name, text])?
                }
            };
            Ok(changed == 1)
        })
    }

    fn watch_changes(&self, on_change: Box<dyn Fn() + Send>) -> Option<Box<dyn Any + Send + Sync>> {
        let watcher = self.watch(move |_| on_change())?;
        Some(Box::new(watcher))
    }

    fn status(&self) -> Result<SharedStoreStatus, StoreError> {
        let latency = self.measure_latency()?;
        let pool = self.pool.status();
        let cache = self.cache.usage();
        Ok(SharedStoreStatus {
            server: self.server.clone(),
            latency,
            connections_open: pool.size,
            connections_in_use: pool.size.saturating_sub(pool.available),
            connections_max: pool.max_size,
            round_trips: self.round_trips(),
            cache_hits: cache.hits,
            cache_misses: cache.misses,
            cache_bytes: cache.bytes,
        })
    }
}
