//! Hooks of Gemini CLI.

use super::wrapping::without_tool_wrapping;
use crate::hooks::HookEventKind::{
    AfterTool, BeforeCompaction, Prompt, SessionEnd, SessionStart, TurnEnd,
};
use crate::hooks::answer_fields::AnswerFields;
use crate::hooks::protocol::{HookProtocol, HookSpec, spec};
use crate::hooks::tool_use::exit_code_of_line;
use serde_json::{Value, json};

/// Hook events and answers. Transcripts are not line-based; messages arrive with events.
pub(crate) const HOOKS: HookProtocol = HookProtocol {
    clean_output: without_tool_wrapping,
    replace_output: Some(replace_output),
    exit_code_line: Some(exit_code_line),
    has_error_field: true,
    shows_notices: true,
    ..HookProtocol::new(SPECS)
};

/// Number of lines at the end of an output that may have the exit code.
const LAST_LINES: usize = 6;

const SPECS: &[HookSpec] = &[
    spec("SessionStart", SessionStart, true, 10_000),
    spec("BeforeAgent", Prompt, true, 10_000),
    spec("AfterTool", AfterTool, true, 10_000),
    spec("PreCompress", BeforeCompaction, false, 10_000),
    spec("AfterAgent", TurnEnd, false, 10_000),
    spec("SessionEnd", SessionEnd, false, 10_000),
];

/// Replaces a tool's output: a denial with the output as its reason.
fn replace_output(output: &Value, answer: &mut AnswerFields) {
    let rendered = output
        .as_str()
        .map_or_else(|| output.to_string(), str::to_owned);
    answer.set("decision", json!("deny"));
    answer.set("reason", json!(rendered));
}

/// Returns the exit code in a line after the output.
pub(super) fn exit_code_line(output: &str) -> Option<i64> {
    let last = output.lines().rev().take(LAST_LINES);
    last.into_iter().find_map(exit_code_of_line)
}
