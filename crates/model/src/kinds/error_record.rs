//! Attributes of errors.

use super::{KindData, is_zero_u32};
use crate::record::Attrs;
use crate::{Kind, Record, text};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// Attributes of an `error` record, whose text is the error message.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ErrorRecord {
    /// `open` or `resolved`.
    #[serde(rename = "state")]
    pub state: String,
    /// Resolution of the error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(rename = "resolution")]
    pub resolution: Option<String>,
    /// Number of repetitions after the first occurrence.
    #[serde(default, skip_serializing_if = "is_zero_u32")]
    #[serde(rename = "repeats")]
    pub repeats: u32,
    /// Time of the last repetition.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(rename = "repeated_at")]
    pub repeated_at: Option<Timestamp>,
    /// Fields of newer versions.
    #[serde(flatten)]
    pub extra: Attrs,
}

impl ErrorRecord {
    /// State of an open error.
    pub const OPEN: &'static str = "open";
    /// State of a resolved error.
    pub const RESOLVED: &'static str = "resolved";
    /// Attribute that names the evidence by which an error was closed.
    pub const CLOSED_BY: &'static str = "closed_by";
    /// Evidence: what failed passed later.
    pub const PASSED: &'static str = "passed";
    /// Attribute with what resolved an earlier occurrence.
    pub const HELPED: &'static str = "helped_before";
    /// Attribute with the number of successes of the command after the one that closed the error.
    pub const PASSED_AGAIN: &'static str = "passed_again";
    /// Attribute with the time of the newest success that was counted.
    pub const PASSED_AT: &'static str = "passed_at";
    /// Attribute with the identity of the command line of a run that failed.
    pub const LAUNCH: &'static str = "launch";

    /// Creates an open error.
    pub fn open() -> Self {
        Self {
            state: Self::OPEN.to_owned(),
            resolution: None,
            repeats: 0,
            repeated_at: None,
            extra: Attrs::new(),
        }
    }

    /// Returns the time of the last occurrence. The time of the record of a closed failure is that of its closing;
    /// attributes that cannot be read count as absent.
    pub fn last_failed_at(record: &Record) -> Timestamp {
        let typed = Self::from_record(record).ok();
        let repeated_at = typed.and_then(|typed| typed.repeated_at);
        repeated_at.unwrap_or(record.true_from.unwrap_or(record.recorded_at))
    }

    /// Returns the time of the newest success that was counted, or that closed the error.
    pub fn last_passed_at(record: &Record) -> Timestamp {
        let passed_at = record.attr_str(Self::PASSED_AT);
        let passed_at = passed_at.and_then(|at| at.parse().ok());
        passed_at.unwrap_or(record.recorded_at)
    }

    /// Returns the identity key: task, phase and the identity of the text.
    pub fn key(error: &str, task: Option<&str>, phase: Option<&str>) -> String {
        let identity = text::error_identity(error);
        text::hash_parts(&[task.unwrap_or(""), phase.unwrap_or(""), &identity])
    }
}

impl KindData for ErrorRecord {
    const KIND: Kind = Kind::Error;
}
