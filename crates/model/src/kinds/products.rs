//! What work leaves behind: artifacts and outputs.

use super::{KindData, join_key};
use crate::Kind;
use crate::record::Attrs;
use serde::{Deserialize, Serialize};
use std::str::FromStr;

/// Type of an artifact that is a file somebody modified.
pub const ARTIFACT_FILE: &str = "file";

/// What an artifact is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ArtifactType {
    /// A file that somebody made or modified.
    File,
    /// A patch.
    Patch,
    /// A test.
    Test,
    /// A document.
    Document,
    /// A configuration.
    Config,
}

impl ArtifactType {
    /// Every type.
    pub const ALL: [Self; 5] = [
        Self::File,
        Self::Patch,
        Self::Test,
        Self::Document,
        Self::Config,
    ];

    /// Its name in JSON and SQL.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::File => ARTIFACT_FILE,
            Self::Patch => "patch",
            Self::Test => "test",
            Self::Document => "document",
            Self::Config => "config",
        }
    }
}

/// A word that names no type of artifact.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a type: expected file, patch, test, document or config")]
pub struct BadArtifactType(pub String);

impl FromStr for ArtifactType {
    type Err = BadArtifactType;

    fn from_str(word: &str) -> Result<Self, BadArtifactType> {
        let wanted = word.trim().to_ascii_lowercase();
        let found = Self::ALL.into_iter().find(|one| one.as_str() == wanted);
        found.ok_or_else(|| BadArtifactType(crate::text::excerpt(word, 60)))
    }
}

/// A file or another product. The record's text is its path.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Artifact {
    /// `file`, `patch`, `test`, `document` or `config`.
    #[serde(rename = "type")]
    pub artifact_type: String,
    /// Relative to the project's root, with `/`.
    pub path: String,
    /// What it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Its size when it was registered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size_bytes: Option<u64>,
    /// Its SHA-256 when it was registered, hexadecimal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checksum: Option<String>,
    /// What a newer version wrote.
    #[serde(flatten)]
    pub extra: Attrs,
}

impl Artifact {
    /// A file that was modified.
    pub fn file(path: &str) -> Self {
        Self {
            artifact_type: ARTIFACT_FILE.to_owned(),
            path: path.to_owned(),
            description: None,
            size_bytes: None,
            checksum: None,
            extra: Attrs::new(),
        }
    }

    /// Its identity: one current entry for a path in a task.
    pub fn key(path: &str, task: Option<&str>) -> String {
        join_key(&[task.unwrap_or(""), path])
    }
}

impl KindData for Artifact {
    const KIND: Kind = Kind::Artifact;
}

/// The last output of an agent in a plan. The record's text is what goes into prompts.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Output {
    /// What else the agent said of it.
    #[serde(default, skip_serializing_if = "Attrs::is_empty")]
    pub metadata: Attrs,
    /// All of it, where the record's text is only its end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub full: Option<String>,
    /// Bytes at its beginning that are not in `full` either.
    #[serde(default, skip_serializing_if = "super::is_nought")]
    pub left_out_bytes: u64,
    /// What else the file said that it came from.
    #[serde(default, skip_serializing_if = "Attrs::is_empty")]
    pub file: Attrs,
    /// What a newer version wrote.
    #[serde(flatten)]
    pub extra: Attrs,
}

impl Output {
    /// Its identity: one current output of an agent in a plan.
    pub fn key(plan: &str, agent: &str) -> String {
        join_key(&[plan, agent])
    }
}

impl KindData for Output {
    const KIND: Kind = Kind::Output;
}
