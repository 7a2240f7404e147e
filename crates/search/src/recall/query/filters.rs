//! Filters of a query.

use heirloom_model::{Kind, Scope, Timestamp};

/// Filters that restrict the result of a query.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct QueryFilters {
    /// `kind:`, kinds of records; empty means all, unless only turns are requested.
    pub kinds: Vec<Kind>,
    /// `kind:message`: turns of conversations.
    pub turns: bool,
    /// `task:`, `agent:`, `plan:`, `group:`, `session:`, `phase:`.
    pub scope: Scope,
    /// `category:`.
    pub category: Option<String>,
    /// `source:`.
    pub source: Option<String>,
    /// `key:`.
    pub key: Option<String>,
    /// `after:`, `on:`: recorded at this time or later.
    pub after: Option<Timestamp>,
    /// `before:`, `on:`: recorded before this time.
    pub before: Option<Timestamp>,
}

impl QueryFilters {
    /// Returns true if there are no filters.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Returns true if the result may contain turns of conversations.
    pub fn includes_turns(&self) -> bool {
        let of_records = self.category.is_some() || self.key.is_some();
        self.turns || (self.kinds.is_empty() && !of_records)
    }

    /// Returns true if the result may contain records.
    pub fn includes_records(&self) -> bool {
        !(self.turns && self.kinds.is_empty())
    }
}

/// Returns true if the word names turns of conversations.
pub fn is_turn_kind(kind: &str) -> bool {
    let names = ["message", "messages", "turn", "turns"];
    names.iter().any(|name| kind.eq_ignore_ascii_case(name))
}
