//! Purposes of opencode's tool calls.

use crate::json_fields::{Field, as_nonblank_string, as_object, as_string, for_each_element};
use crate::transcripts::{FileEdit, ToolAction, call_line, patched_files, plan_items};
use serde::Deserialize;

/// Input of a tool that changes files, runs commands or plans.
#[derive(Deserialize)]
struct ToolInput<'a> {
    #[serde(borrow)]
    command: Field<'a>,
    #[serde(borrow, rename = "filePath")]
    file: Field<'a>,
    #[serde(borrow, rename = "oldString")]
    old_string: Field<'a>,
    #[serde(borrow, rename = "newString")]
    new_string: Field<'a>,
    #[serde(borrow)]
    content: Field<'a>,
    #[serde(borrow)]
    edits: Field<'a>,
    #[serde(borrow, rename = "patchText")]
    patch: Field<'a>,
    #[serde(borrow)]
    todos: Field<'a>,
}

/// Returns the purpose of a call.
pub(super) fn tool_action(tool: &str, input: Field<'_>) -> ToolAction {
    let read = as_object::<ToolInput<'_>>(input);
    let action = read.and_then(|read| match tool {
        "bash" => as_nonblank_string(read.command).map(ToolAction::Command),
        "edit" | "write" | "multiedit" => file_edit(&read).map(|edit| ToolAction::Edit(vec![edit])),
        "apply_patch" | "patch" => {
            let edits = patched_files(&as_string(read.patch)?);
            (!edits.is_empty()).then_some(ToolAction::Edit(edits))
        }
        "todowrite" => plan_items(read.todos).map(ToolAction::Plan),
        _ => None,
    });
    action.unwrap_or_else(|| ToolAction::Other(call_line(input.map_or("", |raw| raw.get()))))
}

/// Returns the edit of a tool that replaces or writes text.
fn file_edit(input: &ToolInput<'_>) -> Option<FileEdit> {
    let text = |field| as_string(field).unwrap_or_default();
    let added = as_string(input.new_string).unwrap_or_else(|| text(input.content));
    let path = as_nonblank_string(input.file)?;
    let mut edit = FileEdit::replacing(path, &text(input.old_string), &added);
    for_each_element(input.edits, &mut |raw| {
        if let Some(part) = as_object::<ToolInput<'_>>(Some(raw)) {
            edit.add_replacement(&text(part.old_string), &text(part.new_string));
        }
    });
    Some(edit)
}
