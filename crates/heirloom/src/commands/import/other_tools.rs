//! Data of other tools in a project: where each keeps it, and its import, for `heirloom init`, `heirloom import workspace` and `heirloom
//! import server-memory`.

use super::agentium::{AGENTIUM_MEMORY, AGENTIUM_SETTINGS};
use super::{radium, shared_context};
use crate::store_access::{CliSession, FoundProject};
use heirloom_engine::{
    Engine, ExternalContent, ExternalImportReport, ExternalSource, RulesFile, SharedFile,
    read_external_workspace,
};
use heirloom_formats::agentium;
use heirloom_fs::project_fs::{self, TextProblem};
use heirloom_model::text::EscapedPath;
use heirloom_model::{Fault, limits, text};
use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// Rules files for agents, relative to the project's root.
const RULES: [&str; 2] = ["AGENTS.md", "CLAUDE.md"];
/// Folder of shared context.
const SHARED: &str = "shared-context";
/// Workspace of the Node agent, below the user's home.
const WORKSPACE: &str = ".agent/workspace";

/// Importable data that was found, with notes on what could not be read.
#[derive(Default)]
pub(crate) struct DiscoveredImports {
    pub(crate) parts: Vec<ExternalSource>,
    pub(crate) notes: Vec<String>,
}

impl DiscoveredImports {
    /// Searches the project, and the workspace below the user's home; nothing else.
    pub(crate) fn discover(session: &CliSession, engine: &Engine, found: &FoundProject) -> Self {
        let mut discovered = Self::default();
        discovered.discover_rules(&found.place.root);
        discovered.discover_agentium(engine, &found.place.root);
        discovered.discover_radium(engine, found);
        discovered.discover_shared(&found.place.root);
        if let Some(home) = session.env.get("HOME") {
            let folder = Path::new(home).join(WORKSPACE);
            let configured = found.user_workspace.as_deref();
            let is = |path: &Path| path.canonicalize().ok();
            // A workspace that is configured as the user's own is already synced into records.
            let is_configured =
                configured.is_some_and(|own| own == folder || is(own) == is(&folder));
            if folder.is_dir() && !is_configured {
                discovered.discover_workspace(&folder, &format!("~/{WORKSPACE}"));
            }
        }
        discovered
    }

    /// Adds the rules files; a link to another rules file counts once.
    fn discover_rules(&mut self, root: &Path) {
        let mut seen = HashSet::new();
        for name in RULES {
            let place = project_fs::normalise_project_path(root, name);
            let path = place.unwrap_or_else(|_| name.to_owned());
            if !seen.insert(path.clone()) {
                continue;
            }
            let Some(file) = self.read_text_file(root, name, &path) else {
                continue;
            };
            let content = ExternalContent::Rules(vec![RulesFile {
                file,
                ..RulesFile::default()
            }]);
            self.add_part(path, "markdown", content);
        }
    }

    fn discover_agentium(&mut self, engine: &Engine, root: &Path) {
        let mut path = AGENTIUM_MEMORY.to_owned();
        if root.join(&path).symlink_metadata().is_err() {
            match self.agentium_memory_path(root) {
                Some(named) => path = named,
                None => return,
            }
        }
        let inside = match project_fs::normalise_project_path(root, &path) {
            Ok(inside) => root.join(inside),
            Err(problem) => return self.notes.push(format!("{path}: {problem}")),
        };
        // Skip the mirror of this memory.
        if engine.mirror().path().is_ok_and(|mirror| mirror == inside) {
            return;
        }
        match project_fs::read_bounded(&inside, limits::INIT_PROBE_BYTES_MAX) {
            Ok(bytes) => self.add_part(path, "agentium", ExternalContent::Mirror(bytes)),
            Err(problem) => self.notes.push(format!("{path}: {problem}")),
        }
    }

    /// Returns the path of the memory file in Agentium's settings.
    fn agentium_memory_path(&mut self, root: &Path) -> Option<String> {
        let page = self.read_text_file(root, AGENTIUM_SETTINGS, AGENTIUM_SETTINGS)?;
        match agentium::parse(&page.text) {
            Ok(parsed) => {
                let named = parsed.memory?.file_path?;
                root.join(&named)
                    .symlink_metadata()
                    .is_ok()
                    .then_some(named)
            }
            Err(problem) => {
                self.notes.push(format!("{AGENTIUM_SETTINGS}: {problem}"));
                None
            }
        }
    }

    fn discover_radium(&mut self, engine: &Engine, found: &FoundProject) {
        let (outputs, notes) = engine
            .outputs()
            .output_sources(None)
            .unwrap_or_else(|fault| {
                self.notes.push(fault.message);
                Default::default()
            });
        self.notes.extend(notes);
        if !outputs.is_empty() {
            let root = engine.settings().plans_root.clone();
            self.add_part(
                root,
                "radium",
                ExternalContent::Histories(Vec::new(), outputs),
            );
        }
        let histories = radium::sessions_folder(found)
            .and_then(|folder| radium::find_histories(&folder, &mut self.notes));
        match histories {
            Ok(histories) if histories.is_empty() => {}
            Ok(histories) => {
                let past = ExternalContent::Histories(histories, Vec::new());
                self.add_part(radium::SESSIONS_FOLDER.to_owned(), "radium", past);
            }
            Err(fault) => self.notes.push(fault.message),
        }
    }

    fn discover_shared(&mut self, root: &Path) {
        let folder = match project_fs::normalise_project_path(root, SHARED) {
            Ok(inside) => root.join(inside),
            Err(problem) => return self.notes.push(format!("{SHARED}: {problem}")),
        };
        if !folder.is_dir() {
            return;
        }
        self.note_unreadable_files(&folder);
        let mut paths: Vec<PathBuf> = Vec::new();
        if let Err(fault) = shared_context::collect_markdown(&folder, 1, &mut paths) {
            self.notes.push(fault.message);
        }
        paths.sort();
        let most = limits::SHARED_FILES_MAX;
        if paths.len() > most {
            self.notes
                .push(format!("{SHARED}: only {most} files are read"));
            paths.truncate(most);
        }
        let below = |path: &PathBuf| Some(path.strip_prefix(root).ok()?.to_str()?.to_owned());
        let paths: Vec<_> = paths.iter().filter_map(below).collect();
        let files = paths
            .iter()
            .filter_map(|path| self.read_text_file(root, path, path));
        let files: Vec<_> = files.collect();
        if !files.is_empty() {
            self.add_part(
                SHARED.to_owned(),
                "markdown",
                ExternalContent::Shared(files),
            );
        }
    }

    /// Notes the Markdown entries of the shared context that are links or not files; those are not read.
    fn note_unreadable_files(&mut self, folder: &Path) {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let is_read = |file_type: std::fs::FileType| file_type.is_file() || file_type.is_dir();
            if shared_context::is_markdown(&entry.path()) && !entry.file_type().is_ok_and(is_read) {
                let name = entry.file_name();
                let name = name.to_string_lossy();
                let name = text::escape_name(&name);
                let note = format!("{SHARED}/{name}: not read, because it is a link or not a file");
                self.notes.push(note);
            }
        }
    }

    fn discover_workspace(&mut self, folder: &Path, display_path: &str) {
        let (pages, notes) = read_external_workspace(folder, display_path);
        self.notes.extend(notes);
        if !pages.is_empty() {
            self.add_part(
                display_path.to_owned(),
                "workspace",
                ExternalContent::Rules(pages),
            );
        }
    }

    /// Reads a text file of the project; notes a file that exists and cannot be read.
    fn read_text_file(
        &mut self,
        root: &Path,
        name: &str,
        display_path: &str,
    ) -> Option<SharedFile> {
        let path = text::escape_name(display_path).into_owned();
        match project_fs::read_text(root, name, limits::SHARED_FILE_BYTES_MAX) {
            Ok(file) => {
                let text = file.text;
                return Some(SharedFile { path, text });
            }
            Err(TextProblem::Missing) if root.join(name).symlink_metadata().is_err() => {}
            Err(problem) => self.notes.push(format!("{path}: {problem}")),
        }
        None
    }

    fn add_part(&mut self, path: String, format: &'static str, content: ExternalContent) {
        self.parts.push(ExternalSource {
            path,
            format,
            content,
        });
    }
}

/// Imports the workspace at `path`, else the one below the user's home.
pub(super) fn import_workspace(
    engine: &Engine,
    session: &CliSession,
    path: Option<&Path>,
    is_dry_run: bool,
) -> Result<ExternalImportReport, Fault> {
    let home = session.env.get("HOME").map(Path::new);
    let (folder, display_path) = match (path, home) {
        (Some(path), _) => (path.to_owned(), path.to_escaped()),
        (None, Some(home)) => (home.join(WORKSPACE), format!("~/{WORKSPACE}")),
        (None, None) => {
            return Err(Fault::usage("which folder?").hint("heirloom import workspace PATH"));
        }
    };
    if !folder.is_dir() {
        return Err(Fault::not_found(format!("{display_path} is not a folder"))
            .hint("name the folder: heirloom import workspace PATH"));
    }
    let mut discovered = DiscoveredImports::default();
    discovered.discover_workspace(&folder, &display_path);
    if discovered.parts.is_empty() && discovered.notes.is_empty() {
        return Err(
            Fault::not_found(format!("no workspace files in {display_path}"))
                .hint("a workspace has MEMORY.md, TOOLS.md, memory/, .learnings/"),
        );
    }
    import_discovered(
        engine,
        discovered,
        &super::import_label("workspace", &folder),
        is_dry_run,
    )
}

/// Imports a knowledge graph.
pub(super) fn import_graph(
    engine: &Engine,
    path: &Path,
    is_dry_run: bool,
) -> Result<ExternalImportReport, Fault> {
    let content = ExternalContent::Graph(super::read(path)?);
    let mut discovered = DiscoveredImports::default();
    discovered.add_part(path.to_escaped(), "server-memory", content);
    import_discovered(
        engine,
        discovered,
        &super::import_label("server-memory", path),
        is_dry_run,
    )
}

/// Imports everything that was found as one batch; the notes become diagnostics.
pub(crate) fn import_discovered(
    engine: &Engine,
    discovered: DiscoveredImports,
    source: &str,
    is_dry_run: bool,
) -> Result<ExternalImportReport, Fault> {
    let mut report = engine
        .imports()
        .import_external(&discovered.parts, source, is_dry_run)?;
    let notes = discovered.notes.into_iter();
    let diagnostics = notes.map(|message| heirloom_model::signal::Diagnostic { line: 0, message });
    report.total.diagnostics.extend(diagnostics);
    Ok(report)
}
