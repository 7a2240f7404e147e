//! Events of tool calls and their results; a result gets the action of its call.

use heirloom_model::event_stream::{StreamEvent, ToolAction};
use heirloom_model::limits::{TOOL_INPUT_CHARS_MAX, TOOL_OUTPUT_BYTES_MAX};
use heirloom_model::text;
use std::collections::VecDeque;

/// Returns the event of a tool call, with a shortened input.
pub(crate) fn tool_call(name: String, input: &str) -> StreamEvent {
    // Upper bound of the needed bytes: up to four bytes a character, and runs of blanks are collapsed.
    let mut end = input.len().min(TOOL_INPUT_CHARS_MAX * 16);
    while !input.is_char_boundary(end) {
        end -= 1;
    }
    StreamEvent::ToolCall {
        name,
        input: text::excerpt(&input[..end], TOOL_INPUT_CHARS_MAX),
    }
}

/// Number of tool calls whose results are awaited; parallel subagents have several each.
const AWAITED_MAX: usize = 64;

/// Actions of tool calls whose results have not arrived.
#[derive(Debug, Default)]
pub(crate) struct AwaitedActions(VecDeque<(String, ToolAction)>);

impl AwaitedActions {
    /// Adds the action of a call; the oldest one is dropped beyond the limit.
    pub(crate) fn add(&mut self, id: String, action: ToolAction) {
        if id.is_empty() || (action.command.is_none() && action.files.is_empty()) {
            return;
        }
        self.0.push_back((id, action));
        if self.0.len() > AWAITED_MAX {
            self.0.pop_front();
        }
    }

    /// Removes and returns the action of a call.
    pub(crate) fn take(&mut self, id: &str) -> Option<ToolAction> {
        let at = self.0.iter().position(|(known, _)| known == id)?;
        self.0.remove(at).map(|(_, action)| action)
    }
}

/// Returns the event of a tool's result; `output` is called only if the tool ran a command.
pub(crate) fn tool_result(
    failed: bool,
    action: Option<ToolAction>,
    output: impl FnOnce() -> String,
) -> StreamEvent {
    let action = action.map(|mut action| {
        if action.command.is_some() {
            action.output = both_ends(output());
        }
        Box::new(action)
    });
    StreamEvent::ToolResult { failed, action }
}

/// Returns a text without its middle if it is too long.
fn both_ends(output: String) -> String {
    if output.len() <= TOOL_OUTPUT_BYTES_MAX {
        return output;
    }
    let half = TOOL_OUTPUT_BYTES_MAX / 2;
    let head = output.get(..output.floor_char_boundary(half));
    let tail = output.get(output.ceil_char_boundary(output.len() - half)..);
    format!("{}\n{}", head.unwrap_or_default(), tail.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn action(command: &str) -> ToolAction {
        ToolAction {
            command: Some(command.to_owned()),
            ..ToolAction::default()
        }
    }

    #[test]
    fn awaited_actions_are_capped_and_taken_once() {
        let mut awaited = AwaitedActions::default();
        awaited.add(String::new(), action("x"));
        awaited.add("none".to_owned(), ToolAction::default());
        assert_eq!(awaited.0.len(), 0);
        for n in 0..=AWAITED_MAX {
            awaited.add(n.to_string(), action("make"));
        }
        assert_eq!(awaited.0.len(), AWAITED_MAX);
        assert_eq!(awaited.take("0"), None);
        assert_eq!(awaited.take("1"), Some(action("make")));
        assert_eq!(awaited.take("1"), None);
    }

    #[test]
    fn long_output_keeps_both_ends() {
        let fits = "é".repeat(TOOL_OUTPUT_BYTES_MAX / 2);
        assert_eq!(both_ends(fits.clone()), fits);
        let long = both_ends(format!("first {fits}{fits} last"));
        assert!(long.len() <= TOOL_OUTPUT_BYTES_MAX + 1, "{}", long.len());
        assert!(long.starts_with("first ") && long.ends_with(" last"));
    }
}
