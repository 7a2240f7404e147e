//! Events of a stored conversation, as far as its turns show them.

use heirloom_agents::transcripts::{
    EventBody, FileEdit, ToolAction, ToolOutcome, TranscriptEvent, TurnAuthor, is_read_only_tool,
};
use heirloom_model::record::Attrs;
use heirloom_model::{Message, Role};
use serde_json::Value;

/// Tools that run commands, of all programs.
const COMMAND_TOOLS: [&str; 7] = [
    "Bash",
    "bash",
    "shell",
    "exec_command",
    "local_shell",
    "run_shell_command",
    "run",
];
/// Tools that change files, of all programs.
const EDIT_TOOLS: [&str; 9] = [
    "Edit",
    "MultiEdit",
    "Write",
    "NotebookEdit",
    "apply_patch",
    "edit",
    "write",
    "write_file",
    "replace",
];

/// Attribute of a turn in the role of the user that no person is known to have said.
const OTHER_AUTHOR: &str = "other_author";

/// Returns the attributes of a turn by this author.
pub(crate) fn author_attrs(author: TurnAuthor) -> Attrs {
    let is_other = author == TurnAuthor::Other;
    let attrs = is_other.then(|| (OTHER_AUTHOR.to_owned(), Value::Bool(true)));
    attrs.into_iter().collect()
}

/// Returns the author of a stored turn.
fn author_of_turn(turn: &Message) -> TurnAuthor {
    match turn.attrs.get(OTHER_AUTHOR) {
        Some(Value::Bool(true)) => TurnAuthor::Other,
        Some(_) | None => TurnAuthor::Person,
    }
}

/// Returns the event of a stored turn. Contents of edits and most of long outputs are not stored, and so not found.
/// `is_transcript` tells that the turns were imported from an agent program.
pub(crate) fn event_of_turn(turn: &Message, is_transcript: bool) -> Option<TranscriptEvent> {
    let call = || {
        let call = turn.attrs.get("call").and_then(Value::as_str);
        call.unwrap_or_default().to_owned()
    };
    let body = match turn.role {
        Role::User => EventBody::Prompt(turn.text.clone()),
        Role::Assistant => EventBody::AssistantText(turn.text.clone()),
        Role::System if is_transcript => EventBody::Summary(turn.text.clone()),
        Role::System => return None,
        Role::ToolCall => {
            let (tool, input) = turn.text.split_once(": ").unwrap_or((&turn.text, ""));
            EventBody::Call {
                call: call(),
                tool: tool.to_owned(),
                action: tool_action(tool, input),
            }
        }
        Role::ToolResult => EventBody::Result {
            call: call(),
            outcome: outcome(turn),
            text: turn.text.clone(),
        },
    };
    let is_of_subagent = is_transcript && turn.role != Role::ToolResult;
    Some(TranscriptEvent {
        id: turn.id.to_string(),
        at: Some(turn.at),
        agent: turn.sender.clone().filter(|_| is_of_subagent),
        author: author_of_turn(turn),
        body,
    })
}

/// Returns the event with which an edit is known to have succeeded: its result is not stored.
pub(crate) fn result_of_edit(event: &TranscriptEvent) -> Option<TranscriptEvent> {
    let EventBody::Call { call, action, .. } = &event.body else {
        return None;
    };
    matches!(action, ToolAction::Edit(_)).then(|| TranscriptEvent {
        body: EventBody::Result {
            call: call.clone(),
            outcome: ToolOutcome::Succeeded,
            text: String::new(),
        },
        ..event.clone()
    })
}

fn tool_action(tool: &str, input: &str) -> ToolAction {
    if COMMAND_TOOLS.contains(&tool) {
        return ToolAction::Command(input.to_owned());
    }
    if EDIT_TOOLS.contains(&tool) && !is_read_only_tool(tool) {
        let files = input.split(", ").map(str::trim);
        let files = files.filter(|file| !file.is_empty());
        return ToolAction::Edit(
            files
                .map(|file| FileEdit::of_path(file.to_owned()))
                .collect(),
        );
    }
    ToolAction::Other(input.to_owned())
}

fn outcome(turn: &Message) -> ToolOutcome {
    let is_set = |name: &str| turn.attrs.get(name) == Some(&Value::Bool(true));
    match (is_set("failed"), is_set("stopped")) {
        (true, _) => ToolOutcome::Failed,
        (false, true) => ToolOutcome::Rejected,
        (false, false) => ToolOutcome::Succeeded,
    }
}
