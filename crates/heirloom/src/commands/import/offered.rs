//! What of other tools is there to be taken in, and taking it in: `heirloom init`, `heirloom import workspace` and
//! `heirloom import server-memory`.

use super::{AGENTIUM_MEMORY, AGENTIUM_SETTINGS, radium, shared};
use crate::open::{Found, Session};
use heirloom_engine::places::{self, TextProblem};
use heirloom_engine::{
    Engine, Foreign, ForeignPart, ForeignReport, RulesFile, SharedFile, agentium, foreign_workspace,
};
use heirloom_model::{Fault, limits};
use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// Files of rules for agents, relative to the project's root.
const RULES: [&str; 2] = ["AGENTS.md", "CLAUDE.md"];
/// The folder of shared context.
const SHARED: &str = "shared-context";
/// The workspace of the Node agent, below the person's home.
const WORKSPACE: &str = ".agent/workspace";

/// What is there, and what of it cannot be read.
#[derive(Default)]
pub(crate) struct Offered {
    pub(crate) parts: Vec<ForeignPart>,
    pub(crate) notes: Vec<String>,
}

impl Offered {
    /// Looks into the project, and at the workspace below the person's home; nowhere else.
    pub(crate) fn look(session: &Session, engine: &Engine, found: &Found) -> Self {
        let mut offered = Self::default();
        offered.rules(&found.place.root);
        offered.agentium(engine, &found.place.root);
        offered.radium(engine, found);
        offered.shared(&found.place.root);
        if let Some(home) = session.env.get("HOME") {
            let folder = Path::new(home).join(WORKSPACE);
            let configured = found.user_workspace.as_deref();
            let is = |path: &Path| path.canonicalize().ok();
            // Its files are records already.
            let is_own = configured.is_some_and(|own| own == folder || is(own) == is(&folder));
            if folder.is_dir() && !is_own {
                offered.workspace(&folder, &format!("~/{WORKSPACE}"));
            }
        }
        offered
    }

    /// The files of rules; one that is a link to another one counts once.
    fn rules(&mut self, root: &Path) {
        let mut seen = HashSet::new();
        for name in RULES {
            let place = places::normalise_inside(root, name);
            let path = place.unwrap_or_else(|_| name.to_owned());
            if !seen.insert(path.clone()) {
                continue;
            }
            let Some(file) = self.page(root, name, &path) else {
                continue;
            };
            let about = None;
            let content = Foreign::Rules(vec![RulesFile { file, about }]);
            self.add(path, "markdown", content);
        }
    }

    fn agentium(&mut self, engine: &Engine, root: &Path) {
        let mut path = AGENTIUM_MEMORY.to_owned();
        if root.join(&path).symlink_metadata().is_err() {
            match self.agentium_file(root) {
                Some(named) => path = named,
                None => return,
            }
        }
        let inside = match places::normalise_inside(root, &path) {
            Ok(inside) => root.join(inside),
            Err(problem) => return self.notes.push(format!("{path}: {problem}")),
        };
        // The mirror of this memory.
        if engine.mirror_path().is_ok_and(|mirror| mirror == inside) {
            return;
        }
        match places::whole_file(&inside, limits::OFFER_BYTES_MAX) {
            Ok(bytes) => self.add(path, "agentium", Foreign::Mirror(bytes)),
            Err(problem) => self.notes.push(format!("{path}: {problem}")),
        }
    }

    /// The memory file that Agentium's settings name.
    fn agentium_file(&mut self, root: &Path) -> Option<String> {
        let page = self.page(root, AGENTIUM_SETTINGS, AGENTIUM_SETTINGS)?;
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

    fn radium(&mut self, engine: &Engine, found: &Found) {
        let (outputs, told) = engine.output_sources(None).unwrap_or_else(|fault| {
            self.notes.push(fault.message);
            Default::default()
        });
        self.notes.extend(told);
        if !outputs.is_empty() {
            let root = engine.settings().plans_root.clone();
            self.add(root, "radium", Foreign::Past(Vec::new(), outputs));
        }
        let histories = radium::own_sessions(found)
            .and_then(|folder| radium::sessions(&folder, &mut self.notes));
        match histories {
            Ok(histories) if histories.is_empty() => {}
            Ok(histories) => {
                let past = Foreign::Past(histories, Vec::new());
                self.add(radium::SESSIONS.to_owned(), "radium", past);
            }
            Err(fault) => self.notes.push(fault.message),
        }
    }

    fn shared(&mut self, root: &Path) {
        let folder = match places::normalise_inside(root, SHARED) {
            Ok(inside) => root.join(inside),
            Err(problem) => return self.notes.push(format!("{SHARED}: {problem}")),
        };
        if !folder.is_dir() {
            return;
        }
        self.no_files(&folder);
        let mut paths: Vec<PathBuf> = Vec::new();
        if let Err(fault) = shared::collect(&folder, 1, &mut paths) {
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
        let files = paths.iter().filter_map(|path| self.page(root, path, path));
        let files: Vec<_> = files.collect();
        if !files.is_empty() {
            self.add(SHARED.to_owned(), "markdown", Foreign::Shared(files));
        }
    }

    /// Tells which pages of the folder of shared context are links or no files: those are not read.
    fn no_files(&mut self, folder: &Path) {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let is_read = |sort: std::fs::FileType| sort.is_file() || sort.is_dir();
            if shared::is_markdown(&entry.path()) && !entry.file_type().is_ok_and(is_read) {
                let name = entry.file_name();
                let name = name.to_string_lossy();
                let note = format!("{SHARED}/{name}: it is a link or no file, and not read");
                self.notes.push(note);
            }
        }
    }

    fn workspace(&mut self, folder: &Path, shown: &str) {
        let (pages, notes) = foreign_workspace(folder, shown);
        self.notes.extend(notes);
        if !pages.is_empty() {
            self.add(shown.to_owned(), "workspace", Foreign::Rules(pages));
        }
    }

    /// A text file of the project; `None` if it is missing or cannot be read, which is told.
    fn page(&mut self, root: &Path, name: &str, shown: &str) -> Option<SharedFile> {
        let path = shown.to_owned();
        match places::read_text(root, name, limits::SHARED_FILE_BYTES_MAX) {
            Ok(file) => {
                let text = file.text;
                return Some(SharedFile { path, text });
            }
            Err(TextProblem::Missing) if root.join(name).symlink_metadata().is_err() => {}
            Err(problem) => self.notes.push(format!("{name}: {problem}")),
        }
        None
    }

    fn add(&mut self, path: String, format: &'static str, content: Foreign) {
        self.parts.push(ForeignPart {
            path,
            format,
            content,
        });
    }
}

/// Takes a workspace in: the one at `path`, else the one below the person's home.
pub(super) fn workspace(
    engine: &Engine,
    session: &Session,
    path: Option<&Path>,
    dry: bool,
) -> Result<ForeignReport, Fault> {
    let home = session.env.get("HOME").map(Path::new);
    let (folder, shown) = match (path, home) {
        (Some(path), _) => (path.to_owned(), path.display().to_string()),
        (None, Some(home)) => (home.join(WORKSPACE), format!("~/{WORKSPACE}")),
        (None, None) => {
            return Err(Fault::usage("which folder?").hint("heirloom import workspace PATH"));
        }
    };
    if !folder.is_dir() {
        return Err(Fault::not_found(format!("{shown} is no folder"))
            .hint("name the folder: heirloom import workspace PATH"));
    }
    let mut offered = Offered::default();
    offered.workspace(&folder, &shown);
    if offered.parts.is_empty() && offered.notes.is_empty() {
        return Err(Fault::not_found(format!("no workspace files in {shown}"))
            .hint("such a folder has MEMORY.md, TOOLS.md, memory/, .learnings/"));
    }
    taken(engine, offered, &super::named("workspace", &folder), dry)
}

/// Takes a knowledge graph in.
pub(super) fn graph(engine: &Engine, path: &Path, dry: bool) -> Result<ForeignReport, Fault> {
    let content = Foreign::Graph(super::read(path)?);
    let mut offered = Offered::default();
    offered.add(path.display().to_string(), "server-memory", content);
    taken(engine, offered, &super::named("server-memory", path), dry)
}

/// Takes all of it in as one import; what could not be read is told with the rest.
pub(crate) fn taken(
    engine: &Engine,
    offered: Offered,
    source: &str,
    dry: bool,
) -> Result<ForeignReport, Fault> {
    let mut report = engine.import_foreign(&offered.parts, source, dry)?;
    let notes = offered.notes.into_iter();
    let told = notes.map(|message| heirloom_model::signal::Diagnostic { line: 0, message });
    report.whole.diagnostics.extend(told);
    Ok(report)
}
