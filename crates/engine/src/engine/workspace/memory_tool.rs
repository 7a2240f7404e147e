//! Anthropic's memory tool on the files of the project's workspace.
//!
//! Answers have the exact wording of the tool's description, because models were trained on it.

use super::PREVIOUS_FOLDER;
use super::file_changes::{FileAction, HISTORY, TRASH, guard_personas};
use super::workspace_files::{WorkspaceKind, WorkspaceRoot, make_folder_of, refused};
use crate::engine::Engine;
use crate::engine::new_record::name_fault;
use crate::engine::records::USER;
use heirloom_fs::durable;
use heirloom_model::record::check_name;
use heirloom_model::{Fault, RecordId, TransientCause, limits};
use std::fs;
use std::path::Path;

/// Prefix of the tool's paths.
const TOP: &str = "/memories";
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
        Ok(self.run_as(command, USER)?.text)
    }

    /// Executes a command as [`Self::run`], in the name of `by`. Agents may not change persona files.
    pub fn run_as(&self, command: &MemoryToolCommand, by: &str) -> Result<MemoryToolAnswer, Fault> {
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
            MemoryToolCommand::Rename { from, to } => rename(&root, from, to)?,
        };
        let (change, kept) = self.engine.workspace().record_file_change(
            &root,
            (action, file),
            plan.new_name(),
            by,
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

    fn replace(
        &self,
        root: &WorkspaceRoot,
        path: &str,
        old: &str,
        new: &str,
    ) -> Result<ToolPlan, Fault> {
        let file = file_path_of(path)?;
        let text = read_file(root, path, file)?;
        let new = &*self.engine.redaction().redact_input(new);
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
        let edited = text.replacen(old, new, 1);
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
        lines.splice(line..line, new_text.lines());
        let edited = lines.join("\n") + "\n";
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
    fn new_name(&self) -> Option<&str> {
        match &self.step {
            ToolStep::Rename(to) => Some(to),
            ToolStep::Write(_) | ToolStep::Delete => None,
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

fn view(root: &WorkspaceRoot, path: &str, range: Option<(i64, i64)>) -> Result<String, Fault> {
    let file = relative(path)?;
    let target = match file {
        "" => root.folder.clone(),
        file => path_on_disk(root, file)?,
    };
    if target.is_dir() || file.is_empty() {
        let mut lines = vec![format!("4.0K\t{}", path.trim_end_matches('/'))];
        list(&target, path.trim_end_matches('/'), 2, &mut lines);
        let top = path.trim_end_matches('/');
        return Ok(format!(
            "Here're the files and directories up to 2 levels deep in {top}, excluding hidden items and node_modules, but with .learnings:\n{}",
            lines.join("\n")
        ));
    }
    let text = read_file(root, path, file)?;
    let count = text.lines().count();
    let (first, last) = match range {
        None => (1, count),
        Some((first, last)) => {
            let whole = |n: i64| usize::try_from(n).ok();
            let last = if last == -1 { Some(count) } else { whole(last) };
            match (whole(first), last) {
                (Some(first), Some(last)) if first >= 1 && first <= last.min(count) => {
                    (first, last)
                }
                _ => {
                    return Err(Fault::usage(format!(
                        "Invalid `view_range` parameter: it should be within [1, {count}]"
                    )));
                }
            }
        }
    };
    Ok(format!(
        "Here's the content of {path} with line numbers:\n{}",
        numbered(&text, first, last)
    ))
}

/// Lists a folder by name, recursively.
fn list(folder: &Path, shown: &str, depth: usize, lines: &mut Vec<String>) {
    let mut names: Vec<String> = (fs::read_dir(folder).into_iter().flatten().flatten())
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|name| name != "node_modules" && !name.contains(char::is_control))
        // `.learnings` is the only hidden folder of a workspace.
        .filter(|name| !name.starts_with('.') || name == ".learnings")
        .take(limits::WORKSPACE_FILES_MAX)
        .collect();
    names.sort();
    for name in names {
        let path = folder.join(&name);
        let Some(found) = path.symlink_metadata().ok().filter(|f| !f.is_symlink()) else {
            continue;
        };
        let shown = format!("{shown}/{name}");
        lines.push(format!("{}\t{shown}", size(found.len())));
        if found.is_dir() && depth > 1 {
            list(&path, &shown, depth - 1, lines);
        }
    }
}

/// Formats a size like `du -h`.
fn size(bytes: u64) -> String {
    let tenths = bytes.saturating_mul(10).div_ceil(1_024);
    if tenths < 10_240 {
        return format!("{}.{}K", tenths / 10, tenths % 10);
    }
    let tenths = tenths.div_ceil(1_024);
    format!("{}.{}M", tenths / 10, tenths % 10)
}

/// Formats the lines from `first` to `last` with their numbers.
fn numbered(text: &str, first: usize, last: usize) -> String {
    let first = first.max(1);
    let lines = text.lines().enumerate().skip(first - 1);
    let lines = lines.take_while(|(at, _)| *at < last);
    let lines = lines.map(|(at, line)| format!("{:>6}\t{line}", at + 1));
    lines.collect::<Vec<_>>().join("\n")
}

fn line_at(text: &str, at: usize) -> usize {
    text[..at].matches('\n').count() + 1
}

/// Returns the path relative to the workspace; empty for the workspace itself.
fn relative(path: &str) -> Result<&str, Fault> {
    let outside = || {
        Fault::refused(format!("The path {path} is not below {TOP}"))
            .hint("paths begin with /memories/, and have no `..`")
    };
    let rest = path.strip_prefix(TOP).ok_or_else(outside)?;
    let rest = match rest.strip_prefix('/') {
        Some(rest) => rest.trim_end_matches('/'),
        None if rest.is_empty() => rest,
        None => return Err(outside()),
    };
    let is_sound = |part: &str| {
        let bad = part.contains(['\\', ':']) || part.contains(char::is_control);
        let own = [TRASH, HISTORY, PREVIOUS_FOLDER].contains(&part);
        !part.is_empty() && part != "." && part != ".." && !own && !bad
    };
    let is_short = rest.len() <= limits::NAME_BYTES_MAX;
    if rest.is_empty() || (is_short && rest.split('/').all(is_sound)) {
        return Ok(rest);
    }
    Err(outside())
}

/// Returns the relative path of a file or folder, not of the workspace itself.
fn file_path_of(path: &str) -> Result<&str, Fault> {
    match relative(path)? {
        "" => {
            Err(Fault::refused(format!("{TOP} itself cannot be changed"))
                .hint("name a file below it"))
        }
        file => Ok(file),
    }
}

/// Returns the path on disk. No link may lead out of the workspace.
fn path_on_disk(root: &WorkspaceRoot, file: &str) -> Result<std::path::PathBuf, Fault> {
    let target = root.target(file)?;
    // `target` only stays inside the memory's folder, which also has the access tokens.
    match target.starts_with(&root.folder) {
        true => Ok(target),
        false => Err(refused(&root.shown(file), &"it leads out of the workspace")),
    }
}

fn existing_path(
    root: &WorkspaceRoot,
    path: &str,
    file: &str,
) -> Result<std::path::PathBuf, Fault> {
    let target = path_on_disk(root, file)?;
    match target.symlink_metadata() {
        Ok(_) => Ok(target),
        Err(_) => Err(missing(path)),
    }
}

fn missing(path: &str) -> Fault {
    Fault::not_found(format!(
        "The path {path} does not exist. Please provide a valid path."
    ))
}

fn read_file(root: &WorkspaceRoot, path: &str, file: &str) -> Result<String, Fault> {
    path_on_disk(root, file)?;
    let found = root.read(file);
    let found = found.map_err(|problem| refused(&root.shown(file), &problem))?;
    found.map(|file| file.text).ok_or_else(|| missing(path))
}

fn check_size(path: &str, text: &str) -> Result<(), Fault> {
    let most = limits::WORKSPACE_FILE_BYTES_MAX;
    match text.len() as u64 <= most {
        true => Ok(()),
        false => Err(Fault::usage(format!(
            "{path} would have more than {most} bytes"
        ))),
    }
}
