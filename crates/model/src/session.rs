//! Conversations and their turns.

use crate::record::Attrs;
use crate::{ProjectName, RecordId};
use jiff::Timestamp;
use std::fmt;
use std::str::FromStr;

/// A conversation.
#[derive(Debug, Clone, PartialEq)]
pub struct Session {
    /// Its owner.
    pub project: ProjectName,
    /// Its id: the host's own, or one that Heirloom made.
    pub id: String,
    /// The agent that held it.
    pub agent: Option<String>,
    /// The task that it was about.
    pub task: Option<String>,
    /// When it began.
    pub started_at: Timestamp,
    /// When it ended, if it did.
    pub ended_at: Option<Timestamp>,
    /// What else is known of it.
    pub attrs: Attrs,
}

/// Whose turn it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// The person, or whoever wrote the prompt.
    User,
    /// The model.
    Assistant,
    /// The host program.
    System,
    /// The model calls a tool.
    ToolCall,
    /// What the tool answered.
    ToolResult,
}

impl Role {
    /// Every role.
    pub const ALL: [Self; 5] = [
        Self::User,
        Self::Assistant,
        Self::System,
        Self::ToolCall,
        Self::ToolResult,
    ];

    /// Its name in SQL and JSON.
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

/// A word that names no role.
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
    /// Its id.
    pub id: RecordId,
    /// Its place in the session, from 0; given by the store.
    pub seq: u64,
    /// Whose turn it was.
    pub role: Role,
    /// Who spoke, where the role does not say it.
    pub sender: Option<String>,
    /// What was said.
    pub text: String,
    /// What else came with it: call ids, tool names, unknown blocks.
    pub attrs: Attrs,
    /// Estimated length, tokens.
    pub tokens: u32,
    /// When it was said.
    pub at: Timestamp,
}

/// Whether a speaker is somebody with a name, and no role and no initials.
pub fn is_name(speaker: &str) -> bool {
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
