//! Tests of reading databases of other programs.

use super::*;
use std::fs;
use tempfile::TempDir;

fn names(folder: &TempDir) -> Vec<String> {
    let entries = fs::read_dir(folder.path()).unwrap();
    let mut names: Vec<_> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn read_returns_rows_of_an_open_database_and_leaves_its_files() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("their.db");
    let theirs = Connection::open(&path).unwrap();
    theirs
        .execute_batch(
            "PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0;
             CREATE TABLE t (a INTEGER, b TEXT, c BLOB);
             INSERT INTO t VALUES (1, 'one', x'01'), (2, CAST(x'ff41' AS TEXT), NULL);",
        )
        .unwrap();
    let before = names(&folder);
    assert!(
        before.iter().any(|name| name == "their.db-wal"),
        "{before:?}"
    );
    let bytes = fs::read(&path).unwrap();
    let mut read = ForeignDatabase::read(&path).unwrap();
    let table = read.table("t", &["b", "a", "missing"]).unwrap().unwrap();
    assert_eq!(table.columns, ["b", "a"]);
    let text = |text: &str| ForeignValue::Text(text.to_owned());
    assert_eq!(
        table.rows,
        [
            [text("one"), ForeignValue::Integer(1)],
            [text("\u{fffd}A"), ForeignValue::Integer(2)]
        ]
    );
    assert_eq!(read.table("none", &["a"]).unwrap(), None);
    assert_eq!(names(&folder), before);
    assert_eq!(fs::read(&path).unwrap(), bytes);
}

#[test]
fn read_of_a_closed_database_creates_no_file() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("their.db");
    let theirs = Connection::open(&path).unwrap();
    theirs
        .execute_batch("PRAGMA journal_mode = WAL; CREATE TABLE t (a); INSERT INTO t VALUES (1);")
        .unwrap();
    drop(theirs);
    let mut read = ForeignDatabase::read(&path).unwrap();
    assert_eq!(read.table("t", &["a"]).unwrap().unwrap().rows.len(), 1);
    assert_eq!(names(&folder), ["their.db"]);
}

#[test]
#[expect(
    clippy::disallowed_methods,
    reason = "files as other programs write them, also broken ones"
)]
fn read_refuses_other_files_and_interrupted_transactions() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("their.db");
    let is_not_sqlite = |path: &Path| {
        let read = ForeignDatabase::read(path);
        matches!(read, Err(ForeignDatabaseError::NotSqlite))
    };
    fs::write(&path, b"").unwrap();
    assert!(is_not_sqlite(&path));
    fs::write(&path, "not a database").unwrap();
    assert!(is_not_sqlite(&path));
    fs::write(&path, [MAGIC, &[0xff; 4_096]].concat()).unwrap();
    let read = ForeignDatabase::read(&path);
    assert!(
        matches!(read, Err(ForeignDatabaseError::Damaged(_))),
        "{read:?}"
    );
    let read = ForeignDatabase::read(folder.path());
    assert!(
        matches!(read, Err(ForeignDatabaseError::File(_))),
        "{read:?}"
    );
    fs::remove_file(&path).unwrap();
    let theirs = Connection::open(&path).unwrap();
    theirs.execute_batch("CREATE TABLE t (a)").unwrap();
    fs::write(folder.path().join("their.db-journal"), [0xd9; 512]).unwrap();
    let read = ForeignDatabase::read(&path);
    assert!(
        matches!(read, Err(ForeignDatabaseError::InUse(_))),
        "{read:?}"
    );
}

#[test]
fn table_ignores_views_and_virtual_tables_and_stops_endless_columns() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("their.db");
    let theirs = Connection::open(&path).unwrap();
    theirs
        .execute_batch(
            "CREATE TABLE t (a); INSERT INTO t VALUES (1);
             CREATE VIEW v AS SELECT a FROM t;
             CREATE VIRTUAL TABLE f USING fts5(a);
             CREATE TABLE big (n, a AS (zeroblob(n)));
             INSERT INTO big (n) VALUES (900000000);",
        )
        .unwrap();
    drop(theirs);
    let mut read = ForeignDatabase::read(&path).unwrap();
    assert_eq!(read.table("v", &["a"]).unwrap(), None);
    assert_eq!(read.table("f", &["a"]).unwrap(), None);
    // The generated column would be 900 MB.
    assert_eq!(read.table("big", &["n"]).unwrap().unwrap().rows.len(), 1);
    let big = read.table("big", &["a"]);
    assert!(
        matches!(&big, Ok(Some(table)) if table.columns.is_empty()) || big.is_err(),
        "{big:?}"
    );
}

#[test]
fn values_and_files_up_to_the_limit_are_read() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("their.db");
    let size = FOREIGN_VALUE_BYTES_MAX;
    let theirs = Connection::open(&path).unwrap();
    let fits = size - 100;
    theirs
        .execute_batch(&format!(
            "CREATE TABLE fits (a); INSERT INTO fits VALUES (zeroblob({fits}));
             CREATE TABLE over (a); INSERT INTO over VALUES (zeroblob({size} + 1));"
        ))
        .unwrap();
    drop(theirs);
    let mut read = ForeignDatabase::read(&path).unwrap();
    assert_eq!(read.table("fits", &["a"]).unwrap().unwrap().rows.len(), 1);
    assert!(read.table("over", &["a"]).is_err());
    let huge = fs::File::options().write(true).open(&path).unwrap();
    huge.set_len(FOREIGN_DATABASE_BYTES_MAX + 1).unwrap();
    let read = ForeignDatabase::read(&path);
    let is_large = matches!(
        read,
        Err(ForeignDatabaseError::File(FileReadError::TooLarge(_)))
    );
    assert!(is_large);
}

#[test]
fn rows_up_to_the_limit_are_read() {
    let fill = |count: usize| {
        let mut theirs = Connection::open_in_memory().unwrap();
        let sql = "CREATE TABLE t (a);
             INSERT INTO t WITH RECURSIVE n(i) AS
                 (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ";
        let sql = format!("{sql}{count}) SELECT i FROM n");
        theirs.execute_batch(&sql).unwrap();
        let image = theirs.serialize(MAIN_DB).unwrap().to_vec();
        ForeignDatabase::from_image(image)
            .unwrap()
            .table("t", &["a"])
    };
    let rows = fill(FOREIGN_ROWS_MAX).unwrap().unwrap().rows.len();
    assert_eq!(rows, FOREIGN_ROWS_MAX);
    let more = fill(FOREIGN_ROWS_MAX + 1);
    assert!(matches!(more, Err(ForeignDatabaseError::TooManyRows)));
}
