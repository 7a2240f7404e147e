//! `heirloom import claude`, `codex`, `gemini` and `aider`: conversations that these programs have written down.

use super::Args;
use crate::config::Environment;
use crate::open::{Found, Session};
use heirloom_engine::transcripts::Agent;
use heirloom_engine::{Engine, Reach, TranscriptsReport, TranscriptsRequest};
use heirloom_model::{Fault, limits};
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::json;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

/// The file of Aider's conversations.
const AIDER: &str = ".aider.chat.history.md";
/// Folders that hold what programs made, not what a project says.
const MADE: [&str; 3] = ["node_modules", "target", "vendor"];

/// Takes the transcripts in that `args` ask for, and says what came of it.
pub(super) fn take(
    agent: Agent,
    args: &Args,
    engine: &Engine,
    found: &Found,
    session: &mut Session,
) -> Result<(), Fault> {
    let files = files(agent, args, found, &session.env)?;
    let size: u64 = files
        .iter()
        .filter_map(|file| file.metadata().ok())
        .map(|meta| meta.len())
        .sum();
    let named = args.path.as_deref().is_some_and(Path::is_file);
    let reach = match args.all || args.path.is_some() {
        true => Reach::Inside,
        false => Reach::Here,
    };
    let request = TranscriptsRequest {
        agent,
        files,
        reach,
        recorded_in: args.recorded_in.clone(),
        named,
        dry: args.dry_run,
    };
    let source = match &args.path {
        Some(path) => super::named(agent.as_str(), path),
        None => format!("{agent} transcripts"),
    };
    let report = with_bar(engine, &request, &source, size, session)?;
    if named && report.no_transcripts > 0 {
        let path = args.path.as_deref().unwrap_or(Path::new(""));
        let said = format!("{} is no transcript of {agent}", path.display());
        return Err(Fault::usage(said).hint("nothing was taken in"));
    }
    tell(agent, &report, args, session);
    Ok(())
}

fn with_bar(
    engine: &Engine,
    request: &TranscriptsRequest,
    source: &str,
    size: u64,
    session: &Session,
) -> Result<TranscriptsReport, Fault> {
    if !session.out.shows_progress() {
        return engine.import_transcripts(request, source, &mut |_| {});
    }
    let bar = ProgressBar::new(size);
    // The template is ours; a bar without it is still a bar.
    let template = "reading {bar:30} {bytes}/{total_bytes}, {eta} left";
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style);
    }
    let report = engine.import_transcripts(request, source, &mut |more| bar.inc(more));
    bar.finish_and_clear();
    report
}

fn tell(agent: Agent, report: &TranscriptsReport, args: &Args, session: &mut Session) {
    if session.out.json {
        let mut value = super::as_json(&report.whole);
        value["files"] = json!(report.files);
        value["read_bytes"] = json!(report.read_bytes);
        value["left"] = json!({
            "inside": report.inside,
            "elsewhere": report.elsewhere,
            "unknown": report.unknown,
            "no_transcripts": report.no_transcripts,
        });
        value["long_lines"] = json!(report.long_lines);
        value["unreadable_lines"] = json!(report.unreadable_lines);
        return session.out.value(&value);
    }
    super::tell_in_words(&report.whole, args.dry_run, session);
    let mut said = format!("{} transcripts of {agent} are this project's", report.files);
    if report.inside > 0 {
        said.push_str(&format!(
            "; {} of folders inside of it were left: --all takes them",
            report.inside
        ));
    }
    session.out.talk(&said);
    if let Some(folder) = &report.elsewhere_in {
        let count = report.elsewhere;
        session.out.talk(&format!(
            "{count} belong elsewhere and were left, such as one of {folder}: --recorded-in FOLDER says that the project lay there"
        ));
    }
    if report.unknown > 0 {
        session.out.talk(&format!(
            "{} do not say where they were recorded and were left: name the file",
            report.unknown
        ));
    }
    let (long, unreadable) = (report.long_lines, report.unreadable_lines);
    if long + unreadable > 0 {
        session.out.talk(&format!(
            "{unreadable} lines could not be read and {long} were too long; they were passed over"
        ));
    }
}

/// The files that are looked at.
fn files(
    agent: Agent,
    args: &Args,
    found: &Found,
    env: &Environment,
) -> Result<Vec<PathBuf>, Fault> {
    let mut files = Vec::new();
    if let Some(path) = &args.path {
        let missing = |error| Fault::not_found(format!("cannot read {}: {error}", path.display()));
        let real = path
            .canonicalize()
            .map_err(|error| missing(error).hint("check the path"))?;
        if real.is_dir() {
            walk(&real, agent, 0, &mut files)?;
        } else if real.is_file() {
            files.push(real);
        } else {
            let said = format!("{} is no file and no folder", path.display());
            return Err(Fault::usage(said));
        }
        return Ok(files);
    }
    if agent == Agent::Aider {
        let root = &found.place.root;
        match args.all {
            true => walk(root, agent, 0, &mut files)?,
            false => files.extend(Some(root.join(AIDER)).filter(|file| file.is_file())),
        }
        return Ok(files);
    }
    let folders = places(agent, env)?;
    for folder in folders.iter().filter(|folder| folder.is_dir()) {
        walk(folder, agent, 0, &mut files)?;
    }
    if files.is_empty() {
        let said = folders.iter().map(|folder| folder.display().to_string());
        let said = said.collect::<Vec<_>>().join(" and ");
        return Err(
            Fault::not_found(format!("no transcripts in {said}")).hint(format!(
                "name the file or folder: heirloom import {} PATH",
                args.format_name()
            )),
        );
    }
    Ok(files)
}

/// Where an agent keeps its transcripts.
fn places(agent: Agent, env: &Environment) -> Result<Vec<PathBuf>, Fault> {
    let of = |variable: &str, below: &str| {
        let own = env.get(variable).map(PathBuf::from);
        own.or_else(|| Some(Path::new(env.get("HOME")?).join(below)))
            .ok_or_else(|| {
                Fault::failed("no home folder is known").hint("set HOME, or name the folder")
            })
    };
    Ok(match agent {
        Agent::Claude => vec![of("CLAUDE_CONFIG_DIR", ".claude")?.join("projects")],
        Agent::Codex => {
            let home = of("CODEX_HOME", ".codex")?;
            vec![home.join("sessions"), home.join("archived_sessions")]
        }
        Agent::Gemini => vec![of("GEMINI_CLI_HOME", "")?.join(".gemini/tmp")],
        Agent::Aider => Vec::new(),
    })
}

/// Adds the transcripts below a folder; links are not followed.
fn walk(folder: &Path, agent: Agent, depth: usize, files: &mut Vec<PathBuf>) -> Result<(), Fault> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        // What is further down and cannot be read hides nothing else.
        Err(_) if depth > 0 => return Ok(()),
        Err(error) => {
            return Err(Fault::failed(format!(
                "cannot list {}: {error}",
                folder.display()
            )));
        }
    };
    for entry in entries.flatten() {
        let Ok(sort) = entry.file_type() else {
            continue;
        };
        let (path, name) = (entry.path(), entry.file_name());
        if sort.is_dir() && depth < limits::FOLDER_DEPTH_MAX && is_entered(agent, &name) {
            walk(&path, agent, depth + 1, files)?;
        } else if sort.is_file() && is_transcript(agent, &path, &name) {
            files.push(path);
        }
        if files.len() > limits::TRANSCRIPT_FILES_MAX {
            let most = limits::TRANSCRIPT_FILES_MAX;
            return Err(Fault::usage(format!(
                "more than {most} transcripts in {}",
                folder.display()
            ))
            .hint("name a folder inside of it"));
        }
    }
    Ok(())
}

fn is_entered(agent: Agent, name: &OsStr) -> bool {
    let name = name.to_string_lossy();
    agent != Agent::Aider || !(name.starts_with('.') || MADE.contains(&name.as_ref()))
}

fn is_transcript(agent: Agent, path: &Path, name: &OsStr) -> bool {
    let name = name.to_string_lossy();
    let name = name.strip_suffix(".gz").unwrap_or(&name);
    match agent {
        Agent::Claude => name.ends_with(".jsonl"),
        Agent::Codex => name.starts_with("rollout-") && name.ends_with(".jsonl"),
        Agent::Gemini => {
            let is_chat = path.components().any(|part| part.as_os_str() == "chats");
            let is_named = name.starts_with("session-");
            (name.ends_with(".jsonl") || name.ends_with(".json")) && (is_chat || is_named)
        }
        Agent::Aider => name == AIDER,
    }
}
