//! `heirloom import radium` and `heirloom import history`.

use crate::store_access::FoundProject;
use heirloom_engine::{Engine, HistorySource, ImportReport};
use heirloom_fs::project_fs;
use heirloom_model::text::EscapedPath;
use heirloom_model::{Fault, limits};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

/// Radium's sessions folder, relative to the project's root.
pub(super) const SESSIONS_FOLDER: &str = ".radium/_internals/sessions";
/// File name of a session's history.
const HISTORY_FILE: &str = "history.json";

/// Imports the outputs of plans below `path`, or below the configured folder together with the project's histories.
pub(super) fn import_outputs(
    engine: &Engine,
    found: &FoundProject,
    path: Option<&Path>,
    is_dry_run: bool,
) -> Result<ImportReport, Fault> {
    if let Some(path) = path.filter(|path| !path.is_dir()) {
        return Err(
            Fault::not_found(format!("{} is not a folder", path.to_escaped()))
                .hint("name the folder that holds stages, plans and their `memory` folders"),
        );
    }
    let (outputs, mut notes) = engine.outputs().output_sources(path)?;
    let histories = match path {
        Some(_) => Vec::new(),
        None => find_histories(&sessions_folder(found)?, &mut notes)?,
    };
    if outputs.is_empty() && histories.is_empty() && notes.is_empty() {
        return Err(
            Fault::not_found("neither outputs of plans nor histories were found")
                .hint("name the folder of the plans: heirloom import radium PATH"),
        );
    }
    import(engine, &histories, &outputs, "radium", is_dry_run, notes)
}

/// Imports one history, or those of all sessions in a folder.
pub(super) fn import_history(
    engine: &Engine,
    found: &FoundProject,
    path: Option<&Path>,
    session: Option<&str>,
    is_dry_run: bool,
) -> Result<ImportReport, Fault> {
    let mut notes = Vec::new();
    let path = match path {
        Some(path) => path.to_owned(),
        None => sessions_folder(found)?,
    };
    let histories = if path.is_dir() && !path.join(HISTORY_FILE).is_file() {
        find_histories(&path, &mut notes)?
    } else {
        let file = if path.is_dir() {
            path.join(HISTORY_FILE)
        } else {
            path.clone()
        };
        vec![read_history(&file, session)?]
    };
    if histories.is_empty() && notes.is_empty() {
        return Err(
            Fault::not_found(format!("no {HISTORY_FILE} in {}", path.to_escaped()))
                .hint("name the file: heirloom import history PATH"),
        );
    }
    let source = super::import_label("history", &path);
    import(engine, &histories, &[], &source, is_dry_run, notes)
}

/// Returns the project's sessions folder; a link out of the project, which may come with a clone, is refused.
pub(super) fn sessions_folder(found: &FoundProject) -> Result<PathBuf, Fault> {
    let root = &found.place.root;
    let inside = project_fs::normalise_project_path(root, SESSIONS_FOLDER);
    let inside = inside.map_err(|problem| Fault::refused(problem.to_string()))?;
    Ok(root.join(inside))
}

fn import(
    engine: &Engine,
    histories: &[HistorySource],
    outputs: &[heirloom_engine::OutputSource],
    source: &str,
    is_dry_run: bool,
    notes: Vec<String>,
) -> Result<ImportReport, Fault> {
    let mut report = engine
        .sessions()
        .import_histories(histories, outputs, source, is_dry_run)?;
    let notes = notes
        .into_iter()
        .map(|message| heirloom_model::signal::Diagnostic { line: 0, message });
    report.diagnostics.extend(notes);
    Ok(report)
}

/// Finds the histories in the subfolders of a folder, by name; links are skipped.
pub(super) fn find_histories(
    folder: &Path,
    notes: &mut Vec<String>,
) -> Result<Vec<HistorySource>, Fault> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => {
            let place = folder.to_escaped();
            return Err(Fault::failed(format!("cannot list {place}: {error}")));
        }
    };
    let mut paths: Vec<PathBuf> = entries
        .filter_map(Result::ok)
        .filter(|entry| entry.file_type().is_ok_and(|file_type| file_type.is_dir()))
        .map(|entry| entry.path().join(HISTORY_FILE))
        .filter(|path| path.symlink_metadata().is_ok_and(|found| found.is_file()))
        .collect();
    paths.sort();
    if paths.len() > limits::OUTPUT_FILES_MAX {
        let most = limits::OUTPUT_FILES_MAX;
        paths.truncate(most);
        notes.push(format!("only {most} histories are read"));
    }
    let mut found = Vec::new();
    for path in paths {
        match read_history(&path, None) {
            Ok(source) => found.push(source),
            Err(fault) => notes.push(fault.message),
        }
    }
    Ok(found)
}

/// Reads the history at `path`; its folder names the session if `session` is `None`.
fn read_history(path: &Path, session: Option<&str>) -> Result<HistorySource, Fault> {
    let bytes = super::read_up_to(path, limits::HISTORY_FILE_BYTES_MAX)?;
    let folder = path.canonicalize().ok();
    let folder = folder
        .as_deref()
        .and_then(Path::parent)
        .and_then(Path::file_name);
    let named = folder.map(|name| name.to_string_lossy().into_owned());
    let session = session.map(str::to_owned).or(named);
    let session = session.ok_or_else(|| {
        Fault::usage("which session is it?").hint("heirloom import history PATH --session ID")
    })?;
    let changed = fs::metadata(path).and_then(|found| found.modified()).ok();
    let changed = changed.and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    Ok(HistorySource {
        path: path.to_escaped(),
        session,
        changed: changed.map_or(0, |since| i64::try_from(since.as_secs()).unwrap_or(0)),
        bytes,
    })
}
