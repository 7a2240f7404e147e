//! What happens when two sources say different things of one key, and who may decide between them.

use std::fmt;
use std::str::FromStr;

/// The rule by which one of two sources wins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum ConflictPolicy {
    /// The higher confidence wins, on a tie the newer.
    #[default]
    HigherConfidence,
    /// The newer wins.
    Newest,
    /// Nobody wins: both are kept, and neither is told before somebody has decided.
    Ask,
}

impl ConflictPolicy {
    /// Every policy.
    pub const ALL: [Self; 3] = [Self::HigherConfidence, Self::Newest, Self::Ask];

    /// Its name in a config file.
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

/// A word that names no policy.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no policy for conflicts: higher-confidence, newest or ask")]
pub struct BadPolicy(pub String);

impl FromStr for ConflictPolicy {
    type Err = BadPolicy;

    fn from_str(text: &str) -> Result<Self, BadPolicy> {
        let found = Self::ALL.into_iter().find(|policy| policy.as_str() == text);
        found.ok_or_else(|| BadPolicy(crate::text::excerpt(text, 60)))
    }
}

/// Whether this source may decide between two others: a person and the orchestrator.
///
/// What anybody else writes is a proposal.
pub fn may_arbitrate(source: &str) -> bool {
    matches!(source, "user" | "orchestrator")
}
