//! Filled database files, and their rows as text.

use crate::test_records::fill;
use heirloom_model::{ProjectName, RecordId};
use heirloom_store::{ProjectLocation, SqliteStore};
use rusqlite::Connection;
use rusqlite::types::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Every row of every table as text, by table; without the index, which is rebuilt from the others.
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

/// Reads the rows of a database file.
pub(crate) fn rows_of(path: &Path) -> Rows {
    rows(&Connection::open(path).unwrap())
}

/// Creates a filled database file and closes it.
pub(crate) fn filled(path: &Path, count: usize) {
    let store = SqliteStore::create(path).unwrap();
    fill(&store, count, 9_000, 20_000);
    for (location, copied_from) in [(".", None), ("api.git", Some("/x/other"))] {
        let identity = ProjectLocation {
            location: location.to_owned(),
            name: ProjectName::new("github.com/acme/shop").unwrap(),
            home: "/x/shop".to_owned(),
            store: RecordId::from_bytes([7; 16]),
            copied_from: copied_from.map(str::to_owned),
            question_shown: false,
        };
        store
            .claim_location(location, |_| identity.clone())
            .unwrap();
    }
}
