//! Backups of a store in use, and the targets that a backup must not overwrite.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "support/database_rows.rs"]
mod database_rows;
#[path = "support/test_records.rs"]
mod test_records;

use database_rows::{filled, rows_of};
use heirloom_fs::durable;
use heirloom_model::IdSource;
use heirloom_store::{SqliteStore, Store, StoreError};
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use test_records::{fill, folder, project, put, record};

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<String> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn backup_is_one_private_file_with_every_row() {
    let root = folder();
    let live = root.path().join("heirloom.db");
    filled(&live, 60);
    let store = SqliteStore::open(&live).unwrap();
    let copy = root.path().join("copy.db");
    for _ in 0..2 {
        let said = store.backup(&copy).unwrap();
        assert_eq!(said.size_bytes, copy.metadata().unwrap().len());
        assert_eq!(
            said.schema_version,
            store.describe().unwrap().schema_version
        );
        assert_eq!(copy.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(rows_of(&copy), rows_of(&live));
    }
    drop(store);
    assert_eq!(names(root.path()), ["copy.db", "heirloom.db"]);
    // It needs no other file, so it can be read in a read-only folder.
    fs::set_permissions(root.path(), fs::Permissions::from_mode(0o500)).unwrap();
    assert_eq!(rows_of(&copy), rows_of(&copy));
    fs::set_permissions(root.path(), fs::Permissions::from_mode(0o700)).unwrap();
    let store = SqliteStore::open(&copy).unwrap();
    assert_eq!(store.check().unwrap(), Vec::<String>::new());
}

#[test]
fn in_memory_store_can_be_backed_up() {
    let root = folder();
    let store = SqliteStore::memory().unwrap();
    fill(&store, 20, 9_000, 20_000);
    let copy = root.path().join("copy.db");
    store.backup(&copy).unwrap();
    let opened = SqliteStore::open(&copy).unwrap();
    assert_eq!(opened.projects().unwrap(), store.projects().unwrap());
    assert_eq!(names(root.path()).len(), 3, "the copy and its journal");
}

/// Every backup has a prefix of each writer's records, at least as long as in the previous backup.
#[test]
fn backups_during_writes_are_consistent() {
    let root = folder();
    let live = root.path().join("heirloom.db");
    filled(&live, 30);
    let store = SqliteStore::open(&live).unwrap();
    let done = AtomicBool::new(false);
    let p = project("writers");
    thread::scope(|scope| {
        for writer in 0..3 {
            let (live, done, p) = (&live, &done, &p);
            scope.spawn(move || {
                let store = SqliteStore::open(live).unwrap();
                let ids = IdSource::default();
                for n in 0..150_usize {
                    // Two records in one write: no backup may have only one of them.
                    let pair = [2 * n, 2 * n + 1].map(|n| {
                        let mut record = record(&ids, p, 10_000 * (writer + 1) + n, 40);
                        record.source = format!("writer-{writer}");
                        put(record)
                    });
                    store.apply(p, &pair).unwrap();
                    if done.load(Ordering::Relaxed) {
                        break;
                    }
                }
            });
        }
        let mut before = 0;
        for n in 0..5 {
            let copy = root.path().join(format!("copy-{n}.db"));
            store.backup(&copy).unwrap();
            let rows = rows_of(&copy);
            let count = rows["records"].len();
            assert!(count >= before, "{count} < {before}");
            before = count;
            for writer in 0..3 {
                let mark = format!("writer-{writer}\"");
                let of_writer = rows["records"]
                    .iter()
                    .filter(|row| row.contains(&mark))
                    .count();
                assert_eq!(of_writer % 2, 0, "half a write of writer {writer}");
            }
        }
        done.store(true, Ordering::Relaxed);
    });
    assert_eq!(store.check().unwrap(), Vec::<String>::new());
}

#[test]
fn backup_overwrites_only_backups() {
    let root = folder();
    let live = root.path().join("heirloom.db");
    filled(&live, 10);
    let store = SqliteStore::open(&live).unwrap();
    let before = rows_of(&live);
    let theirs = root.path().join("thesis.txt");
    durable::write_atomic(&theirs, b"years of work").unwrap();
    let other = root.path().join("other.db");
    let foreign = rusqlite::Connection::open(&other).unwrap();
    foreign.execute_batch("CREATE TABLE t (x)").unwrap();
    drop(foreign);
    let empty = root.path().join("empty");
    durable::write_atomic(&empty, b"").unwrap();
    let link = root.path().join("link.db");
    symlink(&theirs, &link).unwrap();
    let hard = root.path().join("hard.db");
    fs::hard_link(&live, &hard).unwrap();
    let journal = root.path().join("heirloom.db-wal");
    assert!(journal.exists());
    for place in [
        &live,
        &journal,
        &hard,
        &theirs,
        &other,
        &empty,
        &root.path().to_owned(),
    ] {
        let refused = store.backup(place).unwrap_err();
        let StoreError::Refused(said) = &refused else {
            panic!("{refused:?}");
        };
        assert!(said.contains(place.to_str().unwrap()), "{said}");
    }
    assert!(matches!(store.backup(&link), Err(StoreError::Linked { path, .. }) if path == link));
    assert_eq!(fs::read(&theirs).unwrap(), b"years of work");
    assert_eq!(rows_of(&live), before);
    assert!(matches!(
        store.backup(Path::new("/nonexistent/copy.db")),
        Err(StoreError::Io { .. })
    ));
}

#[test]
fn backup_refuses_store_of_another_project() {
    let root = folder();
    let live = root.path().join("heirloom.db");
    filled(&live, 10);
    let there = folder();
    let other = there.path().join("heirloom.db");
    filled(&other, 3);
    durable::write_atomic(&there.path().join("store.json"), b"{}").unwrap();
    let store = SqliteStore::open(&live).unwrap();
    let bytes = fs::read(&other).unwrap();
    assert!(matches!(store.backup(&other), Err(StoreError::Refused(_))));
    assert!(fs::read(&other).unwrap() == bytes);
    let copy = there.path().join("copy.db");
    store.backup(&copy).unwrap();
    let opened = SqliteStore::open(&copy).unwrap();
    // The store is in use.
    opened
        .put_session(&heirloom_model::Session {
            project: project("p"),
            id: "s".to_owned(),
            agent: None,
            task: None,
            started_at: test_records::at(1),
            ended_at: None,
            attrs: serde_json::Map::new(),
        })
        .unwrap();
    assert!(matches!(store.backup(&copy), Err(StoreError::Refused(_))));
}
