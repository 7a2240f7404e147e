//! What makes a process of one command faster: a copy of vectors beside the database, which never changes an answer, and a
//! journal that is left to others.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
#![expect(
    clippy::disallowed_methods,
    reason = "a copy that is wrong is written by hand"
)]

#[expect(dead_code, reason = "other tests fill more")]
#[path = "support/fill.rs"]
mod fill;

use fill::{at, folder, project, put, record};
use heirloom_index::words::Question;
use heirloom_model::limits::{CHANGES_MAX, VECTORS_BESIDE_LAG, VECTORS_BESIDE_MAX};
use heirloom_model::{IdSource, ProjectName, Timestamp};
use heirloom_store::{Filter, Found, Search, Selection, SqliteStore, Store};
use std::os::unix::fs::{FileExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// Enough that a look at the vectors takes a thread of its own.
const MANY: usize = 9_000;

fn now() -> Timestamp {
    at(200_000)
}

fn shop() -> ProjectName {
    project("github.com/acme/shop")
}

fn fill(store: &SqliteStore, ids: &IdSource, from: usize, count: usize) {
    let p = shop();
    let records: Vec<_> = (from..from + count)
        .map(|n| put(record(ids, &p, n, 40)))
        .collect();
    for part in records.chunks(CHANGES_MAX) {
        store.apply(&p, part).unwrap();
    }
}

/// What a process says that starts now.
fn ask(path: &Path) -> Found {
    let question = "what is 4711 and 17";
    let search = Search {
        words: Some(Question::of(question)),
        meaning: Some(question.to_owned()),
        vector: None,
        filter: Filter::current(&[], now()),
        each: 20,
    };
    let store = SqliteStore::open(path).unwrap();
    store.search(&shop(), &search).unwrap()
}

fn copy_of(path: &Path) -> PathBuf {
    PathBuf::from(format!("{}-vectors-1", path.display()))
}

/// The answer without any copy.
fn plain(path: &Path) -> Found {
    let aside = copy_of(path).with_extension("aside");
    let has_copy = std::fs::rename(copy_of(path), &aside).is_ok();
    let found = ask(path);
    if has_copy {
        std::fs::rename(aside, copy_of(path)).unwrap();
    }
    found
}

#[test]
fn a_copy_is_written_by_who_read_much_and_used_by_the_next() {
    let folder = folder();
    let path = folder.path().join("heirloom.db");
    let store = SqliteStore::create(&path).unwrap();
    let ids = IdSource::default();
    let lag = VECTORS_BESIDE_LAG as usize;
    fill(&store, &ids, 0, lag - 1);
    ask(&path);
    assert!(
        !copy_of(&path).exists(),
        "so few are read from the database"
    );
    fill(&store, &ids, lag - 1, MANY - lag + 1);
    let first = ask(&path);
    let copy = copy_of(&path).metadata().unwrap();
    assert_eq!(copy.permissions().mode() & 0o777, 0o600);
    assert!(u64::from(VECTORS_BESIDE_MAX) * 260 > copy.len());
    assert_eq!(ask(&path), first);
    // What came later is read from the database, until it is much.
    fill(&store, &ids, MANY, 700);
    let later = ask(&path);
    assert_eq!(copy_of(&path).metadata().unwrap().len(), copy.len());
    assert_eq!(later, plain(&path));
    fill(&store, &ids, MANY + 700, lag);
    assert_eq!(ask(&path), plain(&path));
    assert!(copy_of(&path).metadata().unwrap().len() > copy.len());
    assert_eq!(store.check().unwrap(), Vec::<String>::new());
}

#[test]
fn a_copy_that_is_not_right_is_not_believed() {
    let folder = folder();
    let path = folder.path().join("heirloom.db");
    let ids = IdSource::default();
    fill(&SqliteStore::create(&path).unwrap(), &ids, 0, MANY);
    let right = ask(&path);
    let copy = copy_of(&path);
    let bytes = std::fs::read(&copy).unwrap();
    for at in [0, 9, 17, 24, 30, 43] {
        let mut wrong = bytes.clone();
        wrong[at] ^= 0x40;
        std::fs::write(&copy, wrong).unwrap();
        assert_eq!(ask(&path), right, "byte {at} of the header");
    }
    for len in [0, 20, 44, bytes.len() - 1] {
        std::fs::write(&copy, &bytes[..len]).unwrap();
        assert_eq!(ask(&path), right, "cut to {len}");
        assert_eq!(std::fs::read(&copy).unwrap(), bytes, "and written anew");
    }
    std::fs::remove_file(&copy).unwrap();
    std::os::unix::fs::symlink("/dev/zero", &copy).unwrap();
    assert_eq!(ask(&path), right);
    // What passes for right is found by whoever looks, and mended.
    std::fs::write(&copy, &bytes).unwrap();
    let file = std::fs::OpenOptions::new().write(true).open(&copy).unwrap();
    file.write_all_at(&[7; 260], 44 + 260 * 500).unwrap();
    let found = SqliteStore::open(&path).unwrap().check().unwrap();
    assert!(
        found.iter().any(|one| one.contains("-vectors-1")),
        "{found:?}"
    );
    SqliteStore::repair(&path, None, now()).unwrap();
    let found = SqliteStore::open(&path).unwrap().check().unwrap();
    assert_eq!(found, Vec::<String>::new());
    assert_eq!(ask(&path), right);
}

#[test]
fn another_content_has_another_copy() {
    let folder = folder();
    let (path, saved) = (
        folder.path().join("heirloom.db"),
        folder.path().join("saved.db"),
    );
    let ids = IdSource::default();
    let store = SqliteStore::create(&path).unwrap();
    fill(&store, &ids, 0, 5_000);
    store.backup(&saved).unwrap();
    fill(&store, &ids, 5_000, 4_000);
    ask(&path);
    let kept = std::fs::read(copy_of(&path)).unwrap();
    drop(store);
    SqliteStore::restore(&path, &saved, now()).unwrap();
    assert!(!copy_of(&path).exists());
    // As many as before, and others; and somebody put the old copy back.
    fill(&SqliteStore::open(&path).unwrap(), &ids, 20_000, 4_000);
    std::fs::write(copy_of(&path), kept).unwrap();
    assert_eq!(ask(&path), plain(&path));
}

#[test]
fn what_is_purged_is_in_no_copy() {
    let folder = folder();
    let path = folder.path().join("heirloom.db");
    let ids = IdSource::default();
    let store = SqliteStore::create(&path).unwrap();
    fill(&store, &ids, 0, MANY);
    let doomed = ask(&path).hits[0].id;
    assert!(copy_of(&path).exists());
    let selection = Selection::Records(vec![doomed]);
    store.purge(&shop(), &selection, now(), "test").unwrap();
    assert!(!copy_of(&path).exists());
    assert_eq!(ask(&path), plain(&path));
}

#[test]
fn whoever_is_waited_for_leaves_a_short_journal_to_others() {
    let root = folder();
    let path = root.path().join("heirloom.db");
    let ids = IdSource::default();
    let p = shop();
    drop(SqliteStore::create(&path).unwrap());
    let journal = root.path().join("heirloom.db-wal");
    let store = SqliteStore::open(&path).unwrap().leaving_short_journal();
    store.apply(&p, &[put(record(&ids, &p, 1, 50))]).unwrap();
    drop(store);
    assert!(journal.metadata().unwrap().len() > 0);
    // The next one reads it, and one that waits for nobody carries it over.
    let store = SqliteStore::open(&path).unwrap();
    assert_eq!(
        store
            .find(&p, &Filter::current(&[], at(9_999)))
            .unwrap()
            .len(),
        1
    );
    store.apply(&p, &[put(record(&ids, &p, 2, 50))]).unwrap();
    drop(store);
    assert!(!journal.exists());
    // A long one is carried over by whoever made it.
    let store = SqliteStore::open(&path).unwrap().leaving_short_journal();
    let many: Vec<_> = (3..900).map(|n| put(record(&ids, &p, n, 2_000))).collect();
    store.apply(&p, &many).unwrap();
    drop(store);
    assert!(!journal.exists());
}
