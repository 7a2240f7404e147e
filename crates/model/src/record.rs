//! One remembered thing.

use crate::{Kind, RecordId, Scope, limits};
use jiff::Timestamp;
use serde_json::{Map, Value};
use std::fmt;
use std::sync::Arc;

/// The source of what a team shares in files.
pub const SOURCE_TEAM: &str = "team";

/// Typed attributes of a record as JSON, sorted by name.
pub type Attrs = Map<String, Value>;

/// The name of a project: its identity across folders and machines.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProjectName(Arc<str>);

impl ProjectName {
    /// A checked name: not empty, no control characters, at most `NAME_BYTES_MAX` bytes.
    pub fn new(name: &str) -> Result<Self, BadName> {
        check_name("project", name)?;
        Ok(Self(Arc::from(name.trim())))
    }

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ProjectName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

/// A name that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the {what} `{name}` {problem}")]
pub struct BadName {
    /// Which name: project, task, agent…
    pub what: String,
    /// Its beginning.
    pub name: String,
    /// What is wrong with it.
    pub problem: String,
}

/// Checks a name of a project, task, agent and the like.
pub fn check_name(what: &str, name: &str) -> Result<(), BadName> {
    let problem = if name.trim().is_empty() {
        "is empty".to_owned()
    } else if name.len() > limits::NAME_BYTES_MAX {
        format!(
            "has {} bytes; at most {} are allowed",
            name.len(),
            limits::NAME_BYTES_MAX
        )
    } else if name.chars().any(char::is_control) {
        "contains a control character".to_owned()
    } else {
        return Ok(());
    };
    Err(BadName {
        what: what.to_owned(),
        name: crate::text::excerpt(name, 60),
        problem,
    })
}

/// How sure the source is, from 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct Confidence(f64);

impl Confidence {
    /// Quite sure.
    pub const FULL: Self = Self(1.0);
    /// What an agent's word counts unless it says otherwise.
    pub const AGENT: Self = Self(0.8);

    /// A checked confidence; `None` outside 0 to 1 and for NaN.
    pub fn new(value: f64) -> Option<Self> {
        (0.0..=1.0).contains(&value).then_some(Self(value))
    }

    /// The number.
    pub fn get(self) -> f64 {
        self.0
    }

    /// What a source's word counts when no confidence is given.
    pub fn of_source(source: &str) -> Self {
        if crate::conflict::may_arbitrate(source) {
            Self::FULL
        } else {
            Self::AGENT
        }
    }
}

/// One remembered thing, of any kind. The typed form of `attrs` is in [`crate::kinds`].
#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    /// Its owner.
    pub project: ProjectName,
    /// Its id.
    pub id: RecordId,
    /// What sort of thing it is.
    pub kind: Kind,
    /// Identity among the current records of its kind and category; `None` = append-only.
    pub key: Option<String>,
    /// What recall reads.
    pub text: String,
    /// The kind's own attributes.
    pub attrs: Attrs,
    /// Where it belongs.
    pub scope: Scope,
    /// Who said so: an agent's id, `user` or `orchestrator`.
    pub source: String,
    /// How sure the source is.
    pub confidence: Confidence,
    /// Estimated length of the text, tokens.
    pub tokens: u32,
    /// When it was written.
    pub recorded_at: Timestamp,
    /// From when on it holds, if that is known.
    pub true_from: Option<Timestamp>,
    /// Until when it holds, if that is known.
    pub true_to: Option<Timestamp>,
    /// When it stopped being current.
    pub retired_at: Option<Timestamp>,
    /// What took its place.
    pub replaced_by: Option<RecordId>,
    /// When it stops being current by itself.
    pub expires_at: Option<Timestamp>,
}

impl Record {
    /// Whether it is current at `now`: neither retired nor expired.
    pub fn is_current(&self, now: Timestamp) -> bool {
        self.retired_at.is_none() && self.expires_at.is_none_or(|end| end > now)
    }

    /// One attribute that is text.
    pub fn attr_str(&self, name: &str) -> Option<&str> {
        self.attrs.get(name).and_then(Value::as_str)
    }

    /// The category: part of the identity of knowledge, the section of a note.
    pub fn category(&self) -> Option<&str> {
        self.attr_str("category")
    }

    /// The state: `pending`/`done` of a step, `open`/`resolved` of an error.
    pub fn state(&self) -> Option<&str> {
        self.attr_str("state")
    }
}
