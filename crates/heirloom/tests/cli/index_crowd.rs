//! Many processes change one memory at once: its index is then the one that would be built anew.

use crate::project::{Project, string};
use rusqlite::Connection;
use rusqlite::types::Value;
use serde_json::json;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

/// Records that are there before.
const OLD: usize = 120;
/// Writers, and what each writes: together more than a tail holds.
const WRITERS: usize = 3;
const WRITES: usize = 130;
/// Records that are forgotten, purged and said twice.
const TAKEN: usize = 12;

/// What the index says, whatever order its texts are in: that is the order of arrival in one that grew, the order of ids
/// in one that was built anew.
fn index_of(project: &Project) -> BTreeMap<&'static str, Vec<Vec<Value>>> {
    let connection = Connection::open(project.file(".heirloom/heirloom.db")).unwrap();
    let rows = |sql: &str| {
        let mut statement = connection.prepare(sql).unwrap();
        let columns = statement.column_count();
        let found = statement.query_map([], |row| (0..columns).map(|n| row.get(n)).collect());
        found.unwrap().map(Result::unwrap).collect()
    };
    let tables = [
        (
            "totals",
            "SELECT texts, len, head_len, merged FROM index_totals ORDER BY 1",
        ),
        ("texts", "SELECT id, is_turn FROM ordinals ORDER BY 1"),
        ("tail", "SELECT ordinal FROM tail"),
        ("terms", "SELECT DISTINCT term FROM postings ORDER BY 1"),
        ("vectors", "SELECT count(*) FROM vectors"),
        ("pieces", "SELECT * FROM piece_counts ORDER BY 1, 2"),
    ];
    let rows = |(name, sql): (&'static str, &str)| (name, rows(sql));
    tables.into_iter().map(rows).collect()
}

/// What is found, with every part of every score.
fn found(project: &Project) -> Vec<Vec<serde_json::Value>> {
    let questions = [
        "which word7 of many",
        "what is said twice, part3",
        "an old fact, number 100",
        "writer 2 says word129",
        "kind:message turn 1",
        "one more",
        "nothing of the kind",
    ];
    let answer = |question| {
        let args = ["recall", question, "-k", "50", "--explain"];
        project.json(&args)["hits"].as_array().unwrap().clone()
    };
    questions.map(answer).to_vec()
}

/// Every hit of the one answer is in the other; only at its end one of about the same score may stand in its place.
#[track_caller]
fn same_answer(one: &[serde_json::Value], other: &[serde_json::Value]) {
    let last = one.last().map_or(0.0, |hit| hit["score"].as_f64().unwrap());
    for hit in one {
        match other.iter().find(|same| same["id"] == hit["id"]) {
            Some(same) => alike(hit, same),
            None => assert!(hit["score"].as_f64().unwrap() - last < 0.001, "{hit}"),
        }
    }
}

/// The same record with the same score: sums of many numbers may differ in their last digits.
#[track_caller]
fn alike(one: &serde_json::Value, other: &serde_json::Value) {
    let parts = |hit: &serde_json::Value| hit["parts"].as_object().unwrap().clone();
    for (name, part) in parts(one) {
        let (part, same) = (
            part.as_f64().unwrap(),
            other["parts"][&name].as_f64().unwrap(),
        );
        assert!((part - same).abs() < 0.001, "{name}: {one} {other}");
    }
    let without = |hit: &serde_json::Value| {
        let mut hit = hit.clone();
        hit.as_object_mut()
            .unwrap()
            .retain(|name, _| name != "parts" && name != "score");
        hit
    };
    assert_eq!(without(one), without(other));
}

fn tail(project: &Project) -> usize {
    index_of(project)["tail"].len()
}

/// Lets `heirloom` take these texts; their ids.
fn say(project: &Project, texts: impl Iterator<Item = (String, String)>) -> Vec<String> {
    let line = |(key, text)| format!("{}\n", json!({"text": text, "key": key}));
    let lines: String = texts.map(line).collect();
    let said = project.input(&["remember", "--stdin"], lines.as_bytes());
    assert_eq!(said.code, 0, "{}", said.stderr);
    said.lines().iter().map(|one| string(&one["id"])).collect()
}

/// One process after another until the writers are done, and at least one.
fn until(done: &AtomicBool, once: impl Fn(usize)) {
    for round in 0.. {
        once(round);
        if done.load(Ordering::SeqCst) {
            break;
        }
    }
}

#[test]
fn whatever_many_do_at_once_the_index_says_what_a_rebuild_says() {
    let project = &Project::new();
    let old = |n| (format!("old {n}"), format!("an old fact, number {n}"));
    let ids = &say(project, (0..OLD).map(old));
    let done = &AtomicBool::new(false);
    thread::scope(|scope| {
        let writers: Vec<_> = (0..WRITERS)
            .map(|writer| {
                // Some replace what they said before.
                let text = move |n| {
                    let key = format!("{writer}/{}", n % 100);
                    (key, format!("writer {writer} says word{n} of many"))
                };
                scope.spawn(move || say(project, (0..WRITES).map(text)))
            })
            .collect();
        let taking = scope.spawn(move || {
            for id in &ids[..TAKEN] {
                project.ok(&["forget", id]);
            }
        });
        let purging = scope.spawn(move || {
            for pair in ids[TAKEN..2 * TAKEN].chunks(3) {
                let ids = pair.iter().map(String::as_str);
                let words: Vec<&str> = ["purge", "--yes", "--id"].into_iter().chain(ids).collect();
                project.ok(&words);
            }
        });
        let reviewing = scope.spawn(move || {
            for n in 0..TAKEN {
                let twice =
                    |key: &str, text: &str| (format!("{key}{n}"), format!("{text} part{n}"));
                let pair = [
                    twice("a", "It is said twice,"),
                    twice("b", "it is said twice,"),
                ];
                say(project, pair.into_iter());
                project.ok(&["review", "--apply"]);
            }
        });
        scope.spawn(move || {
            until(done, |round| {
                let add = ["session", "add", "--session", "s", "--role", "user"];
                let said = project.input(&add, format!("turn {round}").as_bytes());
                assert_eq!(said.code, 0, "{}", said.stderr);
            });
        });
        scope.spawn(move || {
            until(done, |round| {
                let found = project.json(&["recall", &format!("which word{round}"), "-k", "5"]);
                assert!(found["hits"].is_array());
            });
        });
        scope.spawn(move || {
            until(done, |_| {
                assert_eq!(project.json(&["doctor"])["ok"], true);
            });
        });
        let ended = writers.into_iter().map(|one| one.join().map(drop));
        let others = [taking, purging, reviewing].map(thread::ScopedJoinHandle::join);
        let ended: Vec<_> = ended.chain(others).collect();
        // Whoever goes on until then must not wait for ever.
        done.store(true, Ordering::SeqCst);
        ended.into_iter().for_each(|one| one.unwrap());
    });
    assert_eq!(project.json(&["doctor"])["ok"], true);
    // What is still in the tail goes into blocks with the next writes.
    for n in 0.. {
        if tail(project) == 0 {
            break;
        }
        assert!(n < 300, "the tail is never merged");
        project.remember(&format!("one more, number {n}"), &[]);
    }
    let (grown, before) = (index_of(project), found(project));
    let database = project.file(".heirloom/heirloom.db");
    let connection = Connection::open(database).unwrap();
    let harm = "UPDATE index_totals SET texts = texts + 1";
    assert_eq!(connection.execute(harm, []).unwrap(), 1);
    drop(connection);
    project.expect(&["doctor"], 1);
    let mended = project.json(&["doctor", "--repair"]);
    assert_eq!(mended["ok"], true, "{mended}");
    let built = index_of(project);
    for (table, rows) in &grown {
        assert!(built[table] == *rows, "{table}: {} rows", rows.len());
    }
    assert!(grown["terms"].len() > 100);
    let after = found(project);
    for (before, after) in before.iter().zip(&after) {
        same_answer(before, after);
        same_answer(after, before);
    }
    assert!(before[0].len() > 20);
}
