//! Facts of a release that its packages contain.

use crate::cargo;
use jiff::Timestamp;
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::Command;

/// Version, time and texts of a release.
#[derive(Debug)]
pub(super) struct Release {
    /// Version of the program.
    pub(super) version: String,
    /// One sentence about the program.
    pub(super) description: String,
    /// SPDX expression.
    pub(super) license: String,
    /// Address of the sources.
    pub(super) repository: String,
    /// Time of the commit, which all entries of all packages have.
    pub(super) time: Timestamp,
    /// Text of the MIT licence.
    pub(super) license_mit: String,
    /// Text of the Apache licence.
    pub(super) license_apache: String,
}

/// Name and address of the maintainers, as packages contain them.
pub(super) const MAINTAINER: &str =
    "The Heirloom contributors <heirloom-dev@users.noreply.github.com>";

impl Release {
    /// Reads the manifest, the licences and the time of the commit.
    pub(super) fn read() -> Result<Self, String> {
        let output = cargo::command(["metadata", "--locked", "--no-deps", "--format-version", "1"])
            .output()
            .map_err(|error| format!("cannot start cargo metadata: {error}"))?;
        if !output.status.success() {
            return Err(format!(
                "cargo metadata failed: {}",
                String::from_utf8_lossy(&output.stderr).trim()
            ));
        }
        let metadata: Value = serde_json::from_slice(&output.stdout)
            .map_err(|error| format!("cargo metadata printed no JSON: {error}"))?;
        let package = metadata["packages"]
            .as_array()
            .into_iter()
            .flatten()
            .find(|package| package["name"] == "heirloom" && package["source"].is_null())
            .ok_or("the workspace has no package `heirloom`")?;
        let field = |name: &str| {
            let value = package[name].as_str().map(str::to_owned);
            value.ok_or_else(|| format!("the package `heirloom` has no {name}"))
        };
        Ok(Self {
            version: field("version")?,
            description: field("description")?,
            license: field("license")?,
            repository: field("repository")?,
            time: commit_time()?,
            license_mit: read_text("LICENSE-MIT")?,
            license_apache: read_text("LICENSE-APACHE")?,
        })
    }

    /// Seconds since 1970 of the commit.
    pub(super) fn epoch_s(&self) -> u64 {
        u64::try_from(self.time.as_second()).unwrap_or(0)
    }
}

/// Reads a text of the repository.
pub(super) fn read_text(path: impl AsRef<Path>) -> Result<String, String> {
    let path = cargo::root().join(path);
    fs::read_to_string(&path).map_err(|error| format!("cannot read {}: {error}", path.display()))
}

/// Returns the time of the checked-out commit.
fn commit_time() -> Result<Timestamp, String> {
    let output = Command::new("git")
        .args(["log", "-1", "--format=%ct"])
        .current_dir(cargo::root())
        .output()
        .map_err(|error| format!("cannot start git: {error}"))?;
    let seconds = String::from_utf8_lossy(&output.stdout)
        .trim()
        .parse::<i64>();
    seconds
        .ok()
        .and_then(|seconds| Timestamp::from_second(seconds).ok())
        .ok_or_else(|| "git knows no commit: packages have the time of the commit".to_owned())
}
