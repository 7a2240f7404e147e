//! `heirloom import`.

pub(super) mod offered;
mod radium;
mod shared;
mod transcripts;

use super::reembed::catch_up;
use crate::open::{self, Session};
use crate::wire::lines::{self, Line};
use heirloom_engine::transcripts::Agent;
use heirloom_engine::{Carried, Engine, ImportReport, agentium, mirror, places};
use heirloom_model::signal::Diagnostic;
use heirloom_model::{Fault, limits};
use serde_json::json;
use std::path::{Path, PathBuf};

/// Take in what was remembered elsewhere; the same import twice changes nothing
#[derive(Debug, clap::Args)]
#[command(
    after_help = "`heirloom init --import` takes in all that it finds. Without PATH, workspace is ~/.agent/workspace, and agentium looks for .agentium/memory.json and .agentium.yaml in the project."
)]
pub(crate) struct Args {
    /// jsonl: an export; agentium: memory.json and .agentium.yaml; shared: Markdown, headings are category and key;
    /// radium: outputs of plans and histories; history: a history.json; workspace: a folder with MEMORY.md and others;
    /// server-memory: the JSON lines of the MCP server "memory"; claude, codex, gemini, aider: conversations that these
    /// programs wrote down, those of this folder if no PATH is named
    format: Format,
    /// The file; of shared and conversations also a folder, of workspace the folder
    path: Option<PathBuf>,
    /// Of conversations: every one that was recorded inside of this project
    #[arg(long, conflicts_with = "path")]
    all: bool,
    /// Of conversations: those that were recorded in this folder are this project's, which lay there
    #[arg(long, value_name = "FOLDER")]
    recorded_in: Option<PathBuf>,
    /// Of shared: only print path, size and summary of each file, and take nothing in
    #[arg(long)]
    index: bool,
    /// Of history: the session, where the file's folder does not name it
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// Of radium, history, workspace, server-memory and conversations: only say what would come, and take nothing in
    #[arg(long)]
    dry_run: bool,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum Format {
    Jsonl,
    Agentium,
    #[value(alias = "markdown")]
    Shared,
    Radium,
    History,
    Workspace,
    ServerMemory,
    #[value(alias = "claude-code")]
    Claude,
    Codex,
    Gemini,
    Aider,
}

impl Args {
    /// The format as it was typed.
    fn format_name(&self) -> String {
        let value = clap::ValueEnum::to_possible_value(&self.format);
        value.map_or_else(String::new, |value| value.get_name().to_owned())
    }
}

impl Format {
    /// The program whose conversations it is.
    fn agent(self) -> Option<Agent> {
        match self {
            Self::Claude => Some(Agent::Claude),
            Self::Codex => Some(Agent::Codex),
            Self::Gemini => Some(Agent::Gemini),
            Self::Aider => Some(Agent::Aider),
            Self::Jsonl
            | Self::Agentium
            | Self::Shared
            | Self::Radium
            | Self::History
            | Self::Workspace
            | Self::ServerMemory => None,
        }
    }

    fn can_be_dry(self) -> bool {
        match self {
            Self::Radium | Self::History | Self::Workspace | Self::ServerMemory => true,
            Self::Claude | Self::Codex | Self::Gemini | Self::Aider => true,
            Self::Jsonl | Self::Agentium | Self::Shared => false,
        }
    }
}

/// Where Agentium keeps its memory, relative to the project's root.
const AGENTIUM_MEMORY: &str = ".agentium/memory.json";
/// Where Agentium keeps its settings.
const AGENTIUM_SETTINGS: &str = ".agentium.yaml";

pub(crate) fn run(args: Args, session: &mut Session) -> Result<u8, Fault> {
    let found = session.find()?;
    let engine = session.engine(&found)?;
    session.take_in(&engine);
    if args.index && !matches!(args.format, Format::Shared) {
        return Err(Fault::usage("--index is for `import shared`"));
    }
    if args.dry_run && !args.format.can_be_dry() {
        return Err(Fault::usage(
            "--dry-run is for `import radium`, `history`, `workspace`, `server-memory` and conversations",
        ));
    }
    if args.session.is_some() && !matches!(args.format, Format::History) {
        return Err(Fault::usage("--session is for `import history`"));
    }
    if (args.all || args.recorded_in.is_some()) && args.format.agent().is_none() {
        return Err(Fault::usage(
            "--all and --recorded-in are for `import claude`, `codex`, `gemini` and `aider`",
        ));
    }
    let engine = session.with_embedder(engine, &found);
    if let Some(agent) = args.format.agent() {
        transcripts::take(agent, &args, &engine, &found, session)?;
        catch_up(&engine, session);
        return Ok(0);
    }
    take(args, &engine, &found, session)
}

/// Takes in what is no conversation.
fn take(
    args: Args,
    engine: &Engine,
    found: &open::Found,
    session: &mut Session,
) -> Result<u8, Fault> {
    let path = args.path.as_deref();
    let report = match args.format {
        Format::Claude | Format::Codex | Format::Gemini | Format::Aider => ImportReport::default(),
        Format::Radium => radium::outputs(engine, found, path, args.dry_run)?,
        Format::History => {
            radium::history(engine, found, path, args.session.as_deref(), args.dry_run)?
        }
        Format::Shared => {
            let path = args.path.ok_or_else(|| {
                Fault::usage("which file or folder?").hint("heirloom import shared PATH")
            })?;
            if args.index {
                shared::index(&path, session)?;
                return Ok(0);
            }
            shared::take(engine, &path)?
        }
        Format::Jsonl => {
            let path = args
                .path
                .ok_or_else(|| Fault::usage("which file?").hint("heirloom import jsonl FILE"))?;
            import_jsonl(engine, &path)?
        }
        Format::Workspace => offered::workspace(engine, session, path, args.dry_run)?.whole,
        Format::ServerMemory => {
            let path = path.ok_or_else(|| {
                Fault::usage("which file?").hint("heirloom import server-memory FILE")
            })?;
            offered::graph(engine, path, args.dry_run)?.whole
        }
        Format::Agentium => import_agentium(engine, found, args.path.as_deref(), session)?,
    };
    tell(&report, args.dry_run, session);
    catch_up(engine, session);
    let lines_left_out = matches!(args.format, Format::Jsonl) && !report.diagnostics.is_empty();
    Ok(u8::from(lines_left_out))
}

/// Says what an import brought.
fn tell(report: &ImportReport, dry: bool, session: &mut Session) {
    if session.out.json {
        return session.out.value(&as_json(report));
    }
    tell_in_words(report, dry, session);
}

/// What an import brought.
pub(super) fn as_json(report: &ImportReport) -> serde_json::Value {
    let diagnostics = report.diagnostics.iter();
    let diagnostics = diagnostics.map(|d| json!({"line": d.line, "message": d.message}));
    let mut value = json!({
        "created": report.created,
        "known": report.known,
        "import": report.batch.map(|id| id.to_string()),
        "diagnostics": diagnostics.collect::<Vec<_>>(),
    });
    if let Some(redacted) = report.redacted {
        value["redacted"] = json!(redacted);
    }
    value
}

/// The same for a person.
pub(super) fn tell_in_words(report: &ImportReport, dry: bool, session: &mut Session) {
    tell_diagnostics(report, session);
    let done = match dry {
        true => "would be taken in",
        false => "taken in",
    };
    let (created, known) = (report.created, report.known);
    let mut said = format!("{created} records {done}, {known} known already");
    if let Some(redacted) = report.redacted.filter(|redacted| *redacted > 0) {
        said.push_str(&format!(", {redacted} without their secrets"));
    }
    session.out.line(&said);
    if let Some(import) = report.batch {
        let hint = format!("  heirloom undo {import}   takes all of it back");
        session.out.talk(&hint);
    }
}

/// What of it could not be read.
pub(super) fn tell_diagnostics(report: &ImportReport, session: &mut Session) {
    for diagnostic in &report.diagnostics {
        let message = match diagnostic.line {
            0 => diagnostic.message.clone(),
            line => format!("line {line}: {}", diagnostic.message),
        };
        session.out.talk(&message);
    }
}

/// How an import is named in the history: its format and its file.
fn named(format: &str, path: &Path) -> String {
    let name = path.file_name().unwrap_or_default();
    format!("{format} {}", name.to_string_lossy())
}

fn read(path: &Path) -> Result<Vec<u8>, Fault> {
    read_up_to(path, limits::IMPORT_BYTES_MAX)
}

fn read_up_to(path: &Path, most: u64) -> Result<Vec<u8>, Fault> {
    let name = path.display();
    let meta = std::fs::metadata(path).map_err(|error| {
        Fault::not_found(format!("cannot read {name}: {error}")).hint("check the path")
    })?;
    if !meta.is_file() {
        return Err(Fault::usage(format!("{name} is no file")));
    }
    if meta.len() > most {
        return Err(Fault::usage(format!(
            "{name} has {} bytes; at most {most} are read",
            meta.len()
        )));
    }
    std::fs::read(path).map_err(|error| Fault::failed(format!("cannot read {name}: {error}")))
}

fn import_jsonl(engine: &Engine, path: &Path) -> Result<ImportReport, Fault> {
    let bytes = read(path)?;
    let mut carried = Carried::default();
    let (mut diagnostics, mut untold) = (Vec::new(), 0);
    for (number, line) in (1_u64..).zip(bytes.split(|byte| *byte == b'\n')) {
        if line.trim_ascii().is_empty() {
            continue;
        }
        let parsed = serde_json::from_slice(line)
            .map_err(|error| format!("no JSON: {error}"))
            .and_then(|value| lines::parse(value, engine.project()));
        match parsed {
            Ok(Line::Record(record)) => carried.records.push((number, *record)),
            Ok(Line::Session(session)) => carried.sessions.push(session),
            Ok(Line::Message(session, message)) => {
                carried.messages.entry(session).or_default().push(message);
            }
            Ok(Line::Lapse(id, lapse)) => carried.lapses.entry(id).or_default().push(lapse),
            Err(_) if diagnostics.len() > limits::DIAGNOSTICS_MAX => untold += 1,
            Err(message) => diagnostics.push(Diagnostic {
                line: number,
                message,
            }),
        }
    }
    let mut report = engine.import_all(carried, &named("jsonl", path))?;
    report.diagnostics.append(&mut diagnostics);
    report.diagnostics.sort_by_key(|diagnostic| diagnostic.line);
    untold += report
        .diagnostics
        .len()
        .saturating_sub(limits::DIAGNOSTICS_MAX);
    if untold > 0 {
        report.diagnostics.truncate(limits::DIAGNOSTICS_MAX);
        let line = report.diagnostics.last().map_or(0, |last| last.line);
        let most = limits::DIAGNOSTICS_MAX;
        let message = format!("{untold} more lines were not taken; the first {most} are told");
        report.diagnostics.push(Diagnostic { line, message });
    }
    Ok(report)
}

fn import_agentium(
    engine: &Engine,
    found: &open::Found,
    path: Option<&Path>,
    session: &mut Session,
) -> Result<ImportReport, Fault> {
    let root = &found.place.root;
    let is_settings = |path: &Path| {
        path.extension()
            .is_some_and(|end| end == "yaml" || end == "yml")
    };
    let (memory, settings) = match path {
        Some(path) if is_settings(path) => (None, Some(path.to_owned())),
        Some(path) => (Some(path.to_owned()), None),
        None => {
            let there = |name: &str| Some(root.join(name)).filter(|path| path.is_file());
            (there(AGENTIUM_MEMORY), there(AGENTIUM_SETTINGS))
        }
    };
    if memory.is_none() && settings.is_none() {
        return Err(Fault::not_found(format!(
            "neither {AGENTIUM_MEMORY} nor {AGENTIUM_SETTINGS} in {}",
            root.display()
        ))
        .hint("name the file: heirloom import agentium PATH"));
    }
    let mut report = ImportReport::default();
    let mut memory = memory;
    if let Some(path) = settings {
        let taken = import_settings(engine, found, &path, session)?;
        let named = taken
            .and_then(|file| places::normalise_inside(root, &file).ok())
            .map(|file| root.join(file));
        memory = memory.or(named.filter(|path| path.is_file()));
    }
    if let Some(path) = memory {
        let parsed = mirror::parse(&read(&path)?).map_err(|error| {
            Fault::failed(format!("{}: {error}", path.display())).hint("nothing was taken in")
        })?;
        report = engine.import_mirror(parsed, &named("agentium", &path))?;
    }
    Ok(report)
}

/// Lays the `memory:` section of `.agentium.yaml` into the project's config; says what it wrote.
/// Returns the memory file that it names.
fn import_settings(
    engine: &Engine,
    found: &open::Found,
    path: &Path,
    session: &mut Session,
) -> Result<Option<String>, Fault> {
    let parsed = agentium::parse(&String::from_utf8_lossy(&read(path)?))
        .map_err(|error| Fault::failed(format!("{}: {error}", path.display())))?;
    for problem in &parsed.diagnostics {
        session.out.talk(&format!("{}: {problem}", path.display()));
    }
    let settings = parsed.memory.unwrap_or_default();
    let mut edits = Vec::new();
    if let Some(enabled) = settings.enabled {
        edits.push(("enabled", toml::Value::Boolean(enabled)));
    }
    match settings
        .file_path
        .as_deref()
        .map(|file| engine.mirror_at(file))
    {
        Some(Err(fault)) => {
            session
                .out
                .talk(&format!("{}: {}; skipped", path.display(), fault.message))
        }
        Some(Ok(_)) | None => {
            let file = settings.file_path.clone().map(toml::Value::String);
            edits.extend(file.map(|file| ("file_path", file)));
        }
    }
    for (key, value) in [
        ("max_entries", settings.max_entries),
        ("context_budget", settings.context_budget),
    ] {
        if let Some(value) = value.and_then(|n| i64::try_from(n).ok()) {
            edits.push((key, toml::Value::Integer(value)));
        }
    }
    edits.retain(
        |(key, value)| match crate::config::check("memory", key, value) {
            Ok(()) => true,
            Err(problem) => {
                let place = path.display();
                session
                    .out
                    .talk(&format!("{place}: memory.{key}: {problem}; skipped"));
                false
            }
        },
    );
    if edits.is_empty() {
        return Ok(settings.file_path);
    }
    let config = &found.place.config;
    let text = std::fs::read_to_string(config).unwrap_or_default();
    open::write_file(
        config,
        crate::config::with_keys(&text, "memory", &edits)?.as_bytes(),
    )?;
    let written: Vec<_> = edits
        .iter()
        .map(|(key, value)| format!("{key} = {value}"))
        .collect();
    session.out.talk(&format!(
        "{}: [memory] {}",
        config.display(),
        written.join(", ")
    ));
    Ok(settings.file_path)
}
