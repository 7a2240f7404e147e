//! Documents in a table that every node has.

use super::PostgresStore;
use super::transaction::Isolation;
use crate::sql::OptionalRow;
use crate::{DocumentStore, StoreError};
use rusqlite::params;

impl DocumentStore for PostgresStore {
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
}
