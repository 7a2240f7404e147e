//! `heirloom import radium` and `heirloom import history`.

use crate::open::Found;
use heirloom_engine::{Engine, HistorySource, ImportReport, places};
use heirloom_model::{Fault, limits};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

/// Where Radium keeps its sessions, relative to the project's root.
pub(super) const SESSIONS: &str = ".radium/_internals/sessions";
/// The file of a session.
const HISTORY: &str = "history.json";

/// Takes in the outputs of plans below `path`, or below the configured folder, and the histories of the project.
pub(super) fn outputs(
    engine: &Engine,
    found: &Found,
    path: Option<&Path>,
    dry: bool,
) -> Result<ImportReport, Fault> {
    if let Some(path) = path.filter(|path| !path.is_dir()) {
        return Err(Fault::not_found(format!("{} is no folder", path.display()))
            .hint("name the folder that holds stages, plans and their `memory` folders"));
    }
    let (outputs, mut told) = engine.output_sources(path)?;
    let histories = match path {
        Some(_) => Vec::new(),
        None => sessions(&own_sessions(found)?, &mut told)?,
    };
    if outputs.is_empty() && histories.is_empty() && told.is_empty() {
        return Err(
            Fault::not_found("no outputs of plans and no histories are there")
                .hint("name the folder of the plans: heirloom import radium PATH"),
        );
    }
    taken(engine, &histories, &outputs, "radium", dry, told)
}

/// Takes in one history, or those of all sessions in a folder.
pub(super) fn history(
    engine: &Engine,
    found: &Found,
    path: Option<&Path>,
    session: Option<&str>,
    dry: bool,
) -> Result<ImportReport, Fault> {
    let mut told = Vec::new();
    let path = match path {
        Some(path) => path.to_owned(),
        None => own_sessions(found)?,
    };
    let histories = if path.is_dir() && !path.join(HISTORY).is_file() {
        sessions(&path, &mut told)?
    } else {
        let file = if path.is_dir() {
            path.join(HISTORY)
        } else {
            path.clone()
        };
        vec![one(&file, session)?]
    };
    if histories.is_empty() && told.is_empty() {
        return Err(
            Fault::not_found(format!("no {HISTORY} in {}", path.display()))
                .hint("name the file: heirloom import history PATH"),
        );
    }
    let source = super::named("history", &path);
    taken(engine, &histories, &[], &source, dry, told)
}

/// The project's own folder of sessions: no link leads out of the project, which may have come with a clone.
pub(super) fn own_sessions(found: &Found) -> Result<PathBuf, Fault> {
    let root = &found.place.root;
    let inside = places::normalise_inside(root, SESSIONS);
    let inside = inside.map_err(|problem| Fault::refused(problem.to_string()))?;
    Ok(root.join(inside))
}

fn taken(
    engine: &Engine,
    histories: &[HistorySource],
    outputs: &[heirloom_engine::OutputSource],
    source: &str,
    dry: bool,
    told: Vec<String>,
) -> Result<ImportReport, Fault> {
    let mut report = engine.import_histories(histories, outputs, source, dry)?;
    let told = told
        .into_iter()
        .map(|message| heirloom_model::signal::Diagnostic { line: 0, message });
    report.diagnostics.extend(told);
    Ok(report)
}

/// The histories in the folders of a folder, by name; a link is left out.
pub(super) fn sessions(folder: &Path, told: &mut Vec<String>) -> Result<Vec<HistorySource>, Fault> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => {
            let place = folder.display();
            return Err(Fault::failed(format!("cannot list {place}: {error}")));
        }
    };
    let mut paths: Vec<PathBuf> = entries
        .filter_map(Result::ok)
        .filter(|entry| entry.file_type().is_ok_and(|sort| sort.is_dir()))
        .map(|entry| entry.path().join(HISTORY))
        .filter(|path| path.symlink_metadata().is_ok_and(|found| found.is_file()))
        .collect();
    paths.sort();
    if paths.len() > limits::OUTPUT_FILES_MAX {
        let most = limits::OUTPUT_FILES_MAX;
        paths.truncate(most);
        told.push(format!("only {most} histories are read"));
    }
    let mut found = Vec::new();
    for path in paths {
        match one(&path, None) {
            Ok(source) => found.push(source),
            Err(fault) => told.push(fault.message),
        }
    }
    Ok(found)
}

/// The history at `path`; its folder names the session unless that is given.
fn one(path: &Path, session: Option<&str>) -> Result<HistorySource, Fault> {
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
        path: path.display().to_string(),
        session,
        changed: changed.map_or(0, |since| i64::try_from(since.as_secs()).unwrap_or(0)),
        bytes,
    })
}
