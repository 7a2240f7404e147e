//! Hooks of GitHub Copilot CLI, with the names and fields that Visual Studio Code has too.
//!
//! `PreToolUse` is not subscribed: its answer can only permit or deny the tool, and a hook that fails denies it.

use crate::hooks::HookEventKind::{
    AfterTool, BeforeCompaction, Prompt, SessionEnd, SessionStart, SubagentEnd, SubagentStart,
    ToolFailed, TurnEnd,
};
use crate::hooks::answer_fields::AnswerFields;
use crate::hooks::json_members::{JsonMembers, object_members, rename_members};
use crate::hooks::protocol::{HookProtocol, HookSpec, LateTranscript, block_end_of_turn, spec};
use crate::hooks::transcript_messages::texts;
use serde_json::json;
use serde_json::value::RawValue;
use std::borrow::Cow;

/// Hook events and answers.
pub(crate) const HOOKS: HookProtocol = HookProtocol {
    prepare_members: Some(prepare_members),
    drops_answer: is_event_of_vscode_prompt,
    set_context: Some(set_context),
    ask_agent: Some(block_end_of_turn),
    exit_code_line: Some(exit_code_line),
    clean_output,
    messages_of_line: Some(|line, by_subagents| match by_subagents {
        true => Vec::new(),
        false => messages_of_line(line),
    }),
    late_transcript: Some(LateTranscript {
        file: "events.jsonl",
        is_current: is_start_of_hook,
    }),
    ..HookProtocol::new(SPECS)
};

const SPECS: &[HookSpec] = &[
    spec("SessionStart", SessionStart, true, 10),
    spec("UserPromptSubmit", Prompt, true, 10),
    spec("PostToolUse", AfterTool, true, 10),
    spec("PostToolUseFailure", ToolFailed, true, 10),
    spec("PreCompact", BeforeCompaction, false, 10),
    spec("Stop", TurnEnd, false, 10),
    spec("SubagentStart", SubagentStart, true, 10),
    spec("SubagentStop", SubagentEnd, false, 10),
    spec("SessionEnd", SessionEnd, false, 10),
];

/// Returns true for the line that the program writes before it calls the hooks of an event. It writes in pieces, a
/// tenth of a second apart.
fn is_start_of_hook(event: &str, line: &str) -> bool {
    let name = match event {
        "Stop" => "agentStop",
        "SessionEnd" => "sessionEnd",
        "PreCompact" => "preCompact",
        "SubagentStop" => "subagentStop",
        _ => return true,
    };
    line.starts_with("{\"type\":\"hook.start\"")
        && line.contains(&format!("\"hookType\":\"{name}\""))
}

/// Names of fields in events of Copilot CLI and of Visual Studio Code, with the usual ones.
const NAMES: [(&str, &str); 6] = [
    ("sessionId", "session_id"),
    ("transcriptPath", "transcript_path"),
    ("toolName", "tool_name"),
    ("toolArgs", "tool_input"),
    ("tool_result", "tool_response"),
    ("toolResult", "tool_response"),
];

fn prepare_members(members: &mut JsonMembers<'_>) {
    rename_members(members, &NAMES);
}

/// Returns true for a prompt in Visual Studio Code, which takes no text for it. Its events have `hookEventName`, those of
/// Copilot CLI `hook_event_name`.
fn is_event_of_vscode_prompt(members: &JsonMembers<'_>) -> bool {
    let name = members.get("hookEventName").map(|raw| raw.get());
    name == Some("\"UserPromptSubmit\"")
}

/// Adds the text where Copilot CLI reads it; Visual Studio Code reads `hookSpecificOutput`.
fn set_context(text: &str, answer: &mut AnswerFields) {
    answer.set("additionalContext", json!(text));
    answer.set_specific("additionalContext", json!(text));
}

/// Returns the exit code in the last line of a command's output, `<shellId: 0 completed with exit code 2>`.
pub(super) fn exit_code_line(output: &str) -> Option<i64> {
    let (_, end) = shell_end(output)?;
    let code = end.rsplit_once(" exit code ")?.1;
    code.trim_end_matches('>').parse().ok()
}

/// Removes the line with the exit code.
pub(super) fn clean_output(output: &str) -> Cow<'_, str> {
    Cow::Borrowed(shell_end(output).map_or(output, |(head, _)| head))
}

/// Splits an output before the line about the end of its shell.
fn shell_end(output: &str) -> Option<(&str, &str)> {
    let text = output.trim_end();
    let start = text.rfind('\n').map_or(0, |at| at + 1);
    let line = &text[start..];
    let is_end = line.starts_with("<shellId: ") || line.starts_with("<exited with exit code ");
    is_end.then(|| (output[..start].trim_end(), line))
}

/// Returns the agent's message in a line of the transcript.
fn messages_of_line(line: &str) -> Vec<String> {
    let Ok(raw) = serde_json::from_str::<&RawValue>(line) else {
        return Vec::new();
    };
    let fields = object_members(raw);
    let is = |name: &str, value: &str| fields.get(name).is_some_and(|raw| raw.get() == value);
    let Some(data) = fields
        .get("data")
        .filter(|_| is("type", "\"assistant.message\""))
    else {
        return Vec::new();
    };
    let data = object_members(data);
    let is_of_subagent = data
        .get("parentToolCallId")
        .is_some_and(|raw| raw.get() != "null");
    match is_of_subagent {
        true => Vec::new(),
        false => texts(data.get("content").copied(), "text"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::AgentProgram;
    use crate::hooks::{HookAnswer, read_event, render_answer};
    use serde_json::Value;

    const COPILOT: AgentProgram = AgentProgram::Copilot;

    #[test]
    fn failed_command_is_read_from_its_last_line() {
        let event = json!({
            "hook_event_name": "PostToolUse", "session_id": "s", "cwd": "/p", "tool_name": "Bash",
            "tool_input": {"command": "ls /gone"},
            "tool_result": {"result_type": "success",
                "text_result_for_llm": "ls: no such file\n<shellId: 0 completed with exit code 2>"},
        });
        let tool = read_event(COPILOT, event.to_string().as_bytes())
            .tool
            .unwrap();
        assert_eq!(tool.failure.as_deref(), Some("ls: no such file"));
        assert_eq!(tool.output(COPILOT), "ls: no such file");
        assert_eq!(
            exit_code_line("a\n<shellId: 12 completed with exit code 0>\n"),
            Some(0)
        );
        assert_eq!(exit_code_line("a\n<exited with exit code 1>"), Some(1));
        assert_eq!(exit_code_line("shellId 0 completed"), None);
    }

    #[test]
    fn events_of_vscode_have_other_names() {
        let event = br#"{"hookEventName":"UserPromptSubmit","sessionId":"s","cwd":"/p","prompt":"fix it","transcript_path":"/t"}"#;
        let event = read_event(COPILOT, event);
        assert_eq!(event.session.as_deref(), Some("s"));
        assert_eq!(event.prompt.as_deref(), Some("fix it"));
        assert!(event.drops_answer);
        let own = br#"{"hook_event_name":"UserPromptSubmit","session_id":"s","prompt":"fix it"}"#;
        assert!(!read_event(COPILOT, own).drops_answer);
    }

    #[test]
    fn answer_has_the_text_for_both_programs() {
        let answer = HookAnswer {
            context: "x".to_owned(),
            ..HookAnswer::default()
        };
        let spec = COPILOT.hook_spec("SessionStart").unwrap();
        let rendered: Value = serde_json::from_str(&render_answer(COPILOT, spec, &answer)).unwrap();
        assert_eq!(
            rendered,
            json!({"additionalContext": "x",
                "hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": "x"}})
        );
    }

    #[test]
    fn transcript_is_current_with_the_start_of_the_hook() {
        let line = br#"{"type":"hook.start","data":{"hookInvocationId":"1","hookType":"agentStop","input":{}}}"#;
        assert!(COPILOT.is_transcript_current("Stop", line));
        assert!(!COPILOT.is_transcript_current("SessionEnd", line));
        assert!(!COPILOT.is_transcript_current("Stop", br#"{"type":"hook.end"}"#));
        assert!(COPILOT.is_transcript_current("PostToolUse", b""));
        assert!(COPILOT.writes_late("/h/session-state/s/events.jsonl"));
        assert!(!COPILOT.writes_late("/h/other.json"));
    }

    #[test]
    fn messages_of_transcript_are_those_of_the_main_agent() {
        let line = r#"{"type":"assistant.message","data":{"content":"one","toolRequests":[]}}"#;
        assert_eq!(messages_of_line(line), ["one"]);
        for line in [
            r#"{"type":"assistant.message","data":{"content":"no","parentToolCallId":"c"}}"#,
            r#"{"type":"user.message","data":{"content":"no"}}"#,
            r#"{"type":"assistant.message"}"#,
            "nonsense",
        ] {
            assert!(messages_of_line(line).is_empty(), "{line}");
        }
    }
}
