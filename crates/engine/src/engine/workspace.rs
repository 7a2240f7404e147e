//! Workspace: Markdown files that people and agents edit, and their section of a prompt.

mod change_author;
mod context_section;
mod diff;
mod entry_lines;
mod entry_writer;
mod external_workspace;
mod file_changes;
mod memory_tool;
mod own_changes;
mod scanned_entries;
mod sync;
mod team_sharing;
pub(super) mod team_sync;
mod undecided_files;
mod workspace_files;
mod workspace_pages;

pub use change_author::ChangeAuthor;
pub use external_workspace::read_external_workspace;
pub use memory_tool::{MemoryTool, MemoryToolAnswer, MemoryToolCommand};
pub use sync::SyncReport;
pub use team_sharing::{ShareOutcome, ShareReport, TeamSharing};
pub use undecided_files::ReviewedFile;
pub use workspace_pages::WorkspacePage;

use super::Engine;
use heirloom_formats::workspace::FIXED_FILES;
use heirloom_fs::durable;
use heirloom_model::{Fault, RecordId, civil, tz};
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

    /// Returns the current day of the engine's clock, in UTC.
    fn today(&self) -> civil::Date {
        self.engine.now().to_zoned(tz::TimeZone::UTC).date()
    }
}

#[cfg(test)]
mod tests;
