//! The workspace: what prompts get of it, and what agents add to it. People edit the same files.

mod diff;
mod files;
mod foreign;
mod lines;
mod pages;
mod sync;
mod team;
pub(super) mod team_sync;
mod tool;

pub use foreign::foreign_workspace;
pub use pages::WorkspacePage;
pub use sync::SyncReport;
pub use team::{Shared, SharedOutcome};
pub use tool::MemoryCommand;

use super::Engine;
use crate::workspace::{self, LEARNINGS, MEMORY, PAGES};
use files::{Corner, Root};
use heirloom_model::section::{Frame, Layout, Offer, Origin, Section};
use heirloom_model::{Fault, civil, limits, tz};
use heirloom_store::durable;
use std::path::PathBuf;

/// Whose workspace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Workspace {
    /// The project's.
    #[default]
    Project,
    /// The person's own.
    User,
}

/// What became of an entry for a workspace file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    /// The file.
    pub path: PathBuf,
    /// Whether it is new; else the file said it already.
    pub added: bool,
    /// Where its oldest entries went, if it had become too long.
    pub archived: Option<PathBuf>,
    /// The kinds of the secrets without which it was written.
    pub redacted: Vec<String>,
}

/// The project's workspace, for whoever edits its files.
pub(super) struct PageRoot(Root);

impl PageRoot {
    pub(super) fn of(engine: &Engine) -> Option<Self> {
        Root::of(engine, Corner::Project).map(Self)
    }

    /// The files that are there, by name.
    pub(super) fn names(&self) -> Vec<String> {
        self.0.files().0
    }
}

impl Engine {
    /// Adds a fact to MEMORY.md.
    ///
    /// As all of these: dated, without its secrets, once only; durable when it returns, and in the records. What a
    /// person wrote stays as it is. Errors: `Usage` for an empty or over-long text; `Refused` when memory is off or the
    /// file is no text of a reasonable size inside of its folder.
    pub fn workspace_save_fact(&self, whose: Workspace, said: &str) -> Result<Written, Fault> {
        self.write_entry(whose, MEMORY.path, said)
    }

    /// Adds a learning to LEARNINGS.md.
    pub fn workspace_log_learning(&self, whose: Workspace, said: &str) -> Result<Written, Fault> {
        self.write_entry(whose, LEARNINGS.path, said)
    }

    /// Adds what goes wrong and what helps to ERRORS.md.
    pub fn workspace_log_error(
        &self,
        whose: Workspace,
        pattern: &str,
        solution: Option<&str>,
    ) -> Result<Written, Fault> {
        let pattern = pattern.trim();
        if pattern.is_empty() {
            return Err(Fault::usage("the error says nothing"));
        }
        let said = match solution.map(str::trim) {
            None | Some("") => pattern.to_owned(),
            Some(solution) => format!("{pattern}\nSolution: {solution}"),
        };
        self.write_entry(whose, ".learnings/ERRORS.md", &said)
    }

    /// Adds a line to the log of today, in UTC.
    pub fn workspace_daily_log(&self, whose: Workspace, said: &str) -> Result<Written, Fault> {
        let path = workspace::daily(self.today());
        self.write_entry(whose, &path, said)
    }

    /// Adds a wish to FEATURE_REQUESTS.md.
    pub fn workspace_feature_request(
        &self,
        whose: Workspace,
        said: &str,
    ) -> Result<Written, Fault> {
        self.write_entry(whose, ".learnings/FEATURE_REQUESTS.md", said)
    }

    /// Makes the files of the project's workspace that are missing, with headings and comments; those that were made.
    pub fn init_workspace(&self) -> Result<Vec<PathBuf>, Fault> {
        let root = Root::of(self, Corner::Project)
            .ok_or_else(|| Fault::failed("the project has no folder"))?;
        let lock = self.workspace_lock()?;
        let mut made = Vec::new();
        for page in PAGES {
            let path = root.target(page.path)?;
            // Whatever has the name is a person's, be it a link that leads nowhere.
            if path.symlink_metadata().is_err() {
                files::make_folder_of(&path)?;
                durable::write_atomic(&path, page.template.as_bytes())?;
                made.push(path);
            }
        }
        drop(lock);
        Ok(made)
    }

    /// What prompts get of the workspaces, the person's first: SOUL, TOOLS, AGENTS, MEMORY, the log of today and the
    /// last learnings. Files are read as they are now; nothing is written.
    pub fn workspace_section(&self) -> Section {
        let mut section = Section {
            name: "workspace".to_owned(),
            heading: "=== WORKSPACE KNOWLEDGE ===".to_owned(),
            closing: "=== END OF WORKSPACE KNOWLEDGE ===".to_owned(),
            layout: Layout::Blocks,
            ..Section::default()
        };
        let today = workspace::daily(self.today());
        for root in [Corner::User, Corner::Project] {
            let Some(root) = Root::of(self, root).filter(Root::is_there) else {
                continue;
            };
            for page in PAGES.iter().take(4) {
                self.offer(&root, page.path, &mut section);
            }
            self.offer(&root, &today, &mut section);
            self.offer(&root, LEARNINGS.path, &mut section);
        }
        section
    }

    fn offer(&self, root: &Root, path: &str, section: &mut Section) {
        let shown = root.shown(path);
        let page = match root.read(path) {
            Ok(Some(page)) => page.text,
            Ok(None) => return,
            Err(problem) => {
                section.notes.push(format!("{shown}: {problem}"));
                return;
            }
        };
        if says_nothing(&page) {
            return;
        }
        let page = self.clean(&page).into_owned();
        let page = match path == LEARNINGS.path {
            true => last_lines(&page, limits::WORKSPACE_LEARNING_LINES),
            false => page,
        };
        let most = self.settings.workspace.file_chars;
        let (text, is_cut) = workspace::newest(&page, most);
        if is_cut {
            let note = format!("{shown}: the newest {most} characters, what is older is cut");
            section.notes.push(note);
        }
        if text.trim().is_empty() {
            return;
        }
        let title = format!("--- {shown}\n");
        let frame = Frame {
            above: title.len(),
            below: 0,
            keeps_last: true,
        };
        section.offers.push(Offer {
            frame: Some(frame),
            origin: Origin::File {
                path: shown.clone(),
                line: None,
            },
            text: format!("{title}{}\n", text.trim_end()),
            ..Offer::default()
        });
    }

    /// Adds an entry to a file of a workspace, which is made if it is missing.
    fn write_entry(&self, whose: Workspace, path: &str, said: &str) -> Result<Written, Fault> {
        self.writable()?;
        let mut redacted = Vec::new();
        let mut said = said.trim().to_owned();
        self.redactor.redact_in_place(&mut said, &mut redacted);
        if said.is_empty() {
            return Err(Fault::usage("there is no text to write"));
        }
        let most = limits::WORKSPACE_ENTRY_BYTES_MAX;
        if said.len() > most {
            let length = said.len();
            return Err(Fault::usage(format!(
                "the entry has {length} bytes; at most {most} are written"
            )));
        }
        let corner = match whose {
            Workspace::Project => Corner::Project,
            Workspace::User => Corner::User,
        };
        let root = Root::of(self, corner).ok_or_else(|| {
            Fault::refused("there is no workspace of the person's own")
                .hint("`workspace.user_folder` in the user's config says where it is")
        })?;
        let entry = workspace::entry(self.today(), &said);
        let lock = self.workspace_lock_in(&root)?;
        let template = PAGES.iter().find(|page| page.path == path);
        let heading = || format!("# {}\n", self.today());
        let template = template.map_or_else(heading, |page| page.template.to_owned());
        let changed = root.change(path, &template, |page| workspace::with_entry(page, &entry))?;
        let archived = match changed {
            Some(_) => root.archive_oldest(path)?,
            None => None,
        };
        drop(lock);
        self.sync_workspace()?;
        Ok(Written {
            path: root.folder.join(path),
            added: changed.is_some(),
            archived,
            redacted,
        })
    }

    /// The day by the engine's clock, in UTC.
    fn today(&self) -> civil::Date {
        self.now().to_zoned(tz::TimeZone::UTC).date()
    }
}

/// Whether a page is a form that nobody has filled in: headings, comments and empty lines.
fn says_nothing(page: &str) -> bool {
    let mut in_comment = false;
    for line in page.lines() {
        let mut rest = line.trim();
        loop {
            if in_comment {
                let Some((_, behind)) = rest.split_once("-->") else {
                    break;
                };
                in_comment = false;
                rest = behind.trim();
            }
            let Some(behind) = rest.strip_prefix("<!--") else {
                if rest.is_empty() || rest.starts_with('#') {
                    break;
                }
                return false;
            };
            in_comment = true;
            rest = behind;
        }
    }
    true
}

fn last_lines(page: &str, most: usize) -> String {
    let lines: Vec<_> = page.trim_end().lines().collect();
    let from = lines.len().saturating_sub(most);
    lines.get(from..).unwrap_or_default().join("\n")
}

#[cfg(test)]
mod tests;
