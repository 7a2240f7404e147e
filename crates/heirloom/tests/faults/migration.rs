//! First command after an update with a store of an older version.

use crate::driver::{ProjectFixture, wait};
use heirloom_testkit::sh;
use rusqlite::{Connection, params};
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

/// Schema 2: released migrations are never edited.
const SCHEMA_2: [&str; 2] = [
    include_str!("../../../store/migrations/0001_records.sql"),
    include_str!("../../../store/migrations/0002_audit.sql"),
];
const RECORDS: u32 = 5_000;
/// Attempts to kill a process during its work; if all of them are too late, the test fails.
const KILL_ATTEMPTS: usize = 20;

fn database(fixture: &ProjectFixture) -> PathBuf {
    fixture.root().join(".heirloom/heirloom.db")
}

/// Creates a project whose store has schema 2 and this number of records.
fn project_with_old_store(records: u32) -> ProjectFixture {
    let fixture = ProjectFixture::plain();
    fixture.call(&["remember", "a first one"]).expect(0);
    for end in ["", "-wal", "-shm"] {
        let path = fixture.root().join(format!(".heirloom/heirloom.db{end}"));
        drop(fs::remove_file(path));
    }
    create_old_store(&fixture, records);
    fixture
}

fn create_old_store(fixture: &ProjectFixture, records: u32) {
    let mut connection = Connection::open(database(fixture)).unwrap();
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
    // File mode of every version.
    fs::set_permissions(database(fixture), fs::Permissions::from_mode(0o600)).unwrap();
}

/// Returns the backups next to the database from before a migration.
fn copies(fixture: &ProjectFixture) -> Vec<PathBuf> {
    let entries = fs::read_dir(fixture.root().join(".heirloom")).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    paths
        .filter(|path| {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            name.starts_with("heirloom.db.before-v8-")
        })
        .collect()
}

fn schema_version(path: &PathBuf) -> u32 {
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

fn recall_lantern(fixture: &ProjectFixture) -> String {
    let result = fixture.call(&ARGS).expect(0);
    assert_eq!(
        result.json()["hits"][0]["text"],
        "lantern4321 of an old database hangs in corridor 51"
    );
    result.stderr
}

#[test]
fn first_command_reports_migration() {
    let fixture = project_with_old_store(RECORDS);
    let stderr_text = recall_lantern(&fixture);
    let copies = copies(&fixture);
    assert_eq!(copies.len(), 1, "{stderr_text}");
    let lines: Vec<&str> = stderr_text.lines().collect();
    let copy = format!(
        "  a copy of it as it was, kept for 30 days: {}",
        copies[0].display()
    );
    assert_eq!(
        lines,
        [
            "heirloom: this store is of an older version: bringing it from schema 2 to 8",
            copy.as_str(),
            "heirloom: the store is up to date, 5000 texts indexed",
        ]
    );
    assert_eq!(
        (
            schema_version(&copies[0]),
            schema_version(&database(&fixture))
        ),
        (2, 8)
    );
    assert_eq!(recall_lantern(&fixture), "", "reported once");
    fixture.call(&["doctor", "--json"]).expect(0);
}

#[test]
fn commands_that_open_the_store_report_migration() {
    let is_reported = "bringing it from schema 2 to 8";
    for args in [
        &["list"][..],
        &["remember", "x"],
        &["status"],
        &["doctor", "--repair"],
    ] {
        let fixture = project_with_old_store(3);
        let stderr_text = fixture.call(args).stderr;
        assert!(stderr_text.contains(is_reported), "{args:?}: {stderr_text}");
        assert!(
            stderr_text.contains("3 texts indexed"),
            "{args:?}: {stderr_text}"
        );
    }
    let fixture = project_with_old_store(3);
    let kept = fixture.outside_path("kept.db");
    fs::rename(database(&fixture), &kept).unwrap();
    let result = fixture.call(&["restore", kept.to_str().unwrap()]).expect(0);
    assert!(result.stderr.contains(is_reported), "{}", result.stderr);
    assert!(
        result.stderr.contains("3 texts indexed"),
        "{}",
        result.stderr
    );
    assert_eq!(schema_version(&kept), 2, "a copy is never changed");
}

#[test]
fn killed_migration_keeps_original_and_is_repeated() {
    let fixture = (0..KILL_ATTEMPTS).find_map(|_| project_with_killed_migration());
    let fixture = fixture.expect("never killed in time");
    assert_eq!(schema_version(&database(&fixture)), 2, "as it was");
    assert_eq!(schema_version(&copies(&fixture)[0]), 2);
    let stderr_text = recall_lantern(&fixture);
    assert!(stderr_text.contains("5000 texts indexed"), "{stderr_text}");
    assert_eq!(schema_version(&database(&fixture)), 8);
    assert!((1..=2).contains(&copies(&fixture).len()));
    let listed = fixture.call(&sh("export --format jsonl --project old"));
    assert_eq!(listed.text().lines().count(), 5_000);
    fixture.call(&["doctor"]).expect(0);
}

/// Kills a migration while it builds the index; `None` if it ended first.
fn project_with_killed_migration() -> Option<ProjectFixture> {
    let fixture = project_with_old_store(RECORDS);
    let mut child = fixture.heirloom(&ARGS).spawn().unwrap();
    let mut stderr_text = BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    // At this point the copy exists, the lock is held, and the index is being built.
    while !line.contains("a copy of it as it was") {
        line.clear();
        let read = stderr_text.read_line(&mut line).unwrap();
        assert_ne!(read, 0, "it said nothing");
    }
    child.kill().unwrap();
    wait(child);
    let mut rest = String::new();
    stderr_text.read_to_string(&mut rest).unwrap();
    rest.is_empty().then_some(fixture)
}
