//! `heirloom import`.

mod agentium;
pub(super) mod discovery;
mod radium;
mod shared_context;
mod transcripts;

pub(super) use transcripts::find_session_transcript;

use super::reembed::embed_pending;
use crate::json_output::export_lines::{self, ExportLine};
use crate::store_access::{self, CliSession};
use clap::ValueEnum;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use heirloom_agents::AgentProgram;
use heirloom_engine::{Engine, ImportBundle, ImportReport};
use heirloom_fs::project_fs;
use heirloom_fs::project_fs::DigestProblem;
use heirloom_model::signal::Diagnostic;
use heirloom_model::text::EscapedPath;
use heirloom_model::{Fault, limits};
use serde_json::json;
use std::path::{Path, PathBuf};

/// Import what was remembered by other programs; repeating an import changes nothing
#[derive(Debug, clap::Args)]
#[command(
    after_help = "`heirloom init --import` imports everything that it finds. Without PATH, workspace is ~/.agent/workspace, and agentium looks for .agentium/memory.json and .agentium.yaml in the project."
)]
pub(crate) struct Args {
    /// jsonl: an export; agentium: memory.json and .agentium.yaml; shared: Markdown, headings are category and key;
    /// radium: outputs of plans and histories; history: a history.json; workspace: a folder with MEMORY.md and
    /// others; server-memory: the JSON lines of the MCP server "memory"; claude, codex, gemini, aider, opencode: conversations
    /// recorded by these programs, by default those of this folder
    #[arg(value_parser = format_parser())]
    format: ImportFormat,
    /// The file; for shared and conversations also a folder, for workspace the folder
    path: Option<PathBuf>,
    /// For conversations: every one that was recorded inside this project
    #[arg(long, conflicts_with = "path")]
    all: bool,
    /// For conversations: the former folder of this project, whose conversations belong to it
    #[arg(long, value_name = "FOLDER")]
    recorded_in: Option<PathBuf>,
    /// For shared: only print path, size and summary of each file, without importing
    #[arg(long)]
    index: bool,
    /// For history: the session, if the file's folder does not name it
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// For radium, history, workspace, server-memory and conversations: only show what would be imported
    #[arg(long)]
    dry_run: bool,
}

#[derive(Debug, Clone, Copy)]
enum ImportFormat {
    /// Conversations recorded by an agent program.
    Conversations(AgentProgram),
    /// Data of another kind.
    Data(DataFormat),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum DataFormat {
    Jsonl,
    Agentium,
    #[value(alias = "markdown")]
    Shared,
    Radium,
    History,
    Workspace,
    ServerMemory,
}

/// Returns the parser of a format: the table of programs has the names of conversations.
fn format_parser() -> impl TypedValueParser<Value = ImportFormat> {
    let data = DataFormat::value_variants().iter();
    let data = data.filter_map(ValueEnum::to_possible_value);
    let programs = AgentProgram::with_transcripts().map(|program| {
        let aliases = (program.import_name() != program.as_str()).then_some(program.as_str());
        PossibleValue::new(program.import_name()).aliases(aliases)
    });
    PossibleValuesParser::new(data.chain(programs)).try_map(|name| {
        let is_named = |one: &AgentProgram| one.import_name() == name || one.as_str() == name;
        match AgentProgram::with_transcripts().find(is_named) {
            Some(program) => Ok(ImportFormat::Conversations(program)),
            None => DataFormat::from_str(&name, false).map(ImportFormat::Data),
        }
    })
}

impl Args {
    /// Returns the name of the format.
    fn format_name(&self) -> String {
        match self.format {
            ImportFormat::Conversations(program) => program.import_name().to_owned(),
            ImportFormat::Data(format) => {
                let value = format.to_possible_value();
                value.map_or_else(String::new, |value| value.get_name().to_owned())
            }
        }
    }
}

impl ImportFormat {
    fn is(self, format: DataFormat) -> bool {
        matches!(self, Self::Data(own) if own == format)
    }

    fn can_be_dry(self) -> bool {
        match self {
            Self::Conversations(_) => true,
            Self::Data(format) => match format {
                DataFormat::Radium
                | DataFormat::History
                | DataFormat::Workspace
                | DataFormat::ServerMemory => true,
                DataFormat::Jsonl | DataFormat::Agentium | DataFormat::Shared => false,
            },
        }
    }
}

pub(crate) fn run(args: Args, session: &mut CliSession) -> Result<u8, Fault> {
    let found = session.find_project()?;
    let engine = session.engine(&found)?;
    session.ingest_pending(&engine);
    if args.index && !args.format.is(DataFormat::Shared) {
        return Err(Fault::usage("--index is for `import shared`"));
    }
    if args.dry_run && !args.format.can_be_dry() {
        return Err(Fault::usage(
            "--dry-run is for `import radium`, `history`, `workspace`, `server-memory` and conversations",
        ));
    }
    if args.session.is_some() && !args.format.is(DataFormat::History) {
        return Err(Fault::usage("--session is for `import history`"));
    }
    let format = match args.format {
        ImportFormat::Conversations(agent) => {
            let engine = session.with_embedder(engine, &found);
            transcripts::import_conversations(agent, &args, &engine, &found, session)?;
            embed_pending(&engine, session);
            return Ok(0);
        }
        ImportFormat::Data(format) => format,
    };
    if args.all || args.recorded_in.is_some() {
        let names = AgentProgram::with_transcripts().map(AgentProgram::import_name);
        let names = names.collect::<Vec<_>>().join("`, `");
        return Err(Fault::usage(format!(
            "--all and --recorded-in are for conversations: `import {names}`"
        )));
    }
    let engine = session.with_embedder(engine, &found);
    import_other(format, args, &engine, &found, session)
}

/// Imports a format other than conversations.
fn import_other(
    format: DataFormat,
    args: Args,
    engine: &Engine,
    found: &store_access::FoundProject,
    session: &mut CliSession,
) -> Result<u8, Fault> {
    let path = args.path.as_deref();
    let report = match format {
        DataFormat::Radium => radium::import_outputs(engine, found, path, args.dry_run)?,
        DataFormat::History => {
            radium::import_history(engine, found, path, args.session.as_deref(), args.dry_run)?
        }
        DataFormat::Shared => {
            let path = args.path.ok_or_else(|| {
                Fault::usage("which file or folder?").hint("heirloom import shared PATH")
            })?;
            if args.index {
                shared_context::print_index(&path, session)?;
                return Ok(0);
            }
            shared_context::import_files(engine, &path)?
        }
        DataFormat::Jsonl => {
            let path = args
                .path
                .ok_or_else(|| Fault::usage("which file?").hint("heirloom import jsonl FILE"))?;
            import_jsonl(engine, &path)?
        }
        DataFormat::Workspace => {
            discovery::import_workspace(engine, session, path, args.dry_run)?.total
        }
        DataFormat::ServerMemory => {
            let path = path.ok_or_else(|| {
                Fault::usage("which file?").hint("heirloom import server-memory FILE")
            })?;
            discovery::import_graph(engine, path, args.dry_run)?.total
        }
        DataFormat::Agentium => {
            agentium::import_agentium(engine, found, args.path.as_deref(), session)?
        }
    };
    print_report(&report, args.dry_run, session);
    embed_pending(engine, session);
    let lines_left_out = format == DataFormat::Jsonl && !report.diagnostics.is_empty();
    Ok(u8::from(lines_left_out))
}

/// Prints the result of an import.
fn print_report(report: &ImportReport, is_dry_run: bool, session: &mut CliSession) {
    if session.out.json {
        return session.out.value(&report_value(report));
    }
    print_report_text(report, is_dry_run, session);
}

/// Formats the result of an import as JSON.
pub(super) fn report_value(report: &ImportReport) -> serde_json::Value {
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

/// Prints the result of an import for a person.
pub(super) fn print_report_text(report: &ImportReport, is_dry_run: bool, session: &mut CliSession) {
    print_diagnostics(report, session);
    let done = match is_dry_run {
        true => "would be imported",
        false => "imported",
    };
    let (created, known) = (report.created, report.known);
    let mut summary = format!("{created} records {done}, {known} already known");
    if let Some(redacted) = report.redacted.filter(|redacted| *redacted > 0) {
        summary.push_str(&format!(", {redacted} without their secrets"));
    }
    session.out.line(&summary);
    if let Some(import) = report.batch {
        let hint = format!("  heirloom undo {import}   undoes the whole import");
        session.out.talk(&hint);
    }
}

/// Prints the parts that could not be read.
pub(super) fn print_diagnostics(report: &ImportReport, session: &mut CliSession) {
    for diagnostic in &report.diagnostics {
        let message = match diagnostic.line {
            0 => diagnostic.message.clone(),
            line => format!("line {line}: {}", diagnostic.message),
        };
        session.out.talk(&message);
    }
}

/// Returns the name of an import in the history: its format and its file.
fn import_label(format: &str, path: &Path) -> String {
    let name = path.file_name().unwrap_or_default();
    format!("{format} {}", name.to_string_lossy())
}

fn read(path: &Path) -> Result<Vec<u8>, Fault> {
    read_up_to(path, limits::IMPORT_BYTES_MAX)
}

fn read_up_to(path: &Path, max_bytes: u64) -> Result<Vec<u8>, Fault> {
    let name = path.to_escaped();
    project_fs::read_bounded_following_links(path, max_bytes).map_err(|problem| match problem {
        DigestProblem::Missing => {
            Fault::not_found(format!("cannot read {name}: {problem}")).hint("check the path")
        }
        DigestProblem::NotRegularFile => Fault::usage(format!("{name} is not a file")),
        DigestProblem::TooLarge(size) => Fault::usage(format!(
            "{name} has {size} bytes; at most {max_bytes} are read"
        )),
        DigestProblem::Unreadable(error) => Fault::failed(format!("cannot read {name}: {error}")),
    })
}

fn import_jsonl(engine: &Engine, path: &Path) -> Result<ImportReport, Fault> {
    let bytes = read(path)?;
    let mut bundle = ImportBundle::default();
    let (mut diagnostics, mut unreported) = (Vec::new(), 0);
    for (number, line) in (1_u64..).zip(bytes.split(|byte| *byte == b'\n')) {
        if line.trim_ascii().is_empty() {
            continue;
        }
        let parsed = serde_json::from_slice(line)
            .map_err(|error| format!("invalid JSON: {error}"))
            .and_then(|value| export_lines::parse(value, engine.project()));
        match parsed {
            Ok(ExportLine::Record(record)) => bundle.records.push((number, *record)),
            Ok(ExportLine::Session(session)) => bundle.sessions.push(session),
            Ok(ExportLine::Message(session, message)) => {
                bundle.messages.entry(session).or_default().push(message);
            }
            Ok(ExportLine::Lapse(id, lapse)) => {
                bundle.validity_gaps.entry(id).or_default().push(lapse)
            }
            Err(_) if diagnostics.len() > limits::DIAGNOSTICS_MAX => unreported += 1,
            Err(message) => diagnostics.push(Diagnostic {
                line: number,
                message,
            }),
        }
    }
    let nothing_fits = bundle.records.is_empty() && !diagnostics.is_empty();
    let mut report = engine
        .imports()
        .import_bundle(bundle, &import_label("jsonl", path))?;
    let is_bare = |one: &Diagnostic| one.message == export_lines::MISSING_ID;
    if nothing_fits && diagnostics.iter().all(is_bare) {
        let message = "these lines are not an export: `heirloom remember --stdin` takes lines such as {\"text\": \"…\"}";
        diagnostics.truncate(limits::DIAGNOSTICS_MAX);
        diagnostics.insert(
            0,
            Diagnostic {
                line: 0,
                message: message.to_owned(),
            },
        );
    }
    report.diagnostics.append(&mut diagnostics);
    report.diagnostics.sort_by_key(|diagnostic| diagnostic.line);
    unreported += report
        .diagnostics
        .len()
        .saturating_sub(limits::DIAGNOSTICS_MAX);
    if unreported > 0 {
        report.diagnostics.truncate(limits::DIAGNOSTICS_MAX);
        let line = report.diagnostics.last().map_or(0, |last| last.line);
        let limit = limits::DIAGNOSTICS_MAX;
        let message =
            format!("{unreported} more lines were not imported; the first {limit} are shown");
        report.diagnostics.push(Diagnostic { line, message });
    }
    Ok(report)
}
