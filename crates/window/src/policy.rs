//! How a window is kept: every number of it.

use serde::{Deserialize, Serialize};

/// Whether a prompt cache serves the longest common beginning, or only what was marked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CacheMatch {
    /// The longest beginning that a request shares with the one before.
    Prefix,
    /// Only whole earlier requests and the system prompt.
    Exact,
}

/// What one tool's outputs may be.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ToolRule {
    /// Characters above which an output is shortened at entry.
    pub max_length: Option<usize>,
    /// Characters that it is shortened to.
    pub preview_length: Option<usize>,
    /// Whether it never becomes stale.
    pub critical: Option<bool>,
}
