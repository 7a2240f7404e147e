//! Writer of entries to the files of a workspace: dated, redacted, added only once.

use super::change_author::ChangeAuthor;
use super::file_changes::{ChangeResult, FileAction};
use super::workspace_files::{self, WorkspaceKind, WorkspaceRoot};
use super::{EntryReport, Workspace, WorkspaceEntry, Workspaces};
use heirloom_formats::workspace::{self, FIXED_FILES, LEARNINGS_FILE, MEMORY_FILE};
use heirloom_model::{Authority, Fault, RecordId, limits};

impl Workspaces<'_> {
    /// Adds an entry to a file of a workspace in the name of `by`.
    ///
    /// Like all these functions: the entry is dated, redacted and added only once; durable when it returns, and in
    /// the records. Other content stays unchanged. Errors: `Usage` for an empty or too long text; `Refused` when
    /// memory is off, or the file is not a text file of reasonable size in its folder.
    pub fn add<'b>(
        &self,
        workspace_owner: Workspace,
        entry: &WorkspaceEntry,
        by: impl Into<ChangeAuthor<'b>>,
    ) -> Result<EntryReport, Fault> {
        let by = by.into();
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

    /// Adds a fact to MEMORY.md in the name of who acts.
    pub fn save_fact(&self, workspace_owner: Workspace, text: &str) -> Result<EntryReport, Fault> {
        self.add(
            workspace_owner,
            &WorkspaceEntry::Fact(text.to_owned()),
            &*self.engine.actor,
        )
    }

    /// Adds a learning to LEARNINGS.md in the name of who acts.
    pub fn log_learning(
        &self,
        workspace_owner: Workspace,
        text: &str,
    ) -> Result<EntryReport, Fault> {
        self.add(
            workspace_owner,
            &WorkspaceEntry::Learning(text.to_owned()),
            &*self.engine.actor,
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
        self.add(workspace_owner, &entry, &*self.engine.actor)
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
            &*self.engine.actor,
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
            &*self.engine.actor,
        )
    }

    /// Adds an entry to a file of a workspace; creates a missing file.
    fn write_entry(
        &self,
        workspace_owner: Workspace,
        path: &str,
        text: &str,
        by: ChangeAuthor<'_>,
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
        let template = FIXED_FILES.iter().find(|page| page.path == path);
        let heading = || format!("# {}\n", self.today());
        let template = template.map_or_else(heading, |page| page.template.to_owned());
        let change = self.note_entry(&root, path, (&template, &entry), by)?;
        let added = root.add_entry(path, &template, &entry)?;
        let lock = match root.kind {
            // A user's workspace has a lock of its own.
            WorkspaceKind::User => {
                drop(lock);
                self.lock()?
            }
            WorkspaceKind::Project | WorkspaceKind::Team | WorkspaceKind::Groups => lock,
        };
        self.sync_after(by.source, lock)?;
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
        (template, entry): (&str, &str),
        by: ChangeAuthor<'_>,
    ) -> Result<Option<RecordId>, Fault> {
        if Authority::of_source(by.source) == Authority::Person
            || root.kind != WorkspaceKind::Project
        {
            return Ok(None);
        }
        let page = root.read(path);
        let page = page.map_err(|problem| workspace_files::refused(&root.shown(path), &problem))?;
        let action = match &page {
            None => FileAction::Created,
            Some(_) => FileAction::Edited,
        };
        let before = page.as_ref().map_or(template, |page| &page.text);
        let Some(text) = workspace::append_entry(before, entry) else {
            return Ok(None);
        };
        let result = ChangeResult::Text(&text);
        let (change, _) = self.record_file_change(root, (action, path), result, by)?;
        Ok(Some(change))
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
