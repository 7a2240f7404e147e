//! Going back: show, history, forget, undo, ids, prune.

use crate::project::{Project, string, texts};
use serde_json::Value;

fn current(project: &Project) -> Vec<String> {
    texts(&project.json(&["list", "--kind", "knowledge"])["records"])
}

#[test]
fn undo_of_a_creation_toggles() {
    let project = Project::new();
    let id = project.remember("a", &[]);
    let undone = project.json(&["undo", &id]);
    assert_eq!(
        (&undone["outcome"], &undone["id"]),
        (&"retired".into(), &Value::from(id.as_str()))
    );
    assert_eq!(current(&project), Vec::<String>::new());
    let again = project.json(&["undo", &id]);
    assert_eq!(
        (&again["outcome"], &again["retired"]),
        (&"restored".into(), &Value::Null)
    );
    assert_eq!(current(&project), ["a"]);
}

#[test]
fn undo_of_a_replacement_toggles() {
    let project = Project::new();
    let first = project.remember("one", &["--key", "k"]);
    let second = project.remember("two", &["--key", "k"]);
    let undone = project.json(&["undo", &second]);
    assert_eq!(undone["id"], first.as_str());
    assert_eq!(undone["retired"], second.as_str());
    assert_eq!(current(&project), ["one"]);
    project.ok(&["undo", &first]);
    assert_eq!(current(&project), ["two"]);
    project.ok(&["undo", &first]);
    assert_eq!(current(&project), ["one"]);
}

#[test]
fn undo_of_a_retirement_toggles() {
    let project = Project::new();
    let id = project.remember("a", &[]);
    let said = project.json(&["forget", &id]);
    assert_eq!(said["outcome"], "retired");
    assert_eq!(current(&project), Vec::<String>::new());
    let text = project.ok(&["undo", &id]).stdout;
    assert!(text.starts_with("current again: "), "{text}");
    assert_eq!(current(&project), ["a"]);
}

#[test]
fn what_was_forgotten_cannot_be_forgotten_again() {
    let project = Project::new();
    let id = project.remember("a", &[]);
    project.ok(&["forget", &id]);
    let said = project.expect(&["forget", &id], 1);
    assert!(said.stderr.contains("already retired"), "{said:?}");
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
fn the_history_is_the_whole_chain_from_any_of_its_records() {
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
fn a_confirmation_of_what_was_forgotten_creates_it_anew() {
    let project = Project::new();
    let id = project.remember("a", &[]);
    project.ok(&["forget", &id]);
    let said = project.json(&["remember", "a"]);
    assert_eq!(said["outcome"], "created");
    assert_ne!(said["id"], id.as_str());
}

#[test]
fn tasks_and_steps_can_be_undone() {
    let project = Project::new();
    project.ok(&["task", "set", "1", "--phase", "A"]);
    let changed = project.json(&["task", "set", "1", "--phase", "B"]);
    project.ok(&["undo", &string(&changed["id"])]);
    assert_eq!(project.json(&["task", "show", "1"])["phase"], "A");
    project.ok(&["step", "pending", "x", "--task", "1"]);
    let done = project.json(&["step", "done", "x", "--task", "1"]);
    project.ok(&["undo", &string(&done["id"])]);
    assert_eq!(project.list("step")[0]["state"], "pending");
}

#[test]
fn show_prints_the_whole_record() {
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
fn the_unique_beginning_of_an_id_is_enough() {
    let mut project = Project::new();
    project.at("2026-05-01T10:00:00Z");
    let first = project.remember("a", &[]);
    project.at("2026-05-01T18:00:00Z");
    let second = project.remember("b", &[]);
    assert_eq!(project.json(&["show", &first[..8]])["text"], "a");
    assert_eq!(
        project.json(&["show", &second.replace('-', "")[..20]])["text"],
        "b"
    );
    assert_eq!(project.json(&["show", &second.to_uppercase()])["text"], "b");
    assert!(first[..4] == second[..4]);
    let said = project.expect(&["show", &first[..4]], 2);
    assert!(
        said.stderr.contains(&first) && said.stderr.contains(&second),
        "{said:?}"
    );
}

#[test]
fn what_is_no_id_is_wrong_usage_and_an_unknown_one_is_not_found() {
    let project = Project::new();
    project.remember("a", &[]);
    for command in ["show", "forget", "undo", "history"] {
        for wrong in ["", "xyz", "abc", "0190 0190", "é"] {
            let said = project.expect(&[command, wrong], 2);
            assert!(said.stderr.contains("is not an id"), "{said:?}");
        }
        for unknown in ["ffffffff", "ffffffff-ffff-7fff-bfff-ffffffffffff"] {
            project.expect(&[command, unknown], 3);
        }
    }
}

/// Decisions and errors, each a minute after the one before.
fn entries(project: &mut Project) {
    let logs: [&[&str]; 4] = [
        &["error", "log", "first error", "--task", "1"],
        &["remember", "first decision", "--category", "decision"],
        &["error", "log", "second error", "--task", "2"],
        &["remember", "second decision", "--category", "decision"],
    ];
    for (minute, args) in logs.iter().enumerate() {
        project.at(&format!("2026-05-01T10:{minute:02}:00Z"));
        project.ok(args);
    }
    project.at("2026-05-01T11:00:00Z");
    project.remember("a fact is no entry", &[]);
}

fn left(project: &Project) -> Vec<String> {
    let mut left = texts(&Value::from(project.list("error")));
    left.extend(texts(
        &project.json(&["list", "--category", "decision"])["records"],
    ));
    left.sort();
    left
}

#[test]
fn prune_shows_first_and_retires_the_oldest_on_request() {
    let mut project = Project::new();
    entries(&mut project);
    let two = "memory.max_entries=2";
    let shown = project.json(&["prune", "--set", two]);
    assert_eq!(
        shown,
        serde_json::json!({"applied": false, "entries": 4, "decisions": 1, "errors": 1,
            "episodes": 0, "artifacts": 0})
    );
    assert_eq!(left(&project).len(), 4);
    let text = project.ok(&["prune", "--set", two]);
    assert!(
        text.stdout
            .starts_with("would retire 1 decisions and 1 errors of 4"),
        "{text:?}"
    );
    project.ok(&["prune", "--apply", "--set", two]);
    assert_eq!(left(&project), ["second decision", "second error"]);
    assert_eq!(current(&project).len(), 2);
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
fn prune_keeps_the_current_task_s_open_errors() {
    let mut project = Project::new();
    entries(&mut project);
    project.ok(&[
        "prune",
        "--apply",
        "--task",
        "1",
        "--set",
        "memory.max_entries=2",
    ]);
    assert_eq!(left(&project), ["first error", "second decision"]);
    project.ok(&[
        "prune",
        "--apply",
        "--task",
        "1",
        "--set",
        "memory.max_entries=0",
    ]);
    assert_eq!(left(&project), ["first error"]);
}

#[test]
fn prune_takes_a_resolved_error_before_an_open_one_of_its_age() {
    let mut project = Project::new();
    project.at("2026-05-01T10:00:00Z");
    project.ok(&["error", "log", "stays open"]);
    project.ok(&["error", "log", "is mended"]);
    project.ok(&["error", "resolve", "is mended", "--with", "x"]);
    project.ok(&["prune", "--apply", "--set", "memory.max_entries=1"]);
    assert_eq!(left(&project), ["stays open"]);
}

#[test]
fn an_error_is_as_old_as_its_first_time_not_as_its_resolution() {
    let mut project = Project::new();
    entries(&mut project);
    project.ok(&["error", "resolve", "first error", "--with", "x"]);
    project.ok(&["prune", "--apply", "--set", "memory.max_entries=3"]);
    assert_eq!(
        left(&project),
        ["first decision", "second decision", "second error"]
    );
}

#[test]
fn an_outcome_prunes_and_keeps_its_task() {
    let mut project = Project::new();
    entries(&mut project);
    project.ok(&[
        "outcome",
        "--task",
        "1",
        "--status",
        "PARTIAL",
        "--phase",
        "X",
        "--set",
        "memory.max_entries=1",
    ]);
    assert_eq!(left(&project), ["first error"]);
}
