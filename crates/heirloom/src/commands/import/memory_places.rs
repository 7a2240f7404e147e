//! Memories and conversations of other programs at their usual places, for `heirloom init`. Memories are found by existence and
//! not read, conversations by the folder in their first lines.

use super::import_format::DataFormat;
use super::markdown_folder::shown_path;
use super::memory_database::{CLAUDE_MEM, MEM0_FOLDER, NODE_AGENT};
use super::memory_pages::{
    BASIC_MEMORY, CLAUDE_FOLDER, CODEX_FOLDER, CODEX_MEMORIES, CODEX_RULES, CURSOR_RULES,
    claude_memory_folder,
};
use super::transcripts::find_project_transcripts;
use crate::store_access::{CliSession, FoundProject};
use clap::ValueEnum;
use heirloom_agents::AgentProgram;
use heirloom_engine::Engine;
use std::path::{Path, PathBuf};

/// Memory, or stored conversations, of another program that `heirloom import FORMAT` reads without a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct MemoryPlace {
    /// Format, as `heirloom import` takes it.
    pub(crate) format: String,
    /// Path, as it is shown.
    pub(crate) path: String,
}

impl MemoryPlace {
    /// Finds the memories that exist, and the programs with a conversation that was recorded in the project.
    pub(crate) fn find_all(
        session: &CliSession,
        engine: &Engine,
        found: &FoundProject,
    ) -> Vec<Self> {
        let root = &found.place.root;
        let home = session.env.get("HOME").map(Path::new);
        let in_home = |name: &str| home.map(|home| home.join(name));
        let in_root = |names: [&str; 2]| names.map(|name| root.join(name)).into_iter();
        let claude = CLAUDE_FOLDER.resolve(|name| session.env.get(name));
        let codex = CODEX_FOLDER.resolve(|name| session.env.get(name));
        let is_folder = |path: &PathBuf| path.is_dir();
        let is_file = |path: &PathBuf| path.is_file();
        let [rules_folder, rules_file] = CURSOR_RULES.map(|name| root.join(name));
        let rules = Some(rules_folder)
            .filter(is_folder)
            .or_else(|| Some(rules_file).filter(is_file));
        let claude = claude.map(|own| claude_memory_folder(&own, root));
        let codex_rules = codex.as_ref().map(|own| own.join(CODEX_RULES));
        let codex = codex.map(|own| own.join(CODEX_MEMORIES));
        let places = [
            (DataFormat::CursorRules, rules),
            (DataFormat::AiAgentChat, in_root(NODE_AGENT).find(is_file)),
            (DataFormat::ClaudeMemory, claude.filter(is_folder)),
            (DataFormat::CodexMemories, codex_rules.filter(is_file)),
            (DataFormat::CodexMemories, codex.filter(is_folder)),
            (DataFormat::ClaudeMem, in_home(CLAUDE_MEM).filter(is_file)),
            (
                DataFormat::BasicMemory,
                in_home(BASIC_MEMORY).filter(is_folder),
            ),
            (DataFormat::Mem0, in_home(MEM0_FOLDER).filter(is_folder)),
        ];
        let place = |(format, path): (DataFormat, Option<PathBuf>)| {
            Some(Self {
                format: format.to_possible_value()?.get_name().to_owned(),
                path: shown_path(&path?, root, home),
            })
        };
        let conversations = AgentProgram::with_transcripts().filter_map(|agent| {
            let place = find_project_transcripts(agent, engine, root, &session.env)?;
            Some(Self {
                format: agent.import_name().to_owned(),
                path: shown_path(&place, root, home),
            })
        });
        let memories = places.into_iter().filter_map(place);
        memories.chain(conversations).collect()
    }

    /// Returns the command that imports the memory.
    pub(crate) fn command(&self) -> String {
        format!("heirloom import {}", self.format)
    }
}
