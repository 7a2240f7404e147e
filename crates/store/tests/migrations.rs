//! Migration of every released schema to the newest, without changing a row.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "support/test_records.rs"]
mod test_records;

use heirloom_fs::durable;
use heirloom_store::{MigrationEvent, ProgressSink, SqliteStore, Store};
use rusqlite::Connection;
use rusqlite::types::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use test_records::{fill, folder};

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

/// Tables of the index.
const INDEX: [&str; 7] = [
    "index_totals",
    "ordinals",
    "postings",
    "tail",
    "gone",
    "vectors",
    "piece_counts",
];

/// Columns of each table, in order.
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

/// Returns the columns of what the index is built from: a migration and a salvage build the index again, in an order of
/// their own.
fn columns_without_index(connection: &Connection) -> Columns {
    let mut columns = columns(connection);
    columns.retain(|table, _| !INDEX.contains(&table.as_str()));
    for names in columns.values_mut() {
        names.retain(|name| name != "ordinal");
    }
    columns
}

/// Reads these columns of every row, sorted.
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
fn every_released_schema_has_a_fixture() {
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
fn every_fixture_is_migrated_with_every_row() {
    let fixtures = (1..=newest()).filter(|version| fixture(*version).exists());
    let mut tried = 0;
    for version in fixtures {
        let folder = folder();
        let path = folder.path().join("heirloom.db");
        let connection = Connection::open(&path).unwrap();
        let sql = std::fs::read_to_string(fixture(version)).unwrap();
        connection.execute_batch(&sql).unwrap();
        let columns = columns_without_index(&connection);
        let before = rows(&connection, &columns);
        assert!(before["records"].len() >= 24, "{before:?}");
        for table in ["projects", "sessions", "messages", "lapses"] {
            assert!(
                !before[table].is_empty(),
                "version {version} has no {table}"
            );
        }
        connection.close().unwrap();
        let events = Arc::new(Mutex::new(Vec::new()));
        let hears = Arc::clone(&events);
        let progress =
            ProgressSink::new(move |message| hears.lock().unwrap().push(message.clone()));
        let store = SqliteStore::open_with_progress(&path, &progress).unwrap();
        assert_eq!(store.check().unwrap(), Vec::<String>::new());
        if version < newest() {
            // Version 8 has an index of another form.
            let texts = before["records"].len() + before["messages"].len();
            assert_events(&events.lock().unwrap(), version, texts.try_into().unwrap());
        }
        assert_eq!(store.describe().unwrap().schema_version, newest());
        let connection = Connection::open(&path).unwrap();
        assert_eq!(rows(&connection, &columns), before, "version {version}");
        let copies = SqliteStore::retained_backups(&path).unwrap();
        assert_eq!(copies.len(), usize::from(version < newest()));
        tried += 1;
    }
    assert!(tried > 0, "no fixture at all");
}

/// Checks the events: started, backed up, progress to the last text, finished.
fn assert_events(events: &[MigrationEvent], from: u32, texts: u64) {
    let to = newest();
    assert_eq!(events.first(), Some(&MigrationEvent::Started { from, to }));
    assert!(matches!(events.get(1), Some(MigrationEvent::BackedUp(copy)) if copy.exists()));
    assert_eq!(events.last(), Some(&MigrationEvent::Finished { texts }));
    let between = &events[2..events.len() - 1];
    let done = between.iter().filter_map(|message| match message {
        MigrationEvent::Indexed { done, total } => (*total == texts).then_some(*done),
        MigrationEvent::Started { .. }
        | MigrationEvent::BackedUp(_)
        | MigrationEvent::Finished { .. }
        | MigrationEvent::Failed => None,
    });
    let done: Vec<u64> = done.collect();
    assert_eq!(done.len(), between.len(), "{events:?}");
    if texts == 0 {
        return;
    }
    assert!(done.is_sorted() && done.len() > 2, "{done:?}");
    assert_eq!((done[0], done[done.len() - 1]), (0, texts));
}

#[test]
fn every_released_schema_can_be_salvaged() {
    for version in (1..=newest()).filter(|version| fixture(*version).exists()) {
        let folder = folder();
        let path = folder.path().join("heirloom.db");
        let connection = Connection::open(&path).unwrap();
        let sql = std::fs::read_to_string(fixture(version)).unwrap();
        connection.execute_batch(&sql).unwrap();
        let columns = columns_without_index(&connection);
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

/// Migrates the database to a version after the newest, as a newer program would.
fn migrate_further(path: &Path) {
    let connection = Connection::open(path).unwrap();
    let next = newest() + 1;
    connection
        .execute_batch(&format!(
            "BEGIN IMMEDIATE; CREATE TABLE of_tomorrow (x); PRAGMA user_version = {next}; COMMIT;"
        ))
        .unwrap();
}

#[test]
fn open_store_refuses_writes_after_newer_migration() {
    let folder = folder();
    let path = folder.path().join("heirloom.db");
    let store = SqliteStore::create(&path).unwrap();
    fill(&store, 36, 600, 600);
    let shop = test_records::project("github.com/acme/shop");
    let ids = heirloom_model::IdSource::default();
    let change = |number| test_records::put(test_records::record(&ids, &shop, number, 20));
    store.apply(&shop, &[change(5_000)]).unwrap();
    let wanted = rows(
        &Connection::open(&path).unwrap(),
        &columns(&Connection::open(&path).unwrap()),
    );
    migrate_further(&path);
    for number in [6_000, 6_001] {
        let refused = store.apply(&shop, &[change(number)]).unwrap_err();
        assert!(
            matches!(refused, heirloom_store::StoreError::Newer { found, known, .. } if found == newest() + 1 && known == newest()),
            "{refused}"
        );
    }
    // Reads still work, and closing the last old program changes nothing.
    let ids_now = |store: &SqliteStore| store.projects().unwrap();
    assert!(!ids_now(&store).is_empty());
    drop(store);
    let connection = Connection::open(&path).unwrap();
    let mut columns = columns(&connection);
    columns.remove("of_tomorrow");
    assert!(rows(&connection, &columns) == wanted, "rows were changed");
    let refused = SqliteStore::open(&path).map(drop).unwrap_err();
    assert!(
        refused
            .to_string()
            .contains("this Heirloom knows versions up to"),
        "{refused}"
    );
    assert_eq!(SqliteStore::retained_backups(&path).unwrap(), []);
}

#[test]
fn migration_waits_for_other_process_without_loss() {
    let folder = folder();
    let path = folder.path().join("heirloom.db");
    let holder = Connection::open(&path).unwrap();
    let sql = std::fs::read_to_string(fixture(newest() - 1)).unwrap();
    holder.execute_batch(&sql).unwrap();
    holder.pragma_update(None, "journal_mode", "wal").unwrap();
    let columns = columns_without_index(&holder);
    let before = rows(&holder, &columns);
    let store = SqliteStore::open(&path).unwrap();
    assert_eq!(store.describe().unwrap().schema_version, newest());
    // The old connection sees the new version, so its program refuses to write.
    let version: u32 = holder
        .pragma_query_value(None, "user_version", |row| row.get(0))
        .unwrap();
    assert_eq!(version, newest());
    assert!(rows(&holder, &columns) == before, "rows were changed");
    assert_eq!(store.check().unwrap(), Vec::<String>::new());
}

/// Writes the fixture of the newest version; see README.md in the fixtures folder.
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
