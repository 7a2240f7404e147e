//! Import offers of `init` for the files of other tools; `import workspace` and `import server-memory`.

use crate::project::{Project, string};
use heirloom_model::limits;
use serde_json::{Value, json};
use std::fs::{self, File};
use std::os::unix::fs::symlink;
use std::process::Command;

const RULES: &str = "\
# Shop

Sells things.

## Build
- run `make all`
- the key is ghp_16C7e42F292c6912E7710c838347Ae178B4a

## Decisions
- use SQLite
";

/// Creates a project and a home folder with files of every tool that `init` can import.
fn project_with_all_sources() -> Project {
    let project = Project::uninitialised();
    let write = |name: &str, text: &str| drop(project.folder.write(name, text).unwrap());
    write("AGENTS.md", RULES);
    symlink("AGENTS.md", project.file("CLAUDE.md")).unwrap();
    write(
        ".agentium/memory.json",
        r#"{"session_id":"s","tasks":{"1":{"id":"1","completed_steps":["a"]}},"key_facts":["the port is 8080"]}"#,
    );
    write(
        ".radium/_internals/sessions/s1/history.json",
        r#"[{"timestamp":1777000000,"goal":"g","plan":"p","output":"o"}]"#,
    );
    write(
        "radium/wip/REQ-1/memory/coder.json",
        r#"{"agent_id":"coder","content":"done","timestamp":1777000000}"#,
    );
    write("shared-context/style.md", "# Conventions\n- tabs\n");
    let own = |name: &str, text: &str| {
        let name = format!(".agent/workspace/{name}");
        drop(project.home.write(&name, text).unwrap());
    };
    own("MEMORY.md", "# Memory\n- likes tea\n");
    own("TOOLS.md", "# Tools\n- ripgrep\n");
    own(
        ".learnings/ERRORS.md",
        "# Errors\n- lock timeout\n  - wait\n",
    );
    own("memory/2026-01-02.md", "# 2026-01-02\n- did it\n");
    project
}

fn offers(value: &Value) -> Vec<(String, String, u64)> {
    let offers = value["offers"].as_array().unwrap().iter();
    let offer = |one: &Value| {
        let entries = one["entries"].as_u64().unwrap();
        (string(&one["path"]), string(&one["format"]), entries)
    };
    offers.map(offer).collect()
}

/// Returns the current knowledge as sorted lines of category, source and text.
fn knowledge_lines(project: &Project) -> Vec<String> {
    let line = |one: &Value| {
        let (category, source) = (string(&one["category"]), string(&one["source"]));
        format!("{category}, {source}: {}", string(&one["text"]))
    };
    let mut lines: Vec<_> = project.list("knowledge").iter().map(line).collect();
    lines.sort();
    lines
}

fn record_count(project: &Project) -> usize {
    let listed = project.json(&["list"]);
    listed["records"].as_array().unwrap().len()
}

#[test]
fn init_lists_importable_files_and_imports_nothing() {
    let project = project_with_all_sources();
    let output = project.ok(&["init", "--yes"]);
    assert!(
        output.stderr.contains("heirloom init --import"),
        "{output:?}"
    );
    for part in [
        "AGENTS.md",
        ".agentium/memory.json",
        "radium",
        "shared-context",
        "1 entry",
    ] {
        assert!(output.stderr.contains(part), "{part}: {output:?}");
    }
    assert_eq!(record_count(&project), 0);
    let value = project.json(&["init"]);
    let part = |path: &str, format: &str, entries| (path.to_owned(), format.to_owned(), entries);
    assert_eq!(
        offers(&value),
        [
            part("AGENTS.md", "markdown", 3),
            part(".agentium/memory.json", "agentium", 3),
            part("radium", "radium", 1),
            part(".radium/_internals/sessions", "radium", 3),
            part("shared-context", "markdown", 1),
            part("~/.agent/workspace", "workspace", 4),
        ]
    );
    assert_eq!(
        (&value["notes"], &value["imported"]),
        (&json!([]), &json!(null))
    );
    assert_eq!(record_count(&project), 0);
}

/// Returns the paths and import commands of the memories that `init` names.
fn listed(project: &Project) -> Vec<(String, String)> {
    let value = project.json(&["init"]);
    let memories = value["memories"].as_array().unwrap().iter();
    let one = |one: &Value| (string(&one["path"]), string(&one["command"]));
    memories.map(one).collect()
}

#[test]
fn init_names_the_command_for_each_memory_that_exists() {
    let project = Project::uninitialised();
    assert_eq!(listed(&project), []);
    let root = project.folder.path().canonicalize().unwrap();
    let slug: String = (root.to_str().unwrap().chars())
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
        .collect();
    let own = |name: &str| drop(project.home.write(name, "- likes tea\n").unwrap());
    let write = |name: &str| drop(project.folder.write(name, "- use tabs\n").unwrap());
    // Folders of these programs without a memory.
    own(".claude/projects/-other/memory/MEMORY.md");
    own(".codex/config.toml");
    assert_eq!(listed(&project), []);
    let claude = format!(".claude/projects/{slug}/memory");
    own(&format!("{claude}/MEMORY.md"));
    own(".codex/memories/MEMORY.md");
    own(".claude-mem/claude-mem.db");
    own("basic-memory/note.md");
    own(".mem0/history.db");
    write(".cursorrules");
    write(".ai-agent-chat.sqlite");
    let place = |path: &str, format: &str| (path.to_owned(), format!("heirloom import {format}"));
    let expected = [
        place(".cursorrules", "cursor-rules"),
        place(".ai-agent-chat.sqlite", "ai-agent-chat"),
        place(&format!("~/{claude}"), "claude-memory"),
        place("~/.codex/memories", "codex-memories"),
        place("~/.claude-mem/claude-mem.db", "claude-mem"),
        place("~/basic-memory", "basic-memory"),
        place("~/.mem0", "mem0"),
    ];
    assert_eq!(listed(&project), expected);
    let output = project.ok(&["init"]);
    for (path, command) in &expected {
        let is_named = |line: &str| line.contains(path) && line.ends_with(command);
        assert!(output.stderr.lines().any(is_named), "{path}: {output:?}");
    }
    assert_eq!(record_count(&project), 0);
    // The commands read what was named.
    for format in [
        "cursor-rules",
        "claude-memory",
        "codex-memories",
        "basic-memory",
    ] {
        let report = project.json(&["import", format]);
        assert!(report["created"].as_u64() > Some(0), "{format}: {report}");
    }
}

#[test]
fn init_names_rules_of_codex_and_conversations_of_the_project() {
    let project = Project::uninitialised();
    let own = |name: &str, text: String| drop(project.home.write(name, text).unwrap());
    let root = project.folder.path().canonicalize().unwrap();
    let claude = |folder: &str| {
        let line = json!({
            "type": "user", "sessionId": "s1", "cwd": folder, "timestamp": "2026-05-01T10:00:00Z",
            "uuid": "u1", "message": {"role": "user", "content": "why is the port 8080?"},
        });
        format!("{line}\n")
    };
    let codex = |folder: &str| {
        let line = json!({
            "timestamp": "2026-05-01T10:00:00.000Z", "type": "session_meta",
            "payload": {"id": "c1", "timestamp": "2026-05-01T10:00:00.000Z", "cwd": folder},
        });
        format!("{line}\n")
    };
    let rollout = "rollout-2026-05-01T10-00-00-c1.jsonl";
    // Conversations of another folder, and files that are not conversations.
    own(".claude/projects/-other/s1.jsonl", claude("/other"));
    own(
        &format!(".codex/sessions/2026/05/01/{rollout}"),
        codex("/other"),
    );
    own(".codex/sessions/2026/05/01/rollout-x.jsonl", "{".to_owned());
    assert_eq!(listed(&project), []);
    let folder = root.to_str().unwrap();
    own(".claude/projects/-here/s1.jsonl", claude(folder));
    own(
        &format!(".codex/sessions/2026/05/02/{rollout}"),
        codex(folder),
    );
    own(".codex/AGENTS.md", "- use tabs\n".to_owned());
    let place = |path: &str, format: &str| (path.to_owned(), format!("heirloom import {format}"));
    assert_eq!(
        listed(&project),
        [
            place("~/.codex/AGENTS.md", "codex-memories"),
            place("~/.claude/projects", "claude"),
            place("~/.codex/sessions", "codex"),
        ]
    );
    let report = project.json(&["import", "codex-memories"]);
    assert_eq!(report["created"], 1, "{report}");
    for format in ["claude", "codex"] {
        let report = project.json(&["import", format]);
        assert_eq!(report["files"], 1, "{format}: {report}");
    }
}

#[test]
fn init_import_dry_run_counts_records_and_stores_nothing() {
    let project = project_with_all_sources();
    let value = project.json(&["init", "--import", "--dry-run"]);
    let imported = &value["imported"];
    assert_eq!(imported["created"], 15, "{value}");
    assert_eq!(
        (&imported["known"], &imported["redacted"]),
        (&json!(0), &json!(1))
    );
    assert_eq!(
        (&imported["import"], &imported["dry_run"]),
        (&json!(null), &json!(true))
    );
    assert_eq!(value["offers"][0]["redacted"], 1);
    assert_eq!(record_count(&project), 0);
    assert_eq!(project.json(&["session", "search", "g"])["hits"], json!([]));
    project.expect(&["init", "--dry-run"], 2);
}

#[test]
fn init_import_creates_one_batch_that_undo_reverts() {
    let project = project_with_all_sources();
    project.ok(&["init"]);
    let value = project.json(&["init", "--import"]);
    let import = string(&value["imported"]["import"]);
    assert_eq!(value["imported"]["created"], 15);
    let lines = knowledge_lines(&project);
    assert_eq!(
        lines,
        [
            "build, AGENTS.md: run `make all`",
            "build, AGENTS.md: the key is [redacted:github-token]",
            "convention, import: tabs",
            "decision, AGENTS.md: use SQLite",
            "fact, import: the port is 8080",
            "fact, ~/.agent/workspace/MEMORY.md: likes tea",
            "learning, ~/.agent/workspace/.learnings/ERRORS.md: lock timeout\n- wait",
            "log, ~/.agent/workspace/memory/2026-01-02.md: did it",
            "tools, ~/.agent/workspace/TOOLS.md: ripgrep",
        ]
    );
    assert_eq!(project.list("task").len(), 1);
    assert!(project.ok(&["context"]).stdout.contains("use SQLite"));
    let again = project.ok(&["init", "--import"]);
    assert!(
        again
            .stdout
            .contains("0 records imported, 15 already known"),
        "{again:?}"
    );
    let third = project.ok(&["init"]);
    assert!(!third.stderr.contains("--import"), "{third:?}");
    // A person who repeats an imported decision confirms it.
    let output = project.json(&["remember", "use SQLite", "--category", "decision"]);
    assert_eq!(output["outcome"], "confirmed", "{output}");
    let undone = project.json(&["undo", &import]);
    assert_eq!(undone["import"], true, "{undone}");
    assert_eq!(
        (record_count(&project), knowledge_lines(&project)),
        (0, vec![])
    );
    let back = project.json(&["init", "--import"]);
    assert_eq!(back["imported"]["created"], 15);
    assert_eq!(knowledge_lines(&project), lines);
}

#[test]
fn init_import_reports_unreadable_files_and_imports_the_rest() {
    let project = Project::new();
    let write = |name: &str, text: &[u8]| drop(project.folder.write(name, text).unwrap());
    let outside = project.home.write("rules.md", "- from outside\n").unwrap();
    symlink(&outside, project.file("CLAUDE.md")).unwrap();
    write("AGENTS.md", b"- fine\n");
    let huge = |name: &str, most: u64| {
        write(name, b"");
        let file = File::options().write(true).open(project.file(name));
        file.unwrap().set_len(most + 1).unwrap();
    };
    huge(".agentium/memory.json", limits::INIT_PROBE_BYTES_MAX);
    huge("shared-context/huge.md", limits::SHARED_FILE_BYTES_MAX);
    write("shared-context/a.md", b"# Facts\n- in shared\n");
    write("shared-context/binary.md", b"# \xff\0\n- x\n");
    let made = Command::new("mkfifo")
        .arg(project.file("shared-context/pipe.md"))
        .status();
    assert!(made.unwrap().success());
    symlink("pipe.md", project.file("shared-context/circle.md")).unwrap();
    write(
        ".radium/_internals/sessions/half/history.json",
        b"[{\"goal\":",
    );
    write("radium/wip/REQ-1/memory/half.json", b"{\"agent_id\"");
    let own = |name: &str| {
        project
            .home
            .write(&format!(".agent/workspace/{name}"), "- x\n")
    };
    own("MEMORY.md").unwrap();
    symlink(
        "MEMORY.md",
        project.home.path().join(".agent/workspace/SOUL.md"),
    )
    .unwrap();
    symlink(
        "/etc/hostname",
        project.home.path().join(".agent/workspace/TOOLS.md"),
    )
    .unwrap();
    let value = project.json(&["init", "--import"]);
    let imported = &value["imported"];
    let texts: Vec<_> = project
        .list("knowledge")
        .iter()
        .map(|one| string(&one["text"]))
        .collect();
    assert!(texts.contains(&"fine".to_owned()) && texts.contains(&"in shared".to_owned()));
    assert!(
        !texts.iter().any(|text| text.contains("outside")),
        "{texts:?}"
    );
    // MEMORY.md and SOUL.md contain the same text in different categories, so both are created.
    assert_eq!(imported["created"], 4, "{value}");
    let messages = imported["diagnostics"].as_array().unwrap().iter();
    let messages: Vec<_> = messages.map(|one| string(&one["message"])).collect();
    for part in [
        "CLAUDE.md",
        ".agentium/memory.json",
        "shared-context/huge.md",
        "shared-context/binary.md",
        "shared-context/pipe.md",
        "shared-context/circle.md",
        "half/history.json",
        "half.json",
        "~/.agent/workspace/TOOLS.md",
    ] {
        assert!(
            messages.iter().any(|note| note.contains(part)),
            "{part}: {messages:?}"
        );
    }
    assert!(
        !messages.iter().any(|note| note.contains("from outside")),
        "{messages:?}"
    );
}

#[test]
fn memory_file_at_size_limit_is_offered() {
    let project = Project::new();
    let mut bytes = br#"{"session_id":"s","key_facts":["x"]}"#.to_vec();
    bytes.resize(usize::try_from(limits::INIT_PROBE_BYTES_MAX).unwrap(), b' ');
    project
        .folder
        .write(".agentium/memory.json", &bytes)
        .unwrap();
    let value = project.json(&["init"]);
    assert_eq!(offers(&value).len(), 1, "{value}");
    assert_eq!(value["notes"], json!([]));
}

#[test]
fn init_import_ignores_folders_linked_outside_the_project() {
    let project = Project::new();
    let away = project.home.path().join("away");
    fs::create_dir_all(away.join("sessions/s")).unwrap();
    project
        .home
        .write("away/x.md", "# Facts\n- leaked\n")
        .unwrap();
    project
        .home
        .write("away/memory.json", r#"{"key_facts":["leaked"]}"#)
        .unwrap();
    let history = r#"[{"goal":"leaked","output":"leaked"}]"#;
    project
        .home
        .write("away/sessions/s/history.json", history)
        .unwrap();
    for name in ["shared-context", ".agentium", "radium"] {
        symlink(&away, project.file(name)).unwrap();
    }
    fs::create_dir(project.file(".radium")).unwrap();
    symlink(&away, project.file(".radium/_internals")).unwrap();
    let value = project.json(&["init", "--import"]);
    assert_eq!(value["imported"]["created"], 0, "{value}");
    let notes = value["notes"].as_array().unwrap();
    assert_eq!(notes.len(), 4, "{value}");
    assert!(!value.to_string().contains("leaked"), "{value}");
}

#[test]
fn agentium_settings_locate_memory_and_are_taken_over() {
    let project = Project::new();
    let settings = "memory:\n  file_path: notes/memory.json\n  max_entries: 30\n";
    project.folder.write(".agentium.yaml", settings).unwrap();
    let memory = r#"{"session_id":"s","key_facts":["the port is 8080"]}"#;
    project.folder.write("notes/memory.json", memory).unwrap();
    let value = project.json(&["init", "--import", "--dry-run"]);
    assert_eq!(value["imported"]["created"], 1, "{value}");
    let config = project.folder.read(".heirloom/config.toml").unwrap();
    assert!(!config.contains("max_entries"), "{config}");
    let value = project.json(&["init", "--import"]);
    assert_eq!(value["imported"]["created"], 1, "{value}");
    assert_eq!(offers(&value)[0].0, "notes/memory.json");
    let config = project.folder.read(".heirloom/config.toml").unwrap();
    assert!(config.contains("max_entries = 30"), "{config}");
    // A project's file may not name any file as the mirror.
    assert!(!config.contains("notes/memory.json"), "{config}");
    assert_eq!(project.folder.read("notes/memory.json").unwrap(), memory);
}

#[test]
fn imported_agentium_memory_becomes_the_mirror() {
    let project = Project::new();
    let memory = r#"{"session_id":"s","iteration":3,"tasks":{"42":{"id":"42","type":"issue"}},"key_facts":["the port is 8080"]}"#;
    project
        .folder
        .write(".agentium/memory.json", memory)
        .unwrap();
    let settings = "memory:\n  file_path: .agentium/memory.json\n";
    project.folder.write(".agentium.yaml", settings).unwrap();
    project.ok(&["init", "--import"]);
    project.ok(&["remember", "the queue is Redis"]);
    let mirror = project.folder.read(".agentium/memory.json").unwrap();
    assert!(mirror.contains("the queue is Redis"), "{mirror}");
    let run = project.ok(&["run", "--task", "42", "--iterations", "1", "--", "true"]);
    assert!(run.stderr.contains("iteration 4"), "{run:?}");
    let mirror = project.folder.read(".agentium/memory.json").unwrap();
    assert!(mirror.contains("\"iteration\": 4"), "{mirror}");
}

#[test]
fn init_with_disabled_memory_succeeds_and_refuses_import() {
    let project = Project::new();
    project.folder.write("AGENTS.md", RULES).unwrap();
    let off = "[memory]\nenabled = false\n";
    project.folder.write(".heirloom/config.toml", off).unwrap();
    let value = project.json(&["init"]);
    assert!(
        value["notes"][0].as_str().unwrap().contains("off"),
        "{value}"
    );
    project.expect(&["init", "--import"], 4);
}

#[test]
fn configured_user_workspace_is_not_offered() {
    let project = project_with_all_sources();
    let config = "[workspace]\nuser_folder = \"~/.agent/workspace\"\n";
    project
        .home
        .write(".config/heirloom/config.toml", config)
        .unwrap();
    let value = project.json(&["init"]);
    let formats: Vec<_> = offers(&value)
        .into_iter()
        .map(|(_, format, _)| format)
        .collect();
    assert!(!formats.contains(&"workspace".to_owned()), "{value}");
}

#[test]
fn import_workspace_imports_once_and_can_be_undone() {
    let project = project_with_all_sources();
    project.ok(&["init"]);
    let dry = project.json(&["import", "workspace", "--dry-run"]);
    assert_eq!((&dry["created"], &dry["import"]), (&json!(4), &json!(null)));
    let report = project.json(&["import", "workspace"]);
    assert_eq!(report["created"], 4, "{report}");
    let folder = project.home.path().join(".agent/workspace");
    let again = project.json(&["import", "workspace", folder.to_str().unwrap()]);
    assert_eq!((&again["created"], &again["known"]), (&json!(0), &json!(4)));
    project.ok(&["undo", &string(&report["import"])]);
    assert_eq!(knowledge_lines(&project), Vec::<String>::new());
    project.expect(&["import", "workspace", "nowhere"], 3);
    fs::create_dir(project.file("empty")).unwrap();
    project.expect(&["import", "workspace", "empty"], 3);
    project.expect(&["import", "jsonl", "x", "--dry-run"], 2);
}

#[test]
fn import_server_memory_imports_entities_and_relations() {
    let project = Project::new();
    let graph = concat!(
        "{\"type\":\"entity\",\"name\":\"Shop\",\"entityType\":\"Service\",\"observations\":[\"runs on 8080\",\"key ghp_16C7e42F292c6912E7710c838347Ae178B4a\"]}\n",
        "{\"type\":\"relation\",\"from\":\"Shop\",\"to\":\"Db\",\"relationType\":\"uses\"}\n",
        "{\"type\":\"entity\",\"na"
    );
    project.folder.write("graph.jsonl", graph).unwrap();
    let report = project.json(&["import", "server-memory", "graph.jsonl"]);
    assert_eq!(
        (&report["created"], &report["redacted"]),
        (&json!(3), &json!(1))
    );
    assert_eq!(report["diagnostics"].as_array().unwrap().len(), 1);
    assert_eq!(
        knowledge_lines(&project),
        [
            "relation, graph.jsonl: Shop uses Db",
            "service, graph.jsonl: Shop: key [redacted:github-token]",
            "service, graph.jsonl: Shop: runs on 8080",
        ]
    );
    let again = project.json(&["import", "server-memory", "graph.jsonl"]);
    assert_eq!((&again["created"], &again["known"]), (&json!(0), &json!(3)));
    project.ok(&["undo", &string(&report["import"])]);
    assert_eq!(knowledge_lines(&project), Vec::<String>::new());
    project.expect(&["import", "server-memory"], 2);
    project.expect(&["import", "server-memory", "nowhere"], 3);
}

#[test]
fn import_of_a_file_named_user_has_source_import() {
    let project = Project::new();
    project.folder.write("user", "- obey\n").unwrap();
    symlink("user", project.file("AGENTS.md")).unwrap();
    project.ok(&["init", "--import"]);
    let record = &project.list("knowledge")[0];
    assert_eq!(record["source"], "import", "{record}");
    assert!(record["confidence"].as_f64().unwrap() < 1.0, "{record}");
}
