//! `remember`: what becomes of something that is said.

use crate::project::{Project, string};
use serde_json::Value;

#[test]
fn something_new_is_created() {
    let project = Project::new();
    let value = project.json(&["remember", "The tests need Redis"]);
    assert_eq!(value["outcome"], "created");
    assert_eq!(value.get("winner"), None);
    let record = project.json(&["show", &string(&value["id"])]);
    assert_eq!(record["text"], "The tests need Redis");
    assert_eq!(record["kind"], "knowledge");
    assert_eq!(record["category"], "fact");
    assert_eq!(record["source"], "user");
    assert_eq!(record["confidence"], 1.0);
    assert_eq!(record["tokens"], 5);
    assert_eq!(record["retired_at"], Value::Null);
    let said = project.ok(&["remember", "another"]).stdout;
    assert!(said.ends_with(" remembered\n"), "{said}");
}

#[test]
fn a_record_has_every_column_of_the_contract() {
    let project = Project::new();
    let id = project.remember("x", &[]);
    let record = project.json(&["show", &id]);
    for column in [
        "id",
        "project",
        "kind",
        "key",
        "text",
        "plan",
        "group",
        "session",
        "task",
        "agent",
        "phase",
        "iteration",
        "source",
        "confidence",
        "tokens",
        "recorded_at",
        "true_from",
        "true_to",
        "retired_at",
        "replaced_by",
        "expires_at",
        "category",
    ] {
        assert!(record.get(column).is_some(), "{column}: {record}");
    }
}

#[test]
fn the_scope_is_kept() {
    let project = Project::new();
    let id = project.remember(
        "x",
        &[
            "--task",
            "42",
            "--agent",
            "reviewer",
            "--plan",
            "p",
            "--group",
            "g",
            "--session",
            "s",
            "--phase",
            "TEST",
            "--iteration",
            "3",
            "--true-from",
            "2026-01-01T00:00:00Z",
            "--true-to",
            "2099-01-01T00:00:00Z",
            "--rationale",
            "because",
            "--category",
            "decision",
        ],
    );
    let record = project.json(&["show", &id]);
    for (column, value) in [
        ("task", "42"),
        ("agent", "reviewer"),
        ("plan", "p"),
        ("group", "g"),
        ("session", "s"),
        ("phase", "TEST"),
        ("true_from", "2026-01-01T00:00:00Z"),
        ("true_to", "2099-01-01T00:00:00Z"),
        ("rationale", "because"),
        ("category", "decision"),
    ] {
        assert_eq!(record[column], value, "{column}");
    }
    assert_eq!(record["iteration"], 3);
}

#[test]
fn the_same_words_confirm_up_to_case_space_and_end_punctuation() {
    let project = Project::new();
    let id = project.remember("Run  the tests.", &[]);
    for same in ["run the tests", " RUN THE\tTESTS!", "Run the tests…"] {
        let value = project.json(&["remember", same]);
        assert_eq!(value["outcome"], "confirmed", "{same}");
        assert_eq!(value["id"], id.as_str());
    }
    let record = project.json(&["show", &id]);
    assert_eq!(record["confirmations"], 3);
    assert_eq!(record["text"], "Run  the tests.");
    assert!(record["confirmed_at"].is_string());
    let other = project.json(&["remember", "Run the test"]);
    assert_eq!(other["outcome"], "created");
    let said = project.ok(&["remember", "run the tests"]).stdout;
    assert!(said.contains("known already"), "{said}");
}

#[test]
fn a_later_value_of_the_same_source_replaces() {
    let project = Project::new();
    let first = project.remember("tabs", &["--category", "convention", "--key", "indent"]);
    let value = project.json(&[
        "remember",
        "blanks",
        "--category",
        "convention",
        "--key",
        "indent",
    ]);
    assert_eq!(value["outcome"], "replaced");
    let records = project.list("knowledge");
    assert_eq!(records.len(), 1);
    assert_eq!(records[0]["text"], "blanks");
    let old = project.json(&["show", &first]);
    assert_eq!(old["replaced_by"], value["id"]);
    assert!(old["retired_at"].is_string());
    // A value that a person replaced has not lost against anybody.
    assert_eq!(old.get("conflict"), None);
}

#[test]
fn a_weaker_second_source_loses_and_the_exit_code_is_0() {
    let project = Project::new();
    let first = project.remember("80", &["--key", "port"]);
    let options = ["--key", "port", "--source", "scout", "--confidence", "0.5"];
    let value = project.json(&[&["remember", "81"], &options[..]].concat());
    assert_eq!(value["outcome"], "conflict");
    assert_eq!(value["winner"], first.as_str());
    assert_eq!(project.list("knowledge")[0]["text"], "80");
    let loser = project.json(&["show", &string(&value["id"])]);
    assert_eq!(loser["conflict"], true);
    assert_eq!(loser["replaced_by"], first.as_str());
    let said = project
        .ok(&[&["remember", "82"], &options[..]].concat())
        .stdout;
    assert!(said.contains("higher confidence"), "{said}");
}

#[test]
fn a_surer_or_newer_second_source_wins() {
    let project = Project::new();
    let options = |source, sure| ["--key", "port", "--source", source, "--confidence", sure];
    let first = project.remember("80", &options("a", "0.5"));
    let surer = project.json(&[&["remember", "81"], &options("b", "0.9")[..]].concat());
    assert_eq!(surer["outcome"], "replaced");
    assert_eq!(project.json(&["show", &first])["conflict"], true);
    let tie = project.json(&[&["remember", "82"], &options("c", "0.9")[..]].concat());
    assert_eq!(tie["outcome"], "replaced");
    assert_eq!(project.list("knowledge")[0]["text"], "82");
}

#[test]
fn an_agent_s_word_counts_less_than_a_person_s() {
    let project = Project::new();
    project.remember("80", &["--key", "port"]);
    let value = project.json(&["remember", "81", "--key", "port", "--source", "scout"]);
    assert_eq!(value["outcome"], "conflict");
    let record = project.json(&["show", &string(&value["id"])]);
    assert_eq!(record["confidence"], 0.8);
    assert_eq!(record["proposal"], true);
}

#[test]
fn a_key_belongs_to_its_category() {
    let project = Project::new();
    project.remember("tabs", &["--category", "convention", "--key", "indent"]);
    let value = project.json(&[
        "remember",
        "two",
        "--category",
        "preference",
        "--key",
        "indent",
    ]);
    assert_eq!(value["outcome"], "created");
    assert_eq!(project.list("knowledge").len(), 2);
    let only = project.json(&["list", "--category", "preference"]);
    assert_eq!(only["records"].as_array().unwrap().len(), 1);
}

#[test]
fn a_confidence_outside_0_to_1_is_refused() {
    let project = Project::new();
    for wrong in ["7", "-0.1", "NaN", "inf", "1.0001"] {
        let said = project.expect(&["remember", "x", "--confidence", wrong], 2);
        assert!(said.stderr.contains("confidence"), "{wrong}: {said:?}");
    }
    project.expect(&["remember", "x", "--confidence", "high"], 2);
    assert_eq!(project.list("knowledge").len(), 0);
    project.remember("low", &["--confidence", "0"]);
    project.remember("high", &["--confidence", "1"]);
}

#[test]
fn times_and_iterations_are_checked() {
    let project = Project::new();
    let said = project.expect(
        &[
            "remember",
            "x",
            "--true-from",
            "2026-02-01T00:00:00Z",
            "--true-to",
            "2026-01-01T00:00:00Z",
        ],
        2,
    );
    assert!(said.stderr.contains("before"), "{said:?}");
    project.expect(&["remember", "x", "--true-from", "yesterday"], 2);
    project.expect(&["remember", "x", "--iteration", "0"], 2);
    project.expect(&["error", "log", "x", "--iteration", "0"], 2);
    project.expect(&["remember", "x", "--iteration", "-1"], 2);
    assert_eq!(project.list("knowledge").len(), 0);
}

#[test]
fn lists_are_newest_first_and_can_be_narrowed() {
    let project = Project::new();
    for (text, task) in [("one", "1"), ("two", "2"), ("three", "1")] {
        project.remember(text, &["--task", task, "--agent", text]);
    }
    let texts = |args: &[&str]| crate::project::texts(&project.json(args)["records"]);
    assert_eq!(texts(&["list"]), ["three", "two", "one"]);
    assert_eq!(texts(&["list", "--task", "1"]), ["three", "one"]);
    assert_eq!(texts(&["list", "--agent", "two"]), ["two"]);
    assert_eq!(texts(&["list", "-n", "1"]), ["three"]);
    assert_eq!(texts(&["list", "-n", "0"]), Vec::<String>::new());
    assert_eq!(
        texts(&["list", "--kind", "error", "--kind", "task"]),
        Vec::<String>::new()
    );
    let said = project.ok(&["list"]).stdout;
    assert_eq!(said.lines().count(), 3);
    assert!(
        said.lines().next().unwrap().contains("knowledge/fact"),
        "{said}"
    );
}

#[test]
fn an_empty_list_says_so_outside_the_data() {
    let project = Project::new();
    let said = project.ok(&["list"]);
    assert_eq!(said.stdout, "");
    assert!(said.stderr.contains("nothing"), "{said:?}");
}

#[test]
fn a_text_that_begins_with_a_dash_is_taken_behind_two_dashes() {
    let project = Project::new();
    let value = project
        .ok(&["remember", "--json", "--", "--force is needed"])
        .json();
    let record = project.json(&["show", &string(&value["id"])]);
    assert_eq!(record["text"], "--force is needed");
}
