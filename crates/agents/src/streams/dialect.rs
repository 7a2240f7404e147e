//! Shared parts of the event stream parsers.

use super::format_detection::EventLine;
use crate::json_fields::{Field, as_string};
use heirloom_model::event_stream::{StreamEvent, ToolAction, Usage};
use heirloom_model::limits::{FINAL_TEXT_BYTES_MAX, TOOL_INPUT_CHARS_MAX, TOOL_OUTPUT_BYTES_MAX};
use heirloom_model::text;
use std::collections::VecDeque;

/// Callback that receives events.
pub(crate) type EventSink<'a> = &'a mut dyn FnMut(StreamEvent);

/// Line parser of one program's events.
pub(crate) trait Dialect: std::fmt::Debug + Send {
    /// Parses a line that begins with `{` and emits its events; unknown types emit none.
    ///
    /// # Errors
    ///
    /// The line is not a JSON object; no event was emitted and the state is unchanged.
    fn parse_line(
        &mut self,
        text: &str,
        line: u64,
        out: EventSink<'_>,
    ) -> Result<(), serde_json::Error>;

    /// Emits what is complete at the end of the stream.
    fn finish(&mut self, _out: EventSink<'_>) {}
}

/// Event stream of one program.
pub(crate) struct StreamDialect {
    /// Name of the format on the command line.
    pub(crate) name: &'static str,
    /// Returns true for a line that only this program writes.
    pub(crate) is_event: fn(&EventLine<'_>) -> bool,
    /// Creates the parser of a new stream.
    pub(crate) start: fn() -> Box<dyn Dialect>,
}

/// The session's id, reported once.
#[derive(Debug, Default)]
pub(crate) struct SessionIdTracker(Option<String>);

impl SessionIdTracker {
    /// Emits the id in this field if it is new.
    pub(crate) fn emit_if_new(&mut self, field: Field<'_>, out: EventSink<'_>) {
        let name = as_string(field).filter(|name| !name.is_empty());
        if name.is_some() && name != self.0 {
            self.0.clone_from(&name);
            name.into_iter()
                .for_each(|name| out(StreamEvent::SessionId(name)));
        }
    }
}

/// Last text of the model, to detect a final text that repeats it.
#[derive(Debug, Default)]
pub(crate) struct RepeatDetector {
    message: String,
    last: Option<String>,
    /// All texts of the message, joined, unless they exceed the length of a final text.
    whole: Option<String>,
}

impl RepeatDetector {
    /// Records a text of this message.
    pub(crate) fn record(&mut self, message: &str, content: &str) {
        let continues = !message.is_empty() && message == self.message && self.last.is_some();
        if !continues {
            message.clone_into(&mut self.message);
            self.whole = Some(String::new());
        }
        let whole = self
            .whole
            .take()
            .filter(|whole| whole.len() + content.len() < FINAL_TEXT_BYTES_MAX);
        self.whole = whole.map(|whole| format!("{whole}\n{content}"));
        self.last = Some(fingerprint(content));
    }

    /// Returns the text, unless it repeats the last text or the last message.
    pub(crate) fn without_repetition(&self, text: String) -> Option<String> {
        let marked = fingerprint(&text);
        let repeats = self.last.as_ref() == Some(&marked)
            || self.whole.as_deref().map(fingerprint).as_ref() == Some(&marked);
        (!repeats && !text.trim().is_empty()).then_some(text)
    }
}

fn fingerprint(content: &str) -> String {
    text::hash16(&text::normalize(content))
}

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

/// Returns the sum of two usages.
pub(crate) fn add_usage(a: Usage, b: Usage) -> Usage {
    Usage {
        input: a.input.saturating_add(b.input),
        cached: a.cached.saturating_add(b.cached),
        output: a.output.saturating_add(b.output),
    }
}

/// Returns the beginning of a line, for a message about it.
pub(crate) fn line_excerpt(line: &str) -> String {
    const SHOWN_CHARS_MAX: usize = 80;
    text::excerpt(text::clip(line, SHOWN_CHARS_MAX * 4), SHOWN_CHARS_MAX)
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
