//! Salvage of damaged databases: at least every row on intact pages is recovered.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "support/database_rows.rs"]
mod database_rows;
#[path = "support/test_records.rs"]
mod test_records;

use database_rows::{Rows, filled, rows_of};
use heirloom_fs::durable;
use heirloom_model::ProjectName;
use heirloom_store::{SalvageReport, SqliteStore, Store};
use proptest::prelude::*;
use proptest::test_runner::FileFailurePersistence;
use rusqlite::Connection;
use std::collections::BTreeSet;
use std::fs;
use std::sync::OnceLock;
use test_records::{folder, project};

const PAGE: usize = 4_096;

/// Sound database: its bytes and its rows.
struct Sound {
    bytes: Vec<u8>,
    rows: Rows,
}

fn sound() -> &'static Sound {
    static SOUND: OnceLock<Sound> = OnceLock::new();
    SOUND.get_or_init(|| {
        let folder = folder();
        let path = folder.path().join("heirloom.db");
        filled(&path, 400);
        Sound {
            bytes: fs::read(&path).unwrap(),
            rows: rows_of(&path),
        }
    })
}

/// Salvages, checks that the result is sound, and returns its rows.
#[track_caller]
fn salvage(database: &[u8], journal: &[u8], hint: Option<&ProjectName>) -> (Rows, SalvageReport) {
    let (store, salvaged) = SqliteStore::salvage(database, journal, hint).unwrap();
    assert_eq!(store.check().unwrap(), Vec::<String>::new());
    let folder = folder();
    let copy = folder.path().join("copy.db");
    store.backup(&copy).unwrap();
    (rows_of(&copy), salvaged)
}

/// Returns the root page of a table or an index.
fn root(name: &str) -> usize {
    let connection = Connection::open_in_memory().unwrap();
    let folder = folder();
    let path = folder.path().join("x.db");
    durable::write_atomic(&path, &sound().bytes).unwrap();
    drop(connection);
    let connection = Connection::open(&path).unwrap();
    let sql = "SELECT rootpage FROM sqlite_schema WHERE name = ?1";
    connection.query_row(sql, [name], |row| row.get(0)).unwrap()
}

/// Returns the rows of records and messages on none of these pages (from 1).
fn rows_off_pages(pages: &BTreeSet<usize>) -> Rows {
    let mut rows = sound().rows.clone();
    let marks: BTreeSet<String> = pages.iter().flat_map(|page| marks_on(*page)).collect();
    for table in ["records", "messages"] {
        let table = rows.get_mut(table).unwrap();
        table.retain(|row| !marks.iter().any(|mark| row.contains(mark)));
    }
    rows
}

/// Returns the marks of texts that are partly on this page.
fn marks_on(page: usize) -> Vec<String> {
    let bytes = &sound().bytes[(page - 1) * PAGE..page * PAGE];
    let text = String::from_utf8_lossy(bytes);
    let mut marks = Vec::new();
    for (at, _) in text.match_indices('#') {
        let number: String = text[at + 1..]
            .chars()
            .take_while(char::is_ascii_digit)
            .collect();
        if !number.is_empty() && text[at + 1 + number.len()..].starts_with('#') {
            marks.push(format!("#{number}#"));
        }
    }
    marks.sort();
    marks.dedup();
    marks
}

#[track_caller]
fn assert_has(found: &Rows, expected: &Rows, tables: &[&str]) {
    for table in tables {
        let found: BTreeSet<String> = found[*table].iter().map(|row| core(row)).collect();
        let wanted_here: BTreeSet<String> = expected[*table].iter().map(|row| core(row)).collect();
        let lost: Vec<_> = wanted_here.difference(&found).collect();
        assert!(
            lost.is_empty(),
            "{} of {} rows of {table} are lost, such as {:.300}",
            lost.len(),
            expected[*table].len(),
            lost[0]
        );
    }
}

const ALL: [&str; 6] = [
    "projects",
    "locations",
    "records",
    "lapses",
    "sessions",
    "messages",
];
const MARKED: [&str; 2] = ["records", "messages"];

fn zeroed(pages: &[usize]) -> Vec<u8> {
    let mut bytes = sound().bytes.clone();
    for page in pages {
        bytes[(page - 1) * PAGE..page * PAGE].fill(0);
    }
    bytes
}

#[test]
fn sound_database_is_salvaged_completely() {
    let (rows, salvaged) = salvage(&sound().bytes, &[], None);
    assert_eq!(rows, sound().rows);
    assert!(salvaged.is_complete);
    assert_eq!((salvaged.pages_bad, salvaged.rows_bad), (0, 0));
    assert_eq!(salvaged.rows_of("records"), rows["records"].len() as u64);
    assert!(salvaged.rows_of("lapses") > 0);
}

#[test]
fn lost_header_loses_no_row() {
    for content in [0_u8, 0x5a] {
        let mut bytes = sound().bytes.clone();
        bytes[..100].fill(content);
        let (rows, _) = salvage(&bytes, &[], None);
        assert_eq!(rows, sound().rows, "{content}");
        bytes[..PAGE].fill(content);
        let (rows, salvaged) = salvage(&bytes, &[], None);
        assert_has(&rows, &sound().rows, &ALL);
        assert!(salvaged.pages_bad <= 1, "{salvaged:?}");
    }
}

#[test]
fn rows_are_recognised_without_schema() {
    let mut pages = vec![1];
    for page in 2..=sound().bytes.len() / PAGE {
        let text = String::from_utf8_lossy(&sound().bytes[(page - 1) * PAGE..page * PAGE]);
        if text.contains("CREATE ") {
            pages.push(page);
        }
    }
    assert!(pages.len() > 1);
    let (rows, _) = salvage(&zeroed(&pages), &[], None);
    assert_has(&rows, &sound().rows, &ALL);
}

#[test]
fn lost_inner_pages_lose_no_row() {
    for table in ["records", "messages"] {
        let (rows, salvaged) = salvage(&zeroed(&[root(table)]), &[], None);
        assert_has(&rows, &sound().rows, &ALL);
        assert!(!salvaged.is_complete);
    }
}

#[test]
fn damaged_indexes_and_free_list_lose_no_row() {
    for index in ["records_by_id", "records_by_identity", "current_by_kind"] {
        let (rows, _) = salvage(&zeroed(&[root(index)]), &[], None);
        assert_eq!(rows, sound().rows, "{index}");
    }
    let mut bytes = sound().bytes.clone();
    bytes[32..40].copy_from_slice(&[0, 0, 0, 9, 0, 0, 0, 77]);
    let (rows, _) = salvage(&bytes, &[], None);
    assert_eq!(rows, sound().rows);
}

#[test]
fn lost_leaf_loses_only_its_rows() {
    let pages = sound().bytes.len() / PAGE;
    for page in (2..=pages).step_by(7) {
        let (rows, _) = salvage(&zeroed(&[page]), &[], None);
        let expected = rows_off_pages(&BTreeSet::from([page]));
        assert!(expected["records"].len() > sound().rows["records"].len() - 40);
        assert_has(&rows, &expected, &MARKED);
    }
}

#[test]
fn truncated_file_keeps_remaining_rows() {
    let pages = sound().bytes.len() / PAGE;
    for end in [
        PAGE * pages / 2,
        PAGE * pages / 3 + 1_000,
        PAGE * 9,
        PAGE * (pages - 1) + 7,
    ] {
        let (rows, salvaged) = salvage(&sound().bytes[..end], &[], None);
        let lost = (end / PAGE + 1..=pages).collect();
        assert_has(&rows, &rows_off_pages(&lost), &MARKED);
        assert!(salvaged.pages_bad > 0);
    }
    for end in [0, 1, 50, 100, PAGE] {
        let (rows, _) = salvage(&sound().bytes[..end], &[], None);
        assert_eq!(rows["records"].len(), 0);
    }
}

#[test]
fn lost_project_names_are_replaced() {
    let projects = root("projects");
    let (rows, salvaged) = salvage(&zeroed(&[projects]), &[], None);
    assert_has(&rows, &sound().rows, &MARKED);
    // The index still has the names.
    assert_eq!(salvaged.renamed, Vec::<String>::new());
    let names = |rows: &Rows| format!("{:?}", rows["projects"]);
    assert!(names(&rows).contains("github.com/acme/shop"));
    let index = root("sqlite_autoindex_projects_1");
    let shop = project("github.com/acme/shop");
    let (rows, salvaged) = salvage(&zeroed(&[projects, index]), &[], Some(&shop));
    assert_has(&rows, &sound().rows, &MARKED);
    // Two projects lack a name, so the hint is ambiguous.
    assert_eq!(salvaged.renamed, ["recovered-1", "recovered-2"]);
    assert!(names(&rows).contains("recovered-2"));
}

#[test]
fn single_project_gets_hint_as_name() {
    let folder = folder();
    let path = folder.path().join("heirloom.db");
    let store = SqliteStore::create(&path).unwrap();
    let p = project("p");
    let ids = heirloom_model::IdSource::default();
    store
        .apply(
            &p,
            &[test_records::put(test_records::record(&ids, &p, 1, 20))],
        )
        .unwrap();
    drop(store);
    let mut bytes = fs::read(&path).unwrap();
    let connection = Connection::open(&path).unwrap();
    let mut roots = connection
        .prepare("SELECT rootpage FROM sqlite_schema WHERE tbl_name = 'projects'")
        .unwrap();
    for root in roots.query_map([], |row| row.get::<_, usize>(0)).unwrap() {
        let root = root.unwrap();
        bytes[(root - 1) * PAGE..root * PAGE].fill(0);
    }
    let (store, salvaged) = SqliteStore::salvage(&bytes, &[], Some(&project("q"))).unwrap();
    assert_eq!(salvaged.renamed, ["q"]);
    assert_eq!(store.projects().unwrap(), [project("q")]);
}

#[test]
fn newer_of_two_current_records_stays() {
    let folder = folder();
    let path = folder.path().join("heirloom.db");
    filled(&path, 50);
    let connection = Connection::open(&path).unwrap();
    connection
        .execute_batch(
            "DROP INDEX records_by_identity;
             UPDATE records SET key = 'same' WHERE kind = 'note' AND retired_at IS NULL;",
        )
        .unwrap();
    let newest: Vec<u8> = connection
        .query_row("SELECT max(id) FROM records WHERE kind = 'note' AND project = 1 AND retired_at IS NULL", [], |row| row.get(0))
        .unwrap();
    drop(connection);
    let (store, salvaged) = SqliteStore::salvage(&fs::read(&path).unwrap(), &[], None).unwrap();
    assert!(salvaged.retired > 0);
    assert_eq!(store.check().unwrap(), Vec::<String>::new());
    let shop = project("github.com/acme/shop");
    let filter =
        heirloom_store::Filter::current(&[heirloom_model::Kind::Note], test_records::at(1_000));
    let current = store.find(&shop, &filter).unwrap();
    let same: Vec<_> = current
        .iter()
        .filter(|r| r.key.as_deref() == Some("same"))
        .collect();
    assert_eq!(same.len(), 1);
    assert_eq!(same[0].id.as_bytes().as_slice(), newest);
}

/// Returns a file and its log as after a kill, and all rows.
fn with_journal() -> (Vec<u8>, Vec<u8>, Rows) {
    let folder = folder();
    let path = folder.path().join("heirloom.db");
    filled(&path, 60);
    let store = SqliteStore::open(&path).unwrap();
    let ids = heirloom_model::IdSource::default();
    let shop = project("github.com/acme/shop");
    for number in 1_000..1_030 {
        let record = test_records::record(&ids, &shop, number, 500);
        store.apply(&shop, &[test_records::put(record)]).unwrap();
    }
    let main = fs::read(&path).unwrap();
    let log = fs::read(folder.path().join("heirloom.db-wal")).unwrap();
    let rows = rows_of(&path);
    drop(store);
    (main, log, rows)
}

#[test]
fn rows_of_log_are_salvaged() {
    let (main, log, all) = with_journal();
    let (rows, salvaged) = salvage(&main, &log, None);
    assert_eq!(rows, all);
    assert_eq!(salvaged.journal_pages_bad, 0);
    let (without, _) = salvage(&main, &[], None);
    assert!(without["records"].len() < all["records"].len());
}

#[test]
fn damaged_log_keeps_readable_frames() {
    let (main, log, all) = with_journal();
    let (without, _) = salvage(&main, &[], None);
    let frame = PAGE + 24;
    // Without its last frame, the last transaction is not committed.
    let (rows, _) = salvage(&main, &log[..log.len() - 10], None);
    assert!(rows["records"].len() >= all["records"].len() - 1);
    // A damaged frame in the middle does not affect the frames after it.
    let mut broken = log.clone();
    let middle = 32 + frame * (log.len() / frame / 2);
    broken[middle + 2_000..middle + 2_100].fill(0x33);
    let (rows, salvaged) = salvage(&main, &broken, None);
    assert_has(&rows, &without, &["records"]);
    assert!(rows["records"].len() > without["records"].len());
    assert_eq!(salvaged.journal_pages_bad, 1);
    for garbage in [&[0x37_u8; 9_000][..], &log[..20], &log[1..], b"x"] {
        let (rows, _) = salvage(&main, garbage, None);
        assert_eq!(rows, without);
    }
}

#[test]
fn free_pages_are_ignored_if_trees_are_intact() {
    let folder = folder();
    let path = folder.path().join("heirloom.db");
    filled(&path, 300);
    let connection = Connection::open(&path).unwrap();
    connection
        .execute_batch(
            "PRAGMA secure_delete = OFF; DELETE FROM lapses; DELETE FROM records WHERE rowid > 40;",
        )
        .unwrap();
    let free: u32 = connection
        .query_row("PRAGMA freelist_count", [], |row| row.get(0))
        .unwrap();
    assert!(free > 10);
    connection.close().unwrap();
    let (rows, _) = salvage(&fs::read(&path).unwrap(), &[], None);
    assert_eq!(rows["records"].len(), 40);
}

#[test]
fn garbage_does_not_panic() {
    for bytes in [
        vec![0x0d_u8; 50_000],
        vec![0x05; 50_000],
        vec![0xff; 50_000],
        b"SQLite format 3\0".repeat(900),
    ] {
        let (rows, _) = salvage(&bytes, &bytes, None);
        assert_eq!(rows["records"].len(), 0);
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 32,
        failure_persistence: Some(Box::new(FileFailurePersistence::Off)),
        ..ProptestConfig::default()
    })]

    /// After overwriting ranges and truncating the file, nothing panics, the result is sound, and no row on other
    /// pages is missing.
    #[test]
    fn random_damage_loses_only_affected_rows(
        stretches in prop::collection::vec((0.0..1.0_f64, 1..6_000_usize, any::<u64>()), 1..8),
        cut in prop::option::weighted(0.2, 0.3..1.0_f64),
    ) {
        let mut bytes = sound().bytes.clone();
        let size = bytes.len();
        let mut hit = BTreeSet::new();
        for (place, length, seed) in stretches {
            let start = (place * size as f64) as usize;
            let end = (start + length).min(size);
            let mut state = seed | 1;
            for byte in &mut bytes[start..end] {
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                *byte = if seed % 3 == 0 { 0 } else { state as u8 };
            }
            hit.extend(start / PAGE + 1..=(end - 1) / PAGE + 1);
        }
        if let Some(cut) = cut {
            let end = (cut * size as f64) as usize;
            bytes.truncate(end);
            hit.extend(end / PAGE + 1..=size / PAGE);
        }
        let (rows, _) = salvage(&bytes, &[], None);
        // Validity gaps depend on their record and project names may be lost; the marked tables do not.
        assert_has(&rows, &rows_off_pages(&hit), &MARKED);
    }
}

/// One row after the other is replaced by one that the store could not have written.
#[test]
fn unsound_rows_are_skipped_and_listed() {
    let folder = folder();
    let path = folder.path().join("heirloom.db");
    filled(&path, 60);
    let connection = Connection::open(&path).unwrap();
    let indexes = "SELECT group_concat('DROP INDEX ' || name, ';') FROM sqlite_schema \
         WHERE type = 'index' AND tbl_name = 'records' AND sql IS NOT NULL";
    // The indexes of the store would refuse some kinds of damage.
    let drops: String = connection.query_row(indexes, [], |row| row.get(0)).unwrap();
    connection
        .execute_batch(&format!("PRAGMA foreign_keys = OFF; {drops}"))
        .unwrap();
    let damages = [
        ("kind = 'Note'", "kind"),
        ("kind = 'notes'", "kind"),
        ("kind = 'no kind'", "kind"),
        (r#"attrs = '{"broken":1}'"#, "attrs"),
        ("attrs = '[]'", "attrs"),
        ("confidence = 7.5", "confidence"),
        ("replaced_by = randomblob(16)", "a successor but no end"),
        ("id = x'00'", "id"),
        ("project = -1", "project"),
    ];
    let all = rows_of(&path)["records"].len();
    let mut ids = Vec::new();
    for (number, (change, _)) in damages.iter().enumerate() {
        let place = 3 * number + 2;
        let sql = format!(
            "UPDATE records SET {change} WHERE rowid = (SELECT rowid FROM records \
             WHERE retired_at IS NULL AND length(id) = 16 ORDER BY rowid LIMIT 1 OFFSET {place}) \
             RETURNING lower(hex(id))"
        );
        let id: String = connection.query_row(&sql, [], |row| row.get(0)).unwrap();
        ids.push(id);
    }
    connection
        .execute_batch(
            "UPDATE messages SET role = 'nobody' WHERE rowid = (SELECT max(rowid) FROM messages); \
             INSERT INTO events (project, at, action, by) SELECT project, at, 'no action', by FROM events LIMIT 1; \
             INSERT INTO events (project, at, action, by) VALUES (1, 1, 'no action at all', 'user');",
        )
        .unwrap();
    drop(connection);
    let mut bytes = fs::read(&path).unwrap();
    let json = br#"{"broken":1}"#;
    let places: Vec<usize> = (0..bytes.len() - json.len())
        .filter(|at| bytes[*at..].starts_with(json))
        .collect();
    assert!(!places.is_empty());
    for place in places {
        bytes[place] = b'x';
    }
    let (rows, salvaged) = salvage(&bytes, &[], None);
    // The invalid successor is dropped: the record itself is salvaged.
    let lost = damages.len() - 1;
    assert!(
        rows["records"].len() == all - lost,
        "{} of {all}: {:?}",
        rows["records"].len(),
        salvaged.skipped
    );
    for ((change, reason), id) in damages.iter().zip(&ids) {
        let named = salvaged
            .skipped
            .iter()
            .find(|row| row.table == "records" && row.id.replace('-', "") == *id);
        match *change {
            "replaced_by = randomblob(16)" => assert_eq!(named, None, "{change}"),
            // Without an id, it is listed by its position.
            "id = x'00'" => {}
            _ => assert!(
                named.is_some_and(|row| row.reason.contains(reason)),
                "{change}: {:?}",
                salvaged.skipped
            ),
        }
    }
    let named = |table: &str| salvaged.skipped.iter().any(|row| row.table == table);
    assert!(
        named("messages") && named("events"),
        "{:?}",
        salvaged.skipped
    );
}

/// Returns a row with a text without its first columns: the position of a message may change if others are lost.
fn core(row: &str) -> String {
    row.find("Text(\"#").map_or(row, |at| &row[at..]).to_owned()
}
