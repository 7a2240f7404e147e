//! Markdown files of a folder, for the memories of other programs: bounded, without following links.

use heirloom_engine::SharedFile;
use heirloom_fs::project_fs;
use heirloom_model::text::EscapedPath;
use heirloom_model::{Fault, limits};
use std::fs;
use std::path::{Path, PathBuf};

/// Collects the files below a folder whose names end with one of these, sorted by path. Links and hidden entries are
/// skipped.
pub(super) fn collect_files(folder: &Path, ends: &[&str]) -> Result<Vec<PathBuf>, Fault> {
    let mut found = Vec::new();
    collect(folder, ends, 1, &mut found)?;
    found.sort();
    Ok(found)
}

fn collect(
    folder: &Path,
    ends: &[&str],
    depth: usize,
    found: &mut Vec<PathBuf>,
) -> Result<(), Fault> {
    let list_error = |error| Fault::failed(format!("cannot list {}: {error}", folder.to_escaped()));
    for entry in fs::read_dir(folder).map_err(list_error)? {
        let entry = entry.map_err(list_error)?;
        let (path, file_type) = (entry.path(), entry.file_type().map_err(list_error)?);
        if entry.file_name().as_encoded_bytes().starts_with(b".") {
            continue;
        }
        let name = entry.file_name().to_string_lossy().to_lowercase();
        if file_type.is_file() && ends.iter().any(|end| name.ends_with(end)) {
            found.push(path);
            if found.len() > limits::MEMORY_FILES_MAX {
                let most = limits::MEMORY_FILES_MAX;
                let place = folder.to_escaped();
                let message = format!("more than {most} files in {place}");
                return Err(Fault::usage(message).hint("name a folder inside it"));
            }
        } else if file_type.is_dir() && depth < limits::SHARED_FOLDER_DEPTH_MAX {
            collect(&path, ends, depth + 1, found)?;
        }
    }
    Ok(())
}

/// Reads a file; the error is a note that names it.
pub(super) fn read_page(path: &Path, shown: &str) -> Result<SharedFile, String> {
    let bytes = project_fs::read_bounded(path, limits::SHARED_FILE_BYTES_MAX);
    let bytes = bytes.map_err(|problem| format!("{shown}: {problem}"))?;
    Ok(SharedFile {
        path: shown.to_owned(),
        text: String::from_utf8_lossy(&bytes).into_owned(),
    })
}

/// Returns a path as it is shown and stored: relative to the project, or below `~`.
pub(super) fn shown_path(path: &Path, root: &Path, home: Option<&Path>) -> String {
    let below = |base: &Path| path.strip_prefix(base).ok().map(|rest| rest.to_escaped());
    let in_home = || Some(format!("~/{}", below(home?)?));
    below(root)
        .filter(|rest| !rest.is_empty())
        .or_else(in_home)
        .unwrap_or_else(|| path.to_escaped())
}
