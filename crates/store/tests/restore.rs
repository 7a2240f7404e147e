//! Restore from a backup, and repair of a damaged database in its place.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "support/database_rows.rs"]
mod database_rows;
#[path = "support/test_records.rs"]
mod test_records;

use database_rows::{Rows, filled, rows_of};
use heirloom_fs::durable;
use heirloom_model::limits::SALVAGE_BYTES_MAX;
use heirloom_model::{IdSource, Timestamp};
use heirloom_store::{RepairOutcome, SqliteStore, Store, StoreError};
use rusqlite::Connection;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use test_records::{folder, project, put, record};

fn now() -> Timestamp {
    "2026-05-01T10:00:00Z".parse().unwrap()
}

/// Store with 30 records, a backup of it, and five later records.
struct Scene {
    folder: tempfile::TempDir,
    live: PathBuf,
    copy: PathBuf,
    old: Rows,
    new: Rows,
}

fn scene() -> Scene {
    let folder = folder();
    let live = folder.path().join("heirloom.db");
    let copy = folder.path().join("copy.db");
    filled(&live, 30);
    SqliteStore::open(&live).unwrap().backup(&copy).unwrap();
    let old = rows_of(&live);
    write(&live, 5_000, 5);
    let new = rows_of(&live);
    assert_ne!(old, new);
    Scene {
        folder,
        live,
        copy,
        old,
        new,
    }
}

/// Writes new records, if `from` differs from earlier calls.
fn write(live: &Path, from: usize, count: usize) {
    let store = SqliteStore::open(live).unwrap();
    let p = project("github.com/acme/shop");
    let ids = IdSource::default();
    let records = (0..count).map(|n| put(record(&ids, &p, from + n, 50)));
    store.apply(&p, &records.collect::<Vec<_>>()).unwrap();
}

/// Reads the content of every file, by name.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = fs::read_dir(folder).unwrap();
    entries
        .map(|entry| {
            let entry = entry.unwrap();
            let name = entry.file_name().into_string().unwrap();
            (name, fs::read(entry.path()).unwrap())
        })
        .collect()
}

#[track_caller]
fn sound(path: &Path) {
    let store = SqliteStore::open(path).unwrap();
    assert_eq!(store.check().unwrap(), Vec::<String>::new());
}

fn overwrite(path: &Path, from: usize, to: usize) {
    let mut bytes = fs::read(path).unwrap();
    let to = to.min(bytes.len());
    bytes[from..to].fill(0x5a);
    durable::write_atomic(path, &bytes).unwrap();
}

#[test]
fn restore_replaces_content_of_sound_store() {
    let scene = scene();
    let open = SqliteStore::open(&scene.live).unwrap();
    let p = project("github.com/acme/shop");
    let filter = heirloom_store::Filter::current(&[], test_records::at(9_000));
    let before = open.find(&p, &filter).unwrap().len();
    let restored = SqliteStore::restore(&scene.live, &scene.copy, now()).unwrap();
    assert!(!restored.was_damaged);
    assert_eq!(rows_of(&scene.live), scene.old);
    assert_eq!(restored.rows["records"], scene.old["records"].len() as u64);
    // An open store sees the restored content and can write.
    assert!(open.find(&p, &filter).unwrap().len() < before);
    let ids = IdSource::default();
    open.apply(&p, &[put(record(&ids, &p, 7_777, 30))]).unwrap();
    let rows = rows_of(&scene.live);
    assert!(rows["records"].iter().any(|row| row.contains("#7777#")));
    // The previous state is retained and can be restored.
    let previous = restored.previous.unwrap();
    assert_eq!(
        previous,
        scene
            .folder
            .path()
            .join("heirloom.db.before-restore-20260501T100000Z")
    );
    assert_eq!(rows_of(&previous), scene.new);
    SqliteStore::restore(&scene.live, &previous, now()).unwrap();
    assert_eq!(rows_of(&scene.live), scene.new);
    sound(&scene.live);
}

#[test]
fn concurrent_write_is_in_backup_or_restored_store() {
    let scene = scene();
    let p = project("meanwhile");
    let written = std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            let store = SqliteStore::open(&scene.live).unwrap();
            let ids = IdSource::default();
            for n in 0..200 {
                store
                    .apply(&p, &[put(record(&ids, &p, 20_000 + n, 20))])
                    .unwrap();
            }
        });
        let restored = SqliteStore::restore(&scene.live, &scene.copy, now()).unwrap();
        writer.join().unwrap();
        restored.previous.unwrap()
    });
    let retained = rows_of(&written);
    let live = rows_of(&scene.live);
    for n in 0..200 {
        let mark = format!("#{}#", 20_000 + n);
        let count = [&retained, &live]
            .iter()
            .filter(|rows| rows["records"].iter().any(|row| row.contains(&mark)))
            .count();
        assert_eq!(count, 1, "{mark}");
    }
    sound(&scene.live);
}

#[test]
fn restore_retains_damaged_store() {
    for damage in ["garbage", "empty", "missing", "journal only"] {
        let scene = scene();
        let before = match damage {
            "garbage" => {
                overwrite(&scene.live, 0, 5_000);
                Some(fs::read(&scene.live).unwrap())
            }
            "empty" => {
                durable::write_atomic(&scene.live, b"").unwrap();
                Some(Vec::new())
            }
            _ => {
                durable::remove_if_exists(&scene.live).unwrap();
                None
            }
        };
        let journal = scene.folder.path().join("heirloom.db-wal");
        if damage == "journal only" {
            durable::write_atomic(&journal, b"something").unwrap();
        }
        let restored = SqliteStore::restore(&scene.live, &scene.copy, now()).unwrap();
        assert_eq!(rows_of(&scene.live), scene.old, "{damage}");
        sound(&scene.live);
        let aside = scene
            .folder
            .path()
            .join("heirloom.db.damaged-20260501T100000Z");
        assert_eq!(restored.was_damaged, before.is_some(), "{damage}");
        assert_eq!(fs::read(&aside).ok(), before, "{damage}");
        let retained = scene
            .folder
            .path()
            .join("heirloom.db.damaged-20260501T100000Z-wal");
        assert_eq!(retained.exists(), damage == "journal only");
    }
}

#[test]
fn invalid_backup_changes_nothing() {
    let scene = scene();
    let damaged = scene.folder.path().join("damaged.db");
    fs::copy(&scene.copy, &damaged).unwrap();
    overwrite(&damaged, 9_000, 60_000);
    let newer = scene.folder.path().join("newer.db");
    fs::copy(&scene.copy, &newer).unwrap();
    let connection = Connection::open(&newer).unwrap();
    connection.pragma_update(None, "user_version", 99).unwrap();
    drop(connection);
    let foreign = scene.folder.path().join("foreign.db");
    Connection::open(&foreign)
        .unwrap()
        .execute_batch("CREATE TABLE t (x)")
        .unwrap();
    let before = files(scene.folder.path());
    for from in [&damaged, &foreign] {
        match SqliteStore::restore(&scene.live, from, now()) {
            Err(StoreError::Damaged { path, .. }) => assert_eq!(path, *from),
            other => panic!("{other:?}"),
        }
    }
    let error = SqliteStore::restore(&scene.live, &newer, now()).unwrap_err();
    let said = error.to_string();
    assert!(said.contains("newer.db") && said.contains("99"), "{said}");
    let missing = scene.folder.path().join("missing.db");
    assert!(matches!(
        SqliteStore::restore(&scene.live, &missing, now()),
        Err(StoreError::Missing(path)) if path == missing
    ));
    let hard = scene.folder.path().join("hard.db");
    fs::hard_link(&scene.live, &hard).unwrap();
    for own in [&scene.live, &hard] {
        let refused = SqliteStore::restore(&scene.live, own, now());
        assert!(
            matches!(refused, Err(StoreError::Refused(_))),
            "{refused:?}"
        );
    }
    fs::remove_file(&hard).unwrap();
    assert_eq!(files(scene.folder.path()), before);
}

#[test]
fn restore_reads_log_of_backup() {
    let scene = scene();
    let other = folder();
    let from = other.path().join("heirloom.db");
    filled(&from, 12);
    let writer = SqliteStore::open(&from).unwrap();
    write(&from, 5_000, 3);
    assert!(other.path().join("heirloom.db-wal").exists());
    SqliteStore::restore(&scene.live, &from, now()).unwrap();
    assert_eq!(rows_of(&scene.live), rows_of(&from));
    drop(writer);
}

#[test]
fn sound_store_needs_no_repair() {
    let scene = scene();
    let before = files(scene.folder.path());
    let repaired = SqliteStore::repair(&scene.live, None, now()).unwrap();
    assert_eq!(repaired, RepairOutcome::Sound);
    assert_eq!(files(scene.folder.path()), before);
    let missing = scene.folder.path().join("missing.db");
    assert!(matches!(
        SqliteStore::repair(&missing, None, now()),
        Err(StoreError::Missing(_))
    ));
}

#[test]
fn repair_rebuilds_broken_index() {
    let scene = scene();
    let connection = Connection::open(&scene.live).unwrap();
    // Rows that are missing in an index, which is disabled while they are changed.
    connection
        .execute_batch(
            "PRAGMA writable_schema = ON;
             UPDATE sqlite_schema SET sql = replace(sql, 'retired_at IS NULL', 'retired_at IS NOT NULL')
               WHERE name = 'current_by_kind';
             PRAGMA writable_schema = RESET;",
        )
        .unwrap();
    drop(connection);
    let examination = SqliteStore::check_offline(&scene.live).unwrap();
    assert!(examination.is_index_damage_only, "{examination:?}");
    assert!(!examination.is_sound());
    let repaired = SqliteStore::repair(&scene.live, None, now()).unwrap();
    assert_eq!(repaired, RepairOutcome::Reindexed);
    assert_eq!(rows_of(&scene.live), scene.new);
    sound(&scene.live);
}

#[test]
fn offline_check_changes_nothing() {
    let scene = scene();
    overwrite(&scene.live, 9_000, 20_000);
    let journal = scene.folder.path().join("heirloom.db-wal");
    durable::write_atomic(&journal, b"no journal").unwrap();
    let before = files(scene.folder.path());
    let found = SqliteStore::check_offline(&scene.live);
    assert!(
        !found
            .as_ref()
            .is_ok_and(heirloom_store::OfflineCheckReport::is_sound)
    );
    let after = files(scene.folder.path());
    for (name, content) in &before {
        assert!(after[name] == *content, "{name} was changed");
    }
}

#[test]
fn repair_salvages_rows_and_retains_damaged_database() {
    for (from, to) in [(0, 100), (0, 4_096), (20_000, 30_000)] {
        let scene = scene();
        overwrite(&scene.live, from, to);
        let damaged = fs::read(&scene.live).unwrap();
        let RepairOutcome::Recovered { retained, salvaged } =
            SqliteStore::repair(&scene.live, None, now()).unwrap()
        else {
            panic!("{from}");
        };
        assert_eq!(fs::read(&retained[0]).unwrap(), damaged);
        assert!(retained[0].ends_with("heirloom.db.damaged-20260501T100000Z"));
        sound(&scene.live);
        assert_eq!(
            salvaged.rows_of("records"),
            rows_of(&scene.live)["records"].len() as u64
        );
        assert!(salvaged.rows_of("records") > 0);
        if to <= 4_096 {
            assert_eq!(rows_of(&scene.live), scene.new);
        }
    }
}

#[test]
fn repair_salvages_rows_of_log() {
    let scene = scene();
    let writer = SqliteStore::open(&scene.live).unwrap();
    write(&scene.live, 6_000, 4);
    let all = rows_of(&scene.live);
    // As after a kill: the copied files include a log that was not checkpointed.
    let there = folder();
    let live = there.path().join("heirloom.db");
    fs::copy(&scene.live, &live).unwrap();
    fs::copy(
        scene.folder.path().join("heirloom.db-wal"),
        there.path().join("heirloom.db-wal"),
    )
    .unwrap();
    drop(writer);
    // Pages without a newer version in the log.
    overwrite(&live, 4_096 * 20, 4_096 * 24);
    let log = fs::read(there.path().join("heirloom.db-wal")).unwrap();
    assert!(log.len() > 4_096, "the journal has {} bytes", log.len());
    let repaired = SqliteStore::repair(&live, None, now()).unwrap();
    let RepairOutcome::Recovered { retained, .. } = repaired else {
        panic!("{repaired:?}");
    };
    assert!(
        retained.iter().any(|path| fs::read(path).unwrap() == log),
        "{retained:?}"
    );
    let rows = rows_of(&live);
    assert!(rows["records"].len() + 20 > all["records"].len());
    sound(&live);
    assert!(!there.path().join("heirloom.db-wal").exists());
}

#[test]
fn unreadable_database_is_not_replaced() {
    let root = folder();
    let live = root.path().join("heirloom.db");
    durable::write_atomic(&live, &[0_u8; 40_000]).unwrap();
    let before = files(root.path());
    assert!(matches!(
        SqliteStore::repair(&live, None, now()),
        Err(StoreError::Damaged { .. })
    ));
    assert_eq!(files(root.path()), before);
}

/// Returns the sizes of the files in a folder.
fn sizes(folder: &Path) -> BTreeMap<PathBuf, u64> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
    entries
        .map(|entry| (entry.path(), entry.metadata().unwrap().len()))
        .collect()
}

#[test]
fn oversized_database_is_reported_and_left() {
    let over = SALVAGE_BYTES_MAX + 1;
    for name in ["heirloom.db", "heirloom.db-wal"] {
        let scene = scene();
        overwrite(&scene.live, 20_000, 30_000);
        let large = scene.folder.path().join(name);
        // A sparse file, which takes no disk space.
        let mut file = fs::OpenOptions::new();
        let file = file.create(true).truncate(false).write(true).open(&large);
        file.unwrap().set_len(over).unwrap();
        let before = sizes(scene.folder.path());
        let refused = SqliteStore::repair(&scene.live, None, now()).unwrap_err();
        let StoreError::Invalid(said) = &refused else {
            panic!("{refused:?}");
        };
        assert!(
            said.starts_with(&format!("{} has {over} bytes", large.display()))
                && said.contains(&SALVAGE_BYTES_MAX.to_string()),
            "{said}"
        );
        let after = sizes(scene.folder.path());
        for (path, size) in &before {
            assert_eq!(after.get(path), Some(size), "{}", path.display());
        }
        // A restore still works, because it does not read the oversized file.
        let restored = SqliteStore::restore(&scene.live, &scene.copy, now()).unwrap();
        assert!(restored.was_damaged && restored.previous.unwrap().exists());
        assert_eq!(rows_of(&scene.live), scene.old);
    }
}

#[test]
fn store_of_replaced_file_refuses_writes() {
    let scene = scene();
    let open = SqliteStore::open(&scene.live).unwrap();
    // Replace the file as a repair does: another file under the same name.
    fs::copy(&scene.copy, scene.folder.path().join("fresh")).unwrap();
    fs::rename(scene.folder.path().join("fresh"), &scene.live).unwrap();
    let p = project("p");
    let ids = IdSource::default();
    let refused = open.apply(&p, &[put(record(&ids, &p, 1, 10))]);
    assert!(
        matches!(refused, Err(StoreError::Replaced(_))),
        "{refused:?}"
    );
}

/// Helper process of the test below: repairs the store in the current folder until it is killed.
#[test]
#[ignore = "started by the test below, as another process"]
fn repair_until_killed() {
    drop(SqliteStore::repair(Path::new("heirloom.db"), None, now()));
}

#[test]
fn killed_repair_leaves_old_or_new_database() {
    let scene = scene();
    let writer = SqliteStore::open(&scene.live).unwrap();
    write(&scene.live, 6_000, 4);
    let main = fs::read(&scene.live).unwrap();
    let log = fs::read(scene.folder.path().join("heirloom.db-wal")).unwrap();
    drop(writer);
    let (wanted, _) = SqliteStore::salvage(&damaged(&main), &log, None).unwrap();
    let check = folder();
    wanted.backup(&check.path().join("wanted.db")).unwrap();
    let wanted = rows_of(&check.path().join("wanted.db"));
    for delay_us in (0..40).map(|n| n * 1_500) {
        let there = folder();
        let live = there.path().join("heirloom.db");
        durable::write_atomic(&live, &damaged(&main)).unwrap();
        durable::write_atomic(&there.path().join("heirloom.db-wal"), &log).unwrap();
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "repair_until_killed", "--ignored"])
            .current_dir(there.path())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(std::time::Duration::from_micros(delay_us));
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(live.exists(), "after {delay_us} µs");
        // A later repair gives the same rows in both cases.
        SqliteStore::repair(&live, None, now()).unwrap();
        assert_eq!(rows_of(&live), wanted, "after {delay_us} µs");
        sound(&live);
    }
}

/// Damages one leaf and one inner page of the records.
fn damaged(main: &[u8]) -> Vec<u8> {
    let mut bytes = main.to_vec();
    bytes[4_096 * 6..4_096 * 7].fill(0x77);
    bytes
}
