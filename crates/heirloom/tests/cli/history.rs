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

/// Neither a run nor an outcome nor a daily prune retires decisions and errors by number.
#[test]
fn nothing_retires_entries_by_count() {
    let mut project = Project::new();
    create_entries(&mut project);
    let one = "memory.max_entries=1";
    project.ok(&["prune", "--apply", "--set", one]);
    project.ok(&sh(
        "outcome --task 1 --status PARTIAL --phase X --set memory.max_entries=1",
    ));
    project.ok(&["run", "--iterations", "1", "--set", one, "--", "true"]);
    assert_eq!(
        remaining_entries(&project),
        [
            "first decision",
            "first error",
            "second decision",
            "second error"
        ]
    );
}

#[test]
fn prune_lists_each_record_with_its_undo() {
    let mut project = Project::new();
    project.set_clock("2026-03-01T10:00:00Z");
    for (text, agent) in [
        ("by an agent", Some("a")),
        ("by a person", None),
        ("pinned", Some("a")),
    ] {
        let mut args = vec![
            "episode",
            "log",
            "--task",
            "1",
            "--action",
            "completed",
            "--approach",
            text,
        ];
        args.extend(agent.iter().flat_map(|agent| ["--agent", agent]));
        project.ok(&args);
    }
    let all = project.json(&["episode", "list"]);
    let id_of = |text: &str| {
        let records = all["episodes"].as_array().unwrap();
        let found = records.iter().find(|one| one["approach"] == text).unwrap();
        found["id"].as_str().unwrap().to_owned()
    };
    project.ok(&["pin", &id_of("pinned")]);
    project.set_clock("2026-05-01T10:00:00Z");
    let shown = project.json(&["prune"]);
    assert_eq!(shown["ids"], serde_json::json!([id_of("by an agent")]));
    let text = project.ok(&["prune", "--apply"]).stdout;
    let undo = format!("heirloom undo {}", id_of("by an agent"));
    assert!(
        text.contains("retired 1 episode") && text.contains(&undo),
        "{text}"
    );
    project.ok(&["undo", &id_of("by an agent")]);
}
