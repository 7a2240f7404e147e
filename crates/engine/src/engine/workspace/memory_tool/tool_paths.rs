//! Paths of the memory tool: from the names that a model uses to files of the workspace.

use crate::engine::workspace::PREVIOUS_FOLDER;
use crate::engine::workspace::file_changes::{HISTORY, TRASH};
use crate::engine::workspace::workspace_files::{WorkspaceRoot, refused};
use heirloom_model::{Fault, limits};
use std::path::PathBuf;

/// Prefix of the tool's paths.
const TOP: &str = "/memories";

/// Returns the path relative to the workspace; empty for the workspace itself.
pub(super) fn relative(path: &str) -> Result<&str, Fault> {
    let outside = || {
        Fault::refused(format!("The path {path} is not below {TOP}"))
            .hint("paths begin with /memories/, and have no `..`")
    };
    let rest = path.strip_prefix(TOP).ok_or_else(outside)?;
    let rest = match rest.strip_prefix('/') {
        Some(rest) => rest.trim_end_matches('/'),
        None if rest.is_empty() => rest,
        None => return Err(outside()),
    };
    let is_sound = |part: &str| {
        let bad = part.contains(['\\', ':']) || part.contains(char::is_control);
        let own = [TRASH, HISTORY, PREVIOUS_FOLDER].contains(&part);
        !part.is_empty() && part != "." && part != ".." && !own && !bad
    };
    let is_short = rest.len() <= limits::NAME_BYTES_MAX;
    if rest.is_empty() || (is_short && rest.split('/').all(is_sound)) {
        return Ok(rest);
    }
    Err(outside())
}

/// Returns the relative path of a file or folder, not of the workspace itself.
pub(super) fn file_path_of(path: &str) -> Result<&str, Fault> {
    match relative(path)? {
        "" => {
            Err(Fault::refused(format!("{TOP} itself cannot be changed"))
                .hint("name a file below it"))
        }
        file => Ok(file),
    }
}

/// Returns the path on disk. No link may lead out of the workspace.
pub(super) fn path_on_disk(root: &WorkspaceRoot, file: &str) -> Result<PathBuf, Fault> {
    let target = root.target(file)?;
    // `target` only stays inside the memory's folder, which also has the access tokens.
    match target.starts_with(&root.folder) {
        true => Ok(target),
        false => Err(refused(&root.shown(file), &"it leads out of the workspace")),
    }
}

pub(super) fn existing_path(
    root: &WorkspaceRoot,
    path: &str,
    file: &str,
) -> Result<PathBuf, Fault> {
    let target = path_on_disk(root, file)?;
    match target.symlink_metadata() {
        Ok(_) => Ok(target),
        Err(_) => Err(missing(path)),
    }
}

fn missing(path: &str) -> Fault {
    Fault::not_found(format!(
        "The path {path} does not exist. Please provide a valid path."
    ))
}

pub(super) fn read_file(root: &WorkspaceRoot, path: &str, file: &str) -> Result<String, Fault> {
    path_on_disk(root, file)?;
    let found = root.read(file);
    let found = found.map_err(|problem| refused(&root.shown(file), &problem))?;
    found.map(|file| file.text).ok_or_else(|| missing(path))
}

pub(super) fn check_size(path: &str, text: &str) -> Result<(), Fault> {
    let most = limits::WORKSPACE_FILE_BYTES_MAX;
    match text.len() as u64 <= most {
        true => Ok(()),
        false => Err(Fault::usage(format!(
            "{path} would have more than {most} bytes"
        ))),
    }
}
