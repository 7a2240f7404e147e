//! `heirloom import`.

pub(in crate::commands) mod agentium;
mod chat_export;
mod export_file;
mod import_format;
mod import_report;
mod input_file;
mod markdown_folder;
mod memory_database;
mod memory_pages;
pub(super) mod memory_places;
pub(super) mod other_tools;
mod page_collector;
mod radium;
mod shared_context;
mod transcripts;

pub(super) use import_report::{print_diagnostics, print_report_text, report_value};
pub(super) use transcripts::find_session_transcript;

use super::reembed::embed_pending;
use crate::store_access::{self, CliSession};
use chat_export::ChatService;
use clap::ValueEnum;
use export_file::import_jsonl;
use heirloom_agents::AgentProgram;
use heirloom_engine::{Engine, ImportProgressSink, ImportReport};
use heirloom_model::Fault;
use heirloom_model::text::EscapedPath;
use import_format::{DataFormat, ImportFormat, format_parser};
use import_report::print_report;
use input_file::{read, read_up_to};
use std::path::{Path, PathBuf};

/// Import what was remembered by other programs; repeating an import changes nothing
#[derive(Debug, clap::Args)]
#[command(
    after_help = "`heirloom init --import` imports what it lists, and `heirloom init` names the commands for other memories. Without PATH, workspace is ~/.agent/workspace, and agentium looks for .agentium/memory.json and .agentium.yaml in the project."
)]
pub(crate) struct Args {
    /// jsonl: an export; agentium: memory.json and .agentium.yaml; shared: Markdown, headings are category and key;
    /// radium: outputs of plans and histories; history: a history.json; workspace: a folder with MEMORY.md and
    /// others; server-memory: the JSON lines of the MCP server "memory"; mem0: an export, its folder or a database;
    /// claude-mem: its database; basic-memory: its folder; claude-memory: CLAUDE.md and auto memory; codex-memories:
    /// AGENTS.md and memories; cursor-rules: .cursor/rules; chatgpt, claude-ai: the archive of an export; ai-agent-chat:
    /// .ai-agent-chat.sqlite; claude, codex, gemini, aider, opencode: conversations recorded by these programs, by
    /// default those of this folder
    #[arg(value_parser = format_parser())]
    format: ImportFormat,
    /// The file; for shared and conversations also a folder, for workspace the folder
    path: Option<PathBuf>,
    /// For conversations: every one that was recorded inside this project; for claude-mem: entries of all projects
    #[arg(long)]
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
    /// For all formats but jsonl, agentium and shared: only show what would be imported
    #[arg(long)]
    dry_run: bool,
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

pub(crate) fn run(args: Args, session: &mut CliSession) -> Result<u8, Fault> {
    let found = session.find_project()?;
    let engine = session.engine(&found)?;
    session.ingest_pending(&engine);
    if args.index && !args.format.is(DataFormat::Shared) {
        return Err(Fault::usage("--index is for `import shared`"));
    }
    if args.dry_run && !args.format.can_be_dry() {
        return Err(Fault::usage(
            "--dry-run is for all formats but `jsonl`, `agentium` and `shared`",
        ));
    }
    if args.session.is_some() && !args.format.is(DataFormat::History) {
        return Err(Fault::usage("--session is for `import history`"));
    }
    let format = match args.format {
        ImportFormat::Conversations(_) if args.all && args.path.is_some() => {
            return Err(Fault::usage(
                "the argument '--all' cannot be used with '[PATH]'",
            ));
        }
        ImportFormat::Conversations(agent) => {
            let engine = session.with_embedder(engine, &found);
            transcripts::import_conversations(agent, &args, &engine, &found, session)?;
            embed_pending(&engine, session);
            return Ok(0);
        }
        ImportFormat::Data(format) => format,
    };
    let takes_all = format == DataFormat::ClaudeMem;
    if (args.all && !takes_all) || args.recorded_in.is_some() {
        let names = AgentProgram::with_transcripts().map(AgentProgram::import_name);
        let names = names.collect::<Vec<_>>().join("`, `");
        return Err(Fault::usage(format!(
            "--all and --recorded-in are for conversations: `import {names}`"
        )));
    }
    let engine = show_import_progress(session.with_embedder(engine, &found), session);
    import_other(format, args, &engine, &found, session)
}

/// Shows at a terminal how many entries of an import are written.
pub(super) fn show_import_progress(engine: Engine, session: &CliSession) -> Engine {
    if !session.out.shows_progress() {
        return engine;
    }
    let progress = session.out.progress();
    let sink = ImportProgressSink::new(move |counts| {
        progress.set_counts(counts.done, counts.total);
    });
    sink.attach_to(engine)
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
            other_tools::import_workspace(engine, session, path, args.dry_run)?.total
        }
        DataFormat::ServerMemory => {
            let path = path.ok_or_else(|| {
                Fault::usage("which file?").hint("heirloom import server-memory FILE")
            })?;
            other_tools::import_graph(engine, path, args.dry_run)?.total
        }
        DataFormat::Mem0
        | DataFormat::ClaudeMem
        | DataFormat::BasicMemory
        | DataFormat::ClaudeMemory
        | DataFormat::CodexMemories
        | DataFormat::CursorRules
        | DataFormat::ChatGpt
        | DataFormat::ClaudeAi
        | DataFormat::AiAgentChat => import_memory(format, &args, engine, found, session)?,
        DataFormat::Agentium => {
            agentium::import_agentium(engine, found, args.path.as_deref(), session)?
        }
    };
    print_report(&report, args.dry_run, session);
    embed_pending(engine, session);
    let lines_left_out = format == DataFormat::Jsonl && !report.diagnostics.is_empty();
    Ok(u8::from(lines_left_out))
}

/// Imports the memory of another program.
fn import_memory(
    format: DataFormat,
    args: &Args,
    engine: &Engine,
    found: &store_access::FoundProject,
    session: &CliSession,
) -> Result<ImportReport, Fault> {
    let path = args.path.as_deref();
    if let Some(path) = path.filter(|path| !path.exists()) {
        let message = format!("cannot read {}: there is no such file", path.to_escaped());
        return Err(Fault::not_found(message).hint("check the path"));
    }
    let name = args.format_name();
    let collector = |format| page_collector::PageCollector::new(format, found, session);
    let export = |service| {
        let which = || Fault::usage("which file?").hint(format!("heirloom import {name} PATH"));
        chat_export::read_export(service, path.ok_or_else(which)?)
    };
    let discovered = match format {
        DataFormat::CursorRules => memory_pages::cursor_rules(collector("cursor-rules"), path)?,
        DataFormat::ClaudeMemory => {
            memory_pages::claude_memory(collector("claude-memory"), path, session)?
        }
        DataFormat::CodexMemories => {
            memory_pages::codex_memories(collector("codex-memories"), path, session)?
        }
        DataFormat::BasicMemory => memory_pages::basic_memory(collector("basic-memory"), path)?,
        DataFormat::ChatGpt => export(ChatService::ChatGpt)?,
        DataFormat::ClaudeAi => export(ChatService::ClaudeAi)?,
        DataFormat::ClaudeMem => memory_database::claude_mem(path, args.all, found, session)?,
        DataFormat::AiAgentChat => memory_database::node_agent(path, found)?,
        DataFormat::Mem0
        | DataFormat::Jsonl
        | DataFormat::Agentium
        | DataFormat::Shared
        | DataFormat::Radium
        | DataFormat::History
        | DataFormat::Workspace
        | DataFormat::ServerMemory => memory_database::mem0(path, session)?,
    };
    let label = path.map_or_else(|| name.clone(), |path| import_label(&name, path));
    let report = other_tools::import_discovered(engine, discovered, &label, args.dry_run)?;
    Ok(report.total)
}

/// Returns the name of an import in the history: its format and its file.
fn import_label(format: &str, path: &Path) -> String {
    let name = path.file_name().unwrap_or_default();
    format!("{format} {}", name.to_string_lossy())
}
