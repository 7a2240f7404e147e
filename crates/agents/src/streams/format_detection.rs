//! Detection of the program that wrote a line.

use crate::AgentProgram;
use crate::json_fields::{Field, as_keyword, is_object, parse_object};
use serde_json::value::RawValue;
use std::collections::HashMap;

/// Fields of a line that may be an event.
pub(crate) struct EventLine<'a>(HashMap<String, &'a RawValue>);

impl<'a> EventLine<'a> {
    /// Parses a line; `None` if it is not an object.
    fn parse(line: &'a str) -> Option<Self> {
        parse_object(line).ok().map(Self)
    }

    /// Returns the type of the event; empty if absent.
    pub(crate) fn kind(&self) -> &'a str {
        as_keyword(self.field("type"))
    }

    /// Returns true if a field is present and not `null`.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.field(name).is_some()
    }

    /// Returns true if a field is an object.
    pub(crate) fn has_object(&self, name: &str) -> bool {
        is_object(self.field(name))
    }

    fn field(&self, name: &str) -> Field<'a> {
        let value = self.0.get(name).copied();
        value.filter(|raw| raw.get() != "null")
    }
}

/// Returns the program that wrote this line, if a known one writes such events.
///
/// The type alone is not enough: plain output may contain a line of a log or of a stored transcript. A false
/// detection would lose all following output.
pub(super) fn detect_program(line: &str) -> Option<AgentProgram> {
    let line = EventLine::parse(line)?;
    // Stored transcripts of Claude Code have the types of its events.
    if line.has("sessionId") {
        return None;
    }
    let wrote = |program: &AgentProgram| {
        let stream = program.row().stream;
        stream.is_some_and(|stream| (stream.is_event)(&line))
    };
    AgentProgram::ALL.into_iter().find(wrote)
}
