//! Conflict policies: resolution of different values for one key from two sources.

use std::fmt;
use std::str::FromStr;

/// Rule that selects the winner of a conflict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum ConflictPolicy {
    /// The higher confidence wins, on a tie the newer.
    #[default]
    HigherConfidence,
    /// The newer wins.
    Newest,
    /// No winner: both are kept, and neither enters a context until the conflict is resolved.
    Ask,
}

impl ConflictPolicy {
    /// All policies.
    pub const ALL: [Self; 3] = [Self::HigherConfidence, Self::Newest, Self::Ask];

    /// Returns the name in a config file.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::HigherConfidence => "higher-confidence",
            Self::Newest => "newest",
            Self::Ask => "ask",
        }
    }
}

impl fmt::Display for ConflictPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// Error for an unknown policy name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a conflict policy: expected higher-confidence, newest or ask")]
pub struct BadPolicy(pub String);

impl FromStr for ConflictPolicy {
    type Err = BadPolicy;

    fn from_str(text: &str) -> Result<Self, BadPolicy> {
        let found = Self::ALL.into_iter().find(|policy| policy.as_str() == text);
        found.ok_or_else(|| BadPolicy(crate::text::excerpt(text, 60)))
    }
}

/// Returns true if this source may resolve conflicts: a person or the orchestrator.
///
/// Writes of all other sources are proposals.
pub fn can_arbitrate(source: &str) -> bool {
    matches!(source, "user" | "orchestrator")
}
