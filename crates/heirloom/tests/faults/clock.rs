//! A clock that goes back a day.

use crate::driver::{Desk, Ran, finish};
use heirloom_model::Timestamp;
use std::collections::BTreeSet;

const TODAY: &str = "2026-05-02T10:00:00Z";
const YESTERDAY: &str = "2026-05-01T10:00:00Z";

fn at(desk: &Desk, now: &str, args: &[&str]) -> Ran {
    let mut command = desk.heirloom(args);
    command.env("HEIRLOOM_NOW", now);
    finish(command, |_| {}).expect(0)
}

fn keyed(desk: &Desk, now: &str, text: &str) -> String {
    let args = ["remember", text, "--key", "port", "--json"];
    at(desk, now, &args).json()["id"]
        .as_str()
        .unwrap()
        .to_owned()
}

fn texts(ran: &Ran) -> Vec<String> {
    let json = ran.json();
    let records = json["records"].as_array().unwrap();
    let text = |record: &serde_json::Value| record["text"].as_str().unwrap().to_owned();
    records.iter().map(text).collect()
}

#[test]
fn what_is_written_in_the_past_takes_its_place_and_loses_nothing() {
    let desk = Desk::plain();
    let first = keyed(&desk, TODAY, "8080");
    let second = keyed(&desk, YESTERDAY, "9090");
    let third = keyed(&desk, YESTERDAY, "7070");
    assert!(second < first, "ids follow the clock");
    assert_eq!(desk.texts("knowledge"), ["7070"]);
    let history = at(&desk, YESTERDAY, &["history", &first, "--json"]);
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
    // Back to the first by undoing, and on again.
    for (id, now, text) in [
        (&third, YESTERDAY, "9090"),
        (&second, YESTERDAY, "7070"),
        (&first, TODAY, "8080"),
        (&first, YESTERDAY, "7070"),
    ] {
        at(&desk, now, &["undo", id]);
        assert_eq!(desk.texts("knowledge"), [text]);
    }
    desk.healthy();
}

#[test]
fn a_loser_from_the_past_is_not_brought_back_by_undo() {
    let desk = Desk::plain();
    let winner = keyed(&desk, TODAY, "8080");
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
    assert_eq!(at(&desk, YESTERDAY, &loses).json()["outcome"], "conflict");
    let undone = at(&desk, TODAY, &["undo", &winner, "--json"]).json();
    assert_eq!(
        undone["outcome"], "retired",
        "it had replaced nothing: {undone}"
    );
    assert_eq!(desk.texts("knowledge"), [""; 0]);
}

#[test]
fn every_command_works_a_day_back() {
    let desk = Desk::plain();
    for now in [TODAY, YESTERDAY, TODAY] {
        at(&desk, now, &["step", "pending", "write it", "--task", "7"]);
        at(&desk, now, &["step", "done", "write it", "--task", "7"]);
        at(&desk, now, &["error", "log", "it broke", "--task", "7"]);
        at(
            &desk,
            now,
            &["error", "resolve", "it broke", "--with", "a fix"],
        );
        at(&desk, now, &["remember", &format!("at {now}")]);
        let forgotten = at(&desk, now, &["remember", "passing", "--key", "p", "--json"]).json();
        let id = forgotten["id"].as_str().unwrap();
        at(&desk, now, &["forget", id]);
        at(&desk, now, &["undo", id]);
        at(&desk, now, &["prune", "--apply"]);
        assert!(
            at(&desk, now, &["context", "--task", "7"])
                .text()
                .contains(&format!("at {now}"))
        );
        at(
            &desk,
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
        at(
            &desk,
            now,
            &["outcome", "--task", "7", "--status", "COMPLETE"],
        );
        desk.healthy();
    }
    // The latest run is the latest one, whatever its clock said.
    assert_eq!(desk.mirror()["iteration"], 3);
    let all = at(&desk, TODAY, &["export", "--format", "jsonl", "--all"]).text();
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
