//! A store of an older version, as the first command after an update meets it.

use crate::driver::{Desk, wait};
use rusqlite::{Connection, params};
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

/// Released migrations are never edited: this is schema 2 as it was.
const SCHEMA_2: [&str; 2] = [
    include_str!("../../../store/migrations/0001_records.sql"),
    include_str!("../../../store/migrations/0002_audit.sql"),
];
const RECORDS: u32 = 5_000;
/// Tries to kill a process while it is at work; one that is always faster is a failure.
const TRIES: usize = 20;

fn database(desk: &Desk) -> PathBuf {
    desk.root().join(".heirloom/heirloom.db")
}

/// A project whose store is one of schema 2 with so many records.
fn old(records: u32) -> Desk {
    let desk = Desk::plain();
    desk.call(&["remember", "a first one"]).expect(0);
    for end in ["", "-wal", "-shm"] {
        let path = desk.root().join(format!(".heirloom/heirloom.db{end}"));
        drop(fs::remove_file(path));
    }
    lay_out(&desk, records);
    desk
}

fn lay_out(desk: &Desk, records: u32) {
    let mut connection = Connection::open(database(desk)).unwrap();
    let transaction = connection.transaction().unwrap();
    for sql in SCHEMA_2 {
        transaction.execute_batch(sql).unwrap();
    }
    transaction
        .pragma_update(None, "application_id", 0x4865_6972)
        .unwrap();
    transaction.pragma_update(None, "user_version", 2).unwrap();
    let insert = "INSERT INTO projects VALUES (1, 'old', 1777629600000000)";
    transaction.execute(insert, []).unwrap();
    let sql = "WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ?1)
         INSERT INTO records (project, id, kind, key, text, attrs, source, confidence, tokens, recorded_at)
         SELECT 1, unhex(printf('%012x7%03x8%015x', 1777629600000 + n, 0, n)), 'knowledge', 'k' || n,
           'lantern' || n || ' of an old database hangs in corridor ' || (n % 70),
           '{\"category\":\"fact\"}', 'user', 1.0, 20, 1777629600000000 + n * 1000
         FROM numbers";
    transaction.execute(sql, params![records]).unwrap();
    transaction.commit().unwrap();
    connection.close().unwrap();
    // As every version makes it.
    fs::set_permissions(database(desk), fs::Permissions::from_mode(0o600)).unwrap();
}

/// The copies beside the database that were made before a migration.
fn copies(desk: &Desk) -> Vec<PathBuf> {
    let entries = fs::read_dir(desk.root().join(".heirloom")).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    paths
        .filter(|path| {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            name.starts_with("heirloom.db.before-v5-")
        })
        .collect()
}

fn version(path: &PathBuf) -> u32 {
    let connection = Connection::open(path).unwrap();
    connection
        .pragma_query_value(None, "user_version", |row| row.get(0))
        .unwrap()
}

const ARGS: [&str; 7] = [
    "recall",
    "lantern4321",
    "--json",
    "-k",
    "1",
    "--project",
    "old",
];

fn finds(desk: &Desk) -> String {
    let ran = desk.call(&ARGS).expect(0);
    assert_eq!(
        ran.json()["hits"][0]["text"],
        "lantern4321 of an old database hangs in corridor 51"
    );
    ran.stderr
}

#[test]
fn the_first_command_says_that_it_brings_an_old_store_up_to_date() {
    let desk = old(RECORDS);
    let said = finds(&desk);
    let copies = copies(&desk);
    assert_eq!(copies.len(), 1, "{said}");
    let lines: Vec<&str> = said.lines().collect();
    let copy = format!(
        "  a copy of it as it was, kept for 30 days: {}",
        copies[0].display()
    );
    assert_eq!(
        lines,
        [
            "heirloom: this store is of an older version: bringing it from schema 2 to 5",
            copy.as_str(),
            "heirloom: the store is up to date, 5000 texts indexed",
        ]
    );
    assert_eq!((version(&copies[0]), version(&database(&desk))), (2, 5));
    assert_eq!(finds(&desk), "", "told once");
    desk.call(&["doctor", "--json"]).expect(0);
}

#[test]
fn every_way_in_says_so() {
    let told = "bringing it from schema 2 to 5";
    for args in [
        &["list"][..],
        &["remember", "x"],
        &["status"],
        &["doctor", "--repair"],
    ] {
        let desk = old(3);
        let said = desk.call(args).stderr;
        assert!(said.contains(told), "{args:?}: {said}");
        assert!(said.contains("3 texts indexed"), "{args:?}: {said}");
    }
    let desk = old(3);
    let kept = desk.aside("kept.db");
    fs::rename(database(&desk), &kept).unwrap();
    let ran = desk.call(&["restore", kept.to_str().unwrap()]).expect(0);
    assert!(ran.stderr.contains(told), "{}", ran.stderr);
    assert!(ran.stderr.contains("3 texts indexed"), "{}", ran.stderr);
    assert_eq!(version(&kept), 2, "a copy is never changed");
}

#[test]
fn killed_in_the_middle_the_original_stays_and_the_next_start_does_it() {
    for _ in 0..TRIES {
        let desk = old(RECORDS);
        let mut child = desk.heirloom(&ARGS).spawn().unwrap();
        let mut said = BufReader::new(child.stderr.take().unwrap());
        let mut line = String::new();
        // The copy is there, the lock is held, the index is being built.
        while !line.contains("a copy of it as it was") {
            line.clear();
            assert_ne!(said.read_line(&mut line).unwrap(), 0, "it said nothing");
        }
        child.kill().unwrap();
        wait(child);
        let mut rest = String::new();
        said.read_to_string(&mut rest).unwrap();
        if !rest.is_empty() {
            continue;
        }
        assert_eq!(version(&database(&desk)), 2, "as it was");
        assert_eq!(version(&copies(&desk)[0]), 2);
        let said = finds(&desk);
        assert!(said.contains("5000 texts indexed"), "{said}");
        assert_eq!(version(&database(&desk)), 5);
        assert!((1..=2).contains(&copies(&desk).len()));
        let listed = desk.call(&["export", "--format", "jsonl", "--project", "old"]);
        assert_eq!(listed.text().lines().count(), 5_000);
        desk.call(&["doctor"]).expect(0);
        return;
    }
    panic!("never killed in time");
}
