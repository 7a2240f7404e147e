//! Health check: the result of one check of the doctor.

use heirloom_model::{limits, text};

/// Severity of a check's result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CheckLevel {
    /// No problem.
    Ok,
    /// Noteworthy; nothing is lost or exposed.
    Warn,
    /// Needs action.
    Bad,
}

impl CheckLevel {
    /// Returns the name in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Warn => "warn",
            Self::Bad => "bad",
        }
    }
}

/// Result of one check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HealthCheck {
    /// Subject: `database`, `mirror`…
    pub name: &'static str,
    /// Severity.
    pub level: CheckLevel,
    /// Finding.
    pub message: String,
    /// Suggested action.
    pub hint: Option<String>,
}

impl HealthCheck {
    pub(super) fn new(name: &'static str, level: CheckLevel, message: impl Into<String>) -> Self {
        Self {
            name,
            level,
            message: message.into(),
            hint: None,
        }
    }

    pub(super) fn ok(name: &'static str, message: impl Into<String>) -> Self {
        Self::new(name, CheckLevel::Ok, message)
    }

    pub(super) fn warn(name: &'static str, message: impl Into<String>) -> Self {
        Self::new(name, CheckLevel::Warn, message)
    }

    pub(super) fn bad(name: &'static str, message: impl Into<String>) -> Self {
        Self::new(name, CheckLevel::Bad, message)
    }

    pub(super) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

/// Joins the first findings and the number of others.
pub(super) fn join_findings(all: &[String]) -> String {
    let first = all.iter().take(limits::FINDINGS_SHOWN_MAX);
    let mut joined = first
        .map(|line| text::one_line(line))
        .collect::<Vec<_>>()
        .join("; ");
    let more = all.len().saturating_sub(limits::FINDINGS_SHOWN_MAX);
    if more > 0 {
        joined.push_str(&format!("; and {more} more"));
    }
    joined
}
