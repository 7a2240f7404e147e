//! Workspace files: people and agents edit them, and records follow.

use crate::project::{Project, string};
use heirloom_model::limits;
use heirloom_testkit::sh;
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::symlink;
use std::process::{Command, Stdio};

const MEMORY: &str = ".heirloom/workspace/MEMORY.md";

fn write(project: &Project, name: &str, text: &str) {
    project.folder.write(name, text).unwrap();
}

fn read(project: &Project, name: &str) -> String {
    fs::read_to_string(project.file(name)).unwrap()
}

/// Returns the records of the workspace as `file:line text`, with their ids.
fn workspace_notes(project: &Project) -> Vec<(String, String)> {
    let line = |one: &Value| {
        let text = format!(
            "{}:{} {}",
            string(&one["file"]),
            one["line"],
            string(&one["text"])
        );
        (text, string(&one["id"]))
    };
    let is_workspace = |one: &&Value| one["category"] == "workspace";
    let mut all: Vec<_> = project
        .list("note")
        .iter()
        .filter(is_workspace)
        .map(line)
        .collect();
    all.sort();
    all
}

fn note_texts(project: &Project) -> Vec<String> {
    workspace_notes(project)
        .into_iter()
        .map(|(text, _)| text)
        .collect()
}

#[test]
fn workspace_templates_are_empty_and_created_only_by_init() {
    let project = Project::new();
    assert!(read(&project, MEMORY).starts_with("# Memory"));
    assert_eq!(project.json(&["workspace", "show"])["text"], "");
    assert_eq!(note_texts(&project), Vec::<String>::new());
    fs::remove_file(project.file(MEMORY)).unwrap();
    project.ok(&["workspace", "show"]);
    project.ok(&["context"]);
    assert!(!project.file(MEMORY).exists());
    project.ok(&["init"]);
    assert!(project.file(MEMORY).exists());
}

#[test]
fn workspace_edits_replace_retire_and_restore_records() {
    let project = Project::new();
    write(
        &project,
        MEMORY,
        "# Memory\n- the port is 8080\n- mice like cheese\n",
    );
    let output = project.json(&["recall", "which port"]);
    let hit = &output["hits"][0];
    assert_eq!(
        (&hit["text"], &hit["file"], &hit["line"]),
        (&json!("the port is 8080"), &json!(MEMORY), &json!(2))
    );
    let before = workspace_notes(&project);
    assert_eq!(before.len(), 2);

    // Lines that only move change no record.
    write(
        &project,
        MEMORY,
        "\n\n# Memory\n- mice like cheese\n\n- the port is 8080\n",
    );
    let moved = workspace_notes(&project);
    let ids = |workspace_notes: &[(String, String)]| {
        let mut ids: Vec<_> = workspace_notes.iter().map(|(_, id)| id.clone()).collect();
        ids.sort();
        ids
    };
    assert_eq!(ids(&before), ids(&moved));
    assert!(
        moved
            .iter()
            .any(|(text, _)| *text == format!("{MEMORY}:6 the port is 8080"))
    );

    // An edited line replaces its record, a deleted one retires it, and a restored one restores it.
    let id = |words: &str| {
        workspace_notes(&project)
            .into_iter()
            .find(|(text, _)| text.contains(words))
            .unwrap()
            .1
    };
    let (port, mice) = (id("port"), id("mice"));
    write(&project, MEMORY, "# Memory\n- the port is 9090\n");
    let edited = project.json(&["show", &port]);
    assert_eq!(edited["replaced_by"], json!(id("9090")));
    assert!(!project.json(&["show", &mice])["retired_at"].is_null());
    write(
        &project,
        MEMORY,
        "# Memory\n- the port is 9090\n- mice like cheese\n",
    );
    assert_eq!(id("mice"), mice);

    // A record that a person forgot stays retired although the file contains it.
    project.ok(&["forget", &mice]);
    write(
        &project,
        MEMORY,
        "# Memory\n- the port is 9090\n- mice like cheese\n- more\n",
    );
    assert_eq!(note_texts(&project).len(), 2);
    project.ok(&["undo", &mice]);
    assert_eq!(note_texts(&project).len(), 3);
    fs::remove_file(project.file(MEMORY)).unwrap();
    assert_eq!(note_texts(&project), Vec::<String>::new());
}

#[test]
fn workspace_commands_append_dated_redacted_entries_once() {
    let mut project = Project::new();
    project.set_clock("2026-05-01T10:00:00Z");
    write(&project, MEMORY, "# Mine\nwords of a person");
    let added = project.json(&sh(
        "workspace fact 'the key is ghp_16C7e42F292c6912E7710c838347Ae178B4a'",
    ));
    assert_eq!(added["outcome"], "added");
    assert_eq!(added["redacted"].as_array().unwrap().len(), 1);
    let text = read(&project, MEMORY);
    assert!(
        text.starts_with("# Mine\nwords of a person\n\n- 2026-05-01: the key is"),
        "{text}"
    );
    assert!(!text.contains("ghp_16C7"), "{text}");
    project.ok(&["workspace", "learning", "run it twice"]);
    project.ok(&sh("workspace error 'it hangs' --solution 'turn it off'"));
    project.ok(&["workspace", "feature", "a bell"]);
    project.ok(&["workspace", "daily", "began"]);
    project.set_clock("2026-05-02T10:00:00Z");
    let again = project.json(&["workspace", "learning", "run it twice"]);
    assert_eq!(again["outcome"], "unchanged");
    let shown = string(&project.json(&["workspace", "show"])["text"]);
    assert!(
        shown.starts_with("=== WORKSPACE KNOWLEDGE ===\n"),
        "{shown}"
    );
    assert!(
        shown.contains("words of a person") && shown.contains("run it twice"),
        "{shown}"
    );
    assert!(
        !shown.contains("began") && !shown.contains("it hangs"),
        "{shown}"
    );
    let errors = read(&project, ".heirloom/workspace/.learnings/ERRORS.md");
    assert!(
        errors.contains("- 2026-05-01: it hangs\n  Solution: turn it off\n"),
        "{errors}"
    );
    // After some days a log is moved to the archive, and is still found.
    let log = ".heirloom/workspace/memory/2026-05-01.md";
    assert!(project.file(log).exists());
    project.set_clock("2026-05-09T10:00:00Z");
    project.ok(&["workspace", "daily", "later"]);
    assert!(!project.file(log).exists());
    assert!(
        project
            .file(".heirloom/workspace/memory/archive/2026-05-01.md")
            .exists()
    );
    assert!(
        note_texts(&project)
            .iter()
            .any(|text| text.contains("archive/2026-05-01.md") && text.contains("began"))
    );
    let long = "x".repeat(limits::WORKSPACE_ENTRY_BYTES_MAX);
    project.ok(&["workspace", "fact", &long]);
    project.expect(&["workspace", "fact", &format!("{long}x")], 2);
}

#[test]
fn oversized_workspace_file_is_archived_and_cut_in_prompts() {
    let project = Project::new();
    let line = |n: usize| {
        format!(
            "- 2020-01-{:02}: fact {n} {}\n",
            n % 28 + 1,
            "x".repeat(900)
        )
    };
    let all: String = (0..80).map(line).collect();
    write(&project, MEMORY, &format!("# Memory\n- mine\n{all}"));
    assert!(all.len() > limits::WORKSPACE_ARCHIVE_AT_BYTES);
    let added = project.json(&["workspace", "fact", "the newest"]);
    let archive = string(&added["archived"]);
    assert!(archive.ends_with("MEMORY.archive.md"), "{archive}");
    let (remaining, moved) = (read(&project, MEMORY), fs::read_to_string(archive).unwrap());
    assert!(remaining.len() <= limits::WORKSPACE_ARCHIVE_AT_BYTES);
    assert!(remaining.contains("- mine\n") && remaining.contains("the newest"));
    for n in 0..80 {
        let fact = format!("fact {n} ");
        assert!(remaining.contains(&fact) != moved.contains(&fact), "{fact}");
    }
    // Recall still finds everything: 80 facts, `mine`, the newest.
    assert_eq!(note_texts(&project).len(), 82);
    let shown = project.json(&["workspace", "show", "--set", "workspace.file_chars=1000"]);
    assert!(string(&shown["text"]).contains("the newest"));
    assert!(
        string(&shown["notes"][0]).contains("1000 characters"),
        "{shown}"
    );
    let most = limits::WORKSPACE_FILE_CHARS_MAX;
    project.ok(&[
        "workspace",
        "show",
        "--set",
        &format!("workspace.file_chars={most}"),
    ]);
    project.expect(
        &[
            "workspace",
            "show",
            "--set",
            &format!("workspace.file_chars={}", most + 1),
        ],
        2,
    );
    assert!(limits::WORKSPACE_FILE_CHARS_DEFAULT < most && limits::WORKSPACE_DAYS_DEFAULT == 7);
}

#[test]
fn learnings_in_prompts_are_capped_to_the_newest_lines() {
    let project = Project::new();
    let lines: String = (0..30).map(|n| format!("- learned {n}.\n")).collect();
    write(
        &project,
        ".heirloom/workspace/.learnings/LEARNINGS.md",
        &lines,
    );
    let shown = string(&project.json(&["workspace", "show"])["text"]);
    assert_eq!(
        shown.matches("learned").count(),
        limits::WORKSPACE_LEARNING_LINES
    );
    assert!(shown.contains("learned 29."));
}

#[test]
fn user_workspace_precedes_the_project_workspace() {
    let project = Project::new();
    project.ok(&["workspace", "fact", "of the person", "--user"]);
    project.ok(&["workspace", "fact", "of the project"]);
    assert!(
        project
            .home
            .path()
            .join(".config/heirloom/workspace/MEMORY.md")
            .exists()
    );
    let shown = string(&project.json(&["workspace", "show"])["text"]);
    assert!(shown.find("of the person").unwrap() < shown.find("of the project").unwrap());
    project
        .home
        .write(".agent/workspace/SOUL.md", "# Soul\nbe kind\n")
        .unwrap();
    let other = [
        "workspace",
        "show",
        "--set",
        "workspace.user_folder=~/.agent/workspace",
    ];
    let shown = string(&project.json(&other)["text"]);
    assert!(
        shown.contains("be kind") && !shown.contains("of the person"),
        "{shown}"
    );
}

#[test]
fn unreadable_workspace_file_is_reported_and_keeps_its_records() {
    let project = Project::new();
    write(&project, MEMORY, "- kept\n");
    assert_eq!(note_texts(&project).len(), 1);
    let assert_reported = |project: &Project, words: &str| {
        let answer = project.ok(&["context"]);
        assert!(answer.stderr.contains(words), "{words}: {answer:?}");
        assert_eq!(note_texts(project).len(), 1, "{words}");
        let refused = project.expect(&["workspace", "fact", "x"], 4);
        assert!(refused.stderr.contains(words), "{words}: {refused:?}");
    };
    let bytes =
        |bytes: &[u8]| heirloom_fs::durable::write_atomic(&project.file(MEMORY), bytes).unwrap();
    bytes(b"- a\xff\n");
    assert_reported(&project, "not UTF-8 text");
    bytes(b"- a\0\n");
    assert_reported(&project, "not UTF-8 text");
    fs::File::options()
        .write(true)
        .open(project.file(MEMORY))
        .unwrap()
        .set_len(limits::WORKSPACE_FILE_BYTES_MAX + 1)
        .unwrap();
    assert_reported(&project, "more than the limit");
    fs::remove_file(project.file(MEMORY)).unwrap();
    let fifo = Command::new("mkfifo")
        .arg(project.file(MEMORY))
        .status()
        .unwrap();
    assert!(fifo.success());
    assert_reported(&project, "it is not a regular file");
    fs::remove_file(project.file(MEMORY)).unwrap();
    project
        .home
        .write("outside.md", "- from outside\n")
        .unwrap();
    symlink(project.home.path().join("outside.md"), project.file(MEMORY)).unwrap();
    assert_reported(&project, "outside the project");
    assert_eq!(
        fs::read_to_string(project.home.path().join("outside.md")).unwrap(),
        "- from outside\n"
    );
    fs::remove_file(project.file(MEMORY)).unwrap();
    symlink(project.file(MEMORY), project.file(MEMORY)).unwrap();
    assert_reported(&project, "too many symbolic links");
    fs::remove_file(project.file(MEMORY)).unwrap();
    // Files whose names differ in case, and files with invalid names, are not read.
    write(&project, ".heirloom/workspace/memory.md", "- twin\n");
    write(&project, ".heirloom/workspace/memory/a\nb.md", "- odd\n");
    write(
        &project,
        ".heirloom/workspace/memory/2026-5-1.md",
        "- odd\n",
    );
    write(&project, MEMORY, "- kept\n");
    assert_eq!(note_texts(&project), [format!("{MEMORY}:1 kept")]);
}

#[test]
fn concurrent_writers_and_a_lost_index_lose_no_entry() {
    let project = Project::new();
    let children: Vec<_> = (0..20)
        .map(|n| {
            let mut command = project.command(&["workspace", "fact", &format!("fact number {n}")]);
            command
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()
                .unwrap()
        })
        .collect();
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    assert_eq!(read(&project, MEMORY).matches("fact number").count(), 20);
    let before = workspace_notes(&project);
    assert_eq!(before.len(), 20);
    for broken in ["", "{", "\0\0\0"] {
        write(&project, ".heirloom/workspace.index", broken);
        assert_eq!(workspace_notes(&project), before);
    }
    let index = fs::File::options()
        .write(true)
        .open(project.file(".heirloom/workspace.index"));
    index
        .unwrap()
        .set_len(limits::WORKSPACE_INDEX_BYTES_MAX + 1)
        .unwrap();
    assert_eq!(workspace_notes(&project), before);
    // A restored database is synchronised with the files.
    project.ok(&["backup", "b.db"]);
    write(&project, MEMORY, "- other\n");
    assert_eq!(note_texts(&project).len(), 1);
    project.ok(&["restore", "b.db"]);
    assert_eq!(note_texts(&project), [format!("{MEMORY}:1 other")]);
}

#[test]
fn five_thousand_bullets_are_synchronised() {
    let project = Project::new();
    let page = |from: usize| -> String {
        (from..from + 5_000)
            .map(|n| format!("- entry {n} says {}\n", n * 7))
            .collect()
    };
    write(&project, MEMORY, &page(0));
    let report = project.json(&["workspace", "sync"]);
    assert_eq!(
        (&report["created"], &report["retired"]),
        (&json!(0), &json!(0)),
        "the command before imported them"
    );
    write(&project, MEMORY, &page(100));
    assert_eq!(note_texts(&project).len(), 5_000);
}
