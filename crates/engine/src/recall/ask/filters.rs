//! What narrows an answer.

use heirloom_model::{Kind, Scope, Timestamp};

/// What narrows an answer.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filters {
    /// `kind:`, these kinds of records; empty = all, unless only turns are asked for.
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
    /// `after:`, `on:`: recorded then or later.
    pub after: Option<Timestamp>,
    /// `before:`, `on:`: recorded earlier.
    pub before: Option<Timestamp>,
}

impl Filters {
    /// Whether nothing is narrowed.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Whether turns of conversations may be in the answer.
    pub fn turns_too(&self) -> bool {
        let of_records = self.category.is_some() || self.key.is_some();
        self.turns || (self.kinds.is_empty() && !of_records)
    }

    /// Whether records may be in the answer.
    pub fn records_too(&self) -> bool {
        !(self.turns && self.kinds.is_empty())
    }
}

/// Whether this is what a turn of a conversation is called.
pub fn is_turn(kind: &str) -> bool {
    let names = ["message", "messages", "turn", "turns"];
    names.iter().any(|name| kind.eq_ignore_ascii_case(name))
}
