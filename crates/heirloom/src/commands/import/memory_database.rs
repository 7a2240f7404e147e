//! `heirloom import mem0`, `claude-mem` and `ai-agent-chat`: memories in SQLite databases.

use super::input_file::read_up_to;
use super::other_tools::DiscoveredImports;
use crate::store_access::{CliSession, FoundProject};
use heirloom_engine::{ExternalContent, ExternalSource, read_foreign_tables};
use heirloom_formats::external_memory::{
    ChromaTables, ClaudeMemTables, ImportedMemory, Mem0Memories, NodeAgentTables, parse_claude_mem,
    parse_node_agent,
};
use heirloom_model::text::EscapedPath;
use heirloom_model::{Fault, limits};
use std::path::{Path, PathBuf};

/// Files of mem0 and its local vector stores.
const MEM0_FILES: [&str; 4] = ["history.db", "storage.sqlite", "chroma.sqlite3", ".json"];
/// Place of claude-mem's database below the home folder.
pub(super) const CLAUDE_MEM: &str = ".claude-mem/claude-mem.db";
/// Folder of mem0 below the home folder.
pub(super) const MEM0_FOLDER: &str = ".mem0";
/// Places of the Node agent's database in a project.
pub(super) const NODE_AGENT: [&str; 2] = [".agent/.ai-agent-chat.sqlite", ".ai-agent-chat.sqlite"];

fn discovered(format: &'static str, path: &Path, memory: ImportedMemory) -> DiscoveredImports {
    let part = ExternalSource {
        path: path.to_escaped(),
        format,
        content: ExternalContent::Memory(memory),
    };
    DiscoveredImports {
        parts: vec![part],
        ..DiscoveredImports::default()
    }
}

fn missing(format: &str, what: &str) -> Fault {
    Fault::not_found(format!("{what} was not found"))
        .hint(format!("name the file: heirloom import {format} PATH"))
}

fn wrong_tables(path: &Path, format: &str, table: &str) -> Fault {
    let place = path.to_escaped();
    Fault::usage(format!(
        "{place} is not a database of {format}: it has no table `{table}`"
    ))
    .hint("nothing was imported")
}

/// Reads the database of claude-mem: the entries of this project, or with `all` those of every project.
pub(super) fn claude_mem(
    path: Option<&Path>,
    all: bool,
    found: &FoundProject,
    session: &CliSession,
) -> Result<DiscoveredImports, Fault> {
    let own = session
        .env
        .get("HOME")
        .map(|home| Path::new(home).join(CLAUDE_MEM));
    let path = path
        .map(Path::to_owned)
        .or_else(|| own.filter(|path| path.is_file()));
    let path = path.ok_or_else(|| missing("claude-mem", &format!("~/{CLAUDE_MEM}")))?;
    let path = if path.is_dir() {
        path.join("claude-mem.db")
    } else {
        path
    };
    let [sessions, observations, summaries, prompts] =
        read_foreign_tables(&path, ClaudeMemTables::COLUMNS)?;
    if observations.is_none() {
        return Err(wrong_tables(&path, "claude-mem", "observations"));
    }
    let tables = ClaudeMemTables {
        sessions: sessions.unwrap_or_default(),
        observations: observations.unwrap_or_default(),
        summaries: summaries.unwrap_or_default(),
        prompts: prompts.unwrap_or_default(),
    };
    let name = found
        .place
        .root
        .file_name()
        .map(|name| name.to_string_lossy().into_owned());
    let project = name.as_deref().filter(|_| !all);
    Ok(discovered(
        "claude-mem",
        &path,
        parse_claude_mem(&tables, project),
    ))
}

/// Reads the conversations of the Node agent.
pub(super) fn node_agent(
    path: Option<&Path>,
    found: &FoundProject,
) -> Result<DiscoveredImports, Fault> {
    let root = &found.place.root;
    let places = NODE_AGENT.map(|name| root.join(name));
    let own = places.into_iter().find(|path| path.is_file());
    let path = path.map(Path::to_owned).or(own);
    let path = path.ok_or_else(|| missing("ai-agent-chat", NODE_AGENT[0]))?;
    let [agents, sessions, messages, executions, histories] =
        read_foreign_tables(&path, NodeAgentTables::COLUMNS)?;
    if messages.is_none() && histories.is_none() {
        return Err(wrong_tables(&path, "the Node agent", "chat"));
    }
    let tables = NodeAgentTables {
        agents: agents.unwrap_or_default(),
        sessions: sessions.unwrap_or_default(),
        messages: messages.unwrap_or_default(),
        executions: executions.unwrap_or_default(),
        histories: histories.unwrap_or_default(),
    };
    Ok(discovered(
        "ai-agent-chat",
        &path,
        parse_node_agent(&tables),
    ))
}

/// Reads the memories of mem0: an export, a database, or a folder with its files. Without a path, `~/.mem0`.
pub(super) fn mem0(path: Option<&Path>, session: &CliSession) -> Result<DiscoveredImports, Fault> {
    let own = session
        .env
        .get("HOME")
        .map(|home| Path::new(home).join(MEM0_FOLDER));
    let path = path
        .map(Path::to_owned)
        .or_else(|| own.filter(|path| path.is_dir()));
    let path = path.ok_or_else(|| missing("mem0", &format!("~/{MEM0_FOLDER}")))?;
    let mut memories = Mem0Memories::default();
    let mut notes = Vec::new();
    if path.is_dir() {
        let files = super::markdown_folder::collect_files(&path, &MEM0_FILES)?;
        let mut found = 0_usize;
        for file in files {
            match add_mem0_file(&file, &mut memories) {
                Ok(()) => found += 1,
                // Of the JSON files, few are exports.
                Err(_) if is_json(&file) => {}
                Err(fault) => notes.push(fault.message),
            }
        }
        if found == 0 && notes.is_empty() {
            return Err(missing(
                "mem0",
                "an export, history.db or a local vector store",
            ));
        }
    } else {
        add_mem0_file(&path, &mut memories)?;
    }
    let mut result = discovered("mem0", &path, memories.finish());
    result.notes = notes;
    Ok(result)
}

fn is_json(path: &Path) -> bool {
    path.extension().is_some_and(|end| end == "json")
}

fn add_mem0_file(path: &Path, memories: &mut Mem0Memories) -> Result<(), Fault> {
    if is_json(path) {
        let bytes = read_up_to(path, limits::CHAT_EXPORT_BYTES_MAX)?;
        let added = memories.add_json(&bytes);
        return added.map_err(|problem| {
            let place = path.to_escaped();
            Fault::usage(format!("{place} is not an export of mem0: {problem}"))
        });
    }
    let [history, messages] = Mem0Memories::HISTORY_COLUMNS;
    let [collections, segments, embeddings, metadata] = Mem0Memories::CHROMA_COLUMNS;
    let wanted = [
        history,
        messages,
        Mem0Memories::POINT_COLUMNS,
        collections,
        segments,
        embeddings,
        metadata,
    ];
    let [
        history,
        messages,
        points,
        collections,
        segments,
        embeddings,
        metadata,
    ] = read_foreign_tables(path, wanted)?;
    match (history, points, embeddings) {
        (Some(history), _, _) => memories.add_history(&history, &messages.unwrap_or_default()),
        (_, Some(points), _) => memories.add_points(&collection_name(path), &points),
        (_, _, Some(embeddings)) => memories.add_chroma(&ChromaTables {
            collections: collections.unwrap_or_default(),
            segments: segments.unwrap_or_default(),
            embeddings,
            metadata: metadata.unwrap_or_default(),
        }),
        (None, None, None) => return Err(wrong_tables(path, "mem0", "history")),
    }
    Ok(())
}

/// Returns the name of a collection of Qdrant's local store: its folder.
fn collection_name(path: &Path) -> String {
    let path: PathBuf = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let folder = path.parent().and_then(Path::file_name);
    folder.map_or_else(String::new, |name| name.to_string_lossy().into_owned())
}
