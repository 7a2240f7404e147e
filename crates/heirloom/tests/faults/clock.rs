//! Clock that jumps back by a day.

use crate::driver::{CallResult, ProjectFixture, finish};
use heirloom_model::Timestamp;
use std::collections::BTreeSet;

const TODAY: &str = "2026-05-02T10:00:00Z";
const YESTERDAY: &str = "2026-05-01T10:00:00Z";

fn call_at(fixture: &ProjectFixture, now: &str, args: &[&str]) -> CallResult {
    let mut command = fixture.heirloom(args);
    command.env("HEIRLOOM_NOW", now);
    finish(command, |_| {}).expect(0)
}

fn remember_port(fixture: &ProjectFixture, now: &str, text: &str) -> String {
    let args = ["remember", text, "--key", "port", "--json"];
    call_at(fixture, now, &args).json()["id"]
        .as_str()
        .unwrap()
        .to_owned()
}

fn texts(result: &CallResult) -> Vec<String> {
    let json = result.json();
    let records = json["records"].as_array().unwrap();
    let text = |record: &serde_json::Value| record["text"].as_str().unwrap().to_owned();
    records.iter().map(text).collect()
}

#[test]
fn write_with_earlier_clock_keeps_order_and_history() {
    let fixture = ProjectFixture::plain();
    let first = remember_port(&fixture, TODAY, "8080");
    let second = remember_port(&fixture, YESTERDAY, "9090");
    let third = remember_port(&fixture, YESTERDAY, "7070");
    assert!(second < first, "ids follow the clock");
    assert_eq!(fixture.texts("knowledge"), ["7070"]);
    let history = call_at(&fixture, YESTERDAY, &["history", &first, "--json"]);
    assert_eq!(
        texts(&history),
        ["8080", "9090", "7070"],
        "in the order in which it happened"
    );
    for record in history.json()["records"].as_array().unwrap() {
        let time = |name: &str| record[name].as_str()?.parse::<Timestamp>().ok();
        let (from, to) = (time("recorded_at"), time("retired_at"));
        assert!(
            to.is_none() || to >= from,
            "retired before it was recorded: {record}"
        );
    }
    // Back to the first value by undo, and forward again.
    for (id, now, text) in [
        (&third, YESTERDAY, "9090"),
        (&second, YESTERDAY, "7070"),
        (&first, TODAY, "8080"),
        (&first, YESTERDAY, "7070"),
    ] {
        call_at(&fixture, now, &["undo", id]);
        assert_eq!(fixture.texts("knowledge"), [text]);
    }
    fixture.assert_healthy();
}

#[test]
fn undo_does_not_restore_conflict_loser_of_earlier_clock() {
    let fixture = ProjectFixture::plain();
    let winner = remember_port(&fixture, TODAY, "8080");
    let loses = [
        "remember",
        "1",
        "--key",
        "port",
        "--source",
        "bob",
        "--confidence",
        "0.1",
        "--json",
    ];
    assert_eq!(
        call_at(&fixture, YESTERDAY, &loses).json()["outcome"],
        "conflict"
    );
    let undone = call_at(&fixture, TODAY, &["undo", &winner, "--json"]).json();
    assert_eq!(
        undone["outcome"], "retired",
        "it had replaced nothing: {undone}"
    );
    assert_eq!(fixture.texts("knowledge"), [""; 0]);
}

#[test]
fn commands_work_with_clock_set_back() {
    let fixture = ProjectFixture::plain();
    for now in [TODAY, YESTERDAY, TODAY] {
        call_at(
            &fixture,
            now,
            &["step", "pending", "write it", "--task", "7"],
        );
        call_at(&fixture, now, &["step", "done", "write it", "--task", "7"]);
        call_at(&fixture, now, &["error", "log", "it broke", "--task", "7"]);
        call_at(
            &fixture,
            now,
            &["error", "resolve", "it broke", "--with", "a fix"],
        );
        call_at(&fixture, now, &["remember", &format!("at {now}")]);
        let forgotten = call_at(
            &fixture,
            now,
            &["remember", "passing", "--key", "p", "--json"],
        )
        .json();
        let id = forgotten["id"].as_str().unwrap();
        call_at(&fixture, now, &["forget", id]);
        call_at(&fixture, now, &["undo", id]);
        call_at(&fixture, now, &["prune", "--apply"]);
        assert!(
            call_at(&fixture, now, &["context", "--task", "7"])
                .text()
                .contains(&format!("at {now}"))
        );
        call_at(
            &fixture,
            now,
            &[
                "run",
                "--iterations",
                "1",
                "--task",
                "7",
                "--",
                "echo",
                "hello",
            ],
        );
        call_at(
            &fixture,
            now,
            &["outcome", "--task", "7", "--status", "COMPLETE"],
        );
        fixture.assert_healthy();
    }
    // The latest run counts, whatever its clock was.
    assert_eq!(fixture.mirror()["iteration"], 3);
    let all = call_at(&fixture, TODAY, &["export", "--format", "jsonl", "--all"]).text();
    let ids: Vec<_> = all
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap()["id"].to_string())
        .collect();
    assert_eq!(
        ids.iter().collect::<BTreeSet<_>>().len(),
        ids.len(),
        "ids are unique"
    );
}
