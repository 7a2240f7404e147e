//! Which command files of projects the person trusts: marks in the person's own data folder, one file each.
//!
//! Never in a project, which could bring its own trust along. A file each, so that two calls never undo each other.

use crate::config::Environment;
use crate::open;
use heirloom_engine::{CommandFile, commands};
use heirloom_model::{Fault, Timestamp};
use serde_json::{Value, json};
use std::path::PathBuf;

/// The folder in the person's data folder.
const FOLDER: &str = "trusted-commands";

/// Whether the person trusts exactly this file, at its place, with these bytes. The person's own files need no trust.
pub(crate) fn is_trusted(env: &Environment, command: &CommandFile) -> bool {
    if !command.source.is_foreign() {
        return true;
    }
    let Some(text) = mark(env, command).and_then(|mark| std::fs::read_to_string(mark).ok()) else {
        return false;
    };
    let said: Value = serde_json::from_str(&text).unwrap_or_default();
    said["sha256"] == command.sha256 && said["path"] == shown(command)
}

/// Keeps that the person trusts this file.
pub(crate) fn trust(env: &Environment, command: &CommandFile, now: Timestamp) -> Result<(), Fault> {
    let mark = place(env, command)?;
    if let Some(folder) = mark.parent() {
        open::create_folder(folder)?;
    }
    let said = json!({
        "path": shown(command),
        "sha256": command.sha256,
        "name": command.name,
        "at": now.to_string(),
    });
    open::write_file(&mark, format!("{said}\n").as_bytes())
}

/// Forgets that the person trusts this file.
pub(crate) fn distrust(env: &Environment, command: &CommandFile) -> Result<(), Fault> {
    open::remove_file(&place(env, command)?)
}

fn shown(command: &CommandFile) -> String {
    command.path.display().to_string()
}

fn place(env: &Environment, command: &CommandFile) -> Result<PathBuf, Fault> {
    mark(env, command).ok_or_else(|| {
        Fault::failed("there is no folder to keep trust in")
            .hint("set HOME, or XDG_DATA_HOME to an absolute path")
    })
}

fn mark(env: &Environment, command: &CommandFile) -> Option<PathBuf> {
    let path = shown(command);
    let name = commands::fingerprint(&[path.as_bytes(), command.sha256.as_bytes()]);
    Some(env.data_dir()?.join(FOLDER).join(format!("{name}.json")))
}
