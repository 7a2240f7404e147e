//! What the three event streams have in common.

use super::json::{Field, string};
use heirloom_model::limits::{FINAL_TEXT_BYTES_MAX, TOOL_INPUT_CHARS_MAX};
use heirloom_model::stream::{StreamEvent, Usage};
use heirloom_model::text;

/// Where events go.
pub(super) type Out<'a> = &'a mut dyn FnMut(StreamEvent);

/// One program's events, line by line.
pub(super) trait Dialect: std::fmt::Debug + Send {
    /// Reads a line that begins with `{`; one of an unknown type says nothing.
    ///
    /// # Errors
    /// The line is no JSON object; nothing was told and nothing has changed.
    fn line(&mut self, text: &str, line: u64, out: Out<'_>) -> Result<(), serde_json::Error>;

    /// Tells what is complete now that the stream has ended.
    fn finish(&mut self, _out: Out<'_>) {}
}

/// The session's id, told once.
#[derive(Debug, Default)]
pub(super) struct SessionName(Option<String>);

impl SessionName {
    /// Tells the id in this field if it is a new one.
    pub(super) fn tell(&mut self, field: Field<'_>, out: Out<'_>) {
        let name = string(field).filter(|name| !name.is_empty());
        if name.is_some() && name != self.0 {
            self.0.clone_from(&name);
            name.into_iter()
                .for_each(|name| out(StreamEvent::SessionId(name)));
        }
    }
}

/// What the model said last, to tell a final text that only repeats it.
#[derive(Debug, Default)]
pub(super) struct Spoken {
    message: String,
    last: Option<String>,
    /// All texts of the message together, as long as they are not too long to be a final text.
    whole: Option<String>,
}

impl Spoken {
    /// Remembers a text of this message.
    pub(super) fn said(&mut self, message: &str, said: &str) {
        let continues = !message.is_empty() && message == self.message && self.last.is_some();
        if !continues {
            message.clone_into(&mut self.message);
            self.whole = Some(String::new());
        }
        let whole = self
            .whole
            .take()
            .filter(|whole| whole.len() + said.len() < FINAL_TEXT_BYTES_MAX);
        self.whole = whole.map(|whole| format!("{whole}\n{said}"));
        self.last = Some(mark(said));
    }

    /// The text, unless it repeats the last text or the last message.
    pub(super) fn unless_repeated(&self, text: String) -> Option<String> {
        let marked = mark(&text);
        let repeats = self.last.as_ref() == Some(&marked)
            || self.whole.as_deref().map(mark).as_ref() == Some(&marked);
        (!repeats && !text.trim().is_empty()).then_some(text)
    }
}

fn mark(said: &str) -> String {
    text::hash16(&text::normal(said))
}

/// A call of a tool, its input shortened.
pub(super) fn tool_call(name: String, input: &str) -> StreamEvent {
    // The most that can matter: a character has at most four bytes, and runs of blanks are squeezed.
    let mut end = input.len().min(TOOL_INPUT_CHARS_MAX * 16);
    while !input.is_char_boundary(end) {
        end -= 1;
    }
    StreamEvent::ToolCall {
        name,
        input: text::excerpt(&input[..end], TOOL_INPUT_CHARS_MAX),
    }
}

/// The sum of two reports.
pub(super) fn sum(a: Usage, b: Usage) -> Usage {
    Usage {
        input: a.input.saturating_add(b.input),
        cached: a.cached.saturating_add(b.cached),
        output: a.output.saturating_add(b.output),
    }
}
