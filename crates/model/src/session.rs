//! Conversations and their turns.

use crate::record::Attrs;
use crate::{ProjectName, RecordId};
use jiff::Timestamp;
use std::fmt;
use std::str::FromStr;

/// A conversation.
#[derive(Debug, Clone, PartialEq)]
pub struct Session {
    /// Project that owns the session.
    pub project: ProjectName,
    /// Id from the agent program, or one that Heirloom generated.
    pub id: String,
    /// Agent of the conversation.
    pub agent: Option<String>,
    /// Task of the conversation.
    pub task: Option<String>,
    /// Start time.
    pub started_at: Timestamp,
    /// End time, if it has ended.
    pub ended_at: Option<Timestamp>,
    /// Other attributes.
    pub attrs: Attrs,
}

/// Role of the speaker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// The author of the prompt.
    User,
    /// The model.
    Assistant,
    /// The agent program.
    System,
    /// Tool call of the model.
    ToolCall,
    /// Result of a tool call.
    ToolResult,
}

impl Role {
    /// All roles.
    pub const ALL: [Self; 5] = [
        Self::User,
        Self::Assistant,
        Self::System,
        Self::ToolCall,
        Self::ToolResult,
    ];

    /// Returns the name in SQL and JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Assistant => "assistant",
            Self::System => "system",
            Self::ToolCall => "tool_call",
            Self::ToolResult => "tool_result",
        }
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// Error for an unknown role name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a role: expected user, assistant, system, tool_call or tool_result")]
pub struct BadRole(pub String);

impl FromStr for Role {
    type Err = BadRole;

    fn from_str(text: &str) -> Result<Self, BadRole> {
        let found = Self::ALL.into_iter().find(|role| role.as_str() == text);
        found.ok_or_else(|| BadRole(crate::text::excerpt(text, 60)))
    }
}

/// One turn of a session.
#[derive(Debug, Clone, PartialEq)]
pub struct Message {
    /// Id of the message.
    pub id: RecordId,
    /// Position in the session from 0, assigned by the store.
    pub seq: u64,
    /// Role of the speaker.
    pub role: Role,
    /// Name of the speaker, if the role does not identify it.
    pub sender: Option<String>,
    /// Text of the turn.
    pub text: String,
    /// Other data: call ids, tool names, unknown blocks.
    pub attrs: Attrs,
    /// Estimated length, tokens.
    pub tokens: u32,
    /// Time of the turn.
    pub at: Timestamp,
}

/// Returns true if a speaker label is a personal name, and neither a role nor initials.
pub fn is_personal_name(speaker: &str) -> bool {
    const ROLES: [&str; 10] = [
        "user",
        "assistant",
        "system",
        "tool",
        "human",
        "ai",
        "bot",
        "model",
        "agent",
        "speaker",
    ];
    let first = speaker
        .split(|c: char| !c.is_alphabetic())
        .next()
        .unwrap_or_default();
    let role = ROLES.iter().any(|role| role.eq_ignore_ascii_case(first));
    !role && speaker.chars().any(char::is_lowercase) && first.chars().nth(1).is_some()
}
