//! Purposes of Claude Code's tool calls.

use super::line_fields::{EditInput, ToolInput};
use crate::json_fields::{Field, as_nonblank_string, as_object, as_string, for_each_element};
use crate::transcripts::{FileEdit, ToolAction, call_line, plan_items};

/// Returns the purpose of a call.
pub(super) fn tool_action(tool: &str, input: Field<'_>) -> ToolAction {
    let read = as_object::<ToolInput<'_>>(input);
    let action = read.and_then(|read| match tool {
        "Bash" => as_nonblank_string(read.command).map(ToolAction::Command),
        "Edit" | "MultiEdit" | "Write" | "NotebookEdit" => {
            file_edit(&read).map(|edit| ToolAction::Edit(vec![edit]))
        }
        "TodoWrite" => plan_items(read.todos).map(ToolAction::Plan),
        _ => None,
    });
    action.unwrap_or_else(|| ToolAction::Other(call_line(input.map_or("", |raw| raw.get()))))
}

/// Returns the edit of a tool that replaces or writes text.
fn file_edit(input: &ToolInput<'_>) -> Option<FileEdit> {
    let path =
        as_nonblank_string(input.file_path).or_else(|| as_nonblank_string(input.notebook_path))?;
    let text = |field| as_string(field).unwrap_or_default();
    let added = [input.new_string, input.content, input.new_source]
        .into_iter()
        .find_map(as_string)
        .unwrap_or_default();
    let mut edit = FileEdit::replacing(path, &text(input.old_string), &added);
    for_each_element(input.edits, &mut |raw| {
        if let Some(part) = as_object::<EditInput<'_>>(Some(raw)) {
            edit.add_replacement(&text(part.old_string), &text(part.new_string));
        }
    });
    Some(edit)
}
