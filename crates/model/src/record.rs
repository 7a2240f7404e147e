//! Records: the items of memory.

use crate::{Kind, RecordId, Scope, limits};
use jiff::Timestamp;
use serde_json::{Map, Value};
use std::fmt;
use std::sync::Arc;

/// Source of records that a team shares in files.
pub const SOURCE_TEAM: &str = "team";

/// Typed attributes of a record as JSON, sorted by name.
pub type Attrs = Map<String, Value>;

/// The name of a project: its identity across folders and machines.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProjectName(Arc<str>);

impl ProjectName {
    /// Checks a name: not empty, no control characters, at most `NAME_BYTES_MAX` bytes.
    pub fn new(name: &str) -> Result<Self, BadName> {
        check_name("project", name)?;
        Ok(Self(Arc::from(name.trim())))
    }

    /// Returns the name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ProjectName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

/// Error for an invalid name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the {what} `{name}` {problem}")]
pub struct BadName {
    /// Sort of the name: project, task, agent…
    pub what: String,
    /// Beginning of the name.
    pub name: String,
    /// Description of the problem.
    pub problem: String,
}

/// Checks the name of a project, task, agent or other scope.
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

/// Checks the names in a scope.
pub fn check_scope(scope: &Scope) -> Result<(), BadName> {
    for (what, name) in scope.names() {
        if let Some(name) = name {
            check_name(what, name)?;
        }
    }
    Ok(())
}

/// Confidence of the source, from 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct Confidence(f64);

impl Confidence {
    /// Full confidence.
    pub const FULL: Self = Self(1.0);
    /// Default confidence of agents.
    pub const AGENT: Self = Self(0.8);

    /// Creates a confidence; `None` outside 0 to 1 and for NaN.
    pub fn new(value: f64) -> Option<Self> {
        (0.0..=1.0).contains(&value).then_some(Self(value))
    }

    /// Returns the number.
    pub fn get(self) -> f64 {
        self.0
    }

    /// Returns the default confidence of a source.
    pub fn of_source(source: &str) -> Self {
        if crate::conflict::can_arbitrate(source) {
            Self::FULL
        } else {
            Self::AGENT
        }
    }
}

/// One item of memory, of any kind. The typed form of `attrs` is in [`crate::kinds`].
#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    /// Project that owns the record.
    pub project: ProjectName,
    /// Id of the record.
    pub id: RecordId,
    /// Kind of the record.
    pub kind: Kind,
    /// Identity among the current records of its kind and category; `None` = append-only.
    pub key: Option<String>,
    /// Text that recall searches.
    pub text: String,
    /// Attributes of the kind.
    pub attrs: Attrs,
    /// Scope of the record.
    pub scope: Scope,
    /// Source: an agent's id, `user` or `orchestrator`.
    pub source: String,
    /// Confidence of the source.
    pub confidence: Confidence,
    /// Estimated length of the text, tokens.
    pub tokens: u32,
    /// Transaction time: when the record was written.
    pub recorded_at: Timestamp,
    /// Start of the valid time, if known.
    pub true_from: Option<Timestamp>,
    /// End of the valid time, if known.
    pub true_to: Option<Timestamp>,
    /// Time of the retirement.
    pub retired_at: Option<Timestamp>,
    /// Successor of the record.
    pub replaced_by: Option<RecordId>,
    /// Expiry time.
    pub expires_at: Option<Timestamp>,
}

impl Record {
    /// Returns true if the record is neither retired nor expired at `now`.
    pub fn is_current(&self, now: Timestamp) -> bool {
        self.retired_at.is_none() && self.expires_at.is_none_or(|end| end > now)
    }

    /// Returns an attribute that is text.
    pub fn attr_str(&self, name: &str) -> Option<&str> {
        self.attrs.get(name).and_then(Value::as_str)
    }

    /// Returns the category: part of the identity of knowledge, the section of a note.
    pub fn category(&self) -> Option<&str> {
        self.attr_str("category")
    }

    /// Returns the state: `pending`/`done` of a step, `open`/`resolved` of an error.
    pub fn state(&self) -> Option<&str> {
        self.attr_str("state")
    }
}
