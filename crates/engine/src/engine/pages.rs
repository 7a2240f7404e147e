//! Files of the workspace and of groups as a person edits them: read with a tag, saved by whoever has the tag.

use super::Engine;
use super::group_files;
use super::workspace::PageRoot;
use crate::group;
use crate::workspace::PAGES;
use heirloom_model::{Fault, limits, text};
use heirloom_store::durable;
use std::path::{Path, PathBuf};

/// Where a file's text goes that was saved over.
const BEFORE: &str = ".before";
/// The files of a group.
const GROUP_FILES: [&str; 3] = ["CLAUDE.md", "MEMORY.md", "summary.md"];

/// Whose files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PagesOf {
    /// The project's workspace.
    Workspace,
    /// A group's folder.
    Group(String),
}

/// A file that can be edited.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageFile {
    /// Its path below the folder, with `/`.
    pub name: String,
    /// Its size; `None` if it is not there yet.
    pub size_bytes: Option<u64>,
}

/// What a file says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PageText {
    /// Its text; nothing if it is not there.
    pub text: String,
    /// Tells this text from any other.
    pub tag: String,
}

/// What became of a text that was to be saved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PageSaved {
    /// The file says it now.
    Done,
    /// The file said it already.
    Same,
    /// The file says something else than whoever saves has seen; nothing was written.
    Overtaken(PageText),
}

impl PageText {
    fn of(text: String) -> Self {
        let tag = text::hash16(&text);
        Self { text, tag }
    }
}

impl Engine {
    /// The files that can be edited, those that are not there yet included.
    ///
    /// Errors: `Refused` for a group whose name is no folder.
    pub fn pages(&self, of: &PagesOf) -> Result<Vec<PageFile>, Fault> {
        let folder = self.pages_folder(of)?;
        let names = match of {
            PagesOf::Group(_) => GROUP_FILES.map(str::to_owned).to_vec(),
            PagesOf::Workspace => {
                let mut names: Vec<String> =
                    PAGES.iter().map(|page| page.path.to_owned()).collect();
                let found = PageRoot::of(self)
                    .map(|root| root.names())
                    .unwrap_or_default();
                names.extend(
                    found
                        .into_iter()
                        .filter(|name| !PAGES.iter().any(|page| page.path == name)),
                );
                names
            }
        };
        let file = |name: String| {
            // One that is not there yet has no size; who opens another hears what is wrong with it.
            let found = folder.join(&name).symlink_metadata().ok();
            let size_bytes = found
                .filter(|found| found.is_file())
                .map(|found| found.len());
            PageFile { name, size_bytes }
        };
        Ok(names.into_iter().map(file).collect())
    }

    /// What a file says now. Errors: `NotFound` for a file that cannot be edited here; `Refused` for what is no text in
    /// its folder.
    pub fn page_text(&self, of: &PagesOf, name: &str) -> Result<PageText, Fault> {
        let path = self.page_path(of, name)?;
        read(&path)
    }

    /// Makes a file say this, without its secrets, if it says what `tag` stands for; durable when it returns, and in
    /// the records. [`Engine::unsave_page`] takes it back.
    ///
    /// Errors: as [`Engine::page_text`]; `Usage` for a text that is too long; `Refused` when memory is off.
    pub fn save_page(
        &self,
        of: &PagesOf,
        name: &str,
        said: &str,
        tag: &str,
    ) -> Result<PageSaved, Fault> {
        self.writable()?;
        let path = self.page_path(of, name)?;
        let most = limits::WORKSPACE_FILE_BYTES_MAX;
        if said.len() as u64 > most {
            return Err(Fault::usage(format!("the text has more than {most} bytes")));
        }
        let said = self.clean(&said.replace("\r\n", "\n")).into_owned();
        let lock = self.workspace_lock()?;
        let now = read(&path)?;
        if now.text == said {
            drop(lock);
            self.sync_pages(of)?;
            return Ok(PageSaved::Same);
        }
        if now.tag != tag {
            return Ok(PageSaved::Overtaken(now));
        }
        make_folder_of(&path)?;
        let before = self.before(of, name)?;
        make_folder_of(&before)?;
        durable::write_atomic(&before, now.text.as_bytes())?;
        durable::write_atomic(&path, said.as_bytes())?;
        drop(lock);
        self.sync_pages(of)?;
        Ok(PageSaved::Done)
    }

    /// Takes the last saving of a file back; twice brings it again. Errors: `NotFound` if nothing was saved over.
    pub fn unsave_page(&self, of: &PagesOf, name: &str) -> Result<(), Fault> {
        self.writable()?;
        let path = self.page_path(of, name)?;
        let before = self.before(of, name)?;
        let lock = self.workspace_lock()?;
        if !before.is_file() {
            return Err(Fault::not_found(format!(
                "nothing of {name} was saved over"
            )));
        }
        let (then, now) = (read(&before)?, read(&path)?);
        durable::write_atomic(&before, now.text.as_bytes())?;
        durable::write_atomic(&path, then.text.as_bytes())?;
        drop(lock);
        let synced = self.sync_pages(of);
        if synced.is_err() {
            // Else the same call again would bring the second text back.
            let _lock = self.workspace_lock()?;
            durable::write_atomic(&path, now.text.as_bytes())?;
            durable::write_atomic(&before, then.text.as_bytes())?;
        }
        synced
    }

    fn sync_pages(&self, of: &PagesOf) -> Result<(), Fault> {
        if *of == PagesOf::Workspace {
            self.sync_workspace()?;
        }
        Ok(())
    }

    fn before(&self, of: &PagesOf, name: &str) -> Result<PathBuf, Fault> {
        Ok(self
            .pages_folder(of)?
            .join(BEFORE)
            .join(name.replace('/', "-")))
    }

    fn pages_folder(&self, of: &PagesOf) -> Result<PathBuf, Fault> {
        match of {
            PagesOf::Workspace => Ok(self.folder().join("workspace")),
            PagesOf::Group(name) => {
                group::check_group(name).map_err(Fault::refused)?;
                Ok(self.folder().join("groups").join(name))
            }
        }
    }

    fn page_path(&self, of: &PagesOf, name: &str) -> Result<PathBuf, Fault> {
        let is_known = self.pages(of)?.iter().any(|page| page.name == name);
        if !is_known {
            let shown = text::excerpt(name, 80);
            return Err(Fault::not_found(format!(
                "`{shown}` is no file that is edited here"
            )));
        }
        let folder = self.pages_folder(of)?;
        let linked = folder.ancestors().take_while(|up| *up != self.folder());
        let parent = folder.join(name);
        let linked = linked.chain(parent.parent());
        for part in linked {
            if part.is_symlink() {
                return Err(Fault::refused(format!(
                    "{} is a link, which is not followed",
                    part.display()
                )));
            }
        }
        Ok(parent)
    }
}

/// Makes the folder of a file that is to be written.
fn make_folder_of(path: &Path) -> Result<(), Fault> {
    if let Some(folder) = path.parent().filter(|folder| !folder.is_dir()) {
        durable::create_dir_private(folder)?;
    }
    Ok(())
}

fn read(path: &Path) -> Result<PageText, Fault> {
    match group_files::read(path) {
        Ok(None) => Ok(PageText::of(String::new())),
        Ok(Some(file)) if file.cut_bytes == 0 => Ok(PageText::of(file.text)),
        Ok(Some(_)) => Err(Fault::refused(format!(
            "{} is too long to be edited here",
            path.display()
        ))),
        Err(problem) => Err(Fault::refused(problem)),
    }
}

#[cfg(test)]
mod tests;
