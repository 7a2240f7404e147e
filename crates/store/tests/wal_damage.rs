//! Damage of the write-ahead log: detected before SQLite drops acknowledged transactions, and repaired.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "support/database_rows.rs"]
mod database_rows;
#[path = "support/test_records.rs"]
mod test_records;

use database_rows::{Rows, filled, rows_of};
use heirloom_fs::durable;
use heirloom_model::{IdSource, Timestamp};
use heirloom_store::{RepairOutcome, SalvageReport, SqliteStore, Store, StoreError};
use rusqlite::Connection;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use test_records::{folder, project, put, record};

const HEADER: usize = 32;
const FRAME: usize = 24 + 4_096;
const WRITTEN: usize = 24;
/// Maximum number of these records on one page.
const ON_A_PAGE: usize = 14;

fn now() -> Timestamp {
    "2026-05-01T10:00:00Z".parse().unwrap()
}

/// Files of a store whose process was killed after acknowledged writes, and its rows.
struct Killed {
    main: Vec<u8>,
    log: Vec<u8>,
    shared: Vec<u8>,
    rows: Rows,
}

impl Killed {
    /// Counts the records that are missing in `rows`, which must have no others.
    #[track_caller]
    fn lost_in(&self, rows: &Rows, why: &str) -> usize {
        let (all, found) = (&self.rows["records"], &rows["records"]);
        if let Some(made_up) = found.difference(all).next() {
            panic!("{why}: unexpected row {made_up:.300}");
        }
        all.len() - found.len()
    }
}

fn killed() -> &'static Killed {
    static KILLED: OnceLock<Killed> = OnceLock::new();
    KILLED.get_or_init(|| {
        let folder = folder();
        let live = folder.path().join("heirloom.db");
        let store = SqliteStore::create(&live).unwrap();
        write(&store, 8_000, 12);
        drop(store);
        let store = SqliteStore::open(&live).unwrap();
        write(&store, 9_000, WRITTEN);
        let read = |end: &str| fs::read(folder.path().join(format!("heirloom.db{end}"))).unwrap();
        let found = Killed {
            main: read(""),
            log: read("-wal"),
            shared: read("-shm"),
            rows: rows_of(&live),
        };
        drop(store);
        found
    })
}

fn write(store: &SqliteStore, from: usize, count: usize) {
    let shop = project("github.com/acme/shop");
    let ids = IdSource::default();
    for number in from..from + count {
        let record = record(&ids, &shop, number, 300);
        store.apply(&shop, &[put(record)]).unwrap();
    }
}

/// Folder with these files.
struct Scene {
    folder: tempfile::TempDir,
    live: PathBuf,
}

impl Scene {
    fn of(main: &[u8], log: &[u8], shared: Option<&[u8]>) -> Self {
        let folder = folder();
        let live = folder.path().join("heirloom.db");
        durable::write_atomic(&live, main).unwrap();
        let scene = Self { folder, live };
        durable::write_atomic(&scene.part("-wal"), log).unwrap();
        if let Some(shared) = shared {
            durable::write_atomic(&scene.part("-shm"), shared).unwrap();
        }
        scene
    }

    fn part(&self, end: &str) -> PathBuf {
        self.folder.path().join(format!("heirloom.db{end}"))
    }

    /// Checks that opening the store fails and changes nothing; returns the error.
    #[track_caller]
    fn assert_refused(&self, why: &str) -> String {
        let before = (
            fs::read(&self.live).unwrap(),
            fs::read(self.part("-wal")).unwrap(),
        );
        let mut found_problem = String::new();
        // Repeatedly: the evidence of the damage must survive a check.
        for _ in 0..2 {
            let opened = SqliteStore::open(&self.live).map(drop);
            let Err(StoreError::Damaged { problem, .. }) = opened else {
                panic!("{why}: opened: {opened:?}");
            };
            let examined = SqliteStore::check_offline(&self.live);
            assert!(
                matches!(examined, Err(StoreError::Damaged { .. })),
                "{why}: {examined:?}"
            );
            found_problem = problem;
        }
        let after = (
            fs::read(&self.live).unwrap(),
            fs::read(self.part("-wal")).unwrap(),
        );
        assert!(before == after, "{why}: the check changed the files");
        found_problem
    }

    /// Repairs the store and checks that the damaged files are retained.
    #[track_caller]
    fn assert_repaired(&self, why: &str) -> (Rows, SalvageReport) {
        let log = fs::read(self.part("-wal")).unwrap();
        let main = fs::read(&self.live).unwrap();
        let outcome = SqliteStore::repair(&self.live, None, now()).unwrap();
        let RepairOutcome::Recovered { retained, salvaged } = outcome else {
            panic!("{why}: {outcome:?}");
        };
        let is_retained =
            |bytes: &[u8]| retained.iter().any(|path| fs::read(path).unwrap() == bytes);
        assert!(
            is_retained(&log) && is_retained(&main),
            "{why}: {retained:?}"
        );
        let store = SqliteStore::open(&self.live).unwrap();
        assert_eq!(store.check().unwrap(), Vec::<String>::new(), "{why}");
        drop(store);
        (rows_of(&self.live), salvaged)
    }
}

fn flipped(log: &[u8], byte: usize, bit: u8) -> Vec<u8> {
    let mut log = log.to_vec();
    log[byte] ^= 1 << bit;
    log
}

fn frames(log: &[u8]) -> usize {
    (log.len() - HEADER) / FRAME
}

/// Returns offsets in the log: header, frame headers and pages, at the beginning, in the middle and at the end.
fn places(log: &[u8]) -> Vec<usize> {
    let last = frames(log) - 1;
    let mut places = vec![0, 9, 17, 25];
    for frame in [0, last / 2, last] {
        let start = HEADER + frame * FRAME;
        // Page number, commit size, both salts, both sums, content.
        places.extend([3, 7, 14, 17, 23, 2_000, FRAME - 1].map(|at| start + at));
    }
    places
}

#[test]
fn flipped_bit_in_log_is_refused_and_repaired() {
    let killed = killed();
    let mut whole = 0;
    for (number, byte) in places(&killed.log).into_iter().enumerate() {
        let bit = (number % 8) as u8;
        let why = format!("byte {byte} of {}, bit {bit}", killed.log.len());
        let log = flipped(&killed.log, byte, bit);
        let scene = Scene::of(&killed.main, &log, Some(&killed.shared));
        let found_problem = scene.assert_refused(&why);
        assert!(
            found_problem.contains("heirloom.db-wal is damaged: from byte "),
            "{found_problem}"
        );
        if !number.is_multiple_of(3) {
            continue;
        }
        let (rows, salvaged) = scene.assert_repaired(&why);
        let lost = killed.lost_in(&rows, &why);
        // Some bits of a page cannot be distinguished by the checksum.
        match salvaged.journal_pages_bad {
            0 => assert_eq!(lost, 0, "{why}"),
            1 => assert!(lost <= ON_A_PAGE, "{why}: {lost} records are lost"),
            more => panic!("{why}: {more} frames are lost"),
        }
        whole += usize::from(lost == 0);
    }
    assert!(whole > 4, "{whole}");
}

#[test]
fn flipped_bit_is_detected_without_wal_index() {
    let killed = killed();
    for (number, byte) in places(&killed.log).into_iter().enumerate() {
        let why = format!("byte {byte} of {}", killed.log.len());
        let log = flipped(&killed.log, byte, 2);
        let scene = Scene::of(&killed.main, &log, None);
        scene.assert_refused(&why);
        if !number.is_multiple_of(5) {
            continue;
        }
        let (rows, _) = scene.assert_repaired(&why);
        let lost = killed.lost_in(&rows, &why);
        assert!(lost <= ON_A_PAGE, "{why}: {lost} records are lost");
    }
}

/// Returns the log with a frame whose content is lost.
fn without_content(log: &[u8], frame: usize) -> Vec<u8> {
    let mut log = log.to_vec();
    let start = HEADER + frame * FRAME;
    log[start + 24..start + FRAME].fill(0x5a);
    log
}

#[test]
fn lost_frame_affects_only_its_page() {
    let killed = killed();
    let mut lost_pages = 0;
    for frame in (0..frames(&killed.log)).step_by(21) {
        let why = format!("frame {frame}");
        let log = without_content(&killed.log, frame);
        let scene = Scene::of(&killed.main, &log, Some(&killed.shared));
        let found_problem = scene.assert_refused(&why);
        let at = HEADER + frame * FRAME;
        assert!(
            found_problem.contains(&format!("from byte {at} on ")),
            "{found_problem}"
        );
        let (rows, salvaged) = scene.assert_repaired(&why);
        assert_eq!(salvaged.journal_pages_bad, 1, "{why}");
        let lost = killed.lost_in(&rows, &why);
        assert!(lost <= ON_A_PAGE, "{why}: {lost} records are lost");
        assert!(
            lost == 0 || !salvaged.journal_pages_lost.is_empty(),
            "{why}: {salvaged:?}"
        );
        lost_pages += salvaged.journal_pages_lost.len();
    }
    assert!(lost_pages > 0);
}

#[test]
fn torn_last_transaction_is_reported_but_not_damage() {
    let killed = killed();
    let last_commit = |log: &[u8]| {
        let is_commit = |frame: &usize| {
            let at = HEADER + frame * FRAME + 4;
            log[at..at + 4] != [0; 4]
        };
        (0..frames(log) - 1).rfind(is_commit).unwrap() + 1
    };
    let log = without_content(&killed.log, last_commit(&killed.log));
    // As after a power failure: the shared memory is lost.
    let scene = Scene::of(&killed.main, &log, None);
    let torn = SqliteStore::check_offline(&scene.live)
        .unwrap()
        .incomplete_transaction
        .unwrap();
    assert!(torn.contains("was not acknowledged"), "{torn}");
    let store = SqliteStore::open(&scene.live).unwrap();
    write(&store, 20_000, 1);
    drop(store);
    assert_eq!(
        SqliteStore::check_offline(&scene.live)
            .unwrap()
            .incomplete_transaction,
        None
    );
    assert_eq!(
        rows_of(&scene.live)["records"].len(),
        killed.rows["records"].len()
    );
    // With the WAL index it is known that the transaction was acknowledged.
    let scene = Scene::of(&killed.main, &log, Some(&killed.shared));
    let found_problem = scene.assert_refused("the last transaction");
    assert!(
        found_problem.contains(" 1 acknowledged transactions in "),
        "{found_problem}"
    );
}

#[test]
fn sound_log_of_killed_process_is_recovered() {
    let killed = killed();
    for shared in [Some(killed.shared.as_slice()), None] {
        let scene = Scene::of(&killed.main, &killed.log, shared);
        let found = SqliteStore::check_offline(&scene.live).unwrap();
        assert!(
            found.is_sound() && found.incomplete_transaction.is_none(),
            "{found:?}"
        );
        drop(SqliteStore::open(&scene.live).unwrap());
        assert!(rows_of(&scene.live) == killed.rows);
    }
}

/// Copies the current files and opens them as after a kill.
#[track_caller]
fn is_sound_if_killed_now(live: &Path, why: &str) {
    let part = |end: &str| {
        let path = PathBuf::from(format!("{}{end}", live.display()));
        fs::read(path).unwrap_or_default()
    };
    let (main, log, shared) = (part(""), part("-wal"), part("-shm"));
    for shared in [Some(shared.as_slice()), None] {
        let scene = Scene::of(&main, &log, shared);
        let found = SqliteStore::check_offline(&scene.live).unwrap();
        assert!(
            found.is_sound() && found.incomplete_transaction.is_none(),
            "{why}: {found:?}"
        );
        assert!(rows_of(&scene.live) == rows_of(live), "{why}");
    }
}

#[test]
fn restarted_log_and_unfinished_transaction_are_sound() {
    let folder = folder();
    let live = folder.path().join("heirloom.db");
    filled(&live, 60);
    let store = SqliteStore::open(&live).unwrap();
    write(&store, 1_000, 60);
    let other = Connection::open(&live).unwrap();
    // From here on the log is restarted and overwrites frames of the previous generation.
    let carried: (i64, i64, i64) = other
        .query_row("PRAGMA wal_checkpoint(FULL)", [], |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?))
        })
        .unwrap();
    assert_eq!((carried.0, carried.1), (0, carried.2));
    is_sound_if_killed_now(&live, "carried over");
    write(&store, 2_000, 3);
    is_sound_if_killed_now(&live, "begun again");
    other
        .execute_batch(
            "PRAGMA cache_size = 2; PRAGMA cache_spill = 1; BEGIN; \
             UPDATE messages SET text = text || 'x';",
        )
        .unwrap();
    is_sound_if_killed_now(&live, "inside a transaction");
    other.execute_batch("ROLLBACK").unwrap();
    write(&store, 3_000, 1);
    is_sound_if_killed_now(&live, "after a transaction that was rolled back");
}

#[test]
fn offline_check_finds_damage_under_open_store() {
    let folder = folder();
    let live = folder.path().join("heirloom.db");
    filled(&live, 60);
    let store = SqliteStore::open(&live).unwrap();
    write(&store, 1_000, 20);
    let path = folder.path().join("heirloom.db-wal");
    let log = fs::read(&path).unwrap();
    let file = fs::File::options().write(true).open(&path).unwrap();
    let byte = HEADER + 10 * FRAME + 500;
    std::os::unix::fs::FileExt::write_all_at(&file, &[log[byte] ^ 1], byte as u64).unwrap();
    let examined = SqliteStore::check_offline(&live);
    assert!(
        matches!(&examined, Err(StoreError::Damaged { problem, .. }) if problem.contains("is damaged: from byte")),
        "{examined:?}"
    );
    drop(store);
}
