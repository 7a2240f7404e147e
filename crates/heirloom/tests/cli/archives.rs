//! Sessions whose hooks were called: what was said in them, and that nothing comes twice, whoever comes first.
#![expect(
    clippy::disallowed_methods,
    reason = "files as agent programs write them"
)]

use crate::hooks::{CLAUDE, call, heard, log};
use crate::project::{Project, string};
use crate::talk::{Talk, turns};
use heirloom_model::limits;
use serde_json::{Value, json};
use std::path::Path;
use std::process::Command;

/// A session with all that happens in one, told by its hooks as it happens.
fn lived(project: &Project, talk: &mut Talk) {
    let session = talk.session.clone();
    let path = talk.file(project);
    let tell = |name: &str, mut more: Value| {
        more["transcript_path"] = json!(path);
        call(project, CLAUDE, name, &session, more)
    };
    let (bash, edited) = (json!({"command": "npm test"}), project.file("src/a.ts"));
    tell("SessionStart", json!({"source": "startup"}));
    talk.asks("make the tests pass");
    tell("UserPromptSubmit", json!({"prompt": "make the tests pass"}));
    let signals = "HEIRLOOM_MEMORY: DECISION use nextest BECAUSE it is faster\nHEIRLOOM_MEMORY: CONVENTION style = tabs\nHEIRLOOM_MEMORY: ERROR the build is red\nHEIRLOOM_MEMORY: FILE_MODIFIED src/b.ts";
    talk.says(signals);
    let error = "Exit code 1\n> test\nError: cannot find fixture 17\n";
    talk.runs("c1", "npm test", error, true);
    talk.file(project);
    tell(
        "PostToolUseFailure",
        json!({"tool_name": "Bash", "tool_input": bash, "error": error}),
    );
    talk.calls("c2", "Edit", &json!({"file_path": edited}));
    talk.hears("c2", "The file was updated", false);
    tell(
        "PostToolUse",
        json!({"tool_name": "Edit", "tool_input": {"file_path": edited}, "tool_response": {}}),
    );
    talk.runs("c3", "npm test", "ok", false);
    tell(
        "PostToolUse",
        json!({"tool_name": "Bash", "tool_input": bash, "tool_response": {"stdout": "ok"}}),
    );
    talk.says("Done.\nHEIRLOOM_MEMORY: KEY_FACT the fixtures are in git");
    talk.file(project);
    tell(
        "Stop",
        json!({"last_assistant_message": "Done.\nHEIRLOOM_MEMORY: KEY_FACT the fixtures are in git"}),
    );
}

fn end(project: &Project, session: &str, path: &Path) {
    let more = json!({"reason": "other", "transcript_path": path});
    assert_eq!(
        call(project, CLAUDE, "SessionEnd", session, more),
        Value::Null
    );
    assert_eq!(log(project), "");
}

/// Everything that is remembered, without what differs from run to run.
fn remembered(project: &Project) -> Vec<String> {
    let mut all = Vec::new();
    for kind in ["error", "knowledge", "artifact", "episode"] {
        for record in project.list(kind) {
            let said = |name: &str| record.get(name).cloned().unwrap_or_default();
            all.push(format!(
                "{kind} {} {} {} {} {}",
                said("text"),
                said("state"),
                said("resolution"),
                said("repeats"),
                said("confirmations")
            ));
        }
    }
    all.sort();
    all
}

#[test]
fn a_session_that_ends_is_here_and_an_import_brings_nothing_more() {
    let project = Project::git();
    let mut talk = Talk::new("lived", project.path());
    lived(&project, &mut talk);
    let before = remembered(&project);
    let path = talk.file(&project);
    let shown = project.json(&["session", "show", "lived"]);
    assert_eq!(shown["ended_at"], Value::Null);
    end(&project, "lived", &path);
    let shown = project.json(&["session", "show", "lived"]);
    assert_eq!(
        (&shown["agent"], &shown["attrs"]["branch"]),
        (&json!(CLAUDE), &json!("main")),
        "{shown}"
    );
    assert_eq!(shown["attrs"]["cwd"], json!(project.path()));
    assert!(shown["ended_at"].is_string(), "{shown}");
    assert_eq!(turns(&project, "lived").len(), 8, "{shown}");
    let found = project.json(&["session", "search", "tests pass"]);
    assert_eq!(found["hits"][0]["session"], "lived");
    let after = remembered(&project);
    let episodes = after
        .iter()
        .filter(|one| one.starts_with("episode"))
        .count();
    assert_eq!((after.len(), episodes), (before.len() + 1, 1), "{after:#?}");
    for args in [&["import", "claude", "--all"][..], &["import", "claude"]] {
        let report = project.json(args);
        assert_eq!(report["created"], 0, "{report}");
    }
    end(&project, "lived", &path);
    assert_eq!(remembered(&project), after);
    assert_eq!(turns(&project, "lived").len(), 8);
}

#[test]
fn who_imports_first_has_nothing_twice_either() {
    let project = Project::new();
    let mut talk = Talk::new("lived", project.path());
    lived(&project, &mut talk);
    project.ok(&["import", "claude", "--all"]);
    let path = talk.file(&project);
    let (before, said) = (remembered(&project), turns(&project, "lived"));
    end(&project, "lived", &path);
    let mut after = remembered(&project);
    after.retain(|one| !one.starts_with("episode"));
    assert_eq!(after, before);
    assert_eq!(turns(&project, "lived"), said);
}

#[test]
fn a_session_that_goes_on_has_not_ended_and_is_read_on() {
    let project = Project::new();
    let mut talk = Talk::new("long", project.path());
    talk.asks("one");
    let path = talk.file(&project);
    end(&project, "long", &path);
    assert_eq!(turns(&project, "long").len(), 1);
    let more = json!({"source": "resume", "transcript_path": path});
    call(&project, CLAUDE, "SessionStart", "long", more);
    let shown = project.json(&["session", "show", "long"]);
    assert_eq!(shown["ended_at"], Value::Null, "{shown}");
    talk.says("two").asks("three");
    // The last line is half written: it waits.
    let text = talk.text();
    std::fs::write(&path, &text[..text.len() - 9]).unwrap();
    end(&project, "long", &path);
    assert_eq!(turns(&project, "long").len(), 2);
    std::fs::write(&path, &text).unwrap();
    end(&project, "long", &path);
    assert_eq!(turns(&project, "long").len(), 3);
    assert_eq!(project.json(&["import", "claude"])["created"], 0);
}

#[test]
fn a_failure_is_one_error_whoever_saw_it_and_its_fix_is_told() {
    let project = Project::new();
    let before = |session: &str, command: &str| {
        let more = json!({"tool_name": "Bash", "tool_input": {"command": command}});
        heard(&call(&project, CLAUDE, "PreToolUse", session, more))
    };
    // Seen by a transcript only.
    let mut talk = Talk::new("old", project.path());
    talk.asks("x")
        .runs("c1", "make all", "Exit code 2\nerror: no rule 3", true)
        .calls(
            "c2",
            "Edit",
            &json!({"file_path": project.file("Makefile")}),
        )
        .hears("c2", "done", false)
        .runs("c3", "make all", "ok", false);
    talk.file(&project);
    project.ok(&["import", "claude"]);
    let said = before("one", "cd sub && make all");
    assert!(
        said.contains("`make all` failed: error: no rule 3")
            && said.contains("What helped: `make all` worked after changes to Makefile"),
        "{said}"
    );
    // The same failure, seen by a hook: it is the same error, and what helped is said.
    let more = json!({"tool_name": "Bash", "tool_input": {"command": "make all"}, "error": "Exit code 2\nerror: no rule 4"});
    let again = heard(&call(&project, CLAUDE, "PostToolUseFailure", "two", more));
    assert!(
        again.contains("worked after changes to Makefile"),
        "{again}"
    );
    let errors = project.list("error");
    assert_eq!((errors.len(), &errors[0]["state"]), (1, &json!("open")));
    // Seen failing by a hook and mended by another command, as only the transcript tells.
    let more = json!({"tool_name": "Bash", "tool_input": {"command": "npm test"}, "error": "Exit code 1\nError: no fixture"});
    call(&project, CLAUDE, "PostToolUseFailure", "three", more);
    let mut talk = Talk::new("three", project.path());
    talk.asks("x")
        .runs("d1", "npm test", "Exit code 1\nError: no fixture", true)
        .runs("d2", "npm test -- --all", "ok", false);
    // What a conversation says was said after what its hooks saw.
    for line in &mut talk.lines {
        *line = line.replace("2026-04-01", "2099-04-01");
    }
    let path = talk.file(&project);
    end(&project, "three", &path);
    let errors = project.list("error");
    assert_eq!(errors.len(), 2, "{errors:?}");
    let npm = errors
        .iter()
        .find(|error| string(&error["text"]).contains("npm"));
    assert_eq!(npm.unwrap()["state"], "resolved", "{errors:?}");
    let said = before("four", "npm test");
    assert!(
        said.contains("What helped: `npm test -- --all` worked"),
        "{said}"
    );
}

#[test]
fn many_failures_of_one_command_stay_few() {
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
    let said = heard(&call(&project, CLAUDE, "PreToolUse", "t", newest.clone()));
    assert!(said.contains("eight is missing"), "{said}");
    let mut worked = newest;
    worked["tool_response"] = json!({"stdout": ""});
    call(&project, CLAUDE, "PostToolUse", "s", worked);
    let errors = project.list("error");
    assert!(
        errors.iter().all(|error| error["state"] == "resolved"),
        "{errors:?}"
    );
}

/// A conversation of Codex.
fn rollout(project: &Project, calls: &[(&str, &str, i32)]) -> String {
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
    for (n, (command, said, code)) in calls.iter().enumerate() {
        let call = format!("call_{n}");
        let arguments = json!({"cmd": command}).to_string();
        text += &line(
            "response_item",
            json!({"type": "function_call", "name": "exec_command", "arguments": arguments, "call_id": call}),
        );
        let output = format!(
            "Chunk ID: 1\nWall time: 0.1 seconds\nProcess exited with code {code}\nOutput:\n{said}"
        );
        text += &line(
            "response_item",
            json!({"type": "function_call_output", "call_id": call, "output": output}),
        );
    }
    text
}

#[test]
fn how_a_command_went_in_codex_is_settled_by_its_transcript() {
    let project = Project::new();
    let path = project.home.write("rollout.jsonl", "").unwrap();
    let used = |said: &str| json!({"tool_name": "Bash", "tool_input": {"command": "make"}, "tool_response": said, "transcript_path": path});
    let tell = |name: &str, more| call(&project, "codex", name, "rolled", more);
    // Nobody says that it failed.
    tell("PostToolUse", used("make: *** no rule\n"));
    assert!(project.list("error").is_empty());
    let failed = ("make", "make: *** cannot find it\n", 2);
    std::fs::write(&path, rollout(&project, &[failed])).unwrap();
    let ends = || {
        tell(
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
    // Nor that it worked, however it looks.
    tell("PostToolUse", used("make: nothing to be done\n"));
    assert_eq!(project.list("error")[0]["state"], "open");
    std::fs::write(&path, rollout(&project, &[failed, ("make", "done", 0)])).unwrap();
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
fn what_subagents_say_and_do_is_theirs() {
    let project = Project::new();
    let mut main = Talk::new("team", project.path());
    main.asks("mend it")
        .says("HEIRLOOM_MEMORY: KEY_FACT by the main one");
    let path = main.file(&project);
    let mut side = Talk::new("team", project.path());
    side.asks("look there")
        .says("HEIRLOOM_MEMORY: KEY_FACT by the one beside it");
    for line in &mut side.lines {
        let aside = line.replace(
            "\"isSidechain\":false",
            "\"isSidechain\":true,\"agentId\":\"a7\"",
        );
        *line = aside.replace("team-", "side-");
    }
    let own = project.home.write("agent-a7.jsonl", side.text()).unwrap();
    let tell = |name: &str, mut more: Value| {
        more["transcript_path"] = json!(path);
        more["agent_id"] = json!("a7");
        more["agent_type"] = json!("Explore");
        call(&project, CLAUDE, name, "team", more)
    };
    project.ok(&["remember", "the parser reads tables"]);
    let begun = json!({"source": "startup", "transcript_path": path});
    call(&project, CLAUDE, "SessionStart", "team", begun);
    let said = heard(&tell("SubagentStart", json!({})));
    assert!(said.contains("the parser reads tables"), "{said}");
    // The event is the subagent's; the words in the session's transcript are not.
    let failed =
        json!({"tool_name": "Bash", "tool_input": {"command": "make"}, "error": "error: no rule"});
    tell("PostToolUseFailure", failed);
    let used =
        json!({"tool_name": "Bash", "tool_input": {"command": "make x"}, "tool_response": {}});
    tell("PostToolUse", used);
    let file =
        json!({"tool_name": "Write", "tool_input": {"file_path": "src/a.rs"}, "tool_response": {}});
    tell("PostToolUse", file);
    tell(
        "SubagentStop",
        json!({"agent_transcript_path": own, "last_assistant_message": "HEIRLOOM_MEMORY: LEARNING ports clash"}),
    );
    end(&project, "team", &path);
    let who = |kind: &str, text: &str| {
        let list = project.list(kind);
        let one = list
            .iter()
            .find(|record| string(&record["text"]).contains(text));
        one.map_or(Value::Null, |record| record["agent"].clone())
    };
    assert_eq!(who("knowledge", "by the main one"), json!(CLAUDE));
    for (kind, text) in [
        ("knowledge", "by the one beside it"),
        ("knowledge", "ports clash"),
        ("error", "make"),
        ("artifact", "src/a.rs"),
    ] {
        assert_eq!(who(kind, text), json!("a7"), "{text}");
    }
    let shown = project.json(&["session", "show", "team.agent-a7"]);
    let shown = &shown["attrs"];
    assert_eq!(
        (&shown["agent_id"], &shown["agent_type"], &shown["parent"]),
        (&json!("a7"), &json!("Explore"), &json!("team")),
        "{shown}"
    );
    assert_eq!(turns(&project, "team.agent-a7").len(), 2);
    assert_eq!(turns(&project, "team").len(), 2);
}

#[test]
fn what_we_put_into_a_conversation_is_not_kept_from_it() {
    let project = Project::new();
    project.ok(&["remember", "the zebra is striped"]);
    let said = heard(&call(&project, CLAUDE, "SessionStart", "s", json!({})));
    let escaped = said.replace('<', "&lt;").replace('>', "&gt;");
    let mut talk = Talk::new("s", project.path());
    talk.asks(&format!("{said}\nmend it"))
        .says(&format!("I was told {escaped} and go on"))
        .runs("c1", "make", &format!("error: no rule\n{said}"), true)
        .runs("c2", "make", "ok", false);
    let path = talk.file(&project);
    end(&project, "s", &path);
    let said = turns(&project, "s");
    assert_eq!(said.len(), 6, "{said:?}");
    assert!(
        said.iter().all(|(_, text)| !text.contains("zebra")),
        "{said:?}"
    );
    assert_eq!(said[0].1, "mend it");
    assert_eq!(project.list("knowledge").len(), 1);
}

#[test]
fn a_transcript_that_is_none_does_no_harm() {
    let project = Project::new();
    let other = Project::new();
    let mut talk = Talk::new("foreign", other.path());
    talk.asks("of another project");
    let foreign = talk.file(&other);
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
        end(&project, &format!("s{n}"), path);
    }
    project.expect(&["session", "show", "foreign"], 3);
    let hits = project.json(&["session", "search", "another project"]);
    assert_eq!(hits["hits"], json!([]));
    // Letters that are none, in the middle of a conversation that is one.
    let mut talk = Talk::new("broken", project.path());
    talk.asks("before");
    let mut bytes = talk.text().into_bytes();
    bytes.extend_from_slice(b"{\"type\":\"user\",\"message\":{\"content\":\"\xff\xfe\"}\n\x00\n");
    bytes.extend_from_slice(
        Talk::new("broken", project.path())
            .says("behind")
            .text()
            .replace("broken-0", "broken-9")
            .as_bytes(),
    );
    let path = project.home.write("broken.jsonl", bytes).unwrap();
    end(&project, "broken", &path);
    let said = turns(&project, "broken");
    assert_eq!(said.len(), 2, "{said:?}");
}

#[test]
fn a_long_conversation_is_read_as_far_as_there_is_time() {
    const RESULTS: usize = 500;
    let project = Project::new();
    let mut talk = Talk::new("huge", project.path());
    let said = "a line of output\n".repeat(3_000);
    talk.asks("begin");
    for n in 0..RESULTS {
        talk.runs(&format!("c{n}"), &format!("make part{n}"), &said, false);
    }
    let path = talk.file(&project);
    let more = json!({"transcript_path": path});
    for _ in 0..2 {
        // Whether it gets to the end depends on the machine; what it took is whole.
        call(&project, CLAUDE, "SessionEnd", "huge", more.clone());
        assert!(!log(&project).contains("cannot"), "{}", log(&project));
    }
    let taken = turns(&project, "huge").len();
    let report = project.json(&["import", "claude"]);
    assert_eq!(
        report["created"],
        2 * RESULTS + 1 - taken,
        "{taken} {report}"
    );
    assert_eq!(turns(&project, "huge").len(), 2 * RESULTS + 1);
    // Claude Code kills the hook of a session that ends after 1.5 seconds; any hook ends itself after two.
    const {
        assert!(
            limits::HOOK_ARCHIVE_MS < 1_500 && limits::HOOK_ARCHIVE_MS < limits::HOOK_DEADLINE_MS
        )
    };
}

#[test]
fn hooked_sessions_are_none_of_a_runs() {
    let project = Project::new();
    let begun = json!({"source": "startup"});
    call(&project, CLAUDE, "SessionStart", "hooked", begun);
    let agent = "printf 'HEIRLOOM_MEMORY: KEY_FACT x\\n'";
    project.ok(&[
        "run",
        "--task",
        "7",
        "--iterations",
        "1",
        "--",
        "sh",
        "-c",
        agent,
    ]);
    let mirror = project.folder.read(".heirloom/memory.json").unwrap();
    let run: Value = serde_json::from_str(&mirror).unwrap();
    call(
        &project,
        CLAUDE,
        "SessionStart",
        "later",
        json!({"source": "startup"}),
    );
    project.ok(&[
        "run",
        "--task",
        "7",
        "--iterations",
        "1",
        "--",
        "sh",
        "-c",
        agent,
    ]);
    let mirror = project.folder.read(".heirloom/memory.json").unwrap();
    let again: Value = serde_json::from_str(&mirror).unwrap();
    for run in [&run, &again] {
        let id = string(&run["session_id"]);
        assert!(!["hooked", "later"].contains(&id.as_str()), "{run}");
    }
    assert_eq!(again["iteration"], 2, "{again}");
}
