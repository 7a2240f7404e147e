//! Every schema that was released can still be brought up to date, with every row as it was.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "support/fill.rs"]
mod fill;

use fill::{fill, folder};
use heirloom_store::{SqliteStore, Store, Teller, Upgrade, durable};
use rusqlite::Connection;
use rusqlite::types::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

fn fixture(version: u32) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    folder.join(format!("schema-v{version}.sql"))
}

fn newest() -> u32 {
    SqliteStore::memory()
        .unwrap()
        .describe()
        .unwrap()
        .schema_version
}

/// The tables of the index.
const INDEX: [&str; 7] = [
    "index_totals",
    "ordinals",
    "postings",
    "tail",
    "gone",
    "vectors",
    "piece_counts",
];

/// The columns of each table, in their order.
type Columns = BTreeMap<String, Vec<String>>;

fn columns(connection: &Connection) -> Columns {
    let sql = "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name";
    let mut statement = connection.prepare(sql).unwrap();
    let tables = statement
        .query_map([], |row| row.get::<_, String>(0))
        .unwrap();
    tables
        .map(|table| {
            let table = table.unwrap();
            let sql = "SELECT name FROM pragma_table_info(?1) ORDER BY cid";
            let mut statement = connection.prepare(sql).unwrap();
            let names = statement.query_map([&table], |row| row.get(0)).unwrap();
            let names = names.collect::<Result<_, _>>().unwrap();
            (table, names)
        })
        .collect()
}

/// These columns of every row, sorted.
fn rows(connection: &Connection, columns: &Columns) -> BTreeMap<String, Vec<String>> {
    let read = |(table, names): (&String, &Vec<String>)| {
        let names: Vec<String> = names.iter().map(|name| format!("\"{name}\"")).collect();
        let sql = format!("SELECT {} FROM {table}", names.join(", "));
        let mut statement = connection.prepare(&sql).unwrap();
        let row = |row: &rusqlite::Row<'_>| {
            let values: Vec<Value> = (0..names.len()).map(|n| row.get(n).unwrap()).collect();
            Ok(format!("{values:?}"))
        };
        let rows = statement.query_map([], row).unwrap();
        let mut rows: Vec<String> = rows.collect::<Result<_, _>>().unwrap();
        rows.sort();
        (table.clone(), rows)
    };
    columns.iter().map(read).collect()
}

#[test]
fn every_schema_that_was_released_has_a_fixture() {
    for version in 1..newest() {
        let path = fixture(version);
        assert!(
            path.exists(),
            "{} is missing: see the README beside it",
            path.display()
        );
    }
}

#[test]
fn every_fixture_is_brought_up_to_date_with_every_row() {
    let fixtures = (1..=newest()).filter(|version| fixture(*version).exists());
    let mut tried = 0;
    for version in fixtures {
        let folder = folder();
        let path = folder.path().join("heirloom.db");
        let connection = Connection::open(&path).unwrap();
        let sql = std::fs::read_to_string(fixture(version)).unwrap();
        connection.execute_batch(&sql).unwrap();
        let columns = columns(&connection);
        let before = rows(&connection, &columns);
        assert!(before["records"].len() >= 24, "{before:?}");
        for table in ["projects", "sessions", "messages", "lapses"] {
            assert!(
                !before[table].is_empty(),
                "version {version} has no {table}"
            );
        }
        connection.close().unwrap();
        let told = Arc::new(Mutex::new(Vec::new()));
        let hears = Arc::clone(&told);
        let teller = Teller::new(move |said| hears.lock().unwrap().push(said.clone()));
        let store = SqliteStore::open_telling(&path, &teller).unwrap();
        assert_eq!(store.check().unwrap(), Vec::<String>::new());
        if version < newest() {
            // The index came with the third.
            let texts = match version {
                ..3 => before["records"].len() + before["messages"].len(),
                3.. => 0,
            };
            is_told(&told.lock().unwrap(), version, texts.try_into().unwrap());
        }
        assert_eq!(store.describe().unwrap().schema_version, newest());
        let connection = Connection::open(&path).unwrap();
        assert_eq!(rows(&connection, &columns), before, "version {version}");
        let copies = SqliteStore::copies(&path).unwrap();
        assert_eq!(copies.len(), usize::from(version < newest()));
        tried += 1;
    }
    assert!(tried > 0, "no fixture at all");
}

/// Begun, copied, further and further to the last text, ended.
fn is_told(told: &[Upgrade], from: u32, texts: u64) {
    let to = newest();
    assert_eq!(told.first(), Some(&Upgrade::Begun { from, to }));
    assert!(matches!(told.get(1), Some(Upgrade::Copied(copy)) if copy.exists()));
    assert_eq!(told.last(), Some(&Upgrade::Ended { texts }));
    let between = &told[2..told.len() - 1];
    let done = between.iter().filter_map(|said| match said {
        Upgrade::Indexed { done, total } => (*total == texts).then_some(*done),
        Upgrade::Begun { .. } | Upgrade::Copied(_) | Upgrade::Ended { .. } | Upgrade::Failed => {
            None
        }
    });
    let done: Vec<u64> = done.collect();
    assert_eq!(done.len(), between.len(), "{told:?}");
    if texts == 0 {
        return;
    }
    assert!(done.is_sorted() && done.len() > 2, "{done:?}");
    assert_eq!((done[0], done[done.len() - 1]), (0, texts));
}

#[test]
fn rows_are_recovered_from_a_damaged_database_of_every_released_schema() {
    for version in (1..=newest()).filter(|version| fixture(*version).exists()) {
        let folder = folder();
        let path = folder.path().join("heirloom.db");
        let connection = Connection::open(&path).unwrap();
        let sql = std::fs::read_to_string(fixture(version)).unwrap();
        connection.execute_batch(&sql).unwrap();
        let mut columns = columns(&connection);
        // The index is built anew of what is recovered, in fewer blocks.
        columns.retain(|table, _| !INDEX.contains(&table.as_str()));
        let before = rows(&connection, &columns);
        connection.close().unwrap();
        let mut bytes = std::fs::read(&path).unwrap();
        for garbage in [0, 100, 4_096] {
            bytes[..garbage].fill(0x5a);
            let (store, salvaged) = SqliteStore::salvage(&bytes, &[], None).unwrap();
            assert_eq!(salvaged.schema_version, version, "{garbage}");
            assert_eq!(store.check().unwrap(), Vec::<String>::new());
            let copy = folder.path().join("copy.db");
            store.backup(&copy).unwrap();
            let found = rows(&Connection::open(&copy).unwrap(), &columns);
            assert_eq!(
                found, before,
                "version {version}, {garbage} bytes of garbage"
            );
        }
    }
}

/// Writes the fixture of the newest version; README.md beside the fixtures says when.
#[test]
#[ignore = "writes a file of the repository"]
fn write_the_fixture_of_the_newest_version() {
    let folder = folder();
    let path = folder.path().join("heirloom.db");
    let store = SqliteStore::create(&path).unwrap();
    fill(&store, 36, 600, 600);
    drop(store);
    let connection = Connection::open(&path).unwrap();
    let number = |name: &str| -> i64 {
        connection
            .pragma_query_value(None, name, |row| row.get(0))
            .unwrap()
    };
    let mut dump = format!(
        "PRAGMA foreign_keys = OFF;\nPRAGMA application_id = {};\nPRAGMA user_version = {};\nBEGIN;\n",
        number("application_id"),
        number("user_version")
    );
    let sql = "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY rowid";
    let mut statement = connection.prepare(sql).unwrap();
    for sql in statement
        .query_map([], |row| row.get::<_, String>(0))
        .unwrap()
    {
        dump.push_str(&format!("{};\n", sql.unwrap()));
    }
    for (table, names) in columns(&connection) {
        let names: Vec<String> = names.iter().map(|name| format!("\"{name}\"")).collect();
        let quoted: Vec<String> = names.iter().map(|name| format!("quote({name})")).collect();
        let sql = format!("SELECT {} FROM {table}", quoted.join(" || ', ' || "));
        let mut statement = connection.prepare(&sql).unwrap();
        for values in statement
            .query_map([], |row| row.get::<_, String>(0))
            .unwrap()
        {
            let names = names.join(", ");
            dump.push_str(&format!(
                "INSERT INTO {table} ({names}) VALUES ({});\n",
                values.unwrap()
            ));
        }
    }
    dump.push_str("COMMIT;\n");
    let version = u32::try_from(number("user_version")).unwrap();
    durable::write_atomic(&fixture(version), dump.as_bytes()).unwrap();
}
