//! Workspace: Markdown files that people and agents edit, and their section of a prompt.

mod diff;
mod entry_lines;
mod external_workspace;
mod file_changes;
mod memory_tool;
mod scanned_entries;
mod sync;
mod team_sharing;
pub(super) mod team_sync;
mod workspace_files;
mod workspace_pages;

pub use external_workspace::read_external_workspace;
pub use memory_tool::{MemoryTool, MemoryToolAnswer, MemoryToolCommand};
pub use sync::SyncReport;
pub use team_sharing::{ShareOutcome, ShareReport, TeamSharing};
pub use workspace_pages::WorkspacePage;

use super::Engine;
use super::prompt_text::prompt_text;
use super::records::USER;
use file_changes::FileAction;
use heirloom_formats::workspace::{self, FIXED_FILES, LEARNINGS_FILE, MEMORY_FILE};
use heirloom_fs::durable;
use heirloom_model::section::{Frame, Layout, Offer, Origin, Section, StandingRank};
use heirloom_model::{Authority, Fault, RecordId, civil, limits, tz};
use std::path::PathBuf;
use workspace_files::{WorkspaceKind, WorkspaceRoot};

/// Folder with the previous text of each saved file.
pub(super) const PREVIOUS_FOLDER: &str = ".before";

/// Owner of a workspace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Workspace {
    /// The project.
    #[default]
    Project,
    /// The person.
    User,
}

/// Report of an entry in a workspace file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EntryReport {
    /// Path of the file.
    pub path: PathBuf,
    /// True if the entry is new; false if the file had it already.
    pub added: bool,
    /// Archive of the oldest entries, if the file was too long.
    pub archived: Option<PathBuf>,
    /// Kinds of the redacted secrets.
    pub redacted: Vec<String>,
    /// Record of the file change, for `undo`; `None` for entries by a person.
    pub change: Option<RecordId>,
}

/// Entry for a file of a workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WorkspaceEntry {
    /// For MEMORY.md.
    Fact(String),
    /// For LEARNINGS.md.
    Learning(String),
    /// For ERRORS.md.
    Error {
        /// Description of the error.
        pattern: String,
        /// Solution.
        solution: Option<String>,
    },
    /// For today's log.
    Daily(String),
    /// For FEATURE_REQUESTS.md.
    Feature(String),
}

/// The project's workspace, for editing its files.
pub(super) struct EditableRoot(WorkspaceRoot);

impl EditableRoot {
    pub(super) fn open(engine: &Engine) -> Option<Self> {
        WorkspaceRoot::open(engine, WorkspaceKind::Project).map(Self)
    }

    /// Lists the existing files by name.
    pub(super) fn list_names(&self) -> Vec<String> {
        self.0.files().0
    }
}

/// Workspace files of the project and of the person, synchronised with records.
#[derive(Clone, Copy)]
pub struct Workspaces<'e> {
    pub(super) engine: &'e Engine,
}

impl Workspaces<'_> {
    /// Adds an entry to a file of a workspace in the name of `by`.
    ///
    /// Like all these functions: the entry is dated, redacted and added only once; durable when it returns, and in
    /// the records. Other content stays unchanged. Errors: `Usage` for an empty or too long text; `Refused` when
    /// memory is off, or the file is not a text file of reasonable size in its folder.
    pub fn add(
        &self,
        workspace_owner: Workspace,
        entry: &WorkspaceEntry,
        by: &str,
    ) -> Result<EntryReport, Fault> {
        match entry {
            WorkspaceEntry::Fact(text) => {
                self.write_entry(workspace_owner, MEMORY_FILE.path, text, by)
            }
            WorkspaceEntry::Learning(text) => {
                self.write_entry(workspace_owner, LEARNINGS_FILE.path, text, by)
            }
            WorkspaceEntry::Error { pattern, solution } => {
                let text = error_entry(pattern, solution.as_deref())?;
                self.write_entry(workspace_owner, ".learnings/ERRORS.md", &text, by)
            }
            WorkspaceEntry::Daily(text) => self.write_entry(
                workspace_owner,
                &workspace::daily_log_path(self.today()),
                text,
                by,
            ),
            WorkspaceEntry::Feature(text) => {
                self.write_entry(workspace_owner, ".learnings/FEATURE_REQUESTS.md", text, by)
            }
        }
    }

    /// Adds a fact to MEMORY.md in the name of the user.
    pub fn save_fact(&self, workspace_owner: Workspace, text: &str) -> Result<EntryReport, Fault> {
        self.add(
            workspace_owner,
            &WorkspaceEntry::Fact(text.to_owned()),
            USER,
        )
    }

    /// Adds a learning to LEARNINGS.md in the name of the user.
    pub fn log_learning(
        &self,
        workspace_owner: Workspace,
        text: &str,
    ) -> Result<EntryReport, Fault> {
        self.add(
            workspace_owner,
            &WorkspaceEntry::Learning(text.to_owned()),
            USER,
        )
    }

    /// Adds an error pattern and its solution to ERRORS.md.
    pub fn log_error(
        &self,
        workspace_owner: Workspace,
        pattern: &str,
        solution: Option<&str>,
    ) -> Result<EntryReport, Fault> {
        let entry = WorkspaceEntry::Error {
            pattern: pattern.to_owned(),
            solution: solution.map(str::to_owned),
        };
        self.add(workspace_owner, &entry, USER)
    }

    /// Adds a line to today's log, in UTC.
    pub fn append_daily_log(
        &self,
        workspace_owner: Workspace,
        text: &str,
    ) -> Result<EntryReport, Fault> {
        self.add(
            workspace_owner,
            &WorkspaceEntry::Daily(text.to_owned()),
            USER,
        )
    }

    /// Adds a feature request to FEATURE_REQUESTS.md.
    pub fn add_feature_request(
        &self,
        workspace_owner: Workspace,
        text: &str,
    ) -> Result<EntryReport, Fault> {
        self.add(
            workspace_owner,
            &WorkspaceEntry::Feature(text.to_owned()),
            USER,
        )
    }

    /// Creates the missing files of the project's workspace from templates; returns their paths.
    pub fn init(&self) -> Result<Vec<PathBuf>, Fault> {
        self.engine.require_files()?;
        let root = WorkspaceRoot::open(self.engine, WorkspaceKind::Project)
            .ok_or_else(|| Fault::failed("the project has no folder"))?;
        let lock = self.lock()?;
        let mut made = Vec::new();
        for page in FIXED_FILES {
            let path = root.target(page.path)?;
            // Existing entries are never replaced, not even dangling links.
            if path.symlink_metadata().is_err() {
                workspace_files::make_folder_of(&path)?;
                durable::write_atomic(&path, page.template.as_bytes())?;
                made.push(path);
            }
        }
        drop(lock);
        Ok(made)
    }

    /// Returns the section of the workspaces, the person's first: SOUL, TOOLS, AGENTS, MEMORY, today's log and the
    /// last learnings. Reads the files at each call; writes nothing.
    pub fn section(&self) -> Section {
        self.section_of(false)
    }

    /// Returns the section as [`Self::section`]; SOUL, AGENTS and MEMORY are whole and marked as standing text.
    pub(super) fn section_with_standing(&self) -> Section {
        self.section_of(true)
    }

    fn section_of(&self, has_standing: bool) -> Section {
        let mut section = Section {
            name: "workspace".to_owned(),
            heading: "=== WORKSPACE KNOWLEDGE ===".to_owned(),
            closing: "=== END OF WORKSPACE KNOWLEDGE ===".to_owned(),
            layout: Layout::Blocks,
            ..Section::default()
        };
        let today = workspace::daily_log_path(self.today());
        for root in [WorkspaceKind::User, WorkspaceKind::Project] {
            let Some(root) = WorkspaceRoot::open(self.engine, root).filter(WorkspaceRoot::is_there)
            else {
                continue;
            };
            for page in FIXED_FILES.iter().take(4) {
                let standing = has_standing.then(|| standing_rank(page.path)).flatten();
                self.offer(&root, page.path, standing, &mut section);
            }
            self.offer(&root, &today, None, &mut section);
            self.offer(&root, LEARNINGS_FILE.path, None, &mut section);
        }
        section
    }

    fn offer(
        &self,
        root: &WorkspaceRoot,
        path: &str,
        standing: Option<StandingRank>,
        section: &mut Section,
    ) {
        let shown = root.shown(path);
        let page = match root.read(path) {
            Ok(Some(page)) => page.text,
            Ok(None) => return,
            Err(problem) => {
                section.notes.push(format!("{shown}: {problem}"));
                return;
            }
        };
        // Comments and headings without content are for the authors of the file.
        let page = prompt_text(&page);
        if page.trim().is_empty() {
            return;
        }
        let page = self.engine.redaction().redact_input(&page).into_owned();
        let page = match path == LEARNINGS_FILE.path {
            true => last_lines(&page, limits::WORKSPACE_LEARNING_LINES),
            false => page,
        };
        // Standing text has an allowance of its own.
        let most = match standing {
            Some(_) => usize::MAX,
            None => self.engine.settings.workspace.file_chars,
        };
        let (text, is_cut) = workspace::newest_part(&page, most);
        if is_cut {
            let note = format!("{shown}: only the newest {most} characters");
            section.notes.push(note);
        }
        if text.trim().is_empty() {
            return;
        }
        let title = format!("--- {shown}\n");
        let frame = Frame {
            head_bytes: title.len(),
            tail_bytes: 0,
            keeps_last_lines: standing.is_none(),
        };
        section.offers.push(Offer {
            frame: Some(frame),
            standing,
            origin: Origin::File {
                path: shown.clone(),
                line: None,
            },
            text: format!("{title}{}\n", text.trim_end()),
            ..Offer::default()
        });
    }

    /// Adds an entry to a file of a workspace; creates a missing file.
    fn write_entry(
        &self,
        workspace_owner: Workspace,
        path: &str,
        text: &str,
        by: &str,
    ) -> Result<EntryReport, Fault> {
        self.engine.require_files()?;
        self.engine.require_memory()?;
        let mut redacted = Vec::new();
        let mut text = text.trim().to_owned();
        self.engine
            .redactor
            .redact_in_place(&mut text, &mut redacted);
        if text.is_empty() {
            return Err(Fault::usage("the entry is empty"));
        }
        let most = limits::WORKSPACE_ENTRY_BYTES_MAX;
        if text.len() > most {
            let length = text.len();
            return Err(Fault::usage(format!(
                "the entry has {length} bytes; at most {most} are written"
            )));
        }
        let kind = match workspace_owner {
            Workspace::Project => WorkspaceKind::Project,
            Workspace::User => WorkspaceKind::User,
        };
        let root = WorkspaceRoot::open(self.engine, kind).ok_or_else(|| {
            Fault::refused("no user workspace is configured")
                .hint("set `workspace.user_folder` in the user's config")
        })?;
        let entry = workspace::render_entry(self.today(), &text);
        let lock = self.lock_in(&root)?;
        let change = self.note_entry(&root, path, &entry, by)?;
        let template = FIXED_FILES.iter().find(|page| page.path == path);
        let heading = || format!("# {}\n", self.today());
        let template = template.map_or_else(heading, |page| page.template.to_owned());
        let added = root.add_entry(path, &template, &entry)?;
        let lock = match root.kind {
            // A user's workspace has a lock of its own.
            WorkspaceKind::User => {
                drop(lock);
                self.lock()?
            }
            WorkspaceKind::Project | WorkspaceKind::Team | WorkspaceKind::Groups => lock,
        };
        self.sync_after(by, lock)?;
        Ok(EntryReport {
            path: root.folder.join(path),
            added: added.is_some(),
            archived: added.flatten(),
            redacted,
            change,
        })
    }

    /// Records the file change of an agent's new entry; `None` for a person, and for an entry that exists already.
    fn note_entry(
        &self,
        root: &WorkspaceRoot,
        path: &str,
        entry: &str,
        by: &str,
    ) -> Result<Option<RecordId>, Fault> {
        if Authority::of_source(by) == Authority::Person || root.kind != WorkspaceKind::Project {
            return Ok(None);
        }
        let page = root.read(path);
        let page = page.map_err(|problem| workspace_files::refused(&root.shown(path), &problem))?;
        let action = match &page {
            None => FileAction::Created,
            Some(page) if workspace::append_entry(&page.text, entry).is_none() => return Ok(None),
            Some(_) => FileAction::Edited,
        };
        let (change, _) = self.record_file_change(root, (action, path), None, by)?;
        Ok(Some(change))
    }

    /// Returns the current day of the engine's clock, in UTC.
    fn today(&self) -> civil::Date {
        self.engine.now().to_zoned(tz::TimeZone::UTC).date()
    }
}

fn error_entry(pattern: &str, solution: Option<&str>) -> Result<String, Fault> {
    let pattern = pattern.trim();
    if pattern.is_empty() {
        return Err(Fault::usage("the error is empty"));
    }
    Ok(match solution.map(str::trim) {
        None | Some("") => pattern.to_owned(),
        Some(solution) => format!("{pattern}\nSolution: {solution}"),
    })
}

fn last_lines(page: &str, most: usize) -> String {
    let lines: Vec<_> = page.trim_end().lines().collect();
    let from = lines.len().saturating_sub(most);
    lines.get(from..).unwrap_or_default().join("\n")
}

/// Returns the importance of a file that people wrote to be read every time.
fn standing_rank(path: &str) -> Option<StandingRank> {
    match path {
        "SOUL.md" => Some(StandingRank::Soul),
        "AGENTS.md" => Some(StandingRank::Agents),
        "MEMORY.md" => Some(StandingRank::Memory),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
