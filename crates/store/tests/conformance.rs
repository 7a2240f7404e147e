//! SQLite passes the suite, in a file and in memory.

use heirloom_store::{SqliteStore, Store, conformance};
use std::cell::Cell;

#[test]
fn sqlite_in_memory() {
    let make = || -> Box<dyn Store> { Box::new(SqliteStore::memory().unwrap()) };
    conformance::run(&make, &|name| println!("{name}"));
}

#[test]
fn sqlite_in_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let made = Cell::new(0);
    let make = || -> Box<dyn Store> {
        made.set(made.get() + 1);
        let path = folder.path().join(format!("{}.db", made.get()));
        Box::new(SqliteStore::create(&path).unwrap())
    };
    conformance::run(&make, &|name| println!("{name}"));
    assert!(made.get() > 40);
}
