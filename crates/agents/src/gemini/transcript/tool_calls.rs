//! Tool calls of Gemini CLI and their results.

use super::line_fields::{CallArguments, FunctionResponse, GeminiCall, GeminiPart};
use crate::json_fields::{
    Field, as_keyword, as_nonblank_string, as_object, as_string, as_time, for_each_element,
};
use crate::transcripts::transcript_reader::main_agent_event;
use crate::transcripts::{
    EventBody, EventSink, FileEdit, ToolAction, ToolOutcome, call_line, plan_items,
};
use heirloom_model::Timestamp;

/// Emits a call and its result.
pub(super) fn emit_call(
    message: &str,
    at: Option<Timestamp>,
    one: &GeminiCall<'_>,
    out: EventSink<'_>,
) {
    let tool = as_string(one.name).unwrap_or_default();
    let name = as_nonblank_string(one.id).unwrap_or_else(|| format!("{message} {tool}"));
    let at = as_time(one.timestamp).or(at);
    let action = tool_action(&tool, one.args);
    let is_command = matches!(action, ToolAction::Command(_));
    let event = EventBody::Call {
        call: name.clone(),
        tool,
        action,
    };
    out(main_agent_event(format!("call {name}"), at, event));
    let text = result_text(one.result);
    let outcome = match as_keyword(one.status) {
        "cancelled" => ToolOutcome::Rejected,
        "error" => ToolOutcome::Failed,
        "success" if is_command && exit_code(&text).is_some_and(|code| code != 0) => {
            ToolOutcome::Failed
        }
        "success" => ToolOutcome::Succeeded,
        // The call was still running when this line was written.
        _ => return,
    };
    let event = EventBody::Result {
        call: name.clone(),
        outcome,
        text,
    };
    out(main_agent_event(format!("result {name}"), at, event));
}

/// Returns the purpose of a call.
fn tool_action(tool: &str, arguments: Field<'_>) -> ToolAction {
    let read = as_object::<CallArguments<'_>>(arguments);
    let action = read.and_then(|read| match tool {
        "run_shell_command" => as_nonblank_string(read.command).map(ToolAction::Command),
        "write_file" | "replace" | "edit" => {
            let path = as_nonblank_string(read.file_path)?;
            let removed = as_string(read.old_string).unwrap_or_default();
            let added = as_string(read.new_string).or_else(|| as_string(read.content));
            let edit = FileEdit::replacing(path, &removed, &added.unwrap_or_default());
            Some(ToolAction::Edit(vec![edit]))
        }
        "write_todos" => plan_items(read.todos).map(ToolAction::Plan),
        _ => None,
    });
    action.unwrap_or_else(|| ToolAction::Other(call_line(arguments.map_or("", |raw| raw.get()))))
}

/// Returns the exit code in one of the last lines of a shell's output.
fn exit_code(text: &str) -> Option<i64> {
    let mut last = text.lines().rev().take(8);
    last.find_map(|line| line.strip_prefix("Exit Code: ")?.trim().parse().ok())
}

/// Returns the text of a tool's result: a string, or parts with text or output.
fn result_text(field: Field<'_>) -> String {
    content_text(field, true)
}

/// Returns the words of a message: a string, or parts with text. The program sends results of tools as messages of the user,
/// in parts of their own.
pub(super) fn message_text(field: Field<'_>) -> String {
    content_text(field, false)
}

/// Returns true if a content has a part with the result of a tool.
pub(super) fn has_tool_result(field: Field<'_>) -> bool {
    let is_result =
        |raw| as_object::<GeminiPart<'_>>(Some(raw)).is_some_and(|part| part.response.is_some());
    let mut has_result = field.is_some_and(|raw| raw.get().starts_with('{') && is_result(raw));
    for_each_element(field, &mut |raw| has_result |= is_result(raw));
    has_result
}

fn content_text(field: Field<'_>, has_results: bool) -> String {
    if let Some(text) = as_string(field) {
        return text;
    }
    let mut out = String::new();
    let mut add = |raw| {
        let Some(part) = as_object::<GeminiPart<'_>>(Some(raw)) else {
            return;
        };
        let answer = as_object::<FunctionResponse<'_>>(part.response);
        let answer = answer.and_then(|one| as_object::<FunctionResponse<'_>>(one.response));
        let message_text = as_string(part.text).or_else(|| {
            let answer = answer.filter(|_| has_results)?;
            as_string(answer.output).or_else(|| as_string(answer.error))
        });
        if let Some(message_text) = message_text {
            if !out.is_empty() {
                out.push('\n');
            }
            out.push_str(&message_text);
        }
    };
    match field {
        Some(raw) if raw.get().starts_with('{') => add(raw),
        Some(_) | None => for_each_element(field, &mut add),
    }
    out
}
