//! `heirloom import PROGRAM`: conversations recorded by agent programs.

use super::Args;
use crate::config::Environment;
use crate::store_access::{CliSession, FoundProject, ProjectFolders};
use heirloom_agents::transcripts::TranscriptFormat;
use heirloom_agents::{AgentProgram, ProgramFolder};
use heirloom_capture::Transcripts;
use heirloom_capture::{ImportScope, TranscriptsReport, TranscriptsRequest};
use heirloom_engine::Engine;
use heirloom_model::text::EscapedPath;
use heirloom_model::text::counted;
use heirloom_model::{Fault, limits};
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::json;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

/// Folders with generated or third-party files, which are skipped.
const GENERATED_FOLDERS: [&str; 3] = ["node_modules", "target", "vendor"];

/// Imports the transcripts selected by `args`, and prints the result.
pub(super) fn import_conversations(
    agent: AgentProgram,
    args: &Args,
    engine: &Engine,
    found: &FoundProject,
    session: &mut CliSession,
) -> Result<(), Fault> {
    let files = find_files(agent, args, found, &session.env)?;
    let size: u64 = files
        .iter()
        .filter_map(|file| file.metadata().ok())
        .map(|meta| meta.len())
        .sum();
    let named = args.path.as_deref().is_some_and(Path::is_file);
    let reach = match args.all || args.path.is_some() {
        true => ImportScope::WithSubfolders,
        false => ImportScope::Root,
    };
    let request = TranscriptsRequest {
        agent,
        files,
        scope: reach,
        former_root: args.recorded_in.clone(),
        seen_roots: ProjectFolders::of(&session.env).list(engine.folder()),
        is_explicit: named,
        dry_run: args.dry_run,
    };
    let source = match &args.path {
        Some(path) => super::import_label(agent.as_str(), path),
        None => format!("{agent} transcripts"),
    };
    let report = import_with_progress(engine, &request, &source, size, session)?;
    if named && report.no_transcripts > 0 {
        let path = args.path.as_deref().unwrap_or(Path::new(""));
        let message = format!("{} is not a transcript of {agent}", path.to_escaped());
        return Err(Fault::usage(message).hint("nothing was imported"));
    }
    print_report(agent, &report, args, session);
    Ok(())
}

fn import_with_progress(
    engine: &Engine,
    request: &TranscriptsRequest,
    source: &str,
    size: u64,
    session: &CliSession,
) -> Result<TranscriptsReport, Fault> {
    if !session.out.shows_progress() {
        return Transcripts::new(engine).import_all(request, source, &mut |_| {});
    }
    session.out.end_progress();
    let bar = ProgressBar::new(size);
    // The template is a constant; if it were invalid, the default style would be used.
    let template = "reading {bar:30} {bytes}/{total_bytes}, {eta} left";
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style);
    }
    let report = Transcripts::new(engine).import_all(request, source, &mut |more| bar.inc(more));
    bar.finish_and_clear();
    report
}

fn print_report(
    agent: AgentProgram,
    report: &TranscriptsReport,
    args: &Args,
    session: &mut CliSession,
) {
    if session.out.json {
        let mut value = super::report_value(&report.total);
        value["files"] = json!(report.files);
        value["read_bytes"] = json!(report.read_bytes);
        value["left"] = json!({
            "inside": report.in_subfolders,
            "elsewhere": report.outside,
            "unknown": report.unknown,
            "no_transcripts": report.no_transcripts,
        });
        let former = former_folders(report);
        let former = former.map(|(path, count)| json!({"folder": path, "conversations": count}));
        value["former_folders"] = former.collect();
        value["long_lines"] = json!(report.long_lines);
        value["unreadable_lines"] = json!(report.unreadable_lines);
        value["lessons"] = json!(report.lessons.created + report.lessons.changed);
        return session.out.value(&value);
    }
    super::print_report_text(&report.total, args.dry_run, session);
    let lessons = report.lessons.created + report.lessons.changed;
    if lessons > 0 {
        session.out.talk(&format!(
            "{} learned from them; heirloom review lists the proposals",
            counted(lessons, "record was", "records were")
        ));
    }
    let one = format!("transcript of {agent} belongs to this project");
    let many = format!("transcripts of {agent} belong to this project");
    let mut message = counted(report.files, &one, &many);
    if report.in_subfolders > 0 {
        message.push_str(&format!(
            "; {} skipped: --all imports them",
            counted(
                report.in_subfolders,
                "of a folder inside it was",
                "of folders inside it were"
            )
        ));
    }
    session.out.talk(&message);
    if let Some(message) = outside_message(report) {
        session.out.talk(&message);
    }
    if report.unknown > 0 {
        session.out.talk(&format!(
            "{}: name the file",
            counted(
                report.unknown,
                "does not contain the folder where it was recorded and was skipped",
                "do not contain the folder where they were recorded and were skipped"
            )
        ));
    }
    let (long, unreadable) = (report.long_lines, report.unreadable_lines);
    if long + unreadable > 0 {
        session.out.talk(&format!(
            "{} not be read and {} too long; skipped",
            counted(unreadable, "line could", "lines could"),
            counted(long, "was", "were")
        ));
    }
}

/// Returns the folders that the project may have had, with the most conversations first: those of skipped conversations
/// that do not exist any more.
fn former_folders(report: &TranscriptsReport) -> impl Iterator<Item = (&str, u64)> {
    let mut folders: Vec<(&str, u64)> = report
        .outside_folders
        .iter()
        .map(|(folder, count)| (folder.as_str(), *count))
        .filter(|(folder, _)| Path::new(folder).symlink_metadata().is_err())
        .collect();
    folders.sort_by(|one, other| other.1.cmp(&one.1).then(one.0.cmp(other.0)));
    folders.into_iter().take(limits::FORMER_FOLDERS_SHOWN_MAX)
}

/// Describes the conversations that were skipped because of their folder; `None` without any.
fn outside_message(report: &TranscriptsReport) -> Option<String> {
    let any = report.outside_folders.keys().next()?;
    let skipped = counted(
        report.outside,
        "belongs to another folder and was",
        "belong to other folders and were",
    );
    let former: Vec<String> = former_folders(report)
        .map(|(folder, count)| format!("{} ({count})", Path::new(folder).to_escaped()))
        .collect();
    Some(match former.is_empty() {
        true => format!(
            "{skipped} skipped, such as one of {}: --recorded-in FOLDER names a former folder of the project",
            Path::new(any).to_escaped()
        ),
        false => format!(
            "{skipped} skipped. Folders of them that are gone: {}; --recorded-in FOLDER names a former folder of the project",
            former.join(", ")
        ),
    })
}

/// Finds the transcripts to read.
fn find_files(
    agent: AgentProgram,
    args: &Args,
    found: &FoundProject,
    env: &Environment,
) -> Result<Vec<PathBuf>, Fault> {
    let no_transcripts = || Fault::usage(format!("{agent} has no transcripts"));
    let format = agent.transcripts().ok_or_else(no_transcripts)?;
    let mut files = Vec::new();
    if let Some(path) = &args.path {
        let missing =
            |error| Fault::not_found(format!("cannot read {}: {error}", path.to_escaped()));
        let real = heirloom_fs::canonicalize(path)
            .map_err(|error| missing(error).hint("check the path"))?;
        if real.is_dir() {
            collect_transcripts(&real, format, 0, &mut files)?;
        } else if real.is_file() {
            files.push(real);
        } else {
            let message = format!("{} is neither a file nor a folder", path.to_escaped());
            return Err(Fault::usage(message));
        }
        return Ok(files);
    }
    if let Some(name) = format.project_file {
        let root = &found.place.root;
        match args.all {
            true => collect_transcripts(root, format, 0, &mut files)?,
            false => files.extend(Some(root.join(name)).filter(|file| file.is_file())),
        }
        return Ok(files);
    }
    let folders = transcript_folders(format, env)?;
    for folder in folders.iter().filter(|folder| folder.is_dir()) {
        collect_transcripts(folder, format, 0, &mut files)?;
    }
    if files.is_empty() {
        let folder_names = folders.iter().map(|folder| folder.to_escaped());
        let folder_names = folder_names.collect::<Vec<_>>().join(" and ");
        return Err(
            Fault::not_found(format!("no transcripts in {folder_names}")).hint(format!(
                "name the file or folder: heirloom import {} PATH",
                args.format_name()
            )),
        );
    }
    Ok(files)
}

/// Returns the transcript whose name contains a session's id, or the one of the project; `None` if both are missing.
pub(in crate::commands) fn find_session_transcript(
    agent: AgentProgram,
    session: &str,
    root: &Path,
    env: &Environment,
) -> Option<PathBuf> {
    let format = agent.transcripts()?;
    if let Some(name) = format.project_file {
        return Some(root.join(name)).filter(|file| file.is_file());
    }
    let mut files = Vec::new();
    for folder in transcript_folders(format, env).ok()? {
        // An unreadable folder has no transcript to read.
        drop(collect_transcripts(&folder, format, 0, &mut files));
    }
    files.into_iter().find(|file| {
        let name = file.file_name().unwrap_or_default();
        name.to_string_lossy().contains(session)
    })
}

/// Finds the place from which `heirloom import PROGRAM` has something to import: the file or the folder with a
/// transcript that was recorded in the root of the project.
pub(super) fn find_project_transcripts(
    agent: AgentProgram,
    engine: &Engine,
    root: &Path,
    env: &Environment,
) -> Option<PathBuf> {
    let format = agent.transcripts()?;
    let is_ours = |file: &PathBuf| Transcripts::new(engine).is_of_project(agent, file);
    if let Some(name) = format.project_file {
        return Some(root.join(name)).filter(|file| file.is_file() && is_ours(file));
    }
    let has_ours = |folder: &PathBuf| {
        let mut files = Vec::new();
        // An unreadable folder has no transcript to read.
        drop(collect_transcripts(folder, format, 0, &mut files));
        files.iter().any(is_ours)
    };
    transcript_folders(format, env)
        .ok()?
        .into_iter()
        .find(has_ours)
}

/// Returns the folders in which an agent program stores its transcripts.
fn transcript_folders(format: &TranscriptFormat, env: &Environment) -> Result<Vec<PathBuf>, Fault> {
    let folder = |folder: &ProgramFolder| {
        folder.resolve(|name| env.get(name)).ok_or_else(|| {
            Fault::failed("no home folder is known").hint("set HOME, or name the folder")
        })
    };
    format.folders.iter().map(folder).collect()
}

/// Collects the transcripts below a folder; links are not followed.
fn collect_transcripts(
    folder: &Path,
    format: &TranscriptFormat,
    depth: usize,
    files: &mut Vec<PathBuf>,
) -> Result<(), Fault> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        // An unreadable subfolder is skipped, so that the rest is still found.
        Err(_) if depth > 0 => return Ok(()),
        Err(error) => {
            return Err(Fault::failed(format!(
                "cannot list {}: {error}",
                folder.to_escaped()
            )));
        }
    };
    for entry in entries.flatten() {
        let Ok(file_type) = entry.file_type() else {
            continue;
        };
        let (path, name) = (entry.path(), entry.file_name());
        if file_type.is_dir() && depth < limits::FOLDER_DEPTH_MAX && is_entered(format, &name) {
            collect_transcripts(&path, format, depth + 1, files)?;
        } else if file_type.is_file() && is_transcript(format, &path, &name) {
            files.push(path);
        }
        if files.len() > limits::TRANSCRIPT_FILES_MAX {
            let most = limits::TRANSCRIPT_FILES_MAX;
            return Err(Fault::usage(format!(
                "more than {most} transcripts in {}",
                folder.to_escaped()
            ))
            .hint("name a folder inside it"));
        }
    }
    Ok(())
}

/// Returns true if a folder is searched: of a project, generated and hidden folders are not.
fn is_entered(format: &TranscriptFormat, name: &OsStr) -> bool {
    let name = name.to_string_lossy();
    let is_skipped = name.starts_with('.') || GENERATED_FOLDERS.contains(&name.as_ref());
    format.project_file.is_none() || !is_skipped
}

fn is_transcript(format: &TranscriptFormat, path: &Path, name: &OsStr) -> bool {
    let name = name.to_string_lossy();
    let name = name.strip_suffix(".gz").unwrap_or(&name);
    (format.is_transcript)(path, name)
}
