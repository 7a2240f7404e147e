//! Workspace and group files that a person edits: read with an ETag, saved only if the ETag still matches.

use super::Engine;
use super::groups::file_cache;
use super::workspace::{EditableRoot, PREVIOUS_FOLDER};
use heirloom_formats::group;
use heirloom_formats::workspace::FIXED_FILES;
use heirloom_fs::durable;
use heirloom_model::text::EscapedPath;
use heirloom_model::{Fault, limits, text};
use std::path::{Path, PathBuf};

/// Editable files of a group.
const GROUP_FILES: [&str; 3] = ["CLAUDE.md", "MEMORY.md", "summary.md"];

/// Folder of editable files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EditableFolder {
    /// The project's workspace.
    Workspace,
    /// A group's folder.
    Group(String),
}

/// Editable file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EditableFile {
    /// Path below the folder, with `/`.
    pub name: String,
    /// Size in bytes; `None` if the file does not exist yet.
    pub size_bytes: Option<u64>,
}

/// Content of a file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EditableText {
    /// The text; empty if the file does not exist.
    pub text: String,
    /// ETag of the text.
    pub tag: String,
}

/// Outcome of saving a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SaveOutcome {
    /// The text was written.
    Done,
    /// The file has this text already.
    Same,
    /// The file was changed since the caller read it; nothing was written.
    Stale(EditableText),
}

impl EditableText {
    fn new(text: String) -> Self {
        let tag = text::hash16(&text);
        Self { text, tag }
    }
}

/// Files of the project that people edit on the page, and the inbox.
#[derive(Clone, Copy)]
pub struct ProjectFiles<'e> {
    pub(super) engine: &'e Engine,
}

impl ProjectFiles<'_> {
    /// Lists the editable files, including those that do not exist yet.
    ///
    /// Errors: `Refused` for an invalid group name.
    pub fn list(&self, of: &EditableFolder) -> Result<Vec<EditableFile>, Fault> {
        let folder = self.folder_of(of)?;
        let names = match of {
            EditableFolder::Group(_) => GROUP_FILES.map(str::to_owned).to_vec(),
            EditableFolder::Workspace => {
                let mut names: Vec<String> = FIXED_FILES
                    .iter()
                    .map(|page| page.path.to_owned())
                    .collect();
                let found = EditableRoot::open(self.engine)
                    .map(|root| root.list_names())
                    .unwrap_or_default();
                names.extend(
                    found
                        .into_iter()
                        .filter(|name| !FIXED_FILES.iter().any(|page| page.path == name)),
                );
                names
            }
        };
        let file = |name: String| {
            // A missing file has no size; problems with others are reported when they are read.
            let found = folder.join(&name).symlink_metadata().ok();
            let size_bytes = found
                .filter(|found| found.is_file())
                .map(|found| found.len());
            EditableFile { name, size_bytes }
        };
        Ok(names.into_iter().map(file).collect())
    }

    /// Reads the current text of a file. Errors: `NotFound` for a file that cannot be edited; `Refused` if it is not
    /// a text file in its folder.
    pub fn text(&self, of: &EditableFolder, name: &str) -> Result<EditableText, Fault> {
        let path = self.path_of(of, name)?;
        read(&path)
    }

    /// Writes the redacted text of a file if its ETag is still `tag`. When this returns, the text is durable and its
    /// entries are in the records. [`Self::undo_save`] restores the previous text.
    ///
    /// Errors: as [`Self::text`]; `Usage` for a text that is too long; `Refused` when memory is off.
    pub fn save(
        &self,
        of: &EditableFolder,
        name: &str,
        text: &str,
        tag: &str,
    ) -> Result<SaveOutcome, Fault> {
        self.engine.require_memory()?;
        let path = self.path_of(of, name)?;
        let most = limits::WORKSPACE_FILE_BYTES_MAX;
        if text.len() as u64 > most {
            return Err(Fault::usage(format!("the text has more than {most} bytes")));
        }
        let text = self
            .engine
            .redaction()
            .redact_input(&text.replace("\r\n", "\n"))
            .into_owned();
        let lock = self.engine.workspace().lock()?;
        let now = read(&path)?;
        if now.text == text {
            drop(lock);
            self.engine.workspace().sync()?;
            return Ok(SaveOutcome::Same);
        }
        if now.tag != tag {
            return Ok(SaveOutcome::Stale(now));
        }
        make_folder_of(&path)?;
        let before = self.previous_path(of, name)?;
        make_folder_of(&before)?;
        durable::write_atomic(&before, now.text.as_bytes())?;
        durable::write_atomic(&path, text.as_bytes())?;
        drop(lock);
        self.engine.workspace().sync()?;
        Ok(SaveOutcome::Done)
    }

    /// Restores the text before the last save; a second call undoes the first. Errors: `NotFound` without a previous
    /// text.
    pub fn undo_save(&self, of: &EditableFolder, name: &str) -> Result<(), Fault> {
        self.engine.require_memory()?;
        let path = self.path_of(of, name)?;
        let before = self.previous_path(of, name)?;
        let lock = self.engine.workspace().lock()?;
        if !before.is_file() {
            return Err(Fault::not_found(format!("{name} has no previous text")));
        }
        let (then, now) = (read(&before)?, read(&path)?);
        durable::write_atomic(&before, now.text.as_bytes())?;
        durable::write_atomic(&path, then.text.as_bytes())?;
        drop(lock);
        let synced = self.engine.workspace().sync().map(drop);
        if synced.is_err() {
            // Otherwise a repeated call would restore the second text.
            let _lock = self.engine.workspace().lock()?;
            durable::write_atomic(&path, now.text.as_bytes())?;
            durable::write_atomic(&before, then.text.as_bytes())?;
        }
        synced
    }

    fn previous_path(&self, of: &EditableFolder, name: &str) -> Result<PathBuf, Fault> {
        Ok(self
            .folder_of(of)?
            .join(PREVIOUS_FOLDER)
            .join(name.replace('/', "-")))
    }

    fn folder_of(&self, of: &EditableFolder) -> Result<PathBuf, Fault> {
        self.engine.require_files()?;
        match of {
            EditableFolder::Workspace => Ok(self.engine.folder().join("workspace")),
            EditableFolder::Group(name) => {
                group::check_group_name(name).map_err(Fault::refused)?;
                Ok(self.engine.folder().join("groups").join(name))
            }
        }
    }

    fn path_of(&self, of: &EditableFolder, name: &str) -> Result<PathBuf, Fault> {
        let is_known = self.list(of)?.iter().any(|page| page.name == name);
        if !is_known {
            let shown = text::excerpt(name, 80);
            return Err(Fault::not_found(format!(
                "`{shown}` is not an editable file"
            )));
        }
        let folder = self.folder_of(of)?;
        let linked = folder
            .ancestors()
            .take_while(|up| *up != self.engine.folder());
        let parent = folder.join(name);
        let linked = linked.chain(parent.parent());
        for part in linked {
            if part.is_symlink() {
                return Err(Fault::refused(format!(
                    "{} is a link, which is not followed",
                    part.to_escaped()
                )));
            }
        }
        Ok(parent)
    }
}

/// Creates the folder of a file.
fn make_folder_of(path: &Path) -> Result<(), Fault> {
    if let Some(folder) = path.parent().filter(|folder| !folder.is_dir()) {
        durable::create_dir_private(folder)?;
    }
    Ok(())
}

fn read(path: &Path) -> Result<EditableText, Fault> {
    match file_cache::read(path) {
        Ok(None) => Ok(EditableText::new(String::new())),
        Ok(Some(file)) if file.cut_bytes == 0 => Ok(EditableText::new(file.text)),
        Ok(Some(_)) => Err(Fault::refused(format!(
            "{} is too long to be edited here",
            path.to_escaped()
        ))),
        Err(problem) => Err(Fault::refused(problem)),
    }
}

#[cfg(test)]
mod tests;
