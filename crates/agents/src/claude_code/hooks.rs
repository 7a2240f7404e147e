//! Hooks of Claude Code.

use super::transcript::is_script_entry_point;
use crate::AgentProgram;
use crate::hooks::HookEventKind::{
    AfterTool, BeforeCompaction, BeforeTool, Prompt, SessionEnd, SessionStart, SubagentEnd,
    SubagentStart, ToolFailed, TurnEnd,
};
use crate::hooks::json_members::{JsonMembers, object_members};
use crate::hooks::protocol::{HookProtocol, HookSpec, block_end_of_turn, for_tools, spec};
use crate::hooks::transcript_messages::texts;
use serde_json::value::RawValue;

/// Hook events and answers.
pub(crate) const HOOKS: HookProtocol = HookProtocol {
    ask_agent: Some(block_end_of_turn),
    replace_output: Some(|output, answer| {
        answer.set_specific("updatedToolOutput", output.clone());
    }),
    messages_of_line: Some(messages_of_line),
    script_variable: Some(("CLAUDE_CODE_ENTRYPOINT", is_script_entry_point)),
    marks_subagent_lines: true,
    other_sender,
    shows_notices: true,
    ..HookProtocol::new(SPECS)
};

/// Tools that change files or run commands.
const TOOLS: &str = "Bash|Edit|MultiEdit|Write|NotebookEdit";

const SPECS: &[HookSpec] = &[
    spec("SessionStart", SessionStart, true, 10),
    spec("UserPromptSubmit", Prompt, true, 10),
    for_tools(spec("PreToolUse", BeforeTool, true, 10), TOOLS),
    spec("PostToolUse", AfterTool, true, 10),
    spec("PostToolUseFailure", ToolFailed, true, 10),
    spec("PreCompact", BeforeCompaction, false, 10),
    spec("Stop", TurnEnd, false, 10),
    spec("SubagentStart", SubagentStart, true, 10),
    spec("SubagentStop", SubagentEnd, false, 10),
    spec("SessionEnd", SessionEnd, false, 10),
];

/// Returns the program that reads these settings and sent the event, by fields that Claude Code does not have: Cursor, or
/// Copilot CLI and Visual Studio Code, whose hooks are the same.
fn other_sender(members: &JsonMembers<'_>) -> Option<AgentProgram> {
    if members.contains_key("conversation_id") {
        return Some(AgentProgram::Cursor);
    }
    members
        .contains_key("timestamp")
        .then_some(AgentProgram::Copilot)
}

/// Returns the agent's messages in a line of the transcript.
fn messages_of_line(line: &str, by_subagents: bool) -> Vec<String> {
    let Ok(raw) = serde_json::from_str::<&RawValue>(line) else {
        return Vec::new();
    };
    let fields = object_members(raw);
    let is = |name: &str, spec: &str| fields.get(name).is_some_and(|raw| raw.get() == spec);
    if !is("type", "\"assistant\"") || is("isSidechain", "true") != by_subagents {
        return Vec::new();
    }
    let Some(message) = fields.get("message") else {
        return Vec::new();
    };
    texts(object_members(message).get("content").copied(), "text")
}
