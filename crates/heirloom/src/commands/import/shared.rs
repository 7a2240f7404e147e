//! `heirloom import shared`: the Markdown files of a shared context.

use crate::open::Session;
use crate::output;
use heirloom_engine::shared::index_line;
use heirloom_engine::{Engine, ImportReport, SharedFile};
use heirloom_model::{Fault, limits};
use serde_json::json;
use std::fs;
use std::path::{Path, PathBuf};

/// Takes the files at `path` in.
pub(super) fn take(engine: &Engine, path: &Path) -> Result<ImportReport, Fault> {
    engine.import_shared(&files(path)?, &super::named("shared", path))
}

/// Prints a line for each file at `path`; takes nothing in.
pub(super) fn index(path: &Path, session: &mut Session) -> Result<(), Fault> {
    let files = files(path)?;
    let lines = files.iter().map(|file| index_line(&file.path, &file.text));
    if session.out.json {
        let line = |line: heirloom_engine::shared::IndexLine| json!({"path": line.path, "size": line.size, "summary": line.summary});
        let all: Vec<_> = lines.map(line).collect();
        session.out.value(&json!({ "files": all }));
        return Ok(());
    }
    let rows: Vec<_> = lines
        .map(|line| vec![line.path, line.size.to_string(), line.summary])
        .collect();
    if rows.is_empty() {
        session.out.talk("no Markdown file there");
    } else {
        session.out.line(&output::table(&rows));
    }
    Ok(())
}

/// The file at `path`, or the Markdown files in that folder, by name.
fn files(path: &Path) -> Result<Vec<SharedFile>, Fault> {
    let mut paths = Vec::new();
    if path.is_dir() {
        collect(path, 1, &mut paths)?;
        paths.sort();
    } else {
        paths.push(path.to_owned());
    }
    let most = limits::SHARED_FILES_MAX;
    if paths.len() > most {
        return Err(Fault::usage(format!(
            "more than {most} Markdown files in {}",
            path.display()
        ))
        .hint("name a folder inside of it"));
    }
    paths.iter().map(|path| read(path)).collect()
}

/// Adds the Markdown files of a folder; hidden ones and links are left out.
pub(super) fn collect(folder: &Path, depth: usize, found: &mut Vec<PathBuf>) -> Result<(), Fault> {
    let cannot = |error| Fault::failed(format!("cannot list {}: {error}", folder.display()));
    for entry in fs::read_dir(folder).map_err(cannot)? {
        let entry = entry.map_err(cannot)?;
        let path = entry.path();
        let name = entry.file_name();
        let sort = entry.file_type().map_err(cannot)?;
        if name.as_encoded_bytes().starts_with(b".") || found.len() > limits::SHARED_FILES_MAX {
            continue;
        }
        if sort.is_file() && is_markdown(&path) {
            found.push(path);
        } else if sort.is_dir() && depth < limits::SHARED_FOLDER_DEPTH_MAX {
            collect(&path, depth + 1, found)?;
        }
    }
    Ok(())
}

pub(super) fn is_markdown(path: &Path) -> bool {
    path.extension()
        .is_some_and(|end| end.eq_ignore_ascii_case("md") || end.eq_ignore_ascii_case("markdown"))
}

fn read(path: &Path) -> Result<SharedFile, Fault> {
    let bytes = super::read_up_to(path, limits::SHARED_FILE_BYTES_MAX)?;
    Ok(SharedFile {
        path: path.display().to_string(),
        text: String::from_utf8_lossy(&bytes).into_owned(),
    })
}
