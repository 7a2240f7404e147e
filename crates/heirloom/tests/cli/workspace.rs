//! Workspace files: people and agents edit them, records follow.

use crate::project::{Project, string};
use heirloom_model::limits;
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

/// The records of the workspace as `file:line text`, with their ids.
fn notes(project: &Project) -> Vec<(String, String)> {
    let line = |one: &Value| {
        let text = format!(
            "{}:{} {}",
            string(&one["file"]),
            one["line"],
            string(&one["text"])
        );
        (text, string(&one["id"]))
    };
    let of_workspace = |one: &&Value| one["category"] == "workspace";
    let mut all: Vec<_> = project
        .list("note")
        .iter()
        .filter(of_workspace)
        .map(line)
        .collect();
    all.sort();
    all
}

fn texts(project: &Project) -> Vec<String> {
    notes(project).into_iter().map(|(text, _)| text).collect()
}

#[test]
fn forms_say_nothing_and_are_made_by_init_only() {
    let project = Project::new();
    assert!(read(&project, MEMORY).starts_with("# Memory"));
    assert_eq!(project.json(&["workspace", "show"])["text"], "");
    assert_eq!(texts(&project), Vec::<String>::new());
    fs::remove_file(project.file(MEMORY)).unwrap();
    project.ok(&["workspace", "show"]);
    project.ok(&["context"]);
    assert!(!project.file(MEMORY).exists());
    project.ok(&["init"]);
    assert!(project.file(MEMORY).exists());
}

#[test]
fn what_people_edit_is_what_is_known() {
    let project = Project::new();
    write(
        &project,
        MEMORY,
        "# Memory\n- the port is 8080\n- mice like cheese\n",
    );
    let said = project.json(&["recall", "which port"]);
    let hit = &said["hits"][0];
    assert_eq!(
        (&hit["text"], &hit["file"], &hit["line"]),
        (&json!("the port is 8080"), &json!(MEMORY), &json!(2))
    );
    let before = notes(&project);
    assert_eq!(before.len(), 3);

    // Lines that only move leave every record as it was.
    write(
        &project,
        MEMORY,
        "\n\n# Memory\n- mice like cheese\n\n- the port is 8080\n",
    );
    let moved = notes(&project);
    let ids = |notes: &[(String, String)]| {
        let mut ids: Vec<_> = notes.iter().map(|(_, id)| id.clone()).collect();
        ids.sort();
        ids
    };
    assert_eq!(ids(&before), ids(&moved));
    assert!(
        moved
            .iter()
            .any(|(text, _)| *text == format!("{MEMORY}:6 the port is 8080"))
    );

    // An edit takes its place, a deletion retires, what comes back is the same again.
    let id = |words: &str| {
        notes(&project)
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

    // What a person forgets stays forgotten though the file has it.
    project.ok(&["forget", &mice]);
    write(
        &project,
        MEMORY,
        "# Memory\n- the port is 9090\n- mice like cheese\n- more\n",
    );
    assert_eq!(texts(&project).len(), 3);
    project.ok(&["undo", &mice]);
    assert_eq!(texts(&project).len(), 4);
    fs::remove_file(project.file(MEMORY)).unwrap();
    assert_eq!(texts(&project), Vec::<String>::new());
}

#[test]
fn writers_add_once_dated_and_without_secrets() {
    let mut project = Project::new();
    project.at("2026-05-01T10:00:00Z");
    write(&project, MEMORY, "# Mine\nwords of a person");
    let added = project.json(&[
        "workspace",
        "fact",
        "the key is ghp_16C7e42F292c6912E7710c838347Ae178B4a",
    ]);
    assert_eq!(added["outcome"], "added");
    assert_eq!(added["redacted"].as_array().unwrap().len(), 1);
    let text = read(&project, MEMORY);
    assert!(
        text.starts_with("# Mine\nwords of a person\n\n- 2026-05-01: the key is"),
        "{text}"
    );
    assert!(!text.contains("ghp_16C7"), "{text}");
    project.ok(&["workspace", "learning", "run it twice"]);
    project.ok(&[
        "workspace",
        "error",
        "it hangs",
        "--solution",
        "turn it off",
    ]);
    project.ok(&["workspace", "feature", "a bell"]);
    project.ok(&["workspace", "daily", "began"]);
    project.at("2026-05-02T10:00:00Z");
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
    // After its days a log goes to the archive, and is still found.
    let log = ".heirloom/workspace/memory/2026-05-01.md";
    assert!(project.file(log).exists());
    project.at("2026-05-09T10:00:00Z");
    project.ok(&["workspace", "daily", "later"]);
    assert!(!project.file(log).exists());
    assert!(
        project
            .file(".heirloom/workspace/memory/archive/2026-05-01.md")
            .exists()
    );
    assert!(
        texts(&project)
            .iter()
            .any(|text| text.contains("archive/2026-05-01.md") && text.contains("began"))
    );
    let long = "x".repeat(limits::WORKSPACE_ENTRY_BYTES_MAX);
    project.ok(&["workspace", "fact", &long]);
    project.expect(&["workspace", "fact", &format!("{long}x")], 2);
}

#[test]
fn a_file_that_is_too_long_is_pruned_and_cut_in_prompts() {
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
    assert!(all.len() > limits::WORKSPACE_KEPT_BYTES);
    let added = project.json(&["workspace", "fact", "the newest"]);
    let archive = string(&added["archived"]);
    assert!(archive.ends_with("MEMORY.archive.md"), "{archive}");
    let (kept, moved) = (read(&project, MEMORY), fs::read_to_string(archive).unwrap());
    assert!(kept.len() <= limits::WORKSPACE_KEPT_BYTES);
    assert!(kept.contains("- mine\n") && kept.contains("the newest"));
    for n in 0..80 {
        let said = format!("fact {n} ");
        assert!(kept.contains(&said) != moved.contains(&said), "{said}");
    }
    // Nothing of it is lost to recall: 80 facts, mine, the newest, the heading.
    assert_eq!(texts(&project).len(), 83);
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
fn learnings_have_a_number_of_lines_in_prompts() {
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
fn the_person_s_workspace_comes_first() {
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
fn what_is_no_text_is_told_and_loses_nothing() {
    let project = Project::new();
    write(&project, MEMORY, "- kept\n");
    assert_eq!(texts(&project).len(), 1);
    let told = |project: &Project, words: &str| {
        let answer = project.ok(&["context"]);
        assert!(answer.stderr.contains(words), "{words}: {answer:?}");
        assert_eq!(texts(project).len(), 1, "{words}");
        let refused = project.expect(&["workspace", "fact", "x"], 4);
        assert!(refused.stderr.contains(words), "{words}: {refused:?}");
    };
    let bytes =
        |bytes: &[u8]| heirloom_store::durable::write_atomic(&project.file(MEMORY), bytes).unwrap();
    bytes(b"- a\xff\n");
    told(&project, "no text");
    bytes(b"- a\0\n");
    told(&project, "no text");
    fs::File::options()
        .write(true)
        .open(project.file(MEMORY))
        .unwrap()
        .set_len(limits::WORKSPACE_FILE_BYTES_MAX + 1)
        .unwrap();
    told(&project, "more than are read");
    fs::remove_file(project.file(MEMORY)).unwrap();
    let fifo = Command::new("mkfifo")
        .arg(project.file(MEMORY))
        .status()
        .unwrap();
    assert!(fifo.success());
    told(&project, "it is no file");
    fs::remove_file(project.file(MEMORY)).unwrap();
    project
        .home
        .write("outside.md", "- from outside\n")
        .unwrap();
    symlink(project.home.path().join("outside.md"), project.file(MEMORY)).unwrap();
    told(&project, "outside the project");
    assert_eq!(
        fs::read_to_string(project.home.path().join("outside.md")).unwrap(),
        "- from outside\n"
    );
    fs::remove_file(project.file(MEMORY)).unwrap();
    symlink(project.file(MEMORY), project.file(MEMORY)).unwrap();
    told(&project, "too many symbolic links");
    fs::remove_file(project.file(MEMORY)).unwrap();
    // Twins in another case, and names that are none, are not read.
    write(&project, ".heirloom/workspace/memory.md", "- twin\n");
    write(&project, ".heirloom/workspace/memory/a\nb.md", "- odd\n");
    write(
        &project,
        ".heirloom/workspace/memory/2026-5-1.md",
        "- odd\n",
    );
    write(&project, MEMORY, "- kept\n");
    assert_eq!(texts(&project), [format!("{MEMORY}:1 kept")]);
}

#[test]
fn twenty_writers_and_an_index_that_is_lost() {
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
    let before = notes(&project);
    assert_eq!(before.len(), 21);
    for broken in ["", "{", "\0\0\0"] {
        write(&project, ".heirloom/workspace.index", broken);
        assert_eq!(notes(&project), before);
    }
    let index = fs::File::options()
        .write(true)
        .open(project.file(".heirloom/workspace.index"));
    index
        .unwrap()
        .set_len(limits::WORKSPACE_INDEX_BYTES_MAX + 1)
        .unwrap();
    assert_eq!(notes(&project), before);
    // A database in the place of another has what the files say.
    project.ok(&["backup", "b.db"]);
    write(&project, MEMORY, "- other\n");
    assert_eq!(texts(&project).len(), 1);
    project.ok(&["restore", "b.db"]);
    assert_eq!(texts(&project), [format!("{MEMORY}:1 other")]);
}

#[test]
fn five_thousand_bullets() {
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
        "the command before took them in"
    );
    write(&project, MEMORY, &page(100));
    assert_eq!(texts(&project).len(), 5_000);
}
