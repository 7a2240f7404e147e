//! Attributes of episodes: attempts at tasks and their outcomes.

use super::KindData;
use crate::record::Attrs;
use crate::{Kind, Scope, text};
use serde::{Deserialize, Serialize};
use std::str::FromStr;

/// Action of an episode.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EpisodeAction {
    /// An attempt whose result is not known.
    Attempted,
    /// A successful attempt.
    Completed,
    /// A failed attempt.
    Failed,
    /// A retry whose result is not known.
    Retried,
}

impl EpisodeAction {
    /// All actions.
    pub const ALL: [Self; 4] = [
        Self::Attempted,
        Self::Completed,
        Self::Failed,
        Self::Retried,
    ];

    /// Returns the name in JSON and SQL.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Attempted => "attempted",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Retried => "retried",
        }
    }
}

/// Returns what an episode's action says about the result, as a reader sees it: an attempt whose end was not seen is
/// neither a success nor a failure.
pub fn result_label(action: &str) -> &'static str {
    match action.parse() {
        Ok(EpisodeAction::Completed) => "completed",
        Ok(EpisodeAction::Failed) => "failed",
        Ok(EpisodeAction::Attempted | EpisodeAction::Retried) | Err(_) => "result unknown",
    }
}

/// Error for an unknown episode action.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not an action: expected attempted, completed, failed or retried")]
pub struct BadEpisodeAction(pub String);

impl FromStr for EpisodeAction {
    type Err = BadEpisodeAction;

    fn from_str(word: &str) -> Result<Self, BadEpisodeAction> {
        let wanted = word.trim().to_ascii_lowercase();
        let found = Self::ALL.into_iter().find(|one| one.as_str() == wanted);
        found.ok_or_else(|| BadEpisodeAction(text::excerpt(word, 60)))
    }
}

/// One attempt at a task. Its identity is the iteration, if it belongs to one; else it is appended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Episode {
    /// `attempted`, `completed`, `failed` or `retried`.
    #[serde(rename = "action")]
    pub action: String,
    /// Approach of the attempt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(rename = "approach")]
    pub approach: Option<String>,
    /// Outcome of the attempt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(rename = "outcome")]
    pub outcome: Option<String>,
    /// Files that the attempt changed, the most changed first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[serde(rename = "files")]
    pub files: Vec<String>,
    /// Names of functions and types that it is about.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[serde(rename = "symbols")]
    pub symbols: Vec<String>,
    /// Duration, milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(rename = "duration_ms")]
    pub duration_ms: Option<u64>,
    /// Input tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(rename = "tokens_in")]
    pub tokens_in: Option<u64>,
    /// Output tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(rename = "tokens_out")]
    pub tokens_out: Option<u64>,
    /// Fields of newer versions.
    #[serde(flatten)]
    pub extra: Attrs,
}

impl Episode {
    /// Creates an episode with only an action.
    pub fn with_action(action: EpisodeAction) -> Self {
        Self {
            action: action.as_str().to_owned(),
            approach: None,
            outcome: None,
            files: Vec::new(),
            symbols: Vec::new(),
            duration_ms: None,
            tokens_in: None,
            tokens_out: None,
            extra: Attrs::new(),
        }
    }

    /// Returns the identity key of an iteration's episode, so that repeated reports update one record.
    pub fn key(scope: &Scope, iteration: u32) -> String {
        let part = |name: &Option<String>| name.clone().unwrap_or_default();
        text::hash_parts(&[
            "iteration",
            &part(&scope.task),
            &part(&scope.phase),
            &part(&scope.agent),
            &iteration.to_string(),
        ])
    }
}

impl KindData for Episode {
    const KIND: Kind = Kind::Episode;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn result_label_separates_unknown_from_failed() {
        for (action, label) in [
            ("completed", "completed"),
            ("failed", "failed"),
            ("attempted", "result unknown"),
            ("retried", "result unknown"),
            ("of a newer version", "result unknown"),
        ] {
            assert_eq!(result_label(action), label);
        }
    }
}
