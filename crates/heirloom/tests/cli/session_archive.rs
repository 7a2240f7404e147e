//! Archiving of hooked sessions: the transcript is imported when a session ends, and nothing is imported twice.
#![expect(
    clippy::disallowed_methods,
    reason = "files as agent programs write them"
)]

use crate::hooks::{CLAUDE, call, hook_log, injected_text};
use crate::project::{Project, string};
use crate::transcript_fixture::{TranscriptFixture, session_messages};
use heirloom_model::limits;
use heirloom_testkit::sh;
use serde_json::{Value, json};
use std::path::Path;
use std::process::Command;

/// Plays a whole session and calls its hooks on the way.
fn play_session(project: &Project, transcript: &mut TranscriptFixture) {
    let session = transcript.session.clone();
    let path = transcript.write_file(project);
    let send_hook = |name: &str, mut more: Value| {
        more["transcript_path"] = json!(path);
        call(project, CLAUDE, name, &session, more)
    };
    let (bash, edited) = (json!({"command": "npm test"}), project.file("src/a.ts"));
    send_hook("SessionStart", json!({"source": "startup"}));
    transcript.add_user_message("make the tests pass");
    send_hook("UserPromptSubmit", json!({"prompt": "make the tests pass"}));
    let signals = "HEIRLOOM_MEMORY: DECISION use nextest BECAUSE it is faster\nHEIRLOOM_MEMORY: CONVENTION style = tabs\nHEIRLOOM_MEMORY: ERROR the build is red\nHEIRLOOM_MEMORY: FILE_MODIFIED src/b.ts";
    transcript.add_assistant_message(signals);
    let error = "Exit code 1\n> test\nError: cannot find fixture 17\n";
    transcript.add_command("c1", "npm test", error, true);
    transcript.write_file(project);
    send_hook(
        "PostToolUseFailure",
        json!({"tool_name": "Bash", "tool_input": bash, "error": error}),
    );
    transcript.add_tool_call("c2", "Edit", &json!({"file_path": edited}));
    transcript.add_tool_result("c2", "The file was updated", false);
    send_hook(
        "PostToolUse",
        json!({"tool_name": "Edit", "tool_input": {"file_path": edited}, "tool_response": {}}),
    );
    transcript.add_command("c3", "npm test", "ok", false);
    send_hook(
        "PostToolUse",
        json!({"tool_name": "Bash", "tool_input": bash, "tool_response": {"stdout": "ok"}}),
    );
    transcript.add_assistant_message("Done.\nHEIRLOOM_MEMORY: KEY_FACT the fixtures are in git");
    transcript.write_file(project);
    send_hook(
        "Stop",
        json!({"last_assistant_message": "Done.\nHEIRLOOM_MEMORY: KEY_FACT the fixtures are in git"}),
    );
}

fn end_session(project: &Project, session: &str, path: &Path) {
    let more = json!({"reason": "other", "transcript_path": path});
    assert_eq!(
        call(project, CLAUDE, "SessionEnd", session, more),
        Value::Null
    );
    assert_eq!(hook_log(project), "");
}

/// Returns all records as sorted lines, without fields that differ between runs.
fn stored_records(project: &Project) -> Vec<String> {
    let mut all = Vec::new();
    for kind in ["error", "knowledge", "artifact", "episode"] {
        for record in project.list(kind) {
            let field = |name: &str| record.get(name).cloned().unwrap_or_default();
            all.push(format!(
                "{kind} {} {} {} {} {}",
                field("text"),
                field("state"),
                field("resolution"),
                field("repeats"),
                field("confirmations")
            ));
        }
    }
    all.sort();
    all
}

#[test]
fn session_end_archives_the_transcript_and_import_adds_nothing() {
    let project = Project::git();
    let mut transcript = TranscriptFixture::new("lived", project.path());
    play_session(&project, &mut transcript);
    let before = stored_records(&project);
    let path = transcript.write_file(&project);
    let shown = project.json(&["session", "show", "lived"]);
    assert_eq!(shown["ended_at"], Value::Null);
    end_session(&project, "lived", &path);
    let shown = project.json(&["session", "show", "lived"]);
    assert_eq!(
        (&shown["agent"], &shown["attrs"]["branch"]),
        (&json!(CLAUDE), &json!("main")),
        "{shown}"
    );
    assert_eq!(shown["attrs"]["cwd"], json!(project.path()));
    assert!(shown["ended_at"].is_string(), "{shown}");
    assert_eq!(session_messages(&project, "lived").len(), 8, "{shown}");
    let found = project.json(&["session", "search", "tests pass"]);
    assert_eq!(found["hits"][0]["session"], "lived");
    let after = stored_records(&project);
    let episodes = after
        .iter()
        .filter(|one| one.starts_with("episode"))
        .count();
    assert_eq!(
        (after.len(), episodes),
        (before.len(), 1),
        "{before:#?} {after:#?}"
    );
    for args in [&["import", "claude", "--all"][..], &["import", "claude"]] {
        let report = project.json(args);
        assert_eq!(report["created"], 0, "{report}");
    }
    end_session(&project, "lived", &path);
    assert_eq!(stored_records(&project), after);
    assert_eq!(session_messages(&project, "lived").len(), 8);
}

#[test]
fn session_end_after_import_adds_no_duplicates() {
    let project = Project::new();
    let mut transcript = TranscriptFixture::new("lived", project.path());
    play_session(&project, &mut transcript);
    project.ok(&["import", "claude", "--all"]);
    let path = transcript.write_file(&project);
    let (mut before, messages) = (
        stored_records(&project),
        session_messages(&project, "lived"),
    );
    before.retain(|one| !one.starts_with("episode"));
    end_session(&project, "lived", &path);
    let mut after = stored_records(&project);
    after.retain(|one| !one.starts_with("episode"));
    assert_eq!(after, before);
    assert_eq!(session_messages(&project, "lived"), messages);
}

#[test]
fn resumed_session_is_reopened_and_read_incrementally() {
    let project = Project::new();
    let mut transcript = TranscriptFixture::new("long", project.path());
    transcript.add_user_message("one");
    let path = transcript.write_file(&project);
    end_session(&project, "long", &path);
    assert_eq!(session_messages(&project, "long").len(), 1);
    let more = json!({"source": "resume", "transcript_path": path});
    call(&project, CLAUDE, "SessionStart", "long", more);
    let shown = project.json(&["session", "show", "long"]);
    assert_eq!(shown["ended_at"], Value::Null, "{shown}");
    transcript
        .add_assistant_message("two")
        .add_user_message("three");
    // The last line is half written, so it is not read yet.
    let text = transcript.text();
    std::fs::write(&path, &text[..text.len() - 9]).unwrap();
    end_session(&project, "long", &path);
    assert_eq!(session_messages(&project, "long").len(), 2);
    std::fs::write(&path, &text).unwrap();
    end_session(&project, "long", &path);
    assert_eq!(session_messages(&project, "long").len(), 3);
    assert_eq!(project.json(&["import", "claude"])["created"], 0);
}

#[test]
fn failure_in_hook_and_transcript_is_one_error_with_its_fix() {
    let project = Project::new();
    let before = |session: &str, command: &str| {
        let more = json!({"tool_name": "Bash", "tool_input": {"command": command}});
        injected_text(&call(&project, CLAUDE, "PreToolUse", session, more))
    };
    // The failure is only in the transcript.
    let mut transcript = TranscriptFixture::new("old", project.path());
    transcript
        .add_user_message("x")
        .add_command("c1", "make all", "Exit code 2\nerror: no rule 3", true)
        .add_tool_call(
            "c2",
            "Edit",
            &json!({"file_path": project.file("Makefile"), "old_string": "al: x", "new_string": "rule: x"}),
        )
        .add_tool_result("c2", "done", false)
        .add_command("c3", "make all", "ok", false);
    transcript.write_file(&project);
    project.ok(&["import", "claude"]);
    let injected = before("one", "cd sub && make all");
    assert!(
        injected.contains("`make all` failed: error: no rule 3")
            && injected.contains("Makefile: changed `al: x` to `rule: x`."),
        "{injected}"
    );
    // A hook reports the same failure: it is the same error, and the answer contains its fix.
    let more = json!({"tool_name": "Bash", "tool_input": {"command": "make all"}, "error": "Exit code 2\nerror: no rule 4"});
    let again = injected_text(&call(&project, CLAUDE, "PostToolUseFailure", "two", more));
    assert!(again.contains("Makefile: changed `al: x`"), "{again}");
    let errors = project.list("error");
    assert_eq!((errors.len(), &errors[0]["state"]), (1, &json!("open")));
    // A hook reports a failure, and only the transcript shows that another command fixed it.
    let more = json!({"tool_name": "Bash", "tool_input": {"command": "npm test"}, "error": "Exit code 1\nError: no fixture"});
    call(&project, CLAUDE, "PostToolUseFailure", "three", more);
    let mut transcript = TranscriptFixture::new("three", project.path());
    transcript
        .add_user_message("x")
        .add_command("d1", "npm test", "Exit code 1\nError: no fixture", true)
        .add_command("d2", "npm test -- --all", "ok", false);
    // The transcript must be later than the events of its hooks.
    for line in &mut transcript.lines {
        *line = line.replace("2026-04-01", "2099-04-01");
    }
    let path = transcript.write_file(&project);
    end_session(&project, "three", &path);
    let errors = project.list("error");
    assert_eq!(errors.len(), 2, "{errors:?}");
    let npm = errors
        .iter()
        .find(|error| string(&error["text"]).contains("npm"));
    assert_eq!(npm.unwrap()["state"], "resolved", "{errors:?}");
    let injected = before("four", "npm test");
    assert!(
        injected.contains("What helped: `npm test -- --all` works"),
        "{injected}"
    );
}

#[test]
fn open_failures_of_one_command_are_capped() {
    let project = Project::new();
    let words = [
        "one", "two", "three", "four", "five", "six", "seven", "eight",
    ];
    for word in words {
        let more = json!({"tool_name": "Bash", "tool_input": {"command": "make"}, "error": format!("error: {word} is missing")});
        call(&project, CLAUDE, "PostToolUseFailure", "s", more);
    }
    let errors = project.list("error");
    assert_eq!(errors.len(), limits::HOOK_FAILURES_OPEN_MAX, "{errors:?}");
    let newest = json!({"tool_name": "Bash", "tool_input": {"command": "make"}});
    let injected = injected_text(&call(&project, CLAUDE, "PreToolUse", "t", newest.clone()));
    assert!(injected.contains("eight is missing"), "{injected}");
    let mut worked = newest;
    worked["tool_response"] = json!({"stdout": ""});
    call(&project, CLAUDE, "PostToolUse", "s", worked);
    let errors = project.list("error");
    assert!(
        errors.iter().all(|error| error["state"] == "resolved"),
        "{errors:?}"
    );
}

/// Returns a Codex session file with these commands, outputs and exit codes.
pub(crate) fn codex_session_file(project: &Project, calls: &[(&str, &str, i32)]) -> String {
    let line = |kind: &str, payload: Value| {
        json!({"timestamp": "2099-04-01T10:00:00Z", "type": kind, "payload": payload}).to_string()
            + "\n"
    };
    let mut text = line(
        "session_meta",
        json!({"id": "rolled", "cwd": project.path()}),
    );
    text += &line(
        "event_msg",
        json!({"type": "user_message", "message": "mend it"}),
    );
    for (n, (command, output, code)) in calls.iter().enumerate() {
        let call = format!("call_{n}");
        let arguments = json!({"cmd": command}).to_string();
        text += &line(
            "response_item",
            json!({"type": "function_call", "name": "exec_command", "arguments": arguments, "call_id": call}),
        );
        let output = format!(
            "Chunk ID: 1\nWall time: 0.1 seconds\nProcess exited with code {code}\nOutput:\n{output}"
        );
        text += &line(
            "response_item",
            json!({"type": "function_call_output", "call_id": call, "output": output}),
        );
    }
    text
}

#[test]
fn codex_command_outcome_is_read_from_the_transcript() {
    let project = Project::new();
    let path = project.home.write("rollout.jsonl", "").unwrap();
    let used = |output: &str| json!({"tool_name": "Bash", "tool_input": {"command": "make"}, "tool_response": output, "transcript_path": path});
    let send_hook = |name: &str, more| call(&project, "codex", name, "rolled", more);
    // The tool response has no exit code, so it proves no failure.
    send_hook("PostToolUse", used("make: *** no rule\n"));
    assert!(project.list("error").is_empty());
    let failed = ("make", "make: *** cannot find it\n", 2);
    std::fs::write(&path, codex_session_file(&project, &[failed])).unwrap();
    let ends = || {
        send_hook(
            "SessionEnd",
            json!({"reason": "other", "transcript_path": path}),
        )
    };
    ends();
    let errors = project.list("error");
    assert_eq!(
        (errors.len(), &errors[0]["state"]),
        (1, &json!("open")),
        "{errors:?}"
    );
    assert_eq!(errors[0]["text"], "`make` failed: make: *** cannot find it");
    assert_eq!(errors[0]["source"], "codex");
    // Nor does it prove success, whatever the output looks like.
    send_hook("PostToolUse", used("make: nothing to be done\n"));
    assert_eq!(project.list("error")[0]["state"], "open");
    std::fs::write(
        &path,
        codex_session_file(&project, &[failed, ("make", "done", 0)]),
    )
    .unwrap();
    ends();
    let errors = project.list("error");
    assert_eq!(
        (errors.len(), &errors[0]["state"]),
        (1, &json!("resolved")),
        "{errors:?}"
    );
    assert_eq!(
        project.json(&["import", "codex", path.to_str().unwrap()])["created"],
        0
    );
}

#[test]
fn subagent_records_are_attributed_to_the_subagent() {
    let project = Project::new();
    let mut main = TranscriptFixture::new("team", project.path());
    main.add_user_message("mend it")
        .add_assistant_message("HEIRLOOM_MEMORY: KEY_FACT by the main one");
    let path = main.write_file(&project);
    let mut side = TranscriptFixture::new("team", project.path());
    side.add_user_message("look there")
        .add_assistant_message("HEIRLOOM_MEMORY: KEY_FACT by the other one");
    for line in &mut side.lines {
        let sidechain_line = line.replace(
            "\"isSidechain\":false",
            "\"isSidechain\":true,\"agentId\":\"a7\"",
        );
        *line = sidechain_line.replace("team-", "side-");
    }
    let own = project.home.write("agent-a7.jsonl", side.text()).unwrap();
    let send_hook = |name: &str, mut more: Value| {
        more["transcript_path"] = json!(path);
        more["agent_id"] = json!("a7");
        more["agent_type"] = json!("Explore");
        call(&project, CLAUDE, name, "team", more)
    };
    project.ok(&[
        "remember",
        "the parser reads tables",
        "--category",
        "convention",
    ]);
    let start_event = json!({"source": "startup", "transcript_path": path});
    call(&project, CLAUDE, "SessionStart", "team", start_event);
    let injected = injected_text(&send_hook("SubagentStart", json!({})));
    assert!(injected.contains("the parser reads tables"), "{injected}");
    // The event belongs to the subagent; the messages in the session's transcript do not.
    let failed =
        json!({"tool_name": "Bash", "tool_input": {"command": "make"}, "error": "error: no rule"});
    send_hook("PostToolUseFailure", failed);
    let used =
        json!({"tool_name": "Bash", "tool_input": {"command": "make x"}, "tool_response": {}});
    send_hook("PostToolUse", used);
    let file =
        json!({"tool_name": "Write", "tool_input": {"file_path": "src/a.rs"}, "tool_response": {}});
    send_hook("PostToolUse", file);
    send_hook(
        "SubagentStop",
        json!({"agent_transcript_path": own, "last_assistant_message": "HEIRLOOM_MEMORY: LEARNING ports clash"}),
    );
    end_session(&project, "team", &path);
    let agent_of = |kind: &str, text: &str| {
        let list = project.list(kind);
        let one = list
            .iter()
            .find(|record| string(&record["text"]).contains(text));
        one.map_or(Value::Null, |record| record["agent"].clone())
    };
    assert_eq!(agent_of("knowledge", "by the main one"), json!(CLAUDE));
    for (kind, text) in [
        ("knowledge", "by the other one"),
        ("knowledge", "ports clash"),
        ("error", "make"),
        ("artifact", "src/a.rs"),
    ] {
        assert_eq!(agent_of(kind, text), json!("a7"), "{text}");
    }
    let shown = project.json(&["session", "show", "team.agent-a7"]);
    let shown = &shown["attrs"];
    assert_eq!(
        (&shown["agent_id"], &shown["agent_type"], &shown["parent"]),
        (&json!("a7"), &json!("Explore"), &json!("team")),
        "{shown}"
    );
    assert_eq!(session_messages(&project, "team.agent-a7").len(), 2);
    assert_eq!(session_messages(&project, "team").len(), 2);
}

#[test]
fn injected_envelope_is_removed_from_archived_messages() {
    let project = Project::new();
    project.ok(&[
        "remember",
        "the zebra is striped",
        "--category",
        "convention",
    ]);
    let injected = injected_text(&call(&project, CLAUDE, "SessionStart", "s", json!({})));
    let escaped = injected.replace('<', "&lt;").replace('>', "&gt;");
    let mut transcript = TranscriptFixture::new("s", project.path());
    transcript
        .add_user_message(&format!("{injected}\nmend it"))
        .add_assistant_message(&format!("I was told {escaped} and go on"))
        .add_command("c1", "make", &format!("error: no rule\n{injected}"), true)
        .add_command("c2", "make", "ok", false);
    let path = transcript.write_file(&project);
    end_session(&project, "s", &path);
    let messages = session_messages(&project, "s");
    assert_eq!(messages.len(), 6, "{messages:?}");
    assert!(
        messages.iter().all(|(_, text)| !text.contains("zebra")),
        "{messages:?}"
    );
    assert_eq!(messages[0].1, "mend it");
    assert_eq!(project.list("knowledge").len(), 1);
}

#[test]
fn invalid_and_foreign_transcript_files_are_ignored() {
    let project = Project::new();
    let other = Project::new();
    let mut transcript = TranscriptFixture::new("foreign", other.path());
    transcript.add_user_message("of another project");
    let foreign = transcript.write_file(&other);
    let pipe = project.file("pipe");
    assert!(
        Command::new("mkfifo")
            .arg(&pipe)
            .status()
            .unwrap()
            .success()
    );
    let link = project.file("link");
    std::os::unix::fs::symlink(&foreign, &link).unwrap();
    let odd = project
        .home
        .write("odd.jsonl", b"\xff\xfe{\n[]\nnull\n")
        .unwrap();
    let paths = [
        foreign.clone(),
        pipe,
        link,
        odd,
        project.path().to_owned(),
        "/dev/zero".into(),
        "/nonexistent/x.jsonl".into(),
        "relative.jsonl".into(),
    ];
    for (n, path) in paths.iter().enumerate() {
        end_session(&project, &format!("s{n}"), path);
    }
    project.expect(&["session", "show", "foreign"], 3);
    let hits = project.json(&["session", "search", "another project"]);
    assert_eq!(hits["hits"], json!([]));
    // Invalid UTF-8 and a NUL in the middle of a valid transcript.
    let mut transcript = TranscriptFixture::new("broken", project.path());
    transcript.add_user_message("before");
    let mut bytes = transcript.text().into_bytes();
    bytes.extend_from_slice(b"{\"type\":\"user\",\"message\":{\"content\":\"\xff\xfe\"}\n\x00\n");
    bytes.extend_from_slice(
        TranscriptFixture::new("broken", project.path())
            .add_assistant_message("behind")
            .text()
            .replace("broken-0", "broken-9")
            .as_bytes(),
    );
    let path = project.home.write("broken.jsonl", bytes).unwrap();
    end_session(&project, "broken", &path);
    let messages = session_messages(&project, "broken");
    assert_eq!(messages.len(), 2, "{messages:?}");
}

#[test]
fn long_transcript_is_read_until_the_deadline_and_import_completes_it() {
    const RESULTS: usize = 500;
    let project = Project::new();
    let mut transcript = TranscriptFixture::new("huge", project.path());
    let output = "a line of output\n".repeat(3_000);
    transcript.add_user_message("begin");
    for n in 0..RESULTS {
        transcript.add_command(&format!("c{n}"), &format!("make part{n}"), &output, false);
    }
    let path = transcript.write_file(&project);
    let more = json!({"transcript_path": path});
    for _ in 0..2 {
        // The deadline may pass before the end of the file; the part that was read is consistent.
        call(&project, CLAUDE, "SessionEnd", "huge", more.clone());
        assert!(
            !hook_log(&project).contains("cannot"),
            "{}",
            hook_log(&project)
        );
    }
    let read_count = session_messages(&project, "huge").len();
    let report = project.json(&["import", "claude"]);
    assert_eq!(
        report["created"],
        2 * RESULTS + 1 - read_count,
        "{read_count} {report}"
    );
    assert_eq!(session_messages(&project, "huge").len(), 2 * RESULTS + 1);
    // Claude Code kills the SessionEnd hook after 1.5 seconds; every hook ends itself after two.
    const {
        assert!(
            limits::HOOK_ARCHIVE_MS < 1_500 && limits::HOOK_ARCHIVE_MS < limits::HOOK_DEADLINE_MS
        )
    };
}

#[test]
fn run_after_hooked_sessions_keeps_its_own_session_and_iteration() {
    let project = Project::new();
    let start_event = json!({"source": "startup"});
    call(&project, CLAUDE, "SessionStart", "hooked", start_event);
    let agent = "printf 'HEIRLOOM_MEMORY: KEY_FACT x\\n'";
    project.ok(&sh(&format!(
        r#"run --task 7 --iterations 1 -- sh -c "{agent}""#
    )));
    let mirror = project.folder.read(".heirloom/memory.json").unwrap();
    let run: Value = serde_json::from_str(&mirror).unwrap();
    call(
        &project,
        CLAUDE,
        "SessionStart",
        "later",
        json!({"source": "startup"}),
    );
    project.ok(&sh(&format!(
        r#"run --task 7 --iterations 1 -- sh -c "{agent}""#
    )));
    let mirror = project.folder.read(".heirloom/memory.json").unwrap();
    let again: Value = serde_json::from_str(&mirror).unwrap();
    for run in [&run, &again] {
        let id = string(&run["session_id"]);
        assert!(!["hooked", "later"].contains(&id.as_str()), "{run}");
    }
    assert_eq!(again["iteration"], 2, "{again}");
}
