//! The commands of Anthropic's memory tool, on the files of the project's workspace.
//!
//! Answers have the words that the tool's description promises, because models were trained on them.

use super::files::{Corner, Root, make_folder_of, refused};
use crate::engine::Engine;
use heirloom_model::{Fault, Trouble, limits};
use heirloom_store::durable;
use std::fs;
use std::path::Path;

/// What the paths of the tool begin with.
const TOP: &str = "/memories";
/// Where deleted files go, so that a person can have them back.
const TRASH: &str = ".trash";
/// Lines around an edit that are shown.
const AROUND: usize = 4;

/// One command of the tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MemoryCommand {
    /// Shows a folder, or a file with numbered lines.
    View {
        /// The path.
        path: String,
        /// The first and the last line, from 1; the last may be -1 for the end.
        range: Option<(i64, i64)>,
    },
    /// Makes a file.
    Create {
        /// The path.
        path: String,
        /// Its text.
        text: String,
    },
    /// Puts `new` in the place of `old`, which must be there once.
    Replace {
        /// The path.
        path: String,
        /// What is there.
        old: String,
        /// What shall be there.
        new: String,
    },
    /// Puts a text behind a line, or before all with 0.
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
    /// Gives a file or a folder another name, which is free.
    Rename {
        /// The name that it has.
        from: String,
        /// The name that it gets.
        to: String,
    },
}

impl Engine {
    /// Carries out one command; what it answers the model.
    ///
    /// What is written is written without its secrets, and is durable and in the records when it returns. Errors:
    /// `NotFound` for a path that is not there; `Usage` for an edit that does not fit; `Refused` for a path that leads
    /// out, for what exists already, and when memory is off.
    pub fn memory_tool(&self, command: &MemoryCommand) -> Result<String, Fault> {
        let root = Root::of(self, Corner::Project)
            .ok_or_else(|| Fault::failed("the project has no folder"))?;
        if let MemoryCommand::View { path, range } = command {
            return view(&root, path, *range);
        }
        self.writable()?;
        let lock = self.workspace_lock()?;
        let answer = match command {
            MemoryCommand::View { path, range } => view(&root, path, *range)?,
            MemoryCommand::Create { path, text } => self.create(&root, path, text)?,
            MemoryCommand::Replace { path, old, new } => self.replace(&root, path, old, new)?,
            MemoryCommand::Insert { path, line, text } => self.insert(&root, path, *line, text)?,
            MemoryCommand::Delete { path } => self.delete(&root, path)?,
            MemoryCommand::Rename { from, to } => rename(&root, from, to)?,
        };
        drop(lock);
        self.sync_workspace()?;
        Ok(answer)
    }

    fn create(&self, root: &Root, path: &str, text: &str) -> Result<String, Fault> {
        let file = named(path)?;
        let target = below(root, file)?;
        if target.symlink_metadata().is_ok() {
            return Err(Fault::refused(format!("File {path} already exists"))
                .trouble(Trouble::Stale)
                .hint("str_replace and insert change a file"));
        }
        let clean = self.clean(text);
        fits(path, &clean)?;
        make_folder_of(&target)?;
        durable::write_atomic(&target, clean.as_bytes())?;
        Ok(format!("File created successfully at: {path}"))
    }

    fn replace(&self, root: &Root, path: &str, old: &str, new: &str) -> Result<String, Fault> {
        let file = named(path)?;
        let text = text_of(root, path, file)?;
        let new = &*self.clean(new);
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
        write(root, path, file, &edited)?;
        let line = line_at(&edited, at);
        Ok(format!(
            "The memory file has been edited.\n{}",
            numbered(&edited, line.saturating_sub(AROUND), line + AROUND)
        ))
    }

    fn insert(&self, root: &Root, path: &str, line: usize, said: &str) -> Result<String, Fault> {
        let file = named(path)?;
        let text = text_of(root, path, file)?;
        let mut lines: Vec<&str> = text.lines().collect();
        if line > lines.len() {
            let most = lines.len();
            return Err(Fault::usage(format!(
                "Invalid `insert_line` parameter: {line}. It should be within the range of lines of the file: [0, {most}]"
            )));
        }
        let said = &*self.clean(said);
        lines.splice(line..line, said.lines());
        let edited = lines.join("\n") + "\n";
        write(root, path, file, &edited)?;
        Ok(format!("The file {path} has been edited."))
    }

    /// Nothing is gone for good: it waits in a hidden folder until a person empties that.
    fn delete(&self, root: &Root, path: &str) -> Result<String, Fault> {
        let file = named(path)?;
        let target = there(root, path, file)?;
        let name = file.replace('/', "-");
        let kept = format!("{TRASH}/{name}-{}", self.ids.next(self.now()));
        let kept = below(root, &kept)?;
        make_folder_of(&kept)?;
        durable::rename_synced(&target, &kept)?;
        Ok(format!("Successfully deleted {path}"))
    }
}

fn rename(root: &Root, from: &str, to: &str) -> Result<String, Fault> {
    let (old, new) = (named(from)?, named(to)?);
    let source = there(root, from, old)?;
    let target = below(root, new)?;
    if target.symlink_metadata().is_ok() {
        return Err(
            Fault::refused(format!("The destination {to} already exists")).trouble(Trouble::Stale),
        );
    }
    if target.starts_with(&source) {
        return Err(Fault::usage(format!("{to} lies inside of {from}")));
    }
    make_folder_of(&target)?;
    durable::rename_synced(&source, &target)?;
    Ok(format!("Successfully renamed {from} to {to}"))
}

fn view(root: &Root, path: &str, range: Option<(i64, i64)>) -> Result<String, Fault> {
    let file = relative(path)?;
    let target = match file {
        "" => root.folder.clone(),
        file => below(root, file)?,
    };
    if target.is_dir() || file.is_empty() {
        let mut lines = vec![format!("4.0K\t{}", path.trim_end_matches('/'))];
        list(&target, path.trim_end_matches('/'), 2, &mut lines);
        let top = path.trim_end_matches('/');
        return Ok(format!(
            "Here're the files and directories up to 2 levels deep in {top}, excluding hidden items and node_modules:\n{}",
            lines.join("\n")
        ));
    }
    let text = text_of(root, path, file)?;
    let count = text.lines().count();
    let (first, last) = match range {
        None => (1, count),
        Some((first, last)) => {
            let whole = |n: i64| usize::try_from(n).ok();
            let last = if last == -1 { Some(count) } else { whole(last) };
            match (whole(first), last) {
                (Some(first), Some(last)) if first >= 1 && first <= last => (first, last),
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

/// What is in a folder, by name, folders with what is in them.
fn list(folder: &Path, shown: &str, depth: usize, lines: &mut Vec<String>) {
    let mut names: Vec<String> = (fs::read_dir(folder).into_iter().flatten().flatten())
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|name| name != "node_modules" && !name.contains(char::is_control))
        // The one hidden folder that is a part of the workspace.
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

/// A size as `du -h` tells it.
fn size(bytes: u64) -> String {
    let tenths = bytes.saturating_mul(10).div_ceil(1_024);
    if tenths < 10_240 {
        return format!("{}.{}K", tenths / 10, tenths % 10);
    }
    let tenths = tenths.div_ceil(1_024);
    format!("{}.{}M", tenths / 10, tenths % 10)
}

/// The lines from `first` to `last`, as many as there are.
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

/// The path below the workspace; empty for the workspace itself.
fn relative(path: &str) -> Result<&str, Fault> {
    let outside = || {
        Fault::refused(format!("The path {path} does not lie below {TOP}"))
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
        !part.is_empty() && part != "." && part != ".." && part != TRASH && !bad
    };
    let is_short = rest.len() <= limits::NAME_BYTES_MAX;
    if rest.is_empty() || (is_short && rest.split('/').all(is_sound)) {
        return Ok(rest);
    }
    Err(outside())
}

/// The same for what is not the workspace itself.
fn named(path: &str) -> Result<&str, Fault> {
    match relative(path)? {
        "" => {
            Err(Fault::refused(format!("{TOP} itself stays as it is")).hint("name a file below it"))
        }
        file => Ok(file),
    }
}

/// Where it is on the disk: no link leads out of the workspace.
fn below(root: &Root, file: &str) -> Result<std::path::PathBuf, Fault> {
    let target = root.target(file)?;
    // `target` keeps inside of the folder of the memory, in which tokens lie too.
    match target.starts_with(&root.folder) {
        true => Ok(target),
        false => Err(refused(&root.shown(file), &"it leads out of the workspace")),
    }
}

fn there(root: &Root, path: &str, file: &str) -> Result<std::path::PathBuf, Fault> {
    let target = below(root, file)?;
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

fn text_of(root: &Root, path: &str, file: &str) -> Result<String, Fault> {
    below(root, file)?;
    let found = root.read(file);
    let found = found.map_err(|problem| refused(&root.shown(file), &problem))?;
    found.map(|file| file.text).ok_or_else(|| missing(path))
}

fn write(root: &Root, path: &str, file: &str, text: &str) -> Result<(), Fault> {
    fits(path, text)?;
    Ok(durable::write_atomic(&below(root, file)?, text.as_bytes())?)
}

fn fits(path: &str, text: &str) -> Result<(), Fault> {
    let most = limits::WORKSPACE_FILE_BYTES_MAX;
    match text.len() as u64 <= most {
        true => Ok(()),
        false => Err(Fault::usage(format!(
            "{path} would have more than {most} bytes"
        ))),
    }
}
