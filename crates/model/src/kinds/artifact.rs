//! Attributes of artifacts: files that tasks produced.

use super::{KindData, join_key};
use crate::Kind;
use crate::record::Attrs;
use serde::{Deserialize, Serialize};
use std::str::FromStr;

/// Artifact type of a modified file.
pub const ARTIFACT_FILE: &str = "file";

/// Type of an artifact.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ArtifactType {
    /// A created or modified file.
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
    /// All types.
    pub const ALL: [Self; 5] = [
        Self::File,
        Self::Patch,
        Self::Test,
        Self::Document,
        Self::Config,
    ];

    /// Returns the name in JSON and SQL.
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

/// Error for an unknown artifact type.
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
    /// Path relative to the project's root, with `/`.
    #[serde(rename = "path")]
    pub path: String,
    /// Description of the artifact.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(rename = "description")]
    pub description: Option<String>,
    /// Size at registration, in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(rename = "size_bytes")]
    pub size_bytes: Option<u64>,
    /// SHA-256 at registration, hexadecimal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(rename = "checksum")]
    pub checksum: Option<String>,
    /// Fields of newer versions.
    #[serde(flatten)]
    pub extra: Attrs,
}

impl Artifact {
    /// Creates the attributes of a modified file.
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

    /// Returns the identity key: one current entry per path and task.
    pub fn key(path: &str, task: Option<&str>) -> String {
        join_key(&[task.unwrap_or(""), path])
    }
}

impl KindData for Artifact {
    const KIND: Kind = Kind::Artifact;
}
