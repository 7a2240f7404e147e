//! History of records: `show`, `history`, `forget`, `undo`, ids, `prune`.

use crate::project::{Project, string, texts};
use heirloom_testkit::sh;
use serde_json::Value;

fn current_texts(project: &Project) -> Vec<String> {
    texts(&project.json(&["list", "--kind", "knowledge"])["records"])
}

#[test]
fn undo_of_a_creation_toggles_the_record() {
    let project = Project::new();
    let id = project.remember("a", &[]);
    let undone = project.json(&["undo", &id]);
    assert_eq!(
        (&undone["outcome"], &undone["id"]),
        (&"retired".into(), &Value::from(id.as_str()))
    );
    assert_eq!(current_texts(&project), Vec::<String>::new());
    let again = project.json(&["undo", &id]);
    assert_eq!(
        (&again["outcome"], &again["retired"]),
        (&"restored".into(), &Value::Null)
    );
    assert_eq!(current_texts(&project), ["a"]);
}

#[test]
fn undo_of_a_replacement_toggles_the_value() {
    let project = Project::new();
    let first = project.remember("one", &["--key", "k"]);
    let second = project.remember("two", &["--key", "k"]);
    let undone = project.json(&["undo", &second]);
    assert_eq!(undone["id"], first.as_str());
    assert_eq!(undone["retired"], second.as_str());
    assert_eq!(current_texts(&project), ["one"]);
    project.ok(&["undo", &first]);
    assert_eq!(current_texts(&project), ["two"]);
    project.ok(&["undo", &first]);
    assert_eq!(current_texts(&project), ["one"]);
}

#[test]
fn undo_of_a_retirement_restores_the_record() {
    let project = Project::new();
    let id = project.remember("a", &[]);
    let output = project.json(&["forget", &id]);
    assert_eq!(output["outcome"], "retired");
    assert_eq!(current_texts(&project), Vec::<String>::new());
    let text = project.ok(&["undo", &id]).stdout;
    assert!(text.starts_with("current again: "), "{text}");
    assert_eq!(current_texts(&project), ["a"]);
}

#[test]
fn forget_of_a_retired_record_fails() {
    let project = Project::new();
    let id = project.remember("a", &[]);
    project.ok(&["forget", &id]);
    let output = project.expect(&["forget", &id], 1);
    assert!(output.stderr.contains("already retired"), "{output:?}");
    assert_eq!(project.json(&["list"])["records"], serde_json::json!([]));
    let all = project.json(&["list", "--all"]);
    assert_eq!(texts(&all["records"]), ["a"]);
    assert!(
        project
            .ok(&["list", "--all"])
            .stdout
            .contains("(retired) a")
    );
}

#[test]
fn history_of_any_record_of_a_chain_is_the_whole_chain() {
    let project = Project::new();
    let ids: Vec<_> = ["one", "two", "three"]
        .iter()
        .map(|t| project.remember(t, &["--key", "k"]))
        .collect();
    project.remember("unrelated", &[]);
    for id in &ids {
        let chain = project.json(&["history", id]);
        assert_eq!(texts(&chain["records"]), ["one", "two", "three"]);
    }
    let text = project.ok(&["history", &ids[0]]).stdout;
    assert_eq!(text.lines().count(), 3);
    assert!(text.lines().last().unwrap().contains("current"), "{text}");
}

#[test]
fn remember_of_a_forgotten_text_creates_a_new_record() {
    let project = Project::new();
    let id = project.remember("a", &[]);
    project.ok(&["forget", &id]);
    let output = project.json(&["remember", "a"]);
    assert_eq!(output["outcome"], "created");
    assert_ne!(output["id"], id.as_str());
}

#[test]
fn undo_restores_the_previous_task_and_step() {
    let project = Project::new();
    project.ok(&sh("task set 1 --phase A"));
    let changed = project.json(&sh("task set 1 --phase B"));
    project.ok(&["undo", &string(&changed["id"])]);
    assert_eq!(project.json(&["task", "show", "1"])["phase"], "A");
    project.ok(&sh("step pending x --task 1"));
    let done = project.json(&sh("step done x --task 1"));
    project.ok(&["undo", &string(&done["id"])]);
    assert_eq!(project.list("step")[0]["state"], "pending");
}

#[test]
fn show_prints_every_line_and_field_of_a_record() {
    let project = Project::new();
    let id = project.remember(
        "line one\nline two",
        &["--category", "decision", "--rationale", "why"],
    );
    let text = project.ok(&["show", &id]).stdout;
    assert!(text.ends_with("\n\nline one\nline two\n"), "{text}");
    assert!(text.contains("category     decision\n"), "{text}");
    assert!(text.contains("rationale    why\n"), "{text}");
    assert!(!text.contains("null"), "{text}");
}

#[test]
fn record_is_found_by_unique_id_prefix() {
    let mut project = Project::new();
    project.set_clock("2026-05-01T10:00:00Z");
    let first = project.remember("a", &[]);
    project.set_clock("2026-05-01T18:00:00Z");
    let second = project.remember("b", &[]);
    assert_eq!(project.json(&["show", &first[..8]])["text"], "a");
    assert_eq!(
        project.json(&["show", &second.replace('-', "")[..20]])["text"],
        "b"
    );
    assert_eq!(project.json(&["show", &second.to_uppercase()])["text"], "b");
    assert!(first[..4] == second[..4]);
    let output = project.expect(&["show", &first[..4]], 2);
    assert!(
        output.stderr.contains(&first) && output.stderr.contains(&second),
        "{output:?}"
    );
}

#[test]
fn invalid_id_exits_2_and_unknown_id_exits_3() {
    let project = Project::new();
    project.remember("a", &[]);
    for command in ["show", "forget", "undo", "history"] {
        for wrong in ["", "xyz", "abc", "0190 0190", "é"] {
            let output = project.expect(&[command, wrong], 2);
            assert!(output.stderr.contains("is not an id"), "{output:?}");
        }
        for unknown in ["ffffffff", "ffffffff-ffff-7fff-bfff-ffffffffffff"] {
            project.expect(&[command, unknown], 3);
        }
    }
}

/// Creates decisions and errors, one per minute.
fn create_entries(project: &mut Project) {
    let logs: [&[&str]; 4] = [
        &["error", "log", "first error", "--task", "1"],
        &["remember", "first decision", "--category", "decision"],
        &["error", "log", "second error", "--task", "2"],
        &["remember", "second decision", "--category", "decision"],
    ];
    for (minute, args) in logs.iter().enumerate() {
        project.set_clock(&format!("2026-05-01T10:{minute:02}:00Z"));
        project.ok(args);
    }
    project.set_clock("2026-05-01T11:00:00Z");
    project.remember("a fact is no entry", &[]);
}

fn remaining_entries(project: &Project) -> Vec<String> {
    let mut remaining_entries = texts(&Value::from(project.list("error")));
    remaining_entries.extend(texts(
        &project.json(&["list", "--category", "decision"])["records"],
    ));
    remaining_entries.sort();
    remaining_entries
}

#[test]
fn prune_only_counts_and_retires_the_oldest_with_apply() {
    let mut project = Project::new();
    create_entries(&mut project);
    let two = "memory.max_entries=2";
    let shown = project.json(&["prune", "--set", two]);
    assert_eq!(
        shown,
        serde_json::json!({"applied": false, "entries": 4, "decisions": 1, "errors": 1,
            "episodes": 0, "artifacts": 0})
    );
    assert_eq!(remaining_entries(&project).len(), 4);
    let text = project.ok(&["prune", "--set", two]);
    assert!(
        text.stdout
            .starts_with("would retire 1 decision and 1 error of 4"),
        "{text:?}"
    );
    project.ok(&["prune", "--apply", "--set", two]);
    assert_eq!(
        remaining_entries(&project),
        ["second decision", "second error"]
    );
    assert_eq!(current_texts(&project).len(), 2);
    // Retired, not deleted.
    assert_eq!(
        project.json(&["list", "--all", "--kind", "error"])["records"]
            .as_array()
            .unwrap()
            .len(),
        2
    );
    assert_eq!(
        project.json(&["prune", "--apply", "--set", two])["entries"],
        2
    );
}

#[test]
fn prune_keeps_open_errors_of_the_current_task() {
    let mut project = Project::new();
    create_entries(&mut project);
    project.ok(&sh("prune --apply --task 1 --set memory.max_entries=2"));
    assert_eq!(
        remaining_entries(&project),
        ["first error", "second decision"]
    );
    project.ok(&sh("prune --apply --task 1 --set memory.max_entries=0"));
    assert_eq!(remaining_entries(&project), ["first error"]);
}

#[test]
fn prune_retires_a_resolved_error_before_an_open_one() {
    let mut project = Project::new();
    project.set_clock("2026-05-01T10:00:00Z");
    project.ok(&["error", "log", "stays open"]);
    project.ok(&["error", "log", "is mended"]);
    project.ok(&sh("error resolve 'is mended' --with x"));
    project.ok(&["prune", "--apply", "--set", "memory.max_entries=1"]);
    assert_eq!(remaining_entries(&project), ["stays open"]);
}

#[test]
fn prune_dates_an_error_by_its_first_occurrence() {
    let mut project = Project::new();
    create_entries(&mut project);
    project.ok(&sh("error resolve 'first error' --with x"));
    project.ok(&["prune", "--apply", "--set", "memory.max_entries=3"]);
    assert_eq!(
        remaining_entries(&project),
        ["first decision", "second decision", "second error"]
    );
}

#[test]
fn outcome_prunes_and_keeps_the_error_of_its_task() {
    let mut project = Project::new();
    create_entries(&mut project);
    project.ok(&sh(
        "outcome --task 1 --status PARTIAL --phase X --set memory.max_entries=1",
    ));
    assert_eq!(remaining_entries(&project), ["first error"]);
}
