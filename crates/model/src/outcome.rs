//! How an iteration ended.

use std::fmt;
use std::str::FromStr;

/// What the agent says about its task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AgentStatus {
    /// The task is finished.
    Complete,
    /// Something was done, more is to do.
    Partial,
    /// It cannot go on without somebody else.
    Blocked,
    /// It did not work.
    Failed,
}

impl AgentStatus {
    /// Every status.
    pub const ALL: [Self; 4] = [Self::Complete, Self::Partial, Self::Blocked, Self::Failed];

    /// Its spelling in signals and JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Complete => "COMPLETE",
            Self::Partial => "PARTIAL",
            Self::Blocked => "BLOCKED",
            Self::Failed => "FAILED",
        }
    }
}

impl fmt::Display for AgentStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// A word that names no status.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a status: expected COMPLETE, PARTIAL, BLOCKED or FAILED")]
pub struct BadStatus(pub String);

impl FromStr for AgentStatus {
    type Err = BadStatus;

    fn from_str(text: &str) -> Result<Self, BadStatus> {
        let wanted = text.trim().to_ascii_uppercase();
        let found = Self::ALL
            .into_iter()
            .find(|status| status.as_str() == wanted);
        found.ok_or_else(|| BadStatus(crate::text::excerpt(text, 60)))
    }
}

/// What one iteration of a task brought.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// Whether the iteration did what it set out to do.
    pub success: bool,
    /// What the agent says about the task.
    pub status: AgentStatus,
    /// The agent's words on it.
    pub message: Option<String>,
    /// How it was tried, in the words of whoever chose it.
    pub approach: Option<String>,
    /// Files it changed, relative to the project's root, with `/`.
    pub files: Vec<String>,
    /// What went wrong.
    pub error: Option<String>,
    /// The pull request it made or works on.
    pub pr_number: Option<u64>,
    /// The branch it works on.
    pub branch: Option<String>,
    /// How long it took.
    pub duration_ms: Option<u64>,
    /// Tokens read, those from a cache included.
    pub tokens_in: Option<u64>,
    /// Tokens written.
    pub tokens_out: Option<u64>,
}

impl Outcome {
    /// An outcome of this status with nothing else known; `Blocked` and `Failed` are no success.
    pub fn of(status: AgentStatus) -> Self {
        Self {
            success: matches!(status, AgentStatus::Complete | AgentStatus::Partial),
            status,
            message: None,
            approach: None,
            files: Vec::new(),
            error: None,
            pr_number: None,
            branch: None,
            duration_ms: None,
            tokens_in: None,
            tokens_out: None,
        }
    }
}
