//! Format of an agent's output.

use crate::AgentProgram;

/// Format of an agent's output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum StreamFormat {
    /// Plain text or Markdown.
    Text,
    /// The event stream of a program, one JSON value a line; plain text if the program has none.
    Events(AgentProgram),
    /// Detected by the first JSON line of a known program; plain text if none follows soon.
    #[default]
    Auto,
}

impl StreamFormat {
    /// Returns all formats: text, the event streams of all programs, detection.
    pub fn all() -> Vec<Self> {
        let has_stream = |program: &AgentProgram| program.row().stream.is_some();
        let programs = AgentProgram::ALL.into_iter().filter(has_stream);
        let mut formats = vec![Self::Text];
        formats.extend(programs.map(Self::Events));
        formats.push(Self::Auto);
        formats
    }

    /// Returns the name at the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Events(program) => program.row().stream.map_or("text", |stream| stream.name),
            Self::Text => "text",
            Self::Auto => "auto",
        }
    }
}
