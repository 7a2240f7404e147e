//! Texts that hooks store: of failures, of sessions, and of the actions between a failure and its fix.
#![expect(
    clippy::disallowed_methods,
    reason = "transcripts as agent programs write them"
)]

use crate::hooks::{CLAUDE, call};
use crate::project::{Project, string, texts};
use crate::session_archive::codex_session_file;
use serde_json::{Value, json};

/// Returns the output of a command as Gemini CLI wraps it.
fn gemini_output(output: &str, code: i32) -> String {
    format!(
        "<untrusted_context>\nOutput: {output}\nExit Code: {code}\nProcess Group PGID: 4711\n</untrusted_context>"
    )
}

const FAILED: [(&str, &str, &str); 3] = [
    (
        "bash ./t2.sh",
        "connection refused by redis:6379",
        "`bash ./t2.sh` failed: connection refused by redis:6379",
    ),
    (
        "python3 tool.py",
        "python3: can't open file 'tool.py'",
        "`python3 tool.py` failed: python3: can't open file 'tool.py'",
    ),
    (
        "make test",
        "2 tests\n1 of them red",
        "`make test` failed: 1 of them red",
    ),
];

#[test]
fn gemini_hook_failure_has_the_output_of_the_tool() {
    for (command, output, text) in FAILED {
        for response in [
            json!({"llmContent": gemini_output(output, 3), "returnDisplay": output}),
            json!({"llmContent": [{"text": gemini_output(output, 3)}]}),
            json!(gemini_output(output, 3)),
        ] {
            let project = Project::new();
            let more = json!({"tool_name": "run_shell_command", "tool_input": {"command": command}, "tool_response": response});
            call(&project, "gemini", "AfterTool", "s", more);
            let errors = project.json(&["list", "--kind", "error"]);
            assert_eq!(texts(&errors["records"]), [text], "{response}");
        }
    }
}

#[test]
fn gemini_transcript_failure_has_the_output_of_the_tool() {
    let project = Project::new();
    let mut lines =
        vec![json!({"sessionId": "g", "projectHash": "x", "startTime": "2026-04-01T10:00:00Z"})];
    lines.push(json!({"id": "u", "type": "user", "content": [{"text": "<hook_context></hook_context>"}, {"text": "what next"}]}));
    for (n, (command, output, _)) in FAILED.iter().enumerate() {
        let mut call = |id: String, tool: &str, args: &Value, output: String| {
            let response = json!({"functionResponse": {"response": {"output": output}}});
            let called = json!({"id": format!("c{id}"), "name": tool, "args": args, "status": "success", "result": [response]});
            lines.push(json!({"id": id, "type": "gemini", "content": "", "toolCalls": [called]}));
        };
        let run = json!({"command": command});
        let file = project.path().join("service.toml");
        let edit = json!({"file_path": file, "old_string": "a", "new_string": format!("service_{n} = \"on\"")});
        call(
            format!("{n}a"),
            "run_shell_command",
            &run,
            gemini_output(output, 3),
        );
        call(
            format!("{n}b"),
            "replace",
            &edit,
            "Successfully modified file".to_owned(),
        );
        call(
            format!("{n}c"),
            "run_shell_command",
            &run,
            gemini_output("ok", 0),
        );
    }
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let root = project.path().to_str().unwrap();
    project
        .home
        .write(".gemini/tmp/n/.project_root", root)
        .unwrap();
    project
        .home
        .write(".gemini/tmp/n/chats/session-g.jsonl", text)
        .unwrap();
    project.ok(&["import", "gemini"]);
    let errors = project.json(&["list", "--kind", "error"]);
    let found = texts(&errors["records"]);
    let is_expected = |text: &String| FAILED.iter().any(|one| one.2 == text);
    assert!(
        !found.is_empty() && found.iter().all(is_expected),
        "{found:?}"
    );
    let shown = project.json(&["session", "show", "g"]);
    let messages = texts(&shown["messages"]);
    assert_eq!(messages[0], "what next");
    for wrapping in ["untrusted_context", "PGID", "hook_context", "Output:"] {
        assert!(
            !messages.iter().any(|text| text.contains(wrapping)),
            "{messages:?}"
        );
    }
}

fn episodes(project: &Project) -> Vec<String> {
    let list = project.list("episode");
    list.iter().map(|one| string(&one["text"])).collect()
}

#[test]
fn gemini_session_episode_has_the_prompt_without_markup() {
    let project = Project::new();
    let prompt = json!({"prompt": "<hook_context></hook_context>\n\nwhat next"});
    call(&project, "gemini", "BeforeAgent", "s", prompt);
    let more = json!({"tool_name": "run_shell_command", "tool_input": {"command": "make"}, "tool_response": {"llmContent": gemini_output("no rule", 2)}});
    call(&project, "gemini", "AfterTool", "s", more);
    call(
        &project,
        "gemini",
        "SessionEnd",
        "s",
        json!({"reason": "exit"}),
    );
    let expected = "Asked: what next\nFailed: `make` failed: no rule";
    assert_eq!(episodes(&project), [expected]);
}

#[test]
fn session_with_a_readable_transcript_has_the_cases_of_the_transcript_only() {
    let project = Project::new();
    let path = project.home.write("rollout.jsonl", "").unwrap();
    let send_hook = |name: &str, more: Value| call(&project, "codex", name, "rolled", more);
    let failed = ("make", "make: *** cannot find it\n", 2);
    send_hook("UserPromptSubmit", json!({"prompt": "mend the build"}));
    std::fs::write(&path, codex_session_file(&project, &[failed])).unwrap();
    let more = json!({"reason": "other", "transcript_path": path});
    assert_eq!(send_hook("SessionEnd", more), Value::Null);
    // The failure has no fix and nothing was changed.
    assert_eq!(episodes(&project), [""; 0]);
}

#[test]
fn codex_is_asked_for_a_lesson_after_a_failure_that_only_its_transcript_has() {
    let project = Project::new();
    project
        .folder
        .write(
            ".heirloom/config.toml",
            "[memory]\nenabled = true\n[hooks]\nask = true\n",
        )
        .unwrap();
    let path = project.home.write("rollout.jsonl", "").unwrap();
    let send_hook = |name: &str, more: Value| call(&project, "codex", name, "rolled", more);
    let stop = || send_hook("Stop", json!({"transcript_path": path}));
    send_hook("UserPromptSubmit", json!({"prompt": "mend the build"}));
    let worked = ("ls", "src\n", 0);
    std::fs::write(&path, codex_session_file(&project, &[worked])).unwrap();
    assert_eq!(stop(), Value::Null, "nothing failed");
    let failed = ("make", "make: *** cannot find it\n", 2);
    std::fs::write(&path, codex_session_file(&project, &[worked, failed])).unwrap();
    let asked = stop();
    assert_eq!(asked["decision"], "block", "{asked}");
    let reason = string(&asked["reason"]);
    assert!(reason.contains("teach something"), "{reason}");
    assert_eq!(stop(), Value::Null, "once");
}

#[test]
fn commands_that_change_files_are_named_in_the_resolution() {
    let rows = [
        ("cat > tool.py <<'X'\nprint(1)\nX", "ran `cat > tool.py"),
        ("echo DB=1 >> .env", "ran `echo DB=1 >> .env`"),
        ("sed -i s/a/b/ tool.py", "ran `sed -i"),
        ("kill 1234", "ran `kill 1234`"),
        ("cat tool.py", "null"),
        ("ls > /dev/null", "null"),
    ];
    for (host, failed, worked) in [
        (CLAUDE, "PostToolUseFailure", "PostToolUse"),
        ("gemini", "AfterTool", "AfterTool"),
    ] {
        for (between, helped) in rows {
            let project = Project::new();
            let tool = if host == CLAUDE {
                "Bash"
            } else {
                "run_shell_command"
            };
            let used = |command: &str| json!({"tool_name": tool, "tool_input": {"command": command}, "tool_response": {"stdout": "ok"}});
            let mut fails = used("python3 tool.py");
            fails["error"] = json!("Exit code 2\nno such file");
            call(&project, host, failed, "s", fails);
            call(&project, host, worked, "s", used(between));
            call(&project, host, worked, "s", used("python3 tool.py"));
            let resolution = project.list("error")[0]["resolution"].to_string();
            assert!(
                resolution.contains(helped),
                "{host} {between}: {resolution}"
            );
        }
    }
}
