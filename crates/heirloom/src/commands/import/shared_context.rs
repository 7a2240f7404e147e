//! `heirloom import shared`: the Markdown files of a shared context.

use crate::store_access::CliSession;
use crate::terminal_output;
use heirloom_engine::{Engine, ImportReport, SharedFile};
use heirloom_formats::shared_context::index_line;
use heirloom_model::text::EscapedPath;
use heirloom_model::{Fault, limits};
use serde_json::json;
use std::fs;
use std::path::{Path, PathBuf};

/// Imports the files at `path`.
pub(super) fn import_files(engine: &Engine, path: &Path) -> Result<ImportReport, Fault> {
    engine
        .imports()
        .import_shared(&read_files(path)?, &super::import_label("shared", path))
}

/// Prints a line for each file at `path`, without importing.
pub(super) fn print_index(path: &Path, session: &mut CliSession) -> Result<(), Fault> {
    let files = read_files(path)?;
    let lines = files.iter().map(|file| index_line(&file.path, &file.text));
    if session.out.json {
        let line = |line: heirloom_formats::shared_context::IndexLine| json!({"path": line.path, "size": line.size, "summary": line.summary});
        let all: Vec<_> = lines.map(line).collect();
        session.out.value(&json!({ "files": all }));
        return Ok(());
    }
    let rows: Vec<_> = lines
        .map(|line| vec![line.path, line.size.to_string(), line.summary])
        .collect();
    if rows.is_empty() {
        session.out.talk("no Markdown files found");
    } else {
        session.out.line(&terminal_output::table(&rows));
    }
    Ok(())
}

/// Reads the file at `path`, or the Markdown files in that folder, sorted by name.
fn read_files(path: &Path) -> Result<Vec<SharedFile>, Fault> {
    let mut paths = Vec::new();
    if path.is_dir() {
        collect_markdown(path, 1, &mut paths)?;
        paths.sort();
    } else {
        paths.push(path.to_owned());
    }
    let most = limits::SHARED_FILES_MAX;
    if paths.len() > most {
        return Err(Fault::usage(format!(
            "more than {most} Markdown files in {}",
            path.to_escaped()
        ))
        .hint("name a folder inside it"));
    }
    paths.iter().map(|path| read_file(path)).collect()
}

/// Collects the Markdown files of a folder; hidden ones and links are skipped.
pub(super) fn collect_markdown(
    folder: &Path,
    depth: usize,
    found: &mut Vec<PathBuf>,
) -> Result<(), Fault> {
    let list_error = |error| Fault::failed(format!("cannot list {}: {error}", folder.to_escaped()));
    for entry in fs::read_dir(folder).map_err(list_error)? {
        let entry = entry.map_err(list_error)?;
        let path = entry.path();
        let name = entry.file_name();
        let file_type = entry.file_type().map_err(list_error)?;
        if name.as_encoded_bytes().starts_with(b".") || found.len() > limits::SHARED_FILES_MAX {
            continue;
        }
        if file_type.is_file() && is_markdown(&path) {
            found.push(path);
        } else if file_type.is_dir() && depth < limits::SHARED_FOLDER_DEPTH_MAX {
            collect_markdown(&path, depth + 1, found)?;
        }
    }
    Ok(())
}

pub(super) fn is_markdown(path: &Path) -> bool {
    path.extension()
        .is_some_and(|end| end.eq_ignore_ascii_case("md") || end.eq_ignore_ascii_case("markdown"))
}

fn read_file(path: &Path) -> Result<SharedFile, Fault> {
    let bytes = super::read_up_to(path, limits::SHARED_FILE_BYTES_MAX)?;
    Ok(SharedFile {
        path: path.to_escaped(),
        text: String::from_utf8_lossy(&bytes).into_owned(),
    })
}
