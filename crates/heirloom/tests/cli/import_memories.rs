//! Imports of the memories and conversations of other programs. `fixtures/imports/README.md` names the programs that
//! wrote the data.
#![expect(
    clippy::disallowed_methods,
    reason = "files as other programs write them, also broken ones"
)]

use crate::project::{Project, string};
use heirloom_model::limits;
use rusqlite::Connection;
use serde_json::Value;
use std::fs;
use std::io::Write;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/fixtures/imports")
        .join(name)
}

/// Creates a database from a dump.
fn database(project: &Project, dump: &str, name: &str) -> PathBuf {
    let path = project.folder.write(name, "").unwrap();
    let sql = fs::read_to_string(fixture(dump)).unwrap();
    Connection::open(&path)
        .unwrap()
        .execute_batch(&sql)
        .unwrap();
    path
}

fn import(project: &Project, format: &str, path: &Path, more: &[&str]) -> Value {
    let path = path.to_str().unwrap();
    project.json(&[&["import", format, path], more].concat())
}

fn count(value: &Value, name: &str) -> u64 {
    value[name].as_u64().unwrap()
}

fn left_out(value: &Value) -> Vec<(String, u64)> {
    let reasons = value["left_out"].as_array().cloned().unwrap_or_default();
    let reason = |one: &Value| (string(&one["reason"]), one["count"].as_u64().unwrap());
    reasons.iter().map(reason).collect()
}

/// Returns everything that an import adds: records, and the numbers of sessions and turns.
fn content(project: &Project) -> (Value, [u64; 2]) {
    let database = Connection::open(project.file(".heirloom/heirloom.db")).unwrap();
    let count = |table: &str| {
        let sql = format!("SELECT count(*) FROM {table} WHERE retired_at IS NULL");
        database.query_row(&sql, [], |row| row.get(0)).unwrap()
    };
    let records = project.json(&["list", "--limit", "1000"]);
    (records, [count("sessions"), count("messages")])
}

/// Imports twice and undoes; a dry run counts the same and writes nothing. Then again: the import can be repeated and
/// undone after an undo.
fn check_round_trip(project: &Project, format: &str, path: &Path, entries: u64) -> Value {
    let before = content(project);
    let dry = import(project, format, path, &["--dry-run"]);
    assert_eq!(count(&dry, "created"), entries, "{format}: {dry}");
    assert_eq!(content(project), before, "{format}: a dry run wrote");
    let mut first = Value::Null;
    for round in 0..2 {
        first = import(project, format, path, &[]);
        assert_eq!(
            count(&first, "created"),
            entries,
            "{format} {round}: {first}"
        );
        let stored = content(project);
        let second = import(project, format, path, &[]);
        assert_eq!(count(&second, "created"), 0, "{format} {round}: {second}");
        assert_eq!(
            count(&second, "known"),
            entries,
            "{format} {round}: {second}"
        );
        assert_eq!(
            content(project),
            stored,
            "{format} {round}: a second import wrote"
        );
        let again = string(&first["import"]);
        project.ok(&["undo", &again]);
        assert_eq!(content(project), before, "{format} {round}: undo");
    }
    first
}

#[test]
fn memories_of_mem0_round_trip_from_each_file() {
    let project = Project::new();
    let export = fixture("mem0-get_all.json");
    check_round_trip(&project, "mem0", &export, 6);
    check_round_trip(&project, "mem0", &fixture("mem0-faiss.json"), 6);
    let points = database(
        &project,
        "mem0-qdrant.sql",
        "store/collection/mem0/storage.sqlite",
    );
    check_round_trip(&project, "mem0", &points, 6);
    let chroma = database(&project, "mem0-chroma.sql", "chroma/chroma.sqlite3");
    check_round_trip(&project, "mem0", &chroma, 6);
    let history = database(&project, "mem0-history.sql", "store/history.db");
    let messages: u64 = Connection::open(&history)
        .unwrap()
        .query_row("SELECT count(*) FROM messages", [], |row| row.get(0))
        .unwrap();
    let report = check_round_trip(&project, "mem0", &history, 6 + messages);
    let deleted = ("deleted memories".to_owned(), 2);
    assert!(left_out(&report).contains(&deleted), "{report}");
    // The folder has both, joined by the ids.
    check_round_trip(&project, "mem0", &project.file("store"), 6 + messages);
}

#[test]
fn memories_of_mem0_keep_scope_category_time_and_other_fields() {
    let project = Project::new();
    let points = database(
        &project,
        "mem0-qdrant.sql",
        "collection/mem0/storage.sqlite",
    );
    import(&project, "mem0", &points, &[]);
    let records = project.json(&["list", "--limit", "1000"]);
    let records = records["records"].as_array().unwrap();
    let with = |text: &str| {
        let found = records
            .iter()
            .find(|one| string(&one["text"]).contains(text));
        found.unwrap_or_else(|| panic!("{text}: {records:?}"))
    };
    let fact = with("listens on port 8002");
    assert_eq!(fact["category"], "fact");
    assert_eq!(fact["source"], "mem0");
    let id = string(&fact["id"]);
    let shown = project.json(&["show", &id]);
    let text = shown.to_string();
    for expected in ["run-2", "alex", "net"] {
        assert!(text.contains(expected), "{expected}: {text}");
    }
    let payload = fs::read_to_string(fixture("mem0-get_all.json")).unwrap();
    let payload: Value = serde_json::from_str(&payload).unwrap();
    let results = payload["results"].as_array().unwrap();
    let theirs = results
        .iter()
        .find(|one| string(&one["memory"]).contains("port 8002"));
    let at = string(&theirs.unwrap()["created_at"]);
    assert!(text.contains(&at[..16]), "{at}: {text}");
}

#[test]
fn entities_of_mem0_are_left_out() {
    let project = Project::new();
    let points = database(
        &project,
        "mem0-qdrant.sql",
        "collection/mem0_entities/storage.sqlite",
    );
    let report = import(&project, "mem0", &points, &[]);
    assert_eq!(count(&report, "created"), 0);
    assert_eq!(left_out(&report)[0].1, 6);
}

#[test]
fn database_of_claude_mem_round_trips_with_the_entries_of_the_project() {
    let project = Project::new();
    let path = database(&project, "claude-mem.sql", "claude-mem.db");
    let all = import(&project, "claude-mem", &path, &["--all", "--dry-run"]);
    // 5 observations, 2 summaries, 4 prompts.
    assert_eq!(count(&all, "created"), 11, "{all}");
    let none = import(&project, "claude-mem", &path, &["--dry-run"]);
    assert_eq!(count(&none, "created"), 0);
    assert!(
        left_out(&none)[0]
            .0
            .starts_with("entries of other projects, such as blog"),
        "{none}"
    );
    let root = project.folder.path().canonicalize().unwrap();
    let name = root.file_name().unwrap().to_str().unwrap();
    let theirs = Connection::open(&path).unwrap();
    for table in ["sdk_sessions", "observations", "session_summaries"] {
        let sql = format!("UPDATE {table} SET project = ?1 WHERE project = 'shop'");
        theirs.execute(&sql, [name]).unwrap();
    }
    let report = check_round_trip(&project, "claude-mem", &path, 6);
    assert_eq!(count(&report, "created"), 6, "{report}");
}

#[test]
fn notes_of_basic_memory_round_trip_as_facts_and_relations() {
    let project = Project::new();
    // Of the first note the text, 3 observations and 2 relations; of the second the text, 1 and 1.
    check_round_trip(&project, "basic-memory", &fixture("basic-memory"), 9);
    import(&project, "basic-memory", &fixture("basic-memory"), &[]);
    let text = project.ok(&["list", "--limit", "1000", "--json"]).stdout;
    for expected in [
        "decision",
        "Search design 1 implements Search requirements",
        "requirement",
    ] {
        assert!(text.contains(expected), "{expected}: {text}");
    }
}

#[test]
fn conversations_of_the_node_agent_round_trip_after_it_saved_again() {
    let project = Project::new();
    let path = database(
        &project,
        "ai-agent-chat.sql",
        ".agent/.ai-agent-chat.sqlite",
    );
    let report = check_round_trip(&project, "ai-agent-chat", &path, 4);
    let reasons = left_out(&report);
    assert!(
        reasons
            .iter()
            .any(|(reason, count)| reason == "system prompts" && *count == 1),
        "{reasons:?}"
    );
    import(&project, "ai-agent-chat", &path, &[]);
    // The agent deletes and inserts all messages when it saves.
    Connection::open(&path)
        .unwrap()
        .execute_batch(
            "UPDATE chat SET id = id + 100, created_at = '2026-02-02 10:00:00';
             INSERT INTO chat (session_id, role, content) VALUES (1, 'user', 'Thanks.');",
        )
        .unwrap();
    let report = project.json(&["import", "ai-agent-chat"]);
    assert_eq!((count(&report, "created"), count(&report, "known")), (1, 4));
    let old = database(&project, "ai-agent-chat-old.sql", "old.sqlite");
    let report = check_round_trip(&project, "ai-agent-chat", &old, 2);
    let diagnostics = report["diagnostics"].to_string();
    assert!(diagnostics.contains("`broken`"), "{diagnostics}");
}

#[test]
fn export_of_chatgpt_round_trips_from_file_and_archive() {
    let project = Project::new();
    let file = fixture("chatgpt-conversations.json");
    let report = check_round_trip(&project, "chatgpt", &file, 6);
    let reasons = left_out(&report);
    let expected = [
        ("conversations without messages", 1),
        ("images, files and other parts without text", 1),
        ("messages of other branches of a conversation", 1),
        ("reasoning of the model", 1),
    ];
    assert_eq!(
        reasons,
        expected.map(|(reason, count)| (reason.to_owned(), count))
    );
    assert_eq!(
        report["diagnostics"].as_array().unwrap().len(),
        2,
        "{report}"
    );
    let json = fs::read(&file).unwrap();
    let archive = archive(
        &project,
        "export.zip",
        &[("conversations.json", &json), ("chat.html", b"<html>")],
    );
    check_round_trip(&project, "chatgpt", &archive, 6);
}

#[test]
fn export_of_claude_ai_round_trips_with_memories_and_projects() {
    let project = Project::new();
    let read = |name: &str| fs::read(fixture(name)).unwrap();
    let files = [
        (
            "data/conversations.json",
            read("claude-ai-conversations.json"),
        ),
        ("data/memories.json", read("claude-ai-memories.json")),
        ("data/projects.json", read("claude-ai-projects.json")),
        ("data/users.json", b"[]".to_vec()),
    ];
    for (name, bytes) in &files {
        project.folder.write(name, bytes).unwrap();
    }
    // A summary, 2 messages, a tool call and its result; 2 memories; a project and a document.
    let report = check_round_trip(&project, "claude-ai", &project.file("data"), 9);
    assert!(
        left_out(&report).contains(&("other files of the export".to_owned(), 1)),
        "{report}"
    );
    let files: Vec<(&str, &[u8])> = files
        .iter()
        .map(|(name, bytes)| (*name, bytes.as_slice()))
        .collect();
    let archive = archive(&project, "export.zip", &files);
    check_round_trip(&project, "claude-ai", &archive, 9);
}

fn archive(project: &Project, name: &str, files: &[(&str, &[u8])]) -> PathBuf {
    let path = project.file(name);
    let mut writer = zip::ZipWriter::new(fs::File::create(&path).unwrap());
    for (name, bytes) in files {
        let options = zip::write::SimpleFileOptions::default();
        writer.start_file(*name, options).unwrap();
        writer.write_all(bytes).unwrap();
    }
    writer.finish().unwrap();
    path
}

#[test]
fn rules_of_cursor_round_trip_with_their_files() {
    let project = Project::new();
    let write = |name: &str, text: &str| project.folder.write(name, text).unwrap();
    write(
        ".cursor/rules/rust.mdc",
        "---\ndescription: Rust style\nglobs: *.rs\nalwaysApply: false\n---\n# Style\n- use `thiserror`\n- no unwrap\n",
    );
    write(
        ".cursor/rules/sub/prose.mdc",
        "---\nalwaysApply: true\n---\nWrite short sentences in every document.\n",
    );
    write(".cursorrules", "- tabs, not spaces\n");
    write(".cursor/rules/empty.mdc", "---\nalwaysApply: true\n---\n");
    write(".cursor/rules/latin.mdc", "");
    fs::write(
        project.file(".cursor/rules/latin.mdc"),
        b"- caf\xe9 is open\n",
    )
    .unwrap();
    symlink("/etc/passwd", project.file(".cursor/rules/link.mdc")).unwrap();
    check_round_trip(&project, "cursor-rules", project.folder.path(), 5);
    let report = project.json(&["import", "cursor-rules"]);
    assert_eq!(count(&report, "created"), 5, "{report}");
    let text = project.ok(&["list", "--limit", "1000", "--json"]).stdout;
    for expected in ["convention", ".cursor/rules/rust.mdc", "caf\u{fffd}"] {
        assert!(text.contains(expected), "{expected}: {text}");
    }
    assert!(!text.contains("root:"), "{text}");
}

#[test]
fn memory_of_claude_code_follows_imports_that_stay_inside() {
    let project = Project::new();
    let write = |name: &str, text: &str| project.folder.write(name, text).unwrap();
    let own = |name: &str, text: &str| {
        project
            .home
            .write(&format!(".claude/{name}"), text)
            .unwrap()
    };
    write(
        "CLAUDE.md",
        "# Build\n- run `make`\nSee @docs/style.md, `@not.md` and @/etc/hostname.\n- ask @team.lead\n",
    );
    write("docs/style.md", "- use tabs @deep.md\n");
    write("docs/deep.md", "- and a cycle @../CLAUDE.md\n");
    write("not.md", "- not imported\n");
    project.home.write("outside.md", "- outside\n").unwrap();
    own("CLAUDE.md", "- answer briefly\n- see @~/outside.md\n");
    let root = project.folder.path().canonicalize().unwrap();
    let slug: String = (root.to_str().unwrap().chars())
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
        .collect();
    own(
        &format!("projects/{slug}/memory/MEMORY.md"),
        "# Index\n- [Port](port.md) — where it is set\n- the staging host is slow\n",
    );
    own(
        &format!("projects/{slug}/memory/port.md"),
        "---\nname: port\ndescription: The port is set in config.toml\nmetadata:\n  type: feedback\n---\n- Never hard-code it.\n",
    );
    let report = project.json(&["import", "claude-memory"]);
    let text = project.ok(&["list", "--limit", "1000", "--json"]).stdout;
    for expected in [
        "run `make`",
        "use tabs",
        "and a cycle",
        "answer briefly",
        "staging host",
        "Never hard-code",
    ] {
        assert!(text.contains(expected), "{expected}: {text}");
    }
    assert!(
        !text.contains("not imported") && !text.contains("- outside"),
        "{text}"
    );
    assert_eq!(count(&report, "created"), 8, "{report}");
    let notes = report["diagnostics"].to_string();
    assert!(notes.contains("outside.md"), "{notes}");
    assert_eq!(left_out(&report)[0].1, 1, "{report}");
    assert_eq!(
        count(&project.json(&["import", "claude-memory"]), "created"),
        0
    );
    project.ok(&["undo", &string(&report["import"])]);
    assert_eq!(
        project.json(&["list"])["records"].as_array().unwrap().len(),
        0
    );
}

#[test]
fn imports_of_rules_are_followed_to_their_limit() {
    let project = Project::new();
    let most = limits::RULES_IMPORT_DEPTH_MAX;
    for depth in 0..=most + 1 {
        let name = match depth {
            0 => "CLAUDE.md".to_owned(),
            depth => format!("d{depth}.md"),
        };
        let text = format!("- rule of depth {depth} @d{}.md\n", depth + 1);
        project.folder.write(&name, text).unwrap();
    }
    let report = project.json(&["import", "claude-memory"]);
    assert_eq!(count(&report, "created"), most as u64 + 1, "{report}");
    assert!(
        report["diagnostics"].to_string().contains("imports deep"),
        "{report}"
    );
}

#[test]
fn memories_of_codex_are_imported_by_their_folders() {
    let project = Project::new();
    let own = |name: &str, text: &str| project.home.write(&format!(".codex/{name}"), text).unwrap();
    own("AGENTS.md", "- my own rule\n");
    own(
        "memories/MEMORY.md",
        "# Task Group: shop\n## Reusable knowledge\n- the build needs clang\n",
    );
    own(
        "memories/memory_summary.md",
        "The person works on a shop.\n",
    );
    own("memories/raw_memories.md", "- raw\n");
    own(
        "memories/rollout_summaries/t1.md",
        "thread_id: t1\ncwd: /shop\n\n# Fix\n- tried a\n- b worked\n",
    );
    own(
        "memories/skills/release/SKILL.md",
        "---\nname: release\ndescription: Makes a release\n---\n1. Tag it.\n",
    );
    project
        .folder
        .write("AGENTS.md", "- rule of the project\n")
        .unwrap();
    let report = project.json(&["import", "codex-memories"]);
    assert_eq!(count(&report, "created"), 6, "{report}");
    assert_eq!(left_out(&report)[0].1, 1, "{report}");
    assert_eq!(
        count(&project.json(&["import", "codex-memories"]), "created"),
        0
    );
}

#[test]
fn secrets_are_left_out_of_texts_and_fields() {
    let project = Project::new();
    let secret = "ghp_16C7e42F292c6912E7710c838347Ae178B4a";
    let export = format!(
        r#"{{"results":[{{"id":"1","memory":"The key is {secret}.","user_id":"alex","metadata":{{"note":"{secret}"}}}}]}}"#
    );
    let path = project.folder.write("export.json", export).unwrap();
    let report = import(&project, "mem0", &path, &[]);
    assert_eq!(
        (count(&report, "created"), count(&report, "redacted")),
        (1, 1)
    );
    let stored = fs::read(project.file(".heirloom/heirloom.db")).unwrap();
    let log = fs::read(project.file(".heirloom/heirloom.db-wal")).unwrap_or_default();
    for bytes in [stored, log] {
        assert!(!String::from_utf8_lossy(&bytes).contains(secret));
    }
    assert_eq!(count(&import(&project, "mem0", &path, &[]), "created"), 0);
}

#[test]
fn hostile_files_are_refused_with_a_message() {
    let project = Project::new();
    let write = |name: &str, bytes: &[u8]| project.folder.write(name, bytes).unwrap();
    let refused = |format: &str, path: &Path, code: i32| {
        let output = project.run(&["import", format, path.to_str().unwrap()]);
        assert_eq!(
            output.code,
            code,
            "{format} {}: {}",
            path.display(),
            output.stderr
        );
        assert!(!output.stderr.contains("panicked"), "{}", output.stderr);
    };
    let text = write("text.db", b"not a database");
    let empty = write("empty.db", b"");
    let other = project.file("other.db");
    let theirs = Connection::open(&other).unwrap();
    theirs.execute_batch("CREATE TABLE t (a)").unwrap();
    let damaged = write(
        "damaged.db",
        &[b"SQLite format 3\0".as_slice(), &[0xff; 5000]].concat(),
    );
    let folder = project.file("folder.db");
    fs::create_dir(&folder).unwrap();
    for format in ["mem0", "claude-mem", "ai-agent-chat"] {
        for path in [&text, &empty, &other] {
            refused(format, path, 2);
        }
        refused(format, &damaged, 1);
        refused(format, &project.file("missing.db"), 3);
    }
    for format in ["chatgpt", "claude-ai"] {
        refused(format, &text, 2);
        refused(format, &write("cut.zip", b"PK\x03\x04 and no more"), 2);
        refused(format, &write("object.json", b"{\"conversations\": 7}"), 2);
        refused(format, &folder, 3);
    }
    refused("mem0", &write("object.json", b"{\"results\": 7}"), 2);
    refused("basic-memory", &folder, 3);
}

#[test]
fn databases_without_columns_import_what_they_have() {
    let project = Project::new();
    let create = |name: &str, sql: &str| {
        let path = project.file(name);
        Connection::open(&path).unwrap().execute_batch(sql).unwrap();
        path
    };
    let bare = create(
        "bare.db",
        "CREATE TABLE observations (id, text, type); INSERT INTO observations VALUES (1, 'an old fact', 'Discovery'), (2, NULL, 'x');",
    );
    let report = import(&project, "claude-mem", &bare, &["--all"]);
    assert_eq!(count(&report, "created"), 1, "{report}");
    let bare = create(
        "old.db",
        "CREATE TABLE history (id, memory_id, new_value, event); INSERT INTO history VALUES (1, 'm', 'uses Postgres', 'ADD');",
    );
    assert_eq!(count(&import(&project, "mem0", &bare, &[]), "created"), 1);
    let pickled = create(
        "storage.sqlite",
        "CREATE TABLE points (id TEXT, point BLOB);
         INSERT INTO points VALUES ('a', x'80049563'), ('b', x'63 6f73 0a 7379 7374 656d 0a 2e'), ('c', 7);"
            .replace("x'63 6f73 0a 7379 7374 656d 0a 2e'", "x'636f730a73797374656d0a2e'")
            .as_str(),
    );
    let report = import(&project, "mem0", &pickled, &[]);
    assert_eq!(count(&report, "created"), 0, "{report}");
    assert_eq!(
        report["diagnostics"].as_array().unwrap().len(),
        1,
        "{report}"
    );
}

#[test]
fn archives_up_to_the_limits_are_read() {
    let project = Project::new();
    // Deflate packs equal bytes about 1,000 times, which is more than EXPORT_PACKED_RATIO_MAX.
    let packed = limits::EXPORT_PACKED_RATIO_MAX as usize;
    let padding = " ".repeat(packed * 20_000);
    let bomb = format!("[{padding}]");
    let path = archive(
        &project,
        "bomb.zip",
        &[("conversations.json", bomb.as_bytes())],
    );
    let report = import(&project, "chatgpt", &path, &[]);
    assert!(
        report["diagnostics"].to_string().contains("more than"),
        "{report}"
    );
    let small = format!("[{}]", " ".repeat(1_000_000));
    let path = archive(
        &project,
        "small.zip",
        &[("conversations.json", small.as_bytes())],
    );
    let report = import(&project, "chatgpt", &path, &[]);
    assert_eq!(
        report["diagnostics"].as_array().unwrap().len(),
        0,
        "{report}"
    );
    let huge = project.folder.write("huge.json", "[").unwrap();
    let file = fs::File::options().write(true).open(&huge).unwrap();
    file.set_len(limits::CHAT_EXPORT_BYTES_MAX + 1).unwrap();
    let output = project.run(&["import", "chatgpt", huge.to_str().unwrap()]);
    assert_eq!(output.code, 2, "{}", output.stderr);
}

#[test]
fn folders_up_to_the_limit_are_read() {
    let project = Project::new();
    let most = limits::MEMORY_FILES_MAX;
    for number in 0..most {
        project
            .folder
            .write(&format!("notes/{number}.md"), "")
            .unwrap();
    }
    project
        .folder
        .write("notes/0.md", "- [fact] the only one\n")
        .unwrap();
    let notes = project.file("notes");
    let report = import(&project, "basic-memory", &notes, &[]);
    assert_eq!(count(&report, "created"), 1, "{report}");
    project.folder.write("notes/more.md", "").unwrap();
    let output = project.run(&["import", "basic-memory", notes.to_str().unwrap()]);
    assert_eq!(output.code, 2, "{}", output.stderr);
}

#[test]
fn lines_that_are_no_export_get_one_message() {
    let project = Project::new();
    let lines = "{\"text\":\"a\"}\n".repeat(1_000);
    let path = project.folder.write("facts.jsonl", lines).unwrap();
    let output = project.run(&["import", "jsonl", path.to_str().unwrap()]);
    assert_eq!(output.code, 1);
    assert!(
        output.stderr.contains("remember --stdin"),
        "{}",
        output.stderr
    );
    assert_eq!(
        output.stderr.matches("`id` is missing").count(),
        0,
        "{}",
        output.stderr
    );
}
