//! The command `remember`: outcomes of new, repeated and conflicting values.

use crate::project::{Project, string};
use heirloom_testkit::sh;
use serde_json::Value;

#[test]
fn remember_of_a_new_text_creates_a_fact() {
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
    let output = project.ok(&["remember", "another"]).stdout;
    assert!(output.ends_with(" remembered\n"), "{output}");
}

#[test]
fn shown_record_has_every_column() {
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
fn remember_stores_scope_times_and_rationale() {
    let project = Project::new();
    let id = project.remember(
        "x",
        &sh(
            "--task 42 --agent reviewer --plan p --group g --session s --phase TEST --iteration 3 \
             --true-from 2026-01-01T00:00:00Z --true-to 2099-01-01T00:00:00Z --rationale because \
             --category decision",
        ),
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
fn text_that_differs_in_case_or_spacing_confirms_the_record() {
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
    let output = project.ok(&["remember", "run the tests"]).stdout;
    assert!(output.contains("already known"), "{output}");
}

#[test]
fn later_value_of_the_same_source_replaces_the_record() {
    let project = Project::new();
    let first = project.remember("tabs", &["--category", "convention", "--key", "indent"]);
    let value = project.json(&sh("remember blanks --category convention --key indent"));
    assert_eq!(value["outcome"], "replaced");
    let records = project.list("knowledge");
    assert_eq!(records.len(), 1);
    assert_eq!(records[0]["text"], "blanks");
    let old = project.json(&["show", &first]);
    assert_eq!(old["replaced_by"], value["id"]);
    assert!(old["retired_at"].is_string());
    // A value that its own source replaced is not the loser of a conflict.
    assert_eq!(old.get("conflict"), None);
}

#[test]
fn value_of_a_less_confident_source_is_a_conflict_and_exits_0() {
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
    let output = project
        .ok(&[&["remember", "82"], &options[..]].concat())
        .stdout;
    assert!(output.contains("the value of a person"), "{output}");
}

#[test]
fn lost_value_is_reported_with_its_reason() {
    let project = Project::new();
    project.remember("80", &["--key", "by-person"]);
    let by = |source, confidence| ["--source", source, "--confidence", confidence];
    project.remember(
        "80",
        &[&["--key", "by-agent"], &by("coder", "0.9")[..]].concat(),
    );
    project.remember(
        "80",
        &[&["--key", "by-lead"], &by("orchestrator", "0.3")[..]].concat(),
    );
    let said = |key: &str, set: &str| {
        let options = ["--key", key, "--set", set];
        let all = [&["remember", "81"], &options[..], &by("scout", "0.5")].concat();
        project.ok(&all).stdout
    };
    let policy = "memory.conflict_policy=higher-confidence";
    let ask = "memory.conflict_policy=ask";
    for (key, set, reason) in [
        ("by-person", policy, "the value of a person"),
        ("by-person", ask, "the value of a person"),
        ("by-lead", policy, "the value of the orchestrator"),
        ("by-agent", policy, "higher confidence"),
        ("by-agent", ask, "disputed"),
    ] {
        let output = said(key, set);
        assert!(output.contains(reason), "{key}, {set}: {output}");
    }
}

#[test]
fn value_of_a_more_confident_or_later_source_wins() {
    let project = Project::new();
    let options = |source, confidence| {
        [
            "--key",
            "port",
            "--source",
            source,
            "--confidence",
            confidence,
        ]
    };
    let first = project.remember("80", &options("a", "0.5"));
    let surer = project.json(&[&["remember", "81"], &options("b", "0.9")[..]].concat());
    assert_eq!(surer["outcome"], "replaced");
    assert_eq!(project.json(&["show", &first])["conflict"], true);
    let tie = project.json(&[&["remember", "82"], &options("c", "0.9")[..]].concat());
    assert_eq!(tie["outcome"], "replaced");
    assert_eq!(project.list("knowledge")[0]["text"], "82");
}

#[test]
fn value_of_an_agent_loses_against_a_persons_value() {
    let project = Project::new();
    project.remember("80", &["--key", "port"]);
    let value = project.json(&sh("remember 81 --key port --source scout"));
    assert_eq!(value["outcome"], "conflict");
    let record = project.json(&["show", &string(&value["id"])]);
    assert_eq!(record["confidence"], 0.8);
    assert_eq!(record["proposal"], true);
}

#[test]
fn same_key_in_another_category_creates_a_record() {
    let project = Project::new();
    project.remember("tabs", &["--category", "convention", "--key", "indent"]);
    let value = project.json(&sh("remember two --category preference --key indent"));
    assert_eq!(value["outcome"], "created");
    assert_eq!(project.list("knowledge").len(), 2);
    let only = project.json(&["list", "--category", "preference"]);
    assert_eq!(only["records"].as_array().unwrap().len(), 1);
}

#[test]
fn confidence_outside_0_to_1_is_refused() {
    let project = Project::new();
    for wrong in ["7", "-0.1", "NaN", "inf", "1.0001"] {
        let output = project.expect(&["remember", "x", "--confidence", wrong], 2);
        assert!(output.stderr.contains("confidence"), "{wrong}: {output:?}");
    }
    project.expect(&["remember", "x", "--confidence", "high"], 2);
    assert_eq!(project.list("knowledge").len(), 0);
    project.remember("low", &["--confidence", "0"]);
    project.remember("high", &["--confidence", "1"]);
}

#[test]
fn invalid_times_and_iterations_are_refused() {
    let project = Project::new();
    let output = project.expect(
        &sh("remember x --true-from 2026-02-01T00:00:00Z --true-to 2026-01-01T00:00:00Z"),
        2,
    );
    assert!(output.stderr.contains("before"), "{output:?}");
    project.expect(&["remember", "x", "--true-from", "yesterday"], 2);
    project.expect(&["remember", "x", "--iteration", "0"], 2);
    project.expect(&sh("error log x --iteration 0"), 2);
    project.expect(&["remember", "x", "--iteration", "-1"], 2);
    assert_eq!(project.list("knowledge").len(), 0);
}

#[test]
fn list_is_newest_first_and_filters_by_scope_and_kind() {
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
    let output = project.ok(&["list"]).stdout;
    assert_eq!(output.lines().count(), 3);
    assert!(
        output.lines().next().unwrap().contains("  fact  1  three"),
        "{output}"
    );
}

#[test]
fn empty_list_prints_its_note_on_stderr() {
    let project = Project::new();
    let output = project.ok(&["list"]);
    assert_eq!(output.stdout, "");
    assert!(output.stderr.contains("nothing"), "{output:?}");
}

#[test]
fn text_with_a_leading_dash_is_accepted_after_two_dashes() {
    let project = Project::new();
    let value = project
        .ok(&["remember", "--json", "--", "--force is needed"])
        .json();
    let record = project.json(&["show", &string(&value["id"])]);
    assert_eq!(record["text"], "--force is needed");
}
