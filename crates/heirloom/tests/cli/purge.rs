//! Purges, undo of imports, history of changes, and as-of lists.

use crate::project::{Project, texts};
use heirloom_fs::durable;
use heirloom_testkit::sh;
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

/// Returns true if a file below `folder` contains these bytes.
fn contains_text(folder: &Path, text: &str) -> bool {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
    let mut found = entries.map(|entry| {
        let path = entry.path();
        if path.is_dir() {
            return contains_text(&path, text);
        }
        let bytes = fs::read(&path).unwrap();
        let mut windows = bytes.windows(text.len());
        windows.any(|window| window == text.as_bytes())
    });
    found.any(|contains_text| contains_text)
}

fn id_of(project: &Project, args: &[&str]) -> String {
    project.json(args)["id"].as_str().unwrap().to_owned()
}

#[test]
fn purge_removes_the_text_from_every_file() {
    let project = Project::new();
    let first = id_of(&project, &["remember", "the word is xyzzy42", "--key", "k"]);
    project.ok(&["remember", "the word is changed", "--key", "k"]);
    for n in 0..200 {
        project.ok(&["remember", &format!("another fact {n}")]);
    }
    assert_ne!(first, "");
    let folder = project.folder.path().join(".heirloom");
    assert!(contains_text(&folder, "xyzzy42"));
    let output = project.json(&["purge", "--query", "XYZZY42", "--yes"]);
    assert_eq!(
        (&output["records"], &output["purged"]),
        (&json!(1), &json!(true))
    );
    assert_eq!(output["residue"], json!(false));
    assert!(!contains_text(&folder, "xyzzy42"));
    assert_eq!(
        project.json(&["list"])["records"].as_array().unwrap().len(),
        201
    );
    assert_eq!(project.json(&["status"])["health"], "ok");
    let events = project.json(&["history"]);
    assert_eq!(events["events"][0]["action"], "purged");
    assert_eq!(
        events["events"][0]["detail"],
        "1 record, 0 sessions, 0 messages"
    );
}

#[test]
fn purge_query_removes_the_text_outside_of_records() {
    let project = Project::new();
    let source = Project::new();
    source.ok(&["remember", "a fact of another project"]);
    let export = source.ok(&["export", "--all"]).stdout;
    let named = project.folder.path().join("xyzzy43.jsonl");
    durable::write_atomic(&named, export.as_bytes()).unwrap();
    project.ok(&["import", "jsonl", "xyzzy43.jsonl"]);
    project.ok(&sh("outcome --task xyzzy43 --status COMPLETE"));
    fs::remove_file(named).unwrap();
    let folder = project.folder.path().join(".heirloom");
    assert!(contains_text(&folder, "xyzzy43"));
    project.ok(&["purge", "--query", "xyzzy43", "--yes"]);
    assert!(!contains_text(&folder, "xyzzy43"));
    let list = project.json(&["list"]);
    assert_eq!(texts(&list["records"]), ["a fact of another project"]);
    assert_eq!(project.json(&["doctor"])["ok"], true);
}

#[test]
fn purge_free_removes_residue_and_on_request_copies() {
    let project = Project::new();
    project.ok(&["remember", "it stays"]);
    let folder = project.folder.path().join(".heirloom");
    durable::write_atomic(
        &folder.join("heirloom.db.before-v1-20260101T000000Z"),
        b"old",
    )
    .unwrap();
    let output = project.json(&["purge", "--free"]);
    assert_eq!(
        (&output["records"], &output["residue"]),
        (&json!(0), &json!(false))
    );
    assert_eq!(output["copies"].as_array().unwrap().len(), 1);
    let output = project.json(&["purge", "--free", "--copies", "--yes"]);
    assert_eq!(output["copies_removed"].as_array().unwrap().len(), 1);
    assert_eq!(texts(&project.json(&["list"])["records"]), ["it stays"]);
}

#[test]
fn purge_without_a_terminal_or_yes_is_refused() {
    let project = Project::new();
    let id = id_of(&project, &["remember", "keep me"]);
    let refused = project.expect(&["purge", "--id", &id], 4);
    assert!(refused.stderr.contains("--yes"), "{}", refused.stderr);
    let dry_run = project.json(&["purge", "--id", &id, "--dry-run"]);
    assert_eq!(
        (&dry_run["records"], &dry_run["purged"]),
        (&json!(1), &json!(false))
    );
    assert_eq!(project.json(&["show", &id])["text"], "keep me");
    project.expect(&["purge", "--yes"], 2);
    project.expect(&sh("purge --all --query x --yes"), 2);
    project.expect(&["purge", "--session", "nowhere", "--yes"], 3);
    project.ok(&["purge", "--id", &id, "--yes"]);
    project.expect(&["show", &id], 3);
}

#[test]
fn purge_all_removes_the_mirror_and_on_request_the_copies() {
    let project = Project::new();
    project.ok(&sh(
        "outcome --task 7 --iteration 1 --status COMPLETE --message xyzzy42",
    ));
    project.ok(&["remember", "fact xyzzy42"]);
    let folder = project.folder.path().join(".heirloom");
    fs::copy(
        folder.join("heirloom.db"),
        folder.join("heirloom.db.before-v9-20200101T000000Z"),
    )
    .unwrap();
    let output = project.json(&["purge", "--all", "--yes"]);
    assert_eq!(output["copies"].as_array().unwrap().len(), 1, "{output}");
    let output = project.json(&["purge", "--all", "--yes", "--copies"]);
    assert_eq!(
        output["copies_removed"].as_array().unwrap().len(),
        1,
        "{output}"
    );
    assert!(!contains_text(&folder, "xyzzy42"));
    assert_eq!(project.json(&["list", "--all"])["records"], json!([]));
    project.ok(&["remember", "a new beginning"]);
}

#[test]
fn undo_of_an_import_retires_and_restores_all_its_records() {
    let source = Project::new();
    for text in ["one", "two", "three"] {
        source.ok(&["remember", text]);
    }
    let target = Project::new();
    let export = source.ok(&["export", "--all"]).stdout;
    target.folder.write("in.jsonl", &export).unwrap();
    target.ok(&["remember", "mine"]);
    let import = target.json(&["import", "jsonl", "in.jsonl"])["import"]
        .as_str()
        .unwrap()
        .to_owned();
    let count = || target.json(&["list"])["records"].as_array().unwrap().len();
    assert_eq!(count(), 4);
    assert_eq!(target.json(&["undo", &import])["outcome"], "retired");
    assert_eq!(count(), 1);
    assert_eq!(target.json(&["undo", &import])["outcome"], "restored");
    assert_eq!(count(), 4);
    target.ok(&["undo", &import]);
    let again = target.json(&["import", "jsonl", "in.jsonl"]);
    assert_eq!(
        (&again["created"], count()),
        (&json!(3), 4),
        "the same file brings it back"
    );
    let history = target.json(&["history"]);
    let actions: Vec<_> = history["events"]
        .as_array()
        .unwrap()
        .iter()
        .map(|e| e["action"].as_str().unwrap())
        .collect();
    assert_eq!(
        actions
            .iter()
            .filter(|action| **action == "reversed")
            .count(),
        3,
        "{actions:?}"
    );
    assert!(actions.contains(&"imported"));
}

#[test]
fn history_names_the_source_of_each_change() {
    let project = Project::new();
    let id = id_of(
        &project,
        &["remember", "tabs", "--key", "k", "--source", "agent-1"],
    );
    project.ok(&sh("remember tabs --key k --source agent-2"));
    project.ok(&["forget", &id]);
    project.ok(&["undo", &id]);
    let history = project.json(&["history", &id]);
    let changes: Vec<_> = history["events"]
        .as_array()
        .unwrap()
        .iter()
        .map(|e| (e["action"].as_str().unwrap(), e["by"].as_str().unwrap()))
        .collect();
    assert_eq!(
        changes,
        [
            ("created", "agent-1"),
            ("confirmed", "agent-2"),
            ("retired", "user"),
            ("restored", "user")
        ]
    );
    let text = project.ok(&["history"]).stdout;
    assert!(
        text.contains("agent-2") && text.contains("confirmed"),
        "{text}"
    );
}

#[test]
fn list_as_of_returns_the_records_current_at_that_time() {
    let mut project = Project::new();
    for (time, text) in [
        ("2026-01-01T00:00:00Z", "old"),
        ("2026-02-01T00:00:00Z", "new"),
    ] {
        project.set_clock(time);
        project.ok(&["remember", text, "--key", "k"]);
    }
    let texts = |list: &Value| texts(&list["records"]);
    assert_eq!(
        texts(&project.json(&["list", "--as-of", "2026-01-15T00:00:00Z"])),
        ["old"]
    );
    assert_eq!(
        texts(&project.json(&["list", "--as-of", "2026-02-15T00:00:00Z"])),
        ["new"]
    );
    assert!(texts(&project.json(&["list", "--as-of", "2025-01-01T00:00:00Z"])).is_empty());
    project.expect(&["list", "--as-of", "yesterday-ish"], 2);
}
