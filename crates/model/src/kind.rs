//! The nine kinds of records.

use std::fmt;
use std::str::FromStr;

/// Kind of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// A fact, convention, decision, preference or learning.
    Knowledge,
    /// A piece of work with a phase and a branch.
    Task,
    /// One step of a task, pending or done.
    Step,
    /// An error, open or resolved.
    Error,
    /// One attempt at a task and its outcome.
    Episode,
    /// A file or other product.
    Artifact,
    /// The last output of an agent in a plan.
    Output,
    /// A note or a line of a daily log.
    Note,
    /// The summary of a conversation.
    Summary,
}

impl Kind {
    /// All kinds, in the order of the documentation.
    pub const ALL: [Self; 9] = [
        Self::Knowledge,
        Self::Task,
        Self::Step,
        Self::Error,
        Self::Episode,
        Self::Artifact,
        Self::Output,
        Self::Note,
        Self::Summary,
    ];

    /// Returns the name in SQL, JSON and at the terminal.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Knowledge => "knowledge",
            Self::Task => "task",
            Self::Step => "step",
            Self::Error => "error",
            Self::Episode => "episode",
            Self::Artifact => "artifact",
            Self::Output => "output",
            Self::Note => "note",
            Self::Summary => "summary",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// Error for an unknown kind name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is not a kind: expected one of knowledge, task, step, error, episode, artifact, output, note, summary"
)]
pub struct BadKind(pub String);

impl FromStr for Kind {
    type Err = BadKind;

    fn from_str(text: &str) -> Result<Self, BadKind> {
        let wanted = text.to_ascii_lowercase();
        Self::ALL
            .into_iter()
            .find(|kind| kind.as_str() == wanted || format!("{kind}s") == wanted)
            .ok_or_else(|| BadKind(crate::text::excerpt(text, 60)))
    }
}
