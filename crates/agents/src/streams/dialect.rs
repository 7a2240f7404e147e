//! Dialect: the interface of the parsers of event streams, one for each program.

use super::format_detection::EventLine;
use crate::json_fields::{Field, as_string};
use heirloom_model::event_stream::{StreamEvent, Usage};
use heirloom_model::text;

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
