//! Concurrent processes on one memory: afterwards its index equals a rebuilt one.

use crate::project::{Project, string};
use rusqlite::Connection;
use rusqlite::types::Value;
use serde_json::json;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

/// Number of records before the processes start.
const INITIAL_RECORDS: usize = 120;
/// Number of writers, and of records per writer: together more than a tail holds.
const WRITERS: usize = 3;
const WRITES: usize = 130;
/// Number of records that are forgotten, purged, and stored twice.
const REMOVED: usize = 12;

/// Returns the content of the index in an order that does not depend on its history: texts are in order of arrival in
/// an index that grew, and in order of ids in a rebuilt one.
fn index_content(project: &Project) -> BTreeMap<&'static str, Vec<Vec<Value>>> {
    let connection = Connection::open(project.file(".heirloom/heirloom.db")).unwrap();
    let rows = |sql: &str| {
        let mut statement = connection.prepare(sql).unwrap();
        let columns = statement.column_count();
        let search_all = statement.query_map([], |row| (0..columns).map(|n| row.get(n)).collect());
        search_all.unwrap().map(Result::unwrap).collect()
    };
    let tables = [
        (
            "totals",
            "SELECT lane, texts, len, head_len, merged FROM index_totals ORDER BY 1",
        ),
        ("texts", "SELECT lane, id FROM ordinals ORDER BY 1, 2"),
        ("tail", "SELECT lane, ordinal FROM tail"),
        (
            "terms",
            "SELECT DISTINCT lane, term FROM postings ORDER BY 1, 2",
        ),
        // A rebuilt index has no sentence vectors, whose rows have negative ids; later commands compute them again.
        ("vectors", "SELECT count(*) FROM vectors WHERE id >= 0"),
        ("pieces", "SELECT * FROM piece_counts ORDER BY 1, 2"),
    ];
    let rows = |(name, sql): (&'static str, &str)| (name, rows(sql));
    tables.into_iter().map(rows).collect()
}

/// Returns the hits of all queries, with every part of every score.
fn search_all(project: &Project) -> Vec<Vec<serde_json::Value>> {
    let queries = [
        "which word7 of many",
        "what is said twice, part3",
        "an old fact, number 100",
        "writer 2 says word129",
        "kind:message turn 1",
        "one more",
        "nothing of the kind",
    ];
    let answer = |query| {
        let off = ["--set", "recall.transformer=false"];
        let args = ["recall", "--all", query, "-k", "50", "--explain"];
        project.json(&[&args[..], &off].concat())["hits"]
            .as_array()
            .unwrap()
            .clone()
    };
    queries.map(answer).to_vec()
}

/// Fails unless every hit of one answer is in the other. Only at the end of the list a hit may be replaced by one of
/// about the same score.
#[track_caller]
fn assert_same_answer(one: &[serde_json::Value], other: &[serde_json::Value]) {
    let last = one.last().map_or(0.0, |hit| hit["score"].as_f64().unwrap());
    for hit in one {
        match other.iter().find(|same| same["id"] == hit["id"]) {
            Some(same) => assert_same_hit(hit, same),
            None => assert!(hit["score"].as_f64().unwrap() - last < 0.001, "{hit}"),
        }
    }
}

/// Fails unless both are the same record with the same score; sums of many numbers may differ in their last digits.
#[track_caller]
fn assert_same_hit(one: &serde_json::Value, other: &serde_json::Value) {
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

fn tail_lengths(project: &Project) -> [usize; 2] {
    let tail = &index_content(project)["tail"];
    [0, 1].map(|lane| {
        let of_lane = |row: &&Vec<Value>| row.first() == Some(&Value::Integer(lane));
        tail.iter().filter(of_lane).count()
    })
}

/// Writes until the tails of both lanes are merged into blocks.
fn merge_tails(project: &Project) {
    for n in 0.. {
        let [records, turns] = tail_lengths(project);
        if records + turns == 0 {
            break;
        }
        assert!(n < 300, "the tail is never merged");
        if records > 0 {
            project.remember(&format!("one more, number {n}"), &[]);
        }
        if turns > 0 {
            let add = ["session", "add", "--session", "s", "--role", "user"];
            project.input(&add, format!("one more turn, number {n}").as_bytes());
        }
    }
}

/// Remembers these texts; returns their ids.
fn remember_all(project: &Project, texts: impl Iterator<Item = (String, String)>) -> Vec<String> {
    let line = |(key, text)| format!("{}\n", json!({"text": text, "key": key}));
    let lines: String = texts.map(line).collect();
    let output = project.input(&["remember", "--stdin"], lines.as_bytes());
    assert_eq!(output.code, 0, "{}", output.stderr);
    output
        .lines()
        .iter()
        .map(|one| string(&one["id"]))
        .collect()
}

/// Runs one process after another until the writers are done, and at least one.
fn repeat_until(done: &AtomicBool, once: impl Fn(usize)) {
    for round in 0.. {
        once(round);
        if done.load(Ordering::SeqCst) {
            break;
        }
    }
}

#[test]
fn concurrent_changes_leave_the_index_equal_to_a_rebuilt_one() {
    let project = &Project::new();
    let old = |n| (format!("old {n}"), format!("an old fact, number {n}"));
    let ids = &remember_all(project, (0..INITIAL_RECORDS).map(old));
    let done = &AtomicBool::new(false);
    thread::scope(|scope| {
        let writers: Vec<_> = (0..WRITERS)
            .map(|writer| {
                // Some texts replace an earlier one of the same writer.
                let text = move |n| {
                    let key = format!("{writer}/{}", n % 100);
                    (key, format!("writer {writer} says word{n} of many"))
                };
                scope.spawn(move || remember_all(project, (0..WRITES).map(text)))
            })
            .collect();
        let forgetting = scope.spawn(move || {
            for id in &ids[..REMOVED] {
                project.ok(&["forget", id]);
            }
        });
        let purging = scope.spawn(move || {
            for pair in ids[REMOVED..2 * REMOVED].chunks(3) {
                let ids = pair.iter().map(String::as_str);
                let words: Vec<&str> = ["purge", "--yes", "--id"].into_iter().chain(ids).collect();
                project.ok(&words);
            }
        });
        let reviewing = scope.spawn(move || {
            for n in 0..REMOVED {
                let twice =
                    |key: &str, text: &str| (format!("{key}{n}"), format!("{text} part{n}"));
                let pair = [
                    twice("a", "It is said twice,"),
                    twice("b", "it is said twice,"),
                ];
                remember_all(project, pair.into_iter());
                project.ok(&["review", "--apply"]);
            }
        });
        scope.spawn(move || {
            repeat_until(done, |round| {
                let add = ["session", "add", "--session", "s", "--role", "user"];
                let output = project.input(&add, format!("turn {round}").as_bytes());
                assert_eq!(output.code, 0, "{}", output.stderr);
            });
        });
        scope.spawn(move || {
            repeat_until(done, |round| {
                let found = project.json(&["recall", &format!("which word{round}"), "-k", "5"]);
                assert!(found["hits"].is_array());
            });
        });
        scope.spawn(move || {
            repeat_until(done, |_| {
                assert_eq!(project.json(&["doctor"])["ok"], true);
            });
        });
        let ended = writers.into_iter().map(|one| one.join().map(drop));
        let others = [forgetting, purging, reviewing].map(thread::ScopedJoinHandle::join);
        let ended: Vec<_> = ended.chain(others).collect();
        // The threads that repeat until the end must not run for ever.
        done.store(true, Ordering::SeqCst);
        ended.into_iter().for_each(|one| one.unwrap());
    });
    assert_eq!(project.json(&["doctor"])["ok"], true);
    merge_tails(project);
    let (grown, before) = (index_content(project), search_all(project));
    let database = project.file(".heirloom/heirloom.db");
    let connection = Connection::open(database).unwrap();
    let harm = "UPDATE index_totals SET texts = texts + 1";
    assert_eq!(
        connection.execute(harm, []).unwrap(),
        2,
        "a row for each lane"
    );
    drop(connection);
    project.expect(&["doctor"], 1);
    let repaired = project.json(&["doctor", "--repair"]);
    assert_eq!(repaired["ok"], true, "{repaired}");
    let built = index_content(project);
    for (table, rows) in &grown {
        assert!(built[table] == *rows, "{table}: {} rows", rows.len());
    }
    assert!(grown["terms"].len() > 100);
    let after = search_all(project);
    for (before, after) in before.iter().zip(&after) {
        assert_same_answer(before, after);
        assert_same_answer(after, before);
    }
    assert!(before[0].len() > 20);
}
