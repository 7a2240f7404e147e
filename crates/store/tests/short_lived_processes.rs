//! Optimisations of short-lived processes: the vector sidecar, which never changes a result, and a write-ahead log
//! that is left for later processes.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
#![expect(
    clippy::disallowed_methods,
    reason = "a copy that is wrong is written by hand"
)]

#[expect(dead_code, reason = "other tests fill more")]
#[path = "support/test_records.rs"]
mod test_records;

use heirloom_model::limits::{CHANGES_MAX, SIDECAR_LAG_VECTORS, SIDECAR_VECTORS_MAX};
use heirloom_model::{IdSource, ProjectName, Timestamp};
use heirloom_search::index::tokenizer::QueryTerms;
use heirloom_store::{Filter, Lane, PurgeTarget, SearchQuery, SearchResults, SqliteStore, Store};
use std::os::unix::fs::{FileExt, PermissionsExt};
use std::path::{Path, PathBuf};
use test_records::{at, folder, project, put, record};

/// Enough vectors for a second scan thread.
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

/// Searches in a new store.
fn ask(path: &Path) -> SearchResults {
    let query = "what is 4711 and 17";
    let search = SearchQuery {
        words: Some(QueryTerms::of(query)),
        semantic_text: Some(query.to_owned()),
        vector: None,
        sentence: None,
        filter: Filter::current(&[], now()),
        lane: Lane::Memory,
        key_filters: Vec::new(),
        limit_per_arm: 20,
    };
    let store = SqliteStore::open(path).unwrap();
    store.search(&shop(), &search).unwrap()
}

fn sidecar_path(path: &Path) -> PathBuf {
    PathBuf::from(format!("{}-vectors-1-0", path.display()))
}

/// Searches without a sidecar.
fn search_without_sidecar(path: &Path) -> SearchResults {
    let aside = sidecar_path(path).with_extension("aside");
    let has_copy = std::fs::rename(sidecar_path(path), &aside).is_ok();
    let found = ask(path);
    if has_copy {
        std::fs::rename(aside, sidecar_path(path)).unwrap();
    }
    found
}

#[test]
fn sidecar_is_written_after_large_read_and_used_by_next_process() {
    let folder = folder();
    let path = folder.path().join("heirloom.db");
    let store = SqliteStore::create(&path).unwrap();
    let ids = IdSource::default();
    let lag = SIDECAR_LAG_VECTORS as usize;
    fill(&store, &ids, 0, lag - 1);
    ask(&path);
    assert!(
        !sidecar_path(&path).exists(),
        "so few are read from the database"
    );
    fill(&store, &ids, lag - 1, MANY - lag + 1);
    let first = ask(&path);
    let copy = sidecar_path(&path).metadata().unwrap();
    assert_eq!(copy.permissions().mode() & 0o777, 0o600);
    assert!(u64::from(SIDECAR_VECTORS_MAX) * 260 > copy.len());
    assert_eq!(ask(&path), first);
    // Later rows are read from the database until there are many.
    fill(&store, &ids, MANY, 700);
    let later = ask(&path);
    assert_eq!(sidecar_path(&path).metadata().unwrap().len(), copy.len());
    assert_eq!(later, search_without_sidecar(&path));
    fill(&store, &ids, MANY + 700, lag);
    assert_eq!(ask(&path), search_without_sidecar(&path));
    assert!(sidecar_path(&path).metadata().unwrap().len() > copy.len());
    assert_eq!(store.check().unwrap(), Vec::<String>::new());
}

#[test]
fn invalid_sidecar_is_ignored() {
    let folder = folder();
    let path = folder.path().join("heirloom.db");
    let ids = IdSource::default();
    fill(&SqliteStore::create(&path).unwrap(), &ids, 0, MANY);
    let right = ask(&path);
    let copy = sidecar_path(&path);
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
    // A sidecar that passes for valid is found by a check and removed by a repair.
    std::fs::write(&copy, &bytes).unwrap();
    let file = std::fs::OpenOptions::new().write(true).open(&copy).unwrap();
    file.write_all_at(&[7; 260], 44 + 260 * 500).unwrap();
    let found = SqliteStore::open(&path).unwrap().check().unwrap();
    assert!(
        found.iter().any(|one| one.contains("-vectors-1-0")),
        "{found:?}"
    );
    SqliteStore::repair(&path, None, now()).unwrap();
    let found = SqliteStore::open(&path).unwrap().check().unwrap();
    assert_eq!(found, Vec::<String>::new());
    assert_eq!(ask(&path), right);
}

#[test]
fn replaced_database_invalidates_sidecar() {
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
    let kept = std::fs::read(sidecar_path(&path)).unwrap();
    drop(store);
    SqliteStore::restore(&path, &saved, now()).unwrap();
    assert!(!sidecar_path(&path).exists());
    // As many records as before, but different ones; and the old sidecar is put back.
    fill(&SqliteStore::open(&path).unwrap(), &ids, 20_000, 4_000);
    std::fs::write(sidecar_path(&path), kept).unwrap();
    assert_eq!(ask(&path), search_without_sidecar(&path));
}

#[test]
fn purge_removes_sidecar() {
    let folder = folder();
    let path = folder.path().join("heirloom.db");
    let ids = IdSource::default();
    let store = SqliteStore::create(&path).unwrap();
    fill(&store, &ids, 0, MANY);
    let doomed = ask(&path).hits[0].id;
    assert!(sidecar_path(&path).exists());
    let selection = PurgeTarget::Records(vec![doomed]);
    store.purge(&shop(), &selection, now(), "test").unwrap();
    assert!(!sidecar_path(&path).exists());
    assert_eq!(ask(&path), search_without_sidecar(&path));
}

#[test]
fn short_lived_process_leaves_short_log() {
    let root = folder();
    let path = root.path().join("heirloom.db");
    let ids = IdSource::default();
    let p = shop();
    drop(SqliteStore::create(&path).unwrap());
    let journal = root.path().join("heirloom.db-wal");
    let store = SqliteStore::open(&path).unwrap().with_short_lived_mode();
    store.apply(&p, &[put(record(&ids, &p, 1, 50))]).unwrap();
    drop(store);
    assert!(journal.metadata().unwrap().len() > 0);
    // The next process reads it, and a long-lived one checkpoints it.
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
    // A long log is checkpointed by the process that wrote it.
    let store = SqliteStore::open(&path).unwrap().with_short_lived_mode();
    let many: Vec<_> = (3..900).map(|n| put(record(&ids, &p, n, 2_000))).collect();
    store.apply(&p, &many).unwrap();
    drop(store);
    assert!(!journal.exists());
}
