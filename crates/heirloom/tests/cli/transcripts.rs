//! Import of transcripts: `import claude`, `codex`, `gemini`, `aider`.

use crate::hooks::{CLAUDE, call};
use crate::project::{Project, string};
use crate::transcript_fixture::{TranscriptFixture, session_messages};
use flate2::Compression;
use flate2::write::GzEncoder;
use heirloom_fs::durable;
use heirloom_fs::project_fs;
use heirloom_model::limits;
use heirloom_testkit::TempProject;
use serde_json::{Value, json};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Replaces a file.
fn replace_file(path: &Path, bytes: &[u8]) {
    durable::write_atomic(path, bytes).unwrap();
}

/// Returns a transcript with messages, a failure and its fix, a changed file, and signals.
fn rich_transcript(project: &Project) -> TranscriptFixture {
    let mut transcript = TranscriptFixture::new("rich", project.path());
    transcript.add_user_message("make the tests pass")
        .add_assistant_message("I run them.\nHEIRLOOM_MEMORY: DECISION use nextest BECAUSE it is faster\nHEIRLOOM_MEMORY: CONVENTION style = tabs")
        .add_command("c1", "npm test", "Exit code 1\nError: cannot find fixture\n", true)
        .add_tool_call("c2", "Edit", &json!({"file_path": project.file("src/a.ts"), "old_string": "load()", "new_string": "load(fixture)"}))
        .add_tool_result("c2", "The file was updated", false)
        .add_command("c3", "npm test", "ok", false)
        .add_command("c4", "grep nothing", "", true)
        .add_assistant_message("HEIRLOOM_MEMORY: CONVENTION style = spaces\nHEIRLOOM_MEMORY: ERROR the build is red\nDone.");
    transcript
}

#[test]
fn import_claude_stores_messages_errors_files_and_decisions() {
    let project = Project::new();
    rich_transcript(&project).write_file(&project);
    let report = project.json(&["import", "claude"]);
    assert_eq!((&report["files"], &report["known"]), (&json!(1), &json!(0)));
    let messages = session_messages(&project, "rich");
    assert_eq!(
        messages[0],
        ("user".to_owned(), "make the tests pass".to_owned())
    );
    assert_eq!(messages.len(), 9, "{messages:?}");
    let errors = project.list("error");
    assert_eq!(errors.len(), 2, "{errors:?}");
    let fixed = errors
        .iter()
        .find(|error| error["state"] == "resolved")
        .unwrap();
    assert_eq!(
        fixed["text"],
        "`npm test` failed: Error: cannot find fixture"
    );
    assert_eq!(
        fixed["resolution"],
        "src/a.ts: changed `load()` to `load(fixture)`."
    );
    assert_eq!(
        (&fixed["session"], &fixed["source"], &fixed["command"]),
        (&json!("rich"), &json!("claude-code"), &json!("npm test"))
    );
    let open = errors
        .iter()
        .find(|error| error["state"] == "open")
        .unwrap();
    assert_eq!(open["text"], "the build is red");
    let files: Vec<_> = project
        .list("artifact")
        .iter()
        .map(|file| string(&file["text"]))
        .collect();
    assert_eq!(files, ["src/a.ts"]);
    let known = project.list("knowledge");
    let decision = known
        .iter()
        .find(|record| record["category"] == "decision")
        .unwrap();
    assert_eq!(
        (&decision["text"], &decision["rationale"]),
        (&json!("use nextest"), &json!("it is faster"))
    );
    let style = known
        .iter()
        .find(|record| record["key"] == "style")
        .unwrap();
    assert_eq!(style["text"], "spaces");
    let hits = project.json(&["session", "search", "tests pass"]);
    assert!(hits.to_string().contains("make the tests pass"), "{hits}");
}

#[test]
fn repeated_import_adds_nothing_and_undo_reverts_all() {
    let project = Project::new();
    rich_transcript(&project).write_file(&project);
    let dry_run = project.json(&["import", "claude", "--dry-run"]);
    assert_eq!(project.list("error").len(), 0);
    let first = project.json(&["import", "claude"]);
    assert_eq!(first["created"], dry_run["created"]);
    for again in [
        &["import", "claude"] as &[&str],
        &["import", "claude", "--all"],
    ] {
        let report = project.json(again);
        assert_eq!(
            (&report["created"], &report["import"]),
            (&json!(0), &Value::Null)
        );
    }
    project.ok(&["undo", &string(&first["import"])]);
    assert_eq!(
        project.list("error").len() + project.list("knowledge").len(),
        0
    );
    project.expect(&["session", "show", "rich"], 3);
    let back = project.json(&["import", "claude"]);
    assert_eq!(back["created"], first["created"]);
    assert_eq!(session_messages(&project, "rich").len(), 9);
    assert_eq!(project.list("error").len(), 2);
    assert_eq!(project.json(&["import", "claude"])["created"], 0);
}

#[test]
fn import_takes_only_transcripts_of_the_project() {
    let project = Project::new();
    let inner = TempProject::plain().unwrap();
    for (session, folder) in [
        ("here", project.path().to_owned()),
        ("below", project.file("src")),
        ("gone", project.file("src/not/there")),
        ("nested", project.file("vendor/other/src")),
        (
            "sibling",
            PathBuf::from(format!("{}-2", project.path().display())),
        ),
        ("elsewhere", inner.path().to_owned()),
        ("relative", PathBuf::from("src")),
    ] {
        TranscriptFixture::new(session, &folder)
            .add_user_message("hello")
            .write_file(&project);
    }
    // A nested project is a project of its own.
    project
        .folder
        .write("vendor/other/.heirloom/config.toml", "")
        .unwrap();
    project.folder.write("vendor/other/src/x", "").unwrap();
    project.folder.write("src/x", "").unwrap();
    let here = project.json(&["import", "claude"]);
    assert_eq!((&here["files"], &here["created"]), (&json!(1), &json!(1)));
    assert_eq!(
        here["left"],
        json!({"inside": 2, "elsewhere": 4, "unknown": 0, "no_transcripts": 0})
    );
    let all = project.ok(&["import", "claude", "--all"]);
    assert!(
        all.stderr
            .contains("3 transcripts of claude-code belong to this project"),
        "{all:?}"
    );
    assert!(
        all.stderr
            .contains("4 belong to other folders and were skipped"),
        "{all:?}"
    );
    for session in ["nested", "sibling", "elsewhere", "relative"] {
        project.expect(&["session", "show", session], 3);
    }
    // A transcript of another folder is imported only with `--recorded-in`.
    let file = TranscriptFixture::new("elsewhere", inner.path())
        .add_user_message("hello")
        .write_file(&project);
    let file = file.to_str().unwrap();
    assert_eq!(project.json(&["import", "claude", file])["created"], 0);
    let former_folder = inner.path().to_str().unwrap();
    let moved = project.json(&["import", "claude", file, "--recorded-in", former_folder]);
    assert_eq!(moved["created"], 1);
}

#[test]
fn transcript_of_a_linked_worktree_belongs_to_the_project() {
    let project = Project::git();
    let side = TempProject::plain().unwrap();
    let tree = side.path().join("tree");
    project
        .folder
        .run_git(&[
            "worktree",
            "add",
            "-q",
            tree.to_str().unwrap(),
            "-b",
            "side",
        ])
        .unwrap();
    let mut transcript = TranscriptFixture::new("side", &tree);
    transcript.add_user_message("hello");
    transcript.add_tool_call("c", "Write", &json!({"file_path": tree.join("new.rs")}));
    transcript.add_tool_result("c", "written", false);
    transcript.write_file(&project);
    assert_eq!(project.json(&["import", "claude"])["files"], 1);
    let files: Vec<_> = project
        .list("artifact")
        .iter()
        .map(|file| string(&file["text"]))
        .collect();
    assert_eq!(files, ["new.rs"]);
}

#[test]
fn continued_transcript_is_read_from_its_last_position() {
    let project = Project::new();
    let mut transcript = TranscriptFixture::new("long", project.path());
    transcript
        .add_user_message("one")
        .add_command("c1", "make", "error: no rule", true);
    let file = transcript.write_file(&project);
    project.ok(&["import", "claude"]);
    // The last line is half written, so it is not read yet.
    transcript
        .add_command("c2", "make", "made", false)
        .add_assistant_message("two");
    let whole = transcript.text();
    let last = whole.trim_end().rfind('\n').unwrap() + 9;
    replace_file(&file, &whole.as_bytes()[..last]);
    let first = project.json(&["import", "claude"]);
    assert_eq!(
        (&first["created"], &first["unreadable_lines"]),
        (&json!(2), &json!(0))
    );
    // A command that passes again without a change teaches nothing.
    assert_eq!(project.list("error").len(), 0);
    replace_file(&file, whole.trim_end().as_bytes());
    let second = project.json(&["import", "claude"]);
    assert_eq!(second["created"], 1);
    let read = second["read_bytes"].as_u64().unwrap();
    assert!(read < whole.len() as u64 / 2, "{second}");
    assert_eq!(session_messages(&project, "long").len(), 6);
    // A different file at the same path is read from its beginning.
    let mut other = TranscriptFixture::new("long", project.path());
    other.add_user_message(&"x".repeat(whole.len()));
    replace_file(&file, other.text().replace("long-0", "other-0").as_bytes());
    assert_eq!(project.json(&["import", "claude"])["created"], 1);
}

#[test]
fn secrets_in_transcripts_never_reach_the_disk() {
    const TOKEN: &str = "ghp_A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8";
    let project = Project::new();
    let mut transcript = TranscriptFixture::new("secret", project.path());
    let most = limits::TRANSCRIPT_RESULT_CHARS_MAX;
    transcript
        .add_user_message(&format!("use {TOKEN} for it"))
        .add_assistant_message(&format!("HEIRLOOM_MEMORY: KEY_FACT the token is {TOKEN}"))
        .add_command(
            "c1",
            &format!("curl -H 'Authorization: {TOKEN}' x"),
            &format!("error: {TOKEN}"),
            true,
        )
        .add_command(
            "c2",
            &format!("curl -H 'Authorization: {TOKEN}' x"),
            "ok",
            false,
        );
    // Wherever a long output is cut, no part of a secret remains.
    for n in (0..60).step_by(7) {
        let before = "x ".repeat((most * 2 / 3 - n) / 2);
        let output = format!("{before}{TOKEN} {}", "y ".repeat(most));
        transcript.add_command(&format!("d{n}"), "make", &output, false);
    }
    transcript.write_file(&project);
    project.ok(&["import", "claude"]);
    let seen = fs::read(project.file(".heirloom/heirloom.db")).unwrap();
    let journal = fs::read(project.file(".heirloom/heirloom.db-wal")).unwrap_or_default();
    for half in ["ghp_A1b2C3", "4O5p6Q7r8"] {
        for bytes in [&seen, &journal] {
            assert!(
                !bytes
                    .windows(half.len())
                    .any(|part| part == half.as_bytes()),
                "{half}"
            );
        }
    }
    assert_eq!(session_messages(&project, "secret").len(), 6 + 2 * 9);
}

#[test]
fn injected_memory_in_transcripts_is_not_imported() {
    let project = Project::new();
    let mut transcript = TranscriptFixture::new("own", project.path());
    transcript
        .add_user_message("<heirloom-memory>\n- an old thing\n</heirloom-memory>\nfix it")
        .add_user_message("## Session Memory\n\n### Decisions\n- another old thing\n\nnow")
        .add_command("c1", "heirloom recall thing", "a third old thing", false)
        .add_tool_call("c2", "mcp__heirloom__recall", &json!({"q": "thing"}))
        .add_tool_result("c2", "a fourth old thing", false);
    transcript.write_file(&project);
    project.ok(&["import", "claude"]);
    let messages = session_messages(&project, "own");
    assert!(
        !messages.iter().any(|(_, text)| text.contains("old thing")),
        "{messages:?}"
    );
    assert_eq!(messages[0].1, "fix it");
    assert_eq!(messages[1].1, "now");
    assert_eq!(messages.len(), 4);
}

#[test]
fn output_that_only_shows_files_is_not_imported() {
    let project = Project::new();
    let mut transcript = TranscriptFixture::new("looks", project.path());
    transcript
        .add_command("c1", "cat a.rs", "fn here()", false)
        .add_command("c2", "cat none.rs", "no such file", true)
        .add_command("c3", "make", "made here", false)
        .add_tool_call("c4", "Read", &json!({"file_path": "a.rs"}))
        .add_tool_result("c4", "fn here()", false);
    transcript.write_file(&project);
    project.ok(&["import", "claude"]);
    let messages = session_messages(&project, "looks");
    let messages: Vec<_> = messages.iter().map(|(_, text)| text.as_str()).collect();
    let read = r#"Read: {"file_path":"a.rs"}"#;
    assert_eq!(
        messages,
        [
            "Bash: cat a.rs",
            "Bash: cat none.rs",
            "no such file",
            "Bash: make",
            "made here",
            read
        ]
    );
}

#[test]
fn invalid_transcript_files_are_skipped_and_counted() {
    let project = Project::new();
    let mut transcript = TranscriptFixture::new("odd", project.path());
    transcript
        .add_user_message("one")
        .add_assistant_message("two");
    let text = transcript.text();
    let (first, second) = text.split_once('\n').unwrap();
    let mut bytes = first.as_bytes().to_vec();
    bytes.extend_from_slice(b"\nno json\n{\"type\":\"user\",\"message\":{\"content\":\"\xff\xfe bytes\"}}\n\n{\"type\":7}\n");
    // Longer than the limit of a line.
    bytes.extend(std::iter::repeat_n(
        b'z',
        limits::TRANSCRIPT_LINE_BYTES_MAX + 1,
    ));
    bytes.push(b'\n');
    bytes.extend_from_slice(second.as_bytes());
    let folder = project.home.path().join(".claude/projects/x");
    fs::create_dir_all(&folder).unwrap();
    replace_file(&folder.join("odd.jsonl"), &bytes);
    replace_file(&folder.join("empty.jsonl"), b"");
    replace_file(
        &folder.join("garbage.jsonl"),
        &[0_u8, 159, 146, 150].repeat(1_000),
    );
    std::os::unix::fs::symlink("/dev/zero", folder.join("zero.jsonl")).unwrap();
    let report = project.json(&["import", "claude"]);
    assert_eq!(
        (
            &report["files"],
            &report["long_lines"],
            &report["unreadable_lines"]
        ),
        (&json!(1), &json!(1), &json!(1))
    );
    assert_eq!(report["left"]["no_transcripts"], 2);
    let messages = session_messages(&project, "odd");
    assert_eq!(messages.len(), 3, "{messages:?}");
    assert!(messages[1].1.ends_with(" bytes"), "{messages:?}");
    // The same files are errors when they are named explicitly.
    let garbage = folder.join("garbage.jsonl");
    project.expect(&["import", "claude", garbage.to_str().unwrap()], 2);
    let none = folder.join("none.jsonl");
    project.expect(&["import", "claude", none.to_str().unwrap()], 3);
    let device = folder.join("zero.jsonl");
    project.expect(&["import", "claude", device.to_str().unwrap()], 2);
    project.expect(&["import", "codex"], 3);
    project.expect(&["import", "jsonl", "--all"], 2);
    // A single value over the size limit is not read.
    let large = folder.join("large.json");
    replace_file(&large, b"");
    let file = fs::OpenOptions::new().write(true).open(&large).unwrap();
    file.set_len(limits::TRANSCRIPT_VALUE_BYTES_MAX + 1)
        .unwrap();
    project.expect(&["import", "gemini", large.to_str().unwrap()], 2);
}

/// Returns the exported records, without fields that depend on the time of the import.
fn exported_content(project: &Project) -> Vec<String> {
    let mut lines: Vec<_> = project
        .ok(&["export", "--format", "jsonl", "--all"])
        .lines()
        .into_iter()
        .map(|line| {
            let words = [
                "kind",
                "role",
                "text",
                "session",
                "seq",
                "state",
                "resolution",
                "id",
            ];
            words.map(|word| line[word].to_string()).join(" ")
        })
        .collect();
    lines.sort();
    lines
}

#[test]
fn killed_import_continues_without_loss_or_duplicates() {
    let (project, whole) = (Project::new(), Project::new());
    let mut transcript = TranscriptFixture::new("killed", Path::new("/the/project"));
    for n in 0..limits::TRANSCRIPT_BUFFERED_CHANGES_MAX {
        transcript.add_command(
            &format!("c{n}"),
            &format!("make part{n}"),
            "error: no rule",
            true,
        );
        transcript.add_command(
            &format!("d{n}"),
            &format!("make part{n}"),
            &format!("made {n}"),
            false,
        );
    }
    let here = project
        .folder
        .write("talk.jsonl", transcript.text())
        .unwrap();
    let args = [
        "import",
        "claude",
        here.to_str().unwrap(),
        "--recorded-in",
        "/the/project",
    ];
    for wait in [150, 400, 900] {
        let mut child = project.command(&args).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(wait));
        child.kill().unwrap();
        child.wait().unwrap();
    }
    project.ok(&args);
    whole.ok(&args);
    assert_eq!(project.json(&args)["created"], 0);
    assert_eq!(
        exported_content(&project).len(),
        exported_content(&whole).len()
    );
    assert_eq!(exported_content(&project), exported_content(&whole));
}

#[test]
fn gzipped_transcript_is_imported() {
    let project = Project::new();
    let transcript = rich_transcript(&project);
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    packed.write_all(transcript.text().as_bytes()).unwrap();
    let packed = packed.finish().unwrap();
    let cut = project
        .folder
        .write("cut.jsonl.gz", &packed[..packed.len() / 2])
        .unwrap();
    let file = project.folder.write("talk.jsonl.gz", &packed).unwrap();
    project.ok(&["import", "claude", cut.to_str().unwrap()]);
    project.ok(&["import", "claude", file.to_str().unwrap()]);
    assert_eq!(session_messages(&project, "rich").len(), 9);
    assert_eq!(
        project.json(&["import", "claude", file.to_str().unwrap()])["created"],
        0
    );
}

#[test]
fn subagent_transcript_is_a_separate_session() {
    let project = Project::new();
    let mut transcript = TranscriptFixture::new("parent", project.path());
    transcript.add_user_message("look into it");
    let line = transcript.lines[0].replace("\"cwd\"", "\"agentId\":\"a7\",\"cwd\"");
    let name = ".claude/projects/x/parent/subagents/agent-a7.jsonl";
    project
        .home
        .write(name, line.replace("parent-0", "a7-0"))
        .unwrap();
    transcript.write_file(&project);
    assert_eq!(project.json(&["import", "claude"])["files"], 2);
    let shown = project.json(&["session", "show", "parent.agent-a7"]);
    assert_eq!(shown["attrs"]["agent_id"], "a7");
    assert_eq!(shown["attrs"]["parent"], "parent");
    assert_eq!(shown["messages"][0]["sender"], "a7");
    assert_eq!(session_messages(&project, "parent").len(), 1);
}

#[test]
fn codex_gemini_and_aider_are_imported_from_their_default_paths() {
    let project = Project::new();
    let root = project.path().to_str().unwrap();
    let codex = [
        json!({"timestamp": "2026-04-01T10:00:00Z", "type": "session_meta", "payload": {"id": "cdx", "cwd": root, "timestamp": "2026-04-01T10:00:00Z"}}),
        json!({"timestamp": "2026-04-01T10:00:01Z", "type": "event_msg", "payload": {"type": "user_message", "message": "ask codex"}}),
        json!({"timestamp": "2026-04-01T10:00:02Z", "type": "response_item", "payload": {"type": "custom_tool_call", "name": "apply_patch", "call_id": "c", "input": "*** Begin Patch\n*** Update File: src/c.rs\n"}}),
        json!({"timestamp": "2026-04-01T10:00:03Z", "type": "response_item", "payload": {"type": "custom_tool_call_output", "call_id": "c", "output": "{\"output\":\"Success\",\"metadata\":{\"exit_code\":0}}"}}),
    ];
    let codex = codex.map(|line| line.to_string()).join("\n");
    project
        .home
        .write(".codex/sessions/2026/04/01/rollout-x.jsonl", codex)
        .unwrap();
    let gemini = |session: &str, hash: &str| {
        format!(
            "{{\"sessionId\":\"{session}\",\"projectHash\":\"{hash}\",\"startTime\":\"2026-04-01T10:00:00Z\"}}\n{{\"id\":\"{session}1\",\"type\":\"user\",\"content\":\"ask gemini\"}}\n"
        )
    };
    project
        .home
        .write(".gemini/tmp/named/.project_root", root)
        .unwrap();
    project
        .home
        .write(".gemini/tmp/named/chats/session-a.jsonl", gemini("g1", "x"))
        .unwrap();
    let name = project.home.write("name", root).unwrap();
    let hash = project_fs::digest_file(&name, 4_096).unwrap().checksum;
    project
        .home
        .write(
            ".gemini/tmp/hashed/chats/session-b.jsonl",
            gemini("g2", &hash),
        )
        .unwrap();
    project
        .home
        .write(".gemini/tmp/other/chats/session-c.jsonl", gemini("g3", "y"))
        .unwrap();
    let aider = "# aider chat started at 2026-04-01 10:00:00\n\n#### ask aider\n\nI do.\n\n> Applied edit to src/d.rs\n";
    project
        .folder
        .write(".aider.chat.history.md", aider)
        .unwrap();
    for (format, created) in [("codex", 3), ("gemini", 2), ("aider", 3)] {
        let report = project.json(&["import", format]);
        assert_eq!(report["created"], created, "{format} {report}");
        assert_eq!(project.json(&["import", format])["created"], 0, "{format}");
    }
    assert_eq!(session_messages(&project, "cdx")[0].1, "ask codex");
    assert_eq!(session_messages(&project, "g2")[0].1, "ask gemini");
    project.expect(&["session", "show", "g3"], 3);
    assert_eq!(
        session_messages(&project, "aider-2026-04-01-10-00-00")[1].1,
        "I do."
    );
    let mut files: Vec<_> = project
        .list("artifact")
        .iter()
        .map(|file| string(&file["text"]))
        .collect();
    files.sort();
    assert_eq!(files, ["src/c.rs", "src/d.rs"]);
}

#[test]
fn open_failures_of_a_transcript_are_capped() {
    let project = Project::new();
    let most = limits::TRANSCRIPT_FAILURES_MAX;
    let mut transcript = TranscriptFixture::new("failing", project.path());
    for n in 0..=most {
        transcript.add_command(
            &format!("c{n}"),
            &format!("make part{n}"),
            &format!("error in part {n}"),
            true,
        );
    }
    transcript.write_file(&project);
    project.ok(&["import", "claude"]);
    let open = open_commands(&project, "failing");
    assert_eq!(open.len(), most);
    assert_eq!(open[0], "make part1");
}

/// Returns the failed commands of a transcript that have not passed yet.
fn open_commands(project: &Project, session: &str) -> Vec<String> {
    let shown = project.json(&["session", "show", session]);
    let open = shown["attrs"]["transcript"]["open"].as_array().unwrap();
    open.iter().map(|open| string(&open["command"])).collect()
}

#[test]
fn import_without_learning_stores_no_error_of_a_command() {
    let project = Project::new();
    project.configure("\n[hooks]\nlearn = false\n");
    let mut transcript = TranscriptFixture::new("quiet", project.path());
    transcript
        .add_command("c1", "make", "error: no rule", true)
        .add_command("c2", "make test", "error: red", true)
        .add_tool_call(
            "c3",
            "Edit",
            &json!({"file_path": project.file("Makefile")}),
        )
        .add_tool_result("c3", "The file was updated", false)
        .add_command("c4", "make all", "ok", false)
        .add_command("c5", "make test", "ok", false);
    transcript.write_file(&project);
    let failed = json!({"tool_name": "Bash", "tool_input": {"command": "make test"}, "error": "Exit code 2\nerror: red"});
    call(&project, CLAUDE, "PostToolUseFailure", "quiet", failed);
    let report = project.json(&["import", "claude"]);
    let errors = project.list("error");
    // Only the one that a hook recorded. Another command is no evidence that it is gone.
    assert_eq!(errors.len(), 1, "{errors:?}");
    assert_eq!(open_commands(&project, "quiet"), ["make"]);
    project.ok(&["undo", &string(&report["import"])]);
    assert_eq!(project.list("error").len(), 1);
}

#[test]
fn tool_calls_without_results_are_capped() {
    let project = Project::new();
    let most = limits::TRANSCRIPT_CALLS_MAX;
    for (session, between, errors) in [("few", most - 1, 1), ("many", most, 0)] {
        let mut transcript = TranscriptFixture::new(session, project.path());
        transcript.add_tool_call(
            "first",
            "Bash",
            &json!({"command": format!("make {session}")}),
        );
        for n in 0..between {
            transcript.add_tool_call(&format!("c{n}"), "Read", &json!({"file_path": "x"}));
        }
        transcript.add_tool_result("first", "error: no rule", true);
        let file = transcript.write_file(&project);
        project.ok(&["import", "claude", file.to_str().unwrap()]);
        assert_eq!(open_commands(&project, session).len(), errors, "{session}");
    }
}

#[test]
fn long_message_is_shortened_and_keeps_its_end() {
    let project = Project::new();
    let most = limits::TRANSCRIPT_TEXT_CHARS_MAX;
    let mut transcript = TranscriptFixture::new("wordy", project.path());
    transcript
        .add_user_message(&"a".repeat(most))
        .add_user_message(&format!("{}end", "b".repeat(most)));
    transcript.write_file(&project);
    project.ok(&["import", "claude"]);
    let messages = session_messages(&project, "wordy");
    assert_eq!(messages[0].1.len(), most);
    let long = &messages[1].1;
    assert!(
        long.len() < most + 100 || long.len() == most + 3,
        "{}",
        long.len()
    );
    assert!(long.ends_with("end"));
}

#[test]
fn transcript_read_in_many_parts_adds_no_duplicates() {
    let project = Project::new();
    let mut transcript = TranscriptFixture::new("often", project.path());
    for n in 0..limits::TRANSCRIPT_MARKS_MAX + 2 {
        transcript.add_user_message(&format!("word {n}"));
        transcript.write_file(&project);
        assert_eq!(project.json(&["import", "claude"])["created"], 1, "{n}");
    }
    let shown = project.json(&["session", "show", "often"]);
    let marks = shown["attrs"]["transcript"]["marks"]
        .as_array()
        .unwrap()
        .len();
    assert_eq!(marks, limits::TRANSCRIPT_MARKS_MAX);
}

#[test]
fn transcript_files_over_the_limit_are_refused() {
    let project = Project::new();
    let folder = project.home.path().join(".claude/projects/x");
    fs::create_dir_all(&folder).unwrap();
    let first = folder.join("0.jsonl");
    replace_file(&first, b"");
    for n in 1..=limits::TRANSCRIPT_FILES_MAX {
        fs::hard_link(&first, folder.join(format!("{n}.jsonl"))).unwrap();
    }
    let refused = project.expect(&["import", "claude"], 2);
    assert!(refused.stderr.contains("more than"), "{refused:?}");
    fs::remove_file(folder.join("0.jsonl")).unwrap();
    let report = project.json(&["import", "claude"]);
    assert_eq!(
        report["left"]["no_transcripts"],
        limits::TRANSCRIPT_FILES_MAX as u64
    );
}
