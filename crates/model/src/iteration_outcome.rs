//! Outcome of an iteration of the run loop.

use std::fmt;
use std::str::FromStr;

/// Status of the task, as the agent reports it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AgentStatus {
    /// The task is finished.
    Complete,
    /// Progress was made; work remains.
    Partial,
    /// The task needs help from outside.
    Blocked,
    /// The attempt failed.
    Failed,
}

impl AgentStatus {
    /// All statuses.
    pub const ALL: [Self; 4] = [Self::Complete, Self::Partial, Self::Blocked, Self::Failed];

    /// Returns the spelling in signals and JSON.
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

/// Error for an unknown status name.
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

/// Result of one iteration of a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IterationOutcome {
    /// True if the iteration reached its goal.
    pub success: bool,
    /// Status as the agent reports it.
    pub status: AgentStatus,
    /// Message of the agent.
    pub message: Option<String>,
    /// Approach, as its author described it.
    pub approach: Option<String>,
    /// Changed files, relative to the project's root, with `/`.
    pub files: Vec<String>,
    /// Error text.
    pub error: Option<String>,
    /// Number of its pull request.
    pub pr_number: Option<u64>,
    /// Branch of the work.
    pub branch: Option<String>,
    /// Duration, milliseconds.
    pub duration_ms: Option<u64>,
    /// Input tokens, cached ones included.
    pub tokens_in: Option<u64>,
    /// Output tokens.
    pub tokens_out: Option<u64>,
    /// Command that the iteration ran; `None` if it is unknown, as in an outcome that another program reports.
    pub launch: Option<LaunchOutcome>,
}

/// Command of an iteration, and how it ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LaunchOutcome {
    /// Identity of the command line: a hash of its redacted words.
    pub id: String,
    /// True if the command passed, false if it failed, and `None` if its end is no evidence of either.
    pub has_passed: Option<bool>,
}

impl IterationOutcome {
    /// Creates an outcome with only a status; `Blocked` and `Failed` are not successful.
    pub fn with_status(status: AgentStatus) -> Self {
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
            launch: None,
        }
    }
}
