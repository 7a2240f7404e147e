//! SQLite's FTS5 as a baseline: the same texts and the same queries.

use crate::Outcome;
use rusqlite::Connection;
use std::path::Path;

/// FTS5 table of texts.
pub(crate) struct Fts5(Connection);

impl Fts5 {
    /// Creates an empty table in a file.
    pub(crate) fn create(path: &Path) -> Outcome<Self> {
        Self::from_connection(Connection::open(path)?)
    }

    /// Creates an empty table in memory.
    pub(crate) fn in_memory() -> Outcome<Self> {
        Self::from_connection(Connection::open_in_memory()?)
    }

    fn from_connection(connection: Connection) -> Outcome<Self> {
        connection.execute_batch(
            "PRAGMA journal_mode = WAL; CREATE VIRTUAL TABLE texts USING fts5(text, tokenize = 'porter unicode61')",
        )?;
        Ok(Self(connection))
    }

    /// Adds texts in one transaction; the n-th of all texts has row n, from 1.
    pub(crate) fn add(&self, texts: &[String]) -> Outcome<()> {
        self.0.execute_batch("BEGIN")?;
        let mut insert = self.0.prepare("INSERT INTO texts (text) VALUES (?1)")?;
        for text in texts {
            insert.execute([text])?;
        }
        drop(insert);
        self.0.execute_batch("COMMIT")?;
        Ok(())
    }

    /// Returns the rows with any of these words, best first by BM25.
    pub(crate) fn search<'w>(
        &self,
        words: impl Iterator<Item = &'w str>,
        count: usize,
    ) -> Outcome<Vec<usize>> {
        let words: Vec<String> = words.map(|word| format!("\"{word}\"")).collect();
        if words.is_empty() {
            return Ok(Vec::new());
        }
        let mut statement = self.0.prepare_cached(
            "SELECT rowid FROM texts WHERE texts MATCH ?1 ORDER BY rank LIMIT ?2",
        )?;
        let rows = statement.query_map((words.join(" OR "), count), |row| row.get(0))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }
}
