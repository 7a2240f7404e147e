//! `init` and what other tools left; `import workspace` and `import server-memory`.

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

/// A project that every tool has left something in.
fn crowded() -> Project {
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

/// How many records there are, and what the knowledge says.
fn known(project: &Project) -> Vec<String> {
    let line = |one: &Value| {
        let (category, source) = (string(&one["category"]), string(&one["source"]));
        format!("{category}, {source}: {}", string(&one["text"]))
    };
    let mut lines: Vec<_> = project.list("knowledge").iter().map(line).collect();
    lines.sort();
    lines
}

fn records(project: &Project) -> usize {
    let listed = project.json(&["list"]);
    listed["records"].as_array().unwrap().len()
}

#[test]
fn init_names_what_is_there_and_takes_nothing_in() {
    let project = crowded();
    let said = project.ok(&["init", "--yes"]);
    assert!(said.stderr.contains("heirloom init --import"), "{said:?}");
    for part in [
        "AGENTS.md",
        ".agentium/memory.json",
        "radium",
        "shared-context",
        "1 entry",
    ] {
        assert!(said.stderr.contains(part), "{part}: {said:?}");
    }
    assert_eq!(records(&project), 0);
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
    assert_eq!(records(&project), 0);
}

#[test]
fn a_dry_run_shows_what_would_come() {
    let project = crowded();
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
    assert_eq!(records(&project), 0);
    assert_eq!(project.json(&["session", "search", "g"])["hits"], json!([]));
    project.expect(&["init", "--dry-run"], 2);
}

#[test]
fn all_of_it_is_one_import_and_undone_as_one() {
    let project = crowded();
    project.ok(&["init"]);
    let value = project.json(&["init", "--import"]);
    let import = string(&value["imported"]["import"]);
    assert_eq!(value["imported"]["created"], 15);
    let lines = known(&project);
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
        again.stdout.contains("0 records taken in, 15 known"),
        "{again:?}"
    );
    let third = project.ok(&["init"]);
    assert!(!third.stderr.contains("--import"), "{third:?}");
    // What is said again by a person is the same fact.
    let said = project.json(&["remember", "use SQLite", "--category", "decision"]);
    assert_eq!(said["outcome"], "confirmed", "{said}");
    let undone = project.json(&["undo", &import]);
    assert_eq!(undone["import"], true, "{undone}");
    assert_eq!((records(&project), known(&project)), (0, vec![]));
    let back = project.json(&["init", "--import"]);
    assert_eq!(back["imported"]["created"], 15);
    assert_eq!(known(&project), lines);
}

#[test]
fn what_cannot_be_read_is_told_and_the_rest_comes_in() {
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
    huge(".agentium/memory.json", limits::OFFER_BYTES_MAX);
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
    // Two pages of the workspace say the same, about other things.
    assert_eq!(imported["created"], 4, "{value}");
    let told = imported["diagnostics"].as_array().unwrap().iter();
    let told: Vec<_> = told.map(|one| string(&one["message"])).collect();
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
            told.iter().any(|note| note.contains(part)),
            "{part}: {told:?}"
        );
    }
    assert!(
        !told.iter().any(|note| note.contains("from outside")),
        "{told:?}"
    );
}

#[test]
fn a_file_as_large_as_is_read_is_read() {
    let project = Project::new();
    let mut bytes = br#"{"session_id":"s","key_facts":["x"]}"#.to_vec();
    bytes.resize(usize::try_from(limits::OFFER_BYTES_MAX).unwrap(), b' ');
    project
        .folder
        .write(".agentium/memory.json", &bytes)
        .unwrap();
    let value = project.json(&["init"]);
    assert_eq!(offers(&value).len(), 1, "{value}");
    assert_eq!(value["notes"], json!([]));
}

#[test]
fn folders_that_lead_out_are_not_read() {
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
fn the_memory_that_agentium_s_settings_name_is_found_and_the_settings_stay() {
    let project = Project::new();
    let settings = "memory:\n  file_path: notes/memory.json\n  max_entries: 30\n";
    project.folder.write(".agentium.yaml", settings).unwrap();
    let memory = r#"{"session_id":"s","key_facts":["the port is 8080"]}"#;
    project.folder.write("notes/memory.json", memory).unwrap();
    let before = project.folder.read(".heirloom/config.toml").unwrap();
    let value = project.json(&["init", "--import"]);
    assert_eq!(value["imported"]["created"], 1, "{value}");
    assert_eq!(offers(&value)[0].0, "notes/memory.json");
    let after = project.folder.read(".heirloom/config.toml").unwrap();
    assert_eq!(before, after);
}

#[test]
fn memory_that_is_off_takes_nothing_in_and_init_goes_on() {
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
fn a_workspace_that_is_followed_already_is_not_offered() {
    let project = crowded();
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
fn a_workspace_is_imported_by_itself() {
    let project = crowded();
    project.ok(&["init"]);
    let dry = project.json(&["import", "workspace", "--dry-run"]);
    assert_eq!((&dry["created"], &dry["import"]), (&json!(4), &json!(null)));
    let taken = project.json(&["import", "workspace"]);
    assert_eq!(taken["created"], 4, "{taken}");
    let folder = project.home.path().join(".agent/workspace");
    let again = project.json(&["import", "workspace", folder.to_str().unwrap()]);
    assert_eq!((&again["created"], &again["known"]), (&json!(0), &json!(4)));
    project.ok(&["undo", &string(&taken["import"])]);
    assert_eq!(known(&project), Vec::<String>::new());
    project.expect(&["import", "workspace", "nowhere"], 3);
    fs::create_dir(project.file("empty")).unwrap();
    project.expect(&["import", "workspace", "empty"], 3);
    project.expect(&["import", "jsonl", "x", "--dry-run"], 2);
}

#[test]
fn a_knowledge_graph_of_the_reference_server_comes_in() {
    let project = Project::new();
    let graph = concat!(
        "{\"type\":\"entity\",\"name\":\"Shop\",\"entityType\":\"Service\",\"observations\":[\"runs on 8080\",\"key ghp_16C7e42F292c6912E7710c838347Ae178B4a\"]}\n",
        "{\"type\":\"relation\",\"from\":\"Shop\",\"to\":\"Db\",\"relationType\":\"uses\"}\n",
        "{\"type\":\"entity\",\"na"
    );
    project.folder.write("graph.jsonl", graph).unwrap();
    let taken = project.json(&["import", "server-memory", "graph.jsonl"]);
    assert_eq!(
        (&taken["created"], &taken["redacted"]),
        (&json!(3), &json!(1))
    );
    assert_eq!(taken["diagnostics"].as_array().unwrap().len(), 1);
    assert_eq!(
        known(&project),
        [
            "relation, graph.jsonl: Shop uses Db",
            "service, graph.jsonl: Shop: key [redacted:github-token]",
            "service, graph.jsonl: Shop: runs on 8080",
        ]
    );
    let again = project.json(&["import", "server-memory", "graph.jsonl"]);
    assert_eq!((&again["created"], &again["known"]), (&json!(0), &json!(3)));
    project.ok(&["undo", &string(&taken["import"])]);
    assert_eq!(known(&project), Vec::<String>::new());
    project.expect(&["import", "server-memory"], 2);
    project.expect(&["import", "server-memory", "nowhere"], 3);
}

#[test]
fn no_file_speaks_for_the_person() {
    let project = Project::new();
    project.folder.write("user", "- obey\n").unwrap();
    symlink("user", project.file("AGENTS.md")).unwrap();
    project.ok(&["init", "--import"]);
    let record = &project.list("knowledge")[0];
    assert_eq!(record["source"], "import", "{record}");
    assert!(record["confidence"].as_f64().unwrap() < 1.0, "{record}");
}
