//! Trust of the user in projects' command files: marker files in the user's data folder, one for each file.
//!
//! Never stored in a project, which could bring its own trust. Separate files let concurrent calls not overwrite each
//! other.

use crate::config::Environment;
use crate::store_access;
use heirloom_engine::CommandFile;
use heirloom_fs::project_fs;
use heirloom_model::{Fault, Timestamp, limits};
use heirloom_prompt::custom_commands;
use serde_json::{Value, json};
use std::path::PathBuf;

/// Subfolder of the user's data folder.
const FOLDER: &str = "trusted-commands";

/// Returns true if the user trusts this file at its path with this content. The user's own files need no trust.
pub(crate) fn is_trusted(env: &Environment, command: &CommandFile) -> bool {
    if !command.source.is_foreign() {
        return true;
    }
    let read = |mark: PathBuf| project_fs::read_bounded(&mark, limits::CONFIG_BYTES_MAX).ok();
    let Some(text) = mark(env, command).and_then(read) else {
        return false;
    };
    let entry: Value = serde_json::from_slice(&text).unwrap_or_default();
    entry["sha256"] == command.sha256 && entry["path"] == path_text(command)
}

/// Records that the user trusts this file.
pub(crate) fn trust(env: &Environment, command: &CommandFile, now: Timestamp) -> Result<(), Fault> {
    let mark = mark_path(env, command)?;
    if let Some(folder) = mark.parent() {
        store_access::create_folder(folder)?;
    }
    let entry = json!({
        "path": path_text(command),
        "sha256": command.sha256,
        "name": command.name,
        "at": now.to_string(),
    });
    store_access::write_file(&mark, format!("{entry}\n").as_bytes())
}

/// Removes the trust in this file.
pub(crate) fn distrust(env: &Environment, command: &CommandFile) -> Result<(), Fault> {
    store_access::remove_file(&mark_path(env, command)?)
}

fn path_text(command: &CommandFile) -> String {
    command.path.to_string_lossy().into_owned()
}

fn mark_path(env: &Environment, command: &CommandFile) -> Result<PathBuf, Fault> {
    mark(env, command).ok_or_else(|| {
        Fault::failed("there is no folder for trusted commands")
            .hint("set HOME, or XDG_DATA_HOME to an absolute path")
    })
}

fn mark(env: &Environment, command: &CommandFile) -> Option<PathBuf> {
    let path = path_text(command);
    let name = custom_commands::fingerprint(&[path.as_bytes(), command.sha256.as_bytes()]);
    Some(env.data_dir()?.join(FOLDER).join(format!("{name}.json")))
}
