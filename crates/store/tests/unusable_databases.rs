//! Files that are not a usable database, and databases that must not be changed.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use heirloom_model::{
    Confidence, IdSource, Kind, MergeRule, ProjectName, Record, Scope, Timestamp,
};
use heirloom_store::{Change, Filter, SqliteStore, Store, StoreError};
use heirloom_testkit::{Prerequisite, require};
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

struct Place {
    folder: tempfile::TempDir,
    path: PathBuf,
}

fn place() -> Place {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("heirloom.db");
    Place { folder, path }
}

fn project() -> ProjectName {
    ProjectName::new("p").unwrap()
}

fn now() -> Timestamp {
    "2026-05-01T10:00:00Z".parse().unwrap()
}

fn put(text: &str) -> Change {
    let record = Record {
        project: project(),
        id: IdSource::default().next(now()),
        kind: Kind::Note,
        key: None,
        text: text.to_owned(),
        attrs: serde_json::Map::new(),
        scope: Scope::default(),
        source: "user".to_owned(),
        confidence: Confidence::FULL,
        tokens: 1,
        recorded_at: now(),
        true_from: None,
        true_to: None,
        retired_at: None,
        replaced_by: None,
        expires_at: None,
    };
    Change::Put {
        record: Box::new(record),
        merge: MergeRule::Keep,
    }
}

fn count(store: &SqliteStore) -> usize {
    let filter = Filter::current(&[], now());
    store.find(&project(), &filter).unwrap().len()
}

/// Creates a database with some records and closes it.
fn filled(path: &Path) {
    let store = SqliteStore::create(path).unwrap();
    let changes: Vec<Change> = (0..500)
        .map(|n| put(&format!("note {n} {}", "x".repeat(200))))
        .collect();
    store.apply(&project(), &changes).unwrap();
}

/// Checks that opening fails in both ways and changes no byte.
fn check_damaged(path: &Path) {
    let before = fs::read(path).unwrap();
    for opened in [SqliteStore::open(path), SqliteStore::create(path)] {
        match opened {
            Err(StoreError::Damaged { path: named, .. }) => assert_eq!(named, path),
            other => panic!("{other:?}"),
        }
    }
    assert!(fs::read(path).unwrap() == before, "the file was changed");
}

#[test]
fn open_missing_file_creates_nothing() {
    let place = place();
    let error = SqliteStore::open(&place.path).unwrap_err();
    assert!(matches!(error, StoreError::Missing(path) if path == place.path));
    assert!(!place.path.exists());
    let nowhere = place.folder.path().join("no/folder/heirloom.db");
    assert!(matches!(
        SqliteStore::create(&nowhere),
        Err(StoreError::Io { .. })
    ));
}

#[test]
fn created_database_is_private_and_single_file() {
    let place = place();
    filled(&place.path);
    let store = SqliteStore::open(&place.path).unwrap();
    assert_eq!(count(&store), 500);
    for entry in fs::read_dir(place.folder.path()).unwrap() {
        let entry = entry.unwrap();
        let mode = entry.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!(mode, 0o600, "{entry:?}");
    }
    drop(store);
    let left = fs::read_dir(place.folder.path()).unwrap().count();
    assert_eq!(left, 1, "closing folds the journal back");
}

#[test]
fn non_database_file_is_left_unchanged() {
    let place = place();
    for content in [
        &b""[..],
        b"x",
        b"not a database\n",
        &[0_u8; 4_096],
        &[7_u8; 10_000],
    ] {
        fs::remove_file(&place.path).ok();
        heirloom_fs::durable::write_atomic(&place.path, content).unwrap();
        check_damaged(&place.path);
    }
}

#[test]
fn foreign_database_is_left_unchanged() {
    let place = place();
    let other = rusqlite::Connection::open(&place.path).unwrap();
    other
        .execute_batch("CREATE TABLE theirs (x); PRAGMA user_version = 1")
        .unwrap();
    other.close().unwrap();
    check_damaged(&place.path);
}

#[test]
fn truncated_database_is_damaged() {
    let place = place();
    filled(&place.path);
    let whole = fs::metadata(&place.path).unwrap().len();
    for keep in [whole - 4_096, whole / 2, 4_096, 100] {
        let file = OpenOptions::new().write(true).open(&place.path).unwrap();
        file.set_len(keep).unwrap();
        check_damaged(&place.path);
    }
}

#[test]
fn check_finds_damaged_page() {
    let place = place();
    filled(&place.path);
    let mut bytes = fs::read(&place.path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle..middle + 8_192].fill(0x5a);
    heirloom_fs::durable::write_atomic(&place.path, &bytes).unwrap();
    let found = SqliteStore::open(&place.path).and_then(|store| store.check());
    match found {
        Ok(findings) => assert!(!findings.is_empty()),
        Err(error) => assert!(matches!(error, StoreError::Damaged { .. }), "{error}"),
    }
}

#[test]
fn newer_database_is_refused_unchanged() {
    let place = place();
    filled(&place.path);
    let newer = rusqlite::Connection::open(&place.path).unwrap();
    newer.pragma_update(None, "user_version", 999).unwrap();
    newer.close().unwrap();
    let before = fs::read(&place.path).unwrap();
    let error = SqliteStore::open(&place.path).unwrap_err();
    let known = SqliteStore::memory()
        .unwrap()
        .describe()
        .unwrap()
        .schema_version;
    assert!(
        matches!(&error, StoreError::Newer { found: 999, known: k, .. } if *k == known),
        "{error}"
    );
    assert!(matches!(
        SqliteStore::create(&place.path),
        Err(StoreError::Newer { .. })
    ));
    assert!(fs::read(&place.path).unwrap() == before);
}

#[test]
fn folder_and_link_are_refused() {
    let place = place();
    fs::create_dir(&place.path).unwrap();
    for opened in [
        SqliteStore::open(&place.path),
        SqliteStore::create(&place.path),
    ] {
        assert!(matches!(opened, Err(StoreError::Io { .. })), "{opened:?}");
    }
    let target = place.folder.path().join("elsewhere.db");
    let link = place.folder.path().join("link.db");
    filled(&target);
    symlink(&target, &link).unwrap();
    for opened in [SqliteStore::open(&link), SqliteStore::create(&link)] {
        assert!(
            matches!(&opened, Err(StoreError::Linked { path, .. }) if *path == link),
            "{opened:?}"
        );
    }
    // Even a dangling link is refused: creating its target would write outside.
    fs::remove_file(&target).unwrap();
    assert!(SqliteStore::create(&link).is_err());
    assert!(!target.exists());
}

#[test]
fn link_at_journal_path_is_not_followed() {
    let place = place();
    filled(&place.path);
    let theirs = place.folder.path().join("theirs");
    heirloom_fs::durable::write_atomic(&theirs, b"theirs").unwrap();
    for suffix in ["-wal", "-shm", "-journal"] {
        let link = place.path.with_file_name(format!("heirloom.db{suffix}"));
        for target in ["theirs", "nothing"] {
            symlink(place.folder.path().join(target), &link).unwrap();
            for opened in [
                SqliteStore::open(&place.path),
                SqliteStore::create(&place.path),
            ] {
                assert!(
                    matches!(&opened, Err(StoreError::Linked { path, .. }) if *path == link),
                    "{suffix} to {target}: {opened:?}"
                );
            }
            fs::remove_file(&link).unwrap();
        }
    }
    assert_eq!(fs::read(&theirs).unwrap(), b"theirs");
    assert!(!place.folder.path().join("nothing").exists());
    assert_eq!(count(&SqliteStore::open(&place.path).unwrap()), 500);
}

#[test]
fn folder_can_be_a_link() {
    let place = place();
    let outer = tempfile::tempdir().unwrap();
    let alias = outer.path().join("alias");
    symlink(place.folder.path(), &alias).unwrap();
    filled(&alias.join("heirloom.db"));
    assert_eq!(count(&SqliteStore::open(&place.path).unwrap()), 500);
}

#[test]
fn read_only_database_refuses_writes() {
    let place = place();
    filled(&place.path);
    fs::set_permissions(&place.path, fs::Permissions::from_mode(0o400)).unwrap();
    let is_writable = OpenOptions::new().write(true).open(&place.path).is_ok();
    require!(Prerequisite::OrdinaryUser, (!is_writable).then_some(()));
    let store = SqliteStore::open(&place.path).unwrap();
    assert_eq!(count(&store), 500);
    let refused = store.apply(&project(), &[put("x")]);
    assert!(matches!(refused, Err(StoreError::Io { .. })), "{refused:?}");
}

#[test]
fn special_characters_in_file_names_have_no_effect() {
    let folder = tempfile::tempdir().unwrap();
    for name in [
        "a b.db",
        "it's.db",
        "ü🦀.db",
        "what?mode=ro",
        "x%20y#z",
        "file:x.db",
    ] {
        let path = folder.path().join(name);
        filled(&path);
        assert!(path.is_file());
        assert_eq!(count(&SqliteStore::open(&path).unwrap()), 500);
    }
}

#[test]
fn truncated_log_keeps_synced_writes() {
    let place = place();
    let store = SqliteStore::create(&place.path).unwrap();
    store.apply(&project(), &[put("acknowledged")]).unwrap();
    // Copy the files as a power loss might leave them, with part of another write at the end of the log.
    let copy = place.folder.path().join("copy.db");
    fs::copy(&place.path, &copy).unwrap();
    let journal = place.folder.path().join("copy.db-wal");
    fs::copy(place.folder.path().join("heirloom.db-wal"), &journal).unwrap();
    let mut torn = OpenOptions::new().append(true).open(&journal).unwrap();
    torn.write_all(&[0x5a; 5_000]).unwrap();
    let recovered = SqliteStore::open(&copy).unwrap();
    assert_eq!(count(&recovered), 1);
    assert_eq!(recovered.check().unwrap(), Vec::<String>::new());
}
