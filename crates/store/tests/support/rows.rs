//! A filled database in a file, and the rows of one as text.

use crate::fill::fill;
use heirloom_store::SqliteStore;
use rusqlite::Connection;
use rusqlite::types::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Every row of every table, as text, by table; without the index, which is built anew from the others.
pub(crate) type Rows = BTreeMap<String, BTreeSet<String>>;

fn rows(connection: &Connection) -> Rows {
    let sql = "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table' \
         AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' AND name NOT IN \
         ('index_totals', 'ordinals', 'postings', 'tail', 'gone', 'vectors', 'piece_counts')";
    let mut statement = connection.prepare(sql).unwrap();
    let tables = statement
        .query_map([], |row| row.get::<_, String>(0))
        .unwrap();
    let tables: Vec<String> = tables.collect::<Result<_, _>>().unwrap();
    tables
        .into_iter()
        .map(|table| {
            let mut statement = connection
                .prepare(&format!("SELECT * FROM {table}"))
                .unwrap();
            let names = statement.column_names();
            let columns = names.take_while(|name| *name != "ordinal").count();
            let read = |row: &rusqlite::Row<'_>| {
                let values: Vec<Value> = (0..columns).map(|n| row.get(n).unwrap()).collect();
                Ok(format!("{values:?}"))
            };
            let rows = statement.query_map([], read).unwrap();
            (table, rows.collect::<Result<_, _>>().unwrap())
        })
        .collect()
}

/// The rows of the database in a file.
pub(crate) fn rows_of(path: &Path) -> Rows {
    rows(&Connection::open(path).unwrap())
}

/// A filled database in a file, closed.
pub(crate) fn filled(path: &Path, count: usize) {
    let store = SqliteStore::create(path).unwrap();
    fill(&store, count, 9_000, 20_000);
}
