//! Concurrent writers on one file, and killed writers.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use heirloom_model::{
    Confidence, IdSource, Kind, MergeRule, ProjectName, Record, RecordId, Scope, Timestamp,
};
use heirloom_store::{Change, Filter, SqliteStore, Store};
use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Barrier;
use std::thread;

const FILE: &str = "heirloom.db";

fn project() -> ProjectName {
    ProjectName::new("p").unwrap()
}

fn now() -> Timestamp {
    "2026-05-01T10:00:00Z".parse().unwrap()
}

fn record(ids: &IdSource, key: Option<String>, text: &str) -> Record {
    Record {
        project: project(),
        id: ids.next(now()),
        kind: Kind::Note,
        key,
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
    }
}

fn write(store: &SqliteStore, record: Record) -> RecordId {
    let change = Change::Put {
        record: Box::new(record),
        merge: MergeRule::Replace,
    };
    store.apply(&project(), &[change]).unwrap()[0].id
}

fn texts(store: &SqliteStore) -> Vec<String> {
    let found = store.find(&project(), &Filter::current(&[], now()));
    found
        .unwrap()
        .into_iter()
        .map(|record| record.text)
        .collect()
}

#[test]
fn concurrent_writers_lose_no_record() {
    const WRITERS: usize = 8;
    const WRITES: usize = 50;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(FILE);
    let together = Barrier::new(WRITERS);
    // All create or open the store at the same time.
    thread::scope(|scope| {
        for writer in 0..WRITERS {
            let (path, together) = (&path, &together);
            scope.spawn(move || {
                together.wait();
                let store = SqliteStore::create(path).unwrap();
                let ids = IdSource::default();
                for n in 0..WRITES {
                    write(&store, record(&ids, None, &format!("{writer}/{n}")));
                    assert!(texts(&store).len() > n, "a writer reads its own writes");
                }
            });
        }
    });
    let store = SqliteStore::open(&path).unwrap();
    let all: BTreeSet<String> = texts(&store).into_iter().collect();
    assert_eq!(all.len(), WRITERS * WRITES);
    assert_eq!(store.check().unwrap(), Vec::<String>::new());
    assert_eq!(store.projects().unwrap(), [project()]);
}

#[test]
fn concurrent_writers_of_one_key_leave_one_current_record() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(FILE);
    let first = SqliteStore::create(&path).unwrap();
    thread::scope(|scope| {
        for writer in 0..4 {
            let path = &path;
            scope.spawn(move || {
                let store = SqliteStore::open(path).unwrap();
                let ids = IdSource::default();
                for n in 0..25 {
                    let text = format!("{writer}/{n}");
                    write(&store, record(&ids, Some("k".to_owned()), &text));
                }
            });
        }
    });
    let current = first
        .find(&project(), &Filter::current(&[], now()))
        .unwrap();
    assert_eq!(current.len(), 1);
    assert_eq!(first.history(&project(), current[0].id).unwrap().len(), 100);
}

#[test]
fn concurrent_appends_keep_messages_together() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(FILE);
    let session = heirloom_model::Session {
        project: project(),
        id: "s".to_owned(),
        agent: None,
        task: None,
        started_at: now(),
        ended_at: None,
        attrs: serde_json::Map::new(),
    };
    let store = SqliteStore::create(&path).unwrap();
    store.put_session(&session).unwrap();
    thread::scope(|scope| {
        for writer in 0..2 {
            let path = &path;
            scope.spawn(move || {
                let store = SqliteStore::open(path).unwrap();
                let ids = IdSource::default();
                for n in 0..20 {
                    let turns = ["a", "b"].map(|half| heirloom_model::Message {
                        id: ids.next(now()),
                        seq: 0,
                        role: heirloom_model::Role::User,
                        sender: Some(writer.to_string()),
                        text: format!("{n}{half}"),
                        attrs: serde_json::Map::new(),
                        tokens: 1,
                        at: now(),
                    });
                    store.append_messages(&project(), "s", &turns).unwrap();
                }
            });
        }
    });
    let all = store.messages(&project(), "s", 0, 999).unwrap();
    assert!(all.iter().map(|turn| turn.seq).eq(0..80));
    for pair in all.chunks(2) {
        assert_eq!(pair[0].sender, pair[1].sender, "an append stays together");
        assert!(pair[0].text.ends_with('a') && pair[1].text.ends_with('b'));
    }
    for writer in ["0", "1"] {
        let mine = all
            .iter()
            .filter(|turn| turn.sender.as_deref() == Some(writer));
        let texts: Vec<&str> = mine.map(|turn| turn.text.as_str()).collect();
        assert_eq!((texts[0], texts[39], texts.len()), ("0a", "19b", 40));
    }
}

/// Helper process: writes to the store in the current folder, if it exists, until it is killed.
#[test]
#[ignore = "a child of `acknowledged_writes_survive_a_kill`"]
fn writer_until_killed() {
    let Ok(store) = SqliteStore::open(Path::new(FILE)) else {
        return;
    };
    let ids = IdSource::default();
    for n in 0..1_000_000 {
        let key = (n % 3 == 0).then(|| format!("k{}", n % 30));
        let id = write(&store, record(&ids, key, &n.to_string()));
        let mut out = std::io::stdout();
        writeln!(out, "ack {id}").unwrap();
        out.flush().unwrap();
    }
}

/// Helper process: opens the store in the current folder, if it exists, writes once and closes it.
#[test]
#[ignore = "a child of `stores_of_one_process_keep_their_locks`"]
fn writer_of_one() {
    let Ok(store) = SqliteStore::open(Path::new(FILE)) else {
        return;
    };
    write(&store, record(&IdSource::default(), None, "theirs"));
}

/// SQLite's locks belong to the process and are released when it closes any descriptor of the file.
#[test]
fn stores_of_one_process_keep_their_locks() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(FILE);
    let first = SqliteStore::create(&path).unwrap();
    let ids = IdSource::default();
    write(&first, record(&ids, None, "before"));
    for round in 0..3 {
        // Each store reads the shared-memory file, and so does a write after the log became shorter.
        let second = SqliteStore::open(&path).unwrap();
        write(&second, record(&ids, None, &format!("second {round}")));
        drop(second);
        let done = spawn(folder.path(), "writer_of_one").wait().unwrap();
        assert!(done.success());
        write(&first, record(&ids, None, &format!("first {round}")));
    }
    let found = first
        .find(&project(), &Filter::current(&[], now()))
        .unwrap();
    assert_eq!(found.len(), 10);
    assert_eq!(first.check().unwrap(), Vec::<String>::new());
}

/// A check of several tables during writes must see one snapshot, or it would report damage that does not exist.
#[test]
fn integrity_check_reads_one_snapshot() {
    // The test ends with the writer, whatever the checks find, so that no thread waits for another.
    const ROUNDS: usize = 3_000;
    // In memory if the system has such a folder: the faster the writes, the likelier a race.
    let folder = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir());
    let folder = folder.unwrap();
    let path = &folder.path().join(FILE);
    let store = SqliteStore::create(path).unwrap();
    let first = write(&store, record(&IdSource::default(), None, "the first"));
    thread::scope(|scope| {
        let writer = scope.spawn(move || {
            let store = SqliteStore::open(path).unwrap();
            for _ in 0..ROUNDS {
                let (id, at, by) = (first, now(), "user".to_owned());
                let by_whom = by.clone();
                let retire = Change::Retire { id, at, by };
                store.apply(&project(), &[retire]).unwrap();
                let restore = Change::Restore {
                    id,
                    at,
                    by: by_whom,
                };
                store.apply(&project(), &[restore]).unwrap();
            }
        });
        while !writer.is_finished() {
            assert_eq!(store.check().unwrap(), Vec::<String>::new());
            let looked = SqliteStore::check_offline(path).unwrap();
            assert_eq!(looked.findings().collect::<Vec<_>>(), Vec::<&String>::new());
        }
    });
}

fn spawn_writer(folder: &Path) -> Child {
    spawn(folder, "writer_until_killed")
}

fn spawn(folder: &Path, name: &str) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            name,
            "--ignored",
            "--nocapture",
            "--test-threads=1",
        ])
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

#[test]
fn acknowledged_writes_survive_a_kill() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(FILE);
    drop(SqliteStore::create(&path).unwrap());
    let mut acknowledged = 0;
    for round in 0..6 {
        let mut children = [spawn_writer(folder.path()), spawn_writer(folder.path())];
        // Kill after another number of acknowledgements in each round, so at another place.
        let wanted = 5 + 7 * round;
        let mut ids = Vec::new();
        for child in &mut children {
            let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
            let mut acks = lines.by_ref().map_while(Result::ok);
            let mut mine = Vec::new();
            while mine.len() < wanted {
                let Some(line) = acks.next() else { break };
                mine.extend(line.strip_prefix("ack ").map(str::to_owned));
            }
            child.kill().unwrap();
            mine.extend(acks.filter_map(|line| Some(line.strip_prefix("ack ")?.to_owned())));
            child.wait().unwrap();
            ids.extend(mine);
        }
        assert!(ids.len() >= wanted, "the children wrote: {ids:?}");
        acknowledged += ids.len();
        let store = SqliteStore::open(&path).unwrap();
        for id in ids.iter().filter(|id| id.len() == 36) {
            let id: RecordId = id.parse().unwrap();
            assert!(
                store.get(&project(), id).is_ok(),
                "{id} is lost in round {round}"
            );
        }
        assert_eq!(store.check().unwrap(), Vec::<String>::new());
    }
    println!("{acknowledged} acknowledged writes, none lost");
}
