//! Hooks of Codex CLI.

use crate::hooks::HookEventKind::{
    AfterTool, BeforeCompaction, BeforeTool, Prompt, SessionEnd, SessionStart, SubagentEnd,
    SubagentStart, TurnEnd,
};
use crate::hooks::json_members::{as_string, object_members};
use crate::hooks::protocol::{HookProtocol, HookSpec, block_end_of_turn, for_tools, spec};
use crate::hooks::tool_use::exit_code_of_line;
use crate::hooks::transcript_messages::texts;
use serde_json::value::RawValue;

/// Hook events and answers. Newest releases cannot replace a tool's output, and pass on only the output of a command.
pub(crate) const HOOKS: HookProtocol = HookProtocol {
    ask_agent: Some(block_end_of_turn),
    exit_code_line: Some(exit_code_line),
    reports_outcomes: false,
    messages_of_line: Some(|line, _| messages_of_line(line)),
    shows_notices: true,
    ..HookProtocol::new(SPECS)
};

/// Tools that change files or run commands; `Edit` and `Write` are aliases of `apply_patch`.
const TOOLS: &str = "Bash|apply_patch";

/// Number of lines before the output that may have the exit code.
const LEAD_LINES: usize = 6;

const SPECS: &[HookSpec] = &[
    spec("SessionStart", SessionStart, true, 10),
    spec("UserPromptSubmit", Prompt, true, 10),
    for_tools(spec("PreToolUse", BeforeTool, true, 10), TOOLS),
    spec("PostToolUse", AfterTool, true, 10),
    spec("PreCompact", BeforeCompaction, false, 10),
    spec("Stop", TurnEnd, false, 10),
    spec("SubagentStart", SubagentStart, true, 10),
    spec("SubagentStop", SubagentEnd, false, 10),
    spec("SessionEnd", SessionEnd, false, 3),
];

/// Returns the exit code in a line that older versions write before the output.
fn exit_code_line(output: &str) -> Option<i64> {
    let (lead, _) = output.split_once("\nOutput:\n")?;
    lead.lines().take(LEAD_LINES).find_map(exit_code_of_line)
}

/// Returns the agent's messages in a line of the transcript.
fn messages_of_line(line: &str) -> Vec<String> {
    let Ok(raw) = serde_json::from_str::<&RawValue>(line) else {
        return Vec::new();
    };
    let fields = object_members(raw);
    let is_item = fields
        .get("type")
        .is_some_and(|raw| raw.get() == "\"response_item\"");
    let Some(payload) = fields.get("payload").filter(|_| is_item) else {
        return Vec::new();
    };
    let payload = object_members(payload);
    let is = |name: &str, spec: &str| {
        payload
            .get(name)
            .and_then(|raw| as_string(raw))
            .is_some_and(|text| text == spec)
    };
    if !is("type", "message") || !is("role", "assistant") {
        return Vec::new();
    }
    texts(payload.get("content").copied(), "output_text")
}
