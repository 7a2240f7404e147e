//! Anthropic's memory tool on the files of the project's workspace.
//!
//! Answers have the exact wording of the tool's description, because models were trained on it.

mod file_view;
mod tool_paths;

use super::change_author::ChangeAuthor;
use super::file_changes::{ChangeResult, FileAction, guard_personas};
use super::workspace_files::{WorkspaceKind, WorkspaceRoot, make_folder_of};
use crate::engine::Engine;
use crate::engine::new_record::name_fault;
use file_view::{line_at, numbered, view};
use heirloom_fs::durable;
use heirloom_model::record::check_name;
use heirloom_model::{Fault, RecordId, TransientCause};
use std::ops::Range;
use tool_paths::{check_size, existing_path, file_path_of, path_on_disk, read_file};
/// Number of lines shown around an edit.
const AROUND: usize = 4;

/// Answer to a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemoryToolAnswer {
    /// Text for the model.
    pub text: String,
    /// Record of the file change, for `undo`.
    pub change: Option<RecordId>,
}

/// Command of the tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MemoryToolCommand {
    /// Shows a folder, or a file with line numbers.
    View {
        /// The path.
        path: String,
        /// First and last line, from 1; -1 for the end.
        range: Option<(i64, i64)>,
    },
    /// Creates a file.
    Create {
        /// The path.
        path: String,
        /// The text.
        text: String,
    },
    /// Replaces `old`, which must occur once, by `new`.
    Replace {
        /// The path.
        path: String,
        /// Text to replace.
        old: String,
        /// Replacement.
        new: String,
    },
    /// Inserts text after a line; at the beginning with 0.
    Insert {
        /// The path.
        path: String,
        /// The line.
        line: usize,
        /// The text.
        text: String,
    },
    /// Deletes a file or a folder.
    Delete {
        /// The path.
        path: String,
    },
    /// Renames a file or a folder to an unused name.
    Rename {
        /// Present name.
        from: String,
        /// New name.
        to: String,
    },
}

/// File commands of the memory tool of a model, executed on workspace files.
#[derive(Clone, Copy)]
pub struct MemoryTool<'e> {
    pub(in crate::engine) engine: &'e Engine,
}

impl MemoryTool<'_> {
    /// Executes a command; returns the answer for the model.
    ///
    /// Text is redacted before it is written; changes are durable and in the records when this returns. Errors:
    /// `NotFound` for a missing path; `Usage` for an edit that does not apply; `Refused` for a path that leads out of
    /// the workspace or exists already, and when memory is off.
    pub fn run(&self, command: &MemoryToolCommand) -> Result<String, Fault> {
        Ok(self.run_as(command, &*self.engine.actor)?.text)
    }

    /// Executes a command as [`Self::run`], in the name of `by`. Agents may not change persona files.
    pub fn run_as<'b>(
        &self,
        command: &MemoryToolCommand,
        by: impl Into<ChangeAuthor<'b>>,
    ) -> Result<MemoryToolAnswer, Fault> {
        let author = by.into();
        let by = author.source;
        self.engine.require_files()?;
        let root = WorkspaceRoot::open(self.engine, WorkspaceKind::Project)
            .ok_or_else(|| Fault::failed("the project has no folder"))?;
        let (action, path) = match command {
            MemoryToolCommand::View { path, range } => {
                let text = view(&root, path, *range)?;
                return Ok(MemoryToolAnswer { text, change: None });
            }
            MemoryToolCommand::Create { path, .. } => (FileAction::Created, path),
            MemoryToolCommand::Replace { path, .. } | MemoryToolCommand::Insert { path, .. } => {
                (FileAction::Edited, path)
            }
            MemoryToolCommand::Delete { path } => (FileAction::Deleted, path),
            MemoryToolCommand::Rename { from, to } => {
                guard_personas(&path_on_disk(&root, file_path_of(to)?)?, by)?;
                (FileAction::Renamed, from)
            }
        };
        self.engine.require_memory()?;
        check_name("source", by).map_err(|bad| name_fault(&bad))?;
        let file = file_path_of(path)?;
        guard_personas(&path_on_disk(&root, file)?, by)?;
        let lock = self.engine.workspace().lock()?;
        let plan = match command {
            MemoryToolCommand::View { .. } => return Err(Fault::failed("a view changes nothing")),
            MemoryToolCommand::Create { path, text } => self.create(&root, path, text)?,
            MemoryToolCommand::Replace { path, old, new } => self.replace(&root, path, old, new)?,
            MemoryToolCommand::Insert { path, line, text } => {
                self.insert(&root, path, *line, text)?
            }
            MemoryToolCommand::Delete { path } => delete(&root, path)?,
            MemoryToolCommand::Rename { from, to } => {
                self.check_file_name(file_path_of(to)?)?;
                rename(&root, from, to)?
            }
        };
        let (change, kept) = self.engine.workspace().record_file_change(
            &root,
            (action, file),
            plan.result(),
            author,
        )?;
        plan.execute(&root, file, &kept)?;
        self.engine.workspace().sync_after(by, lock)?;
        Ok(MemoryToolAnswer {
            text: plan.answer,
            change: Some(change),
        })
    }

    fn create(&self, root: &WorkspaceRoot, path: &str, text: &str) -> Result<ToolPlan, Fault> {
        let file = file_path_of(path)?;
        self.check_file_name(file)?;
        let target = path_on_disk(root, file)?;
        if target.symlink_metadata().is_ok() {
            return Err(Fault::refused(format!("File {path} already exists"))
                .with_cause(TransientCause::Stale)
                .hint("str_replace and insert change a file"));
        }
        let clean = self.engine.redaction().redact_input(text);
        check_size(path, &clean)?;
        Ok(ToolPlan {
            step: ToolStep::Write(clean.into_owned()),
            answer: format!("File created successfully at: {path}"),
        })
    }

    /// Refuses a file whose name contains a secret: names are listed in every context.
    fn check_file_name(&self, file: &str) -> Result<(), Fault> {
        match self.engine.redaction().redactor().is_clean(file) {
            true => Ok(()),
            false => Err(Fault::refused("the name of the file contains a secret")
                .hint("choose another name; `heirloom redact` shows what is a secret")),
        }
    }

    /// Replaces the secrets that a change brings into a file. The whole file is examined, because the name of a secret
    /// may be in another line; what a person wrote elsewhere stays.
    fn redact_inserted(&self, text: &str, inserted: Range<usize>) -> String {
        let redactor = self.engine.redaction().redactor();
        redactor.redact_part(text, inserted).into_owned()
    }

    fn replace(
        &self,
        root: &WorkspaceRoot,
        path: &str,
        old: &str,
        new: &str,
    ) -> Result<ToolPlan, Fault> {
        let file = file_path_of(path)?;
        let text = read_file(root, path, file)?;
        let mut found = text.match_indices(old);
        let (first, second) = (found.next(), found.next());
        let (Some((at, _)), false) = (first, old.is_empty()) else {
            return Err(Fault::usage(format!(
                "No replacement was performed, old_str `{old}` did not appear verbatim in {path}."
            )));
        };
        if second.is_some() {
            let lines = (text.match_indices(old)).map(|(at, _)| line_at(&text, at).to_string());
            let lines = lines.take(20).collect::<Vec<_>>().join(", ");
            return Err(Fault::usage(format!(
                "No replacement was performed. Multiple occurrences of old_str `{old}` in lines: {lines}. Please ensure it is unique"
            )));
        }
        let new = &*self.engine.redaction().redact_input(new);
        let edited = text.replacen(old, new, 1);
        let edited = self.redact_inserted(&edited, at..at + new.len());
        check_size(path, &edited)?;
        let line = line_at(&edited, at);
        let shown = numbered(&edited, line.saturating_sub(AROUND), line + AROUND);
        Ok(ToolPlan {
            step: ToolStep::Write(edited),
            answer: format!("The memory file has been edited.\n{shown}"),
        })
    }

    fn insert(
        &self,
        root: &WorkspaceRoot,
        path: &str,
        line: usize,
        new_text: &str,
    ) -> Result<ToolPlan, Fault> {
        let file = file_path_of(path)?;
        let text = read_file(root, path, file)?;
        let mut lines: Vec<&str> = text.lines().collect();
        if line > lines.len() {
            let most = lines.len();
            return Err(Fault::usage(format!(
                "Invalid `insert_line` parameter: {line}. It should be within the range of lines of the file: [0, {most}]"
            )));
        }
        let new_text = &*self.engine.redaction().redact_input(new_text);
        let at: usize = lines.iter().take(line).map(|line| line.len() + 1).sum();
        let inserted = new_text.lines().map(|line| line.len() + 1).sum::<usize>();
        lines.splice(line..line, new_text.lines());
        let edited = self.redact_inserted(&(lines.join("\n") + "\n"), at..at + inserted);
        check_size(path, &edited)?;
        Ok(ToolPlan {
            step: ToolStep::Write(edited),
            answer: format!("The file {path} has been edited."),
        })
    }
}

/// Plans a deletion: the file is moved to a hidden folder, from which a person can restore it.
fn delete(root: &WorkspaceRoot, path: &str) -> Result<ToolPlan, Fault> {
    existing_path(root, path, file_path_of(path)?)?;
    Ok(ToolPlan {
        step: ToolStep::Delete,
        answer: format!("Successfully deleted {path}"),
    })
}

/// Effect of a command on its file, after the change is recorded.
enum ToolStep {
    /// Writes this text.
    Write(String),
    /// Moves the file to this name, relative to the workspace.
    Rename(String),
    /// Moves the file to the trash.
    Delete,
}

/// Planned step with its answer.
struct ToolPlan {
    step: ToolStep,
    answer: String,
}

impl ToolPlan {
    fn result(&self) -> ChangeResult<'_> {
        match &self.step {
            ToolStep::Rename(to) => ChangeResult::NewName(to),
            ToolStep::Write(text) => ChangeResult::Text(text),
            ToolStep::Delete => ChangeResult::Deleted,
        }
    }

    /// Executes the step; a moved file goes to `kept`.
    fn execute(&self, root: &WorkspaceRoot, file: &str, kept: &str) -> Result<(), Fault> {
        let source = path_on_disk(root, file)?;
        match &self.step {
            ToolStep::Write(text) => {
                make_folder_of(&source)?;
                durable::write_atomic(&source, text.as_bytes())?;
            }
            ToolStep::Rename(_) | ToolStep::Delete => {
                let target = path_on_disk(root, kept)?;
                make_folder_of(&target)?;
                durable::rename_synced(&source, &target)?;
            }
        }
        Ok(())
    }
}

fn rename(root: &WorkspaceRoot, from: &str, to: &str) -> Result<ToolPlan, Fault> {
    let (old, new) = (file_path_of(from)?, file_path_of(to)?);
    let source = existing_path(root, from, old)?;
    let target = path_on_disk(root, new)?;
    if target.symlink_metadata().is_ok() {
        return Err(
            Fault::refused(format!("The destination {to} already exists"))
                .with_cause(TransientCause::Stale),
        );
    }
    if target.starts_with(&source) {
        return Err(Fault::usage(format!("{to} is inside of {from}")));
    }
    Ok(ToolPlan {
        step: ToolStep::Rename(new.to_owned()),
        answer: format!("Successfully renamed {from} to {to}"),
    })
}
