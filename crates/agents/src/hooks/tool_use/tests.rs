//! Tests of tool uses in events of all programs.

use super::*;
use crate::hooks::read_event;
use serde_json::json;

fn tool(program: AgentProgram, event: &Value) -> ToolUse {
    read_event(program, event.to_string().as_bytes())
        .tool
        .unwrap()
}

#[test]
fn tool_use_command_and_files_are_extracted() {
    for (name, input, command, files) in [
        ("Bash", json!({"command": "ls -l"}), Some("ls -l"), &[][..]),
        ("exec_command", json!({"cmd": "ls"}), Some("ls"), &[]),
        (
            "shell",
            json!({"command": ["bash", "-lc", "a | b"]}),
            Some("a | b"),
            &[],
        ),
        (
            "shell",
            json!({"command": ["git", "log"]}),
            Some("git log"),
            &[],
        ),
        ("Edit", json!({"file_path": "/p/a.rs"}), None, &["/p/a.rs"]),
        (
            "apply_patch",
            json!({"command": "*** Begin Patch\n*** Update File: a.rs\n@@\n*** Add File: b.rs\n+x\n*** End Patch"}),
            None,
            &["a.rs", "b.rs"],
        ),
        ("Read", json!({"file_path": "a"}), None, &[]),
        ("Bash", json!("ls"), None, &[]),
        ("Bash", json!({"command": {"a": 1}}), None, &[]),
    ] {
        let used = tool(
            AgentProgram::ClaudeCode,
            &json!({"tool_name": name, "tool_input": input}),
        );
        assert_eq!(used.command.as_deref(), command, "{name}");
        assert_eq!(used.files, files, "{name}");
    }
}

#[test]
fn tool_use_failure_is_extracted() {
    for (program, name, response, failure) in [
        (
            AgentProgram::Codex,
            "Bash",
            json!("Exit code: 2\nWall time: 1 s\nOutput:\nno such file"),
            Some("Exit code: 2\nWall time: 1 s\nOutput:\nno such file"),
        ),
        (
            AgentProgram::Codex,
            "Bash",
            json!("Exit code: 0\nOutput:\nok"),
            None,
        ),
        (
            AgentProgram::Codex,
            "Bash",
            json!({"output": "bad", "metadata": {"exit_code": 1}}),
            Some("bad"),
        ),
        (
            AgentProgram::Gemini,
            "run_shell_command",
            json!({"llmContent": "Output: x\nExit Code: 1", "error": null}),
            Some("x\nExit Code: 1"),
        ),
        (
            AgentProgram::Gemini,
            "replace",
            json!({"llmContent": "", "error": {"message": "no match"}}),
            Some("no match"),
        ),
        (
            AgentProgram::ClaudeCode,
            "Bash",
            json!({"stdout": "Exit code: 1", "stderr": ""}),
            None,
        ),
        (
            AgentProgram::Codex,
            "mcp__a__b",
            json!("Exit code: 1"),
            None,
        ),
    ] {
        let used = tool(
            program,
            &json!({"tool_name": name, "tool_response": response}),
        );
        assert_eq!(used.failure.as_deref(), failure, "{response}");
    }
    for (program, name, response, has_outcome) in [
        (
            AgentProgram::Codex,
            "Bash",
            json!("cat: x: no such file"),
            false,
        ),
        (AgentProgram::Codex, "Bash", json!("Exit code: 1"), false),
        (
            AgentProgram::Codex,
            "Bash",
            json!("Exit code: 0\nOutput:\nok"),
            true,
        ),
        (
            AgentProgram::Codex,
            "Bash",
            json!({"output": "bad", "exit_code": 1}),
            true,
        ),
        (AgentProgram::Codex, "apply_patch", json!("Done"), true),
        (
            AgentProgram::ClaudeCode,
            "Bash",
            json!({"stdout": "x"}),
            true,
        ),
        (
            AgentProgram::Gemini,
            "run_shell_command",
            json!({"llmContent": "x"}),
            true,
        ),
    ] {
        let used = tool(
            program,
            &json!({"tool_name": name, "tool_response": response}),
        );
        assert_eq!(used.has_outcome, has_outcome, "{program:?} {response}");
    }
    let used = tool(
        AgentProgram::ClaudeCode,
        &json!({"tool_name": "Bash", "error": "Exit code 1", "is_interrupt": true}),
    );
    assert_eq!(used.failure.as_deref(), Some("Exit code 1"));
    assert!(used.is_interrupted);
}

#[test]
fn shorten_texts_replaces_long_texts_in_place() {
    let response = json!({"stdout": "x".repeat(11), "stderr": "x".repeat(10), "interrupted": false, "data": "y".repeat(50), "a": ["z".repeat(12)]});
    let mut seen = Vec::new();
    let short = shorten_texts(&response, 10, &mut |output| {
        seen.push(output.len());
        Some("short".to_owned())
    })
    .unwrap();
    seen.sort_unstable();
    assert_eq!(seen, [11, 12]);
    assert_eq!(short["stdout"], "short");
    assert_eq!(short["stderr"], "x".repeat(10));
    assert_eq!(short["data"], response["data"]);
    assert_eq!(short["interrupted"], false);
    assert_eq!(shorten_texts(&response, 50, &mut |_| None), None);
}
