//! Markdown memories of agent programs: `heirloom import cursor-rules`, `claude-memory`, `codex-memories` and
//! `basic-memory`.

use super::other_tools::DiscoveredImports;
use super::page_collector::{INDEX, PageCollector};
use crate::store_access::CliSession;
use heirloom_agents::ProgramFolder;
use heirloom_formats::external_memory;
use heirloom_model::kinds::CATEGORY_CONVENTION;
use heirloom_model::text::EscapedPath;
use heirloom_model::{Fault, limits};
use std::path::{Path, PathBuf};

pub(super) const CLAUDE_FOLDER: ProgramFolder = ProgramFolder {
    variable: Some("CLAUDE_CONFIG_DIR"),
    below_home: ".claude",
    inside: "",
};
pub(super) const CODEX_FOLDER: ProgramFolder = ProgramFolder {
    variable: Some("CODEX_HOME"),
    below_home: ".codex",
    inside: "",
};
/// Folder of Cursor's rules, and the single file of its old versions.
pub(super) const CURSOR_RULES: [&str; 2] = [".cursor/rules", ".cursorrules"];
/// Folder of Codex's memories in its own folder.
pub(super) const CODEX_MEMORIES: &str = "memories";
/// Codex's rules of the person, in its own folder; the same name as in a project.
pub(super) const CODEX_RULES: &str = "AGENTS.md";
/// Default folder of basic-memory below the home folder.
pub(super) const BASIC_MEMORY: &str = "basic-memory";
/// Rules of Claude Code in a project.
const CLAUDE_RULES: [&str; 3] = ["CLAUDE.md", ".claude/CLAUDE.md", "CLAUDE.local.md"];
/// Codex's raw notes, which it consolidates into `MEMORY.md`.
const RAW_NOTES: &str = "raw_memories.md";

/// Collects Cursor's rules of the project, or those at `path`.
pub(super) fn cursor_rules(
    mut pages: PageCollector<'_>,
    path: Option<&Path>,
) -> Result<DiscoveredImports, Fault> {
    let place = path.unwrap_or(&pages.root).to_owned();
    if path.is_some() {
        pages.add_base(place.parent().filter(|_| place.is_file()).unwrap_or(&place));
    }
    let [folder, file] = CURSOR_RULES.map(|name| place.join(name));
    if place.is_file() {
        pages.add_page(&place, CATEGORY_CONVENTION);
    } else if folder.is_dir() || file.is_file() || path.is_none() {
        if folder.is_dir() {
            pages.add_folder(&folder, &[".mdc"], CATEGORY_CONVENTION)?;
        }
        if file.is_file() {
            pages.add_page(&file, CATEGORY_CONVENTION);
        }
    } else if place.is_dir() {
        pages.add_folder(&place, &[".mdc", ".cursorrules"], CATEGORY_CONVENTION)?;
    }
    let missing = format!("no Cursor rules in {}", place.to_escaped());
    pages.finish(&missing)
}

/// Collects the memory of Claude Code for the project and the person's own rules, or what is at `path`.
pub(super) fn claude_memory(
    mut pages: PageCollector<'_>,
    path: Option<&Path>,
    session: &CliSession,
) -> Result<DiscoveredImports, Fault> {
    let own = CLAUDE_FOLDER.resolve(|name| session.env.get(name));
    if let Some(path) = path {
        let folder = if path.is_file() {
            path.parent()
        } else {
            Some(path)
        };
        pages.add_base(folder.unwrap_or(path));
        if path.is_dir() {
            pages.add_memory_folder(path)?;
        } else if path.file_name().is_some_and(|name| name == INDEX) {
            pages.add_index(path);
        } else {
            pages.add_rules(path, 0);
        }
        return pages.finish(&format!(
            "no memory of Claude Code in {}",
            path.to_escaped()
        ));
    }
    let root = pages.root.clone();
    for name in CLAUDE_RULES {
        if root.join(name).is_file() {
            pages.add_rules(&root.join(name), 0);
        }
    }
    let mut folders = vec![root.join(".claude/rules")];
    if let Some(own) = own {
        pages.add_base(&own);
        if own.join(CLAUDE_RULES[0]).is_file() {
            pages.add_rules(&own.join(CLAUDE_RULES[0]), 0);
        }
        folders.push(own.join("rules"));
        let memory = claude_memory_folder(&own, &root);
        if memory.is_dir() {
            pages.add_memory_folder(&memory)?;
        }
    }
    for folder in folders.iter().filter(|folder| folder.is_dir()) {
        pages.add_folder(folder, &[".md"], CATEGORY_CONVENTION)?;
    }
    pages.finish("neither CLAUDE.md nor a memory of Claude Code for this project was found")
}

/// Collects the memories of Codex and the rules that it reads, or what is at `path`.
pub(super) fn codex_memories(
    mut pages: PageCollector<'_>,
    path: Option<&Path>,
    session: &CliSession,
) -> Result<DiscoveredImports, Fault> {
    if let Some(path) = path {
        let folder = if path.is_file() {
            path.parent()
        } else {
            Some(path)
        };
        pages.add_base(folder.unwrap_or(path));
        match path.is_dir() {
            true => pages.add_codex_folder(path)?,
            false => pages.add_page(path, "memory"),
        }
        return pages.finish(&format!("no memories of Codex in {}", path.to_escaped()));
    }
    let rules = pages.root.join(CODEX_RULES);
    if rules.is_file() {
        pages.add_rules(&rules, limits::RULES_IMPORT_DEPTH_MAX);
    }
    if let Some(own) = CODEX_FOLDER.resolve(|name| session.env.get(name)) {
        pages.add_base(&own);
        let rules = own.join(CODEX_RULES);
        if rules.is_file() {
            pages.add_rules(&rules, limits::RULES_IMPORT_DEPTH_MAX);
        }
        let memories = own.join(CODEX_MEMORIES);
        if memories.is_dir() {
            pages.add_codex_folder(&memories)?;
        }
    }
    pages.finish("neither AGENTS.md nor memories of Codex were found")
}

impl PageCollector<'_> {
    /// Adds the memories of Codex: the consolidated pages, skills and summaries of sessions.
    fn add_codex_folder(&mut self, folder: &Path) -> Result<(), Fault> {
        for path in self.list_files(folder, &[".md"])? {
            let is_below = |name: &str| path.starts_with(folder.join(name));
            if path.file_name().is_some_and(|name| name == RAW_NOTES) {
                let reason = format!("raw notes, which Codex consolidates into {INDEX}");
                self.memory.omissions.add(&reason, 1);
            } else if is_below("rollout_summaries") {
                self.add_summary(&path);
            } else if is_below("skills") {
                self.add_page(&path, "skill");
            } else {
                self.add_page(&path, "memory");
            }
        }
        Ok(())
    }

    /// Adds the summary of a session as one entry, also if it has bullets.
    fn add_summary(&mut self, path: &Path) {
        let Some(file) = self.read(path) else { return };
        let (category, text) = ("session summary".to_owned(), file.text.trim().to_owned());
        if text.is_empty() {
            return self.memory.omissions.add("empty files", 1);
        }
        self.memory.entries.push(external_memory::ImportedEntry {
            id: file.path,
            category,
            text,
            ..external_memory::ImportedEntry::default()
        });
    }
}

/// Collects the notes of basic-memory at `path`, else in its default folder.
pub(super) fn basic_memory(
    mut pages: PageCollector<'_>,
    path: Option<&Path>,
) -> Result<DiscoveredImports, Fault> {
    let default = pages.home.map(|home| home.join(BASIC_MEMORY));
    let Some(place) = path.map(Path::to_owned).or(default) else {
        return Err(Fault::usage("which folder?").hint("heirloom import basic-memory PATH"));
    };
    let is_folder = place.is_dir();
    let files = match is_folder {
        true => pages.list_files(&place, &[".md"])?,
        false if place.is_file() => vec![place.clone()],
        false => Vec::new(),
    };
    let base = if is_folder {
        Some(place.as_path())
    } else {
        place.parent()
    };
    pages.add_base(base.unwrap_or(&place));
    for path in files {
        let name = path
            .strip_prefix(base.unwrap_or(&place))
            .unwrap_or(&path)
            .to_escaped();
        if let Some(file) = pages.read(&path) {
            pages
                .memory
                .extend(external_memory::parse_note(&name, &file.text));
        }
    }
    pages.finish(&format!("no notes in {}", place.to_escaped()))
}

/// Returns the memory folder of a project in the folder of Claude Code.
pub(super) fn claude_memory_folder(own: &Path, root: &Path) -> PathBuf {
    own.join("projects").join(project_slug(root)).join("memory")
}

/// Returns the name of a project's folder in Claude Code: its path with `-` for all but letters and digits.
fn project_slug(root: &Path) -> String {
    let path = root.to_string_lossy();
    let slug = path
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' });
    slug.collect()
}
