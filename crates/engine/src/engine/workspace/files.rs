//! The folders of the workspaces and of the team's memory, and what is read and written in them.

use super::Engine;
use crate::places::{self, FileStat, PathProblem, TextFile, TextProblem};
use crate::workspace::{self, ARCHIVE, PAGES};
use heirloom_model::{Fault, civil, limits};
use heirloom_store::durable::{self, Lock};
use std::fs;
use std::path::{Path, PathBuf};

/// Which folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Corner {
    /// The person's workspace.
    User,
    /// The project's workspace.
    Project,
    /// The team's memory.
    Team,
}

/// A folder whose Markdown files are records.
#[derive(Debug, Clone)]
pub(super) struct Root {
    pub(super) corner: Corner,
    /// The folder.
    pub(super) folder: PathBuf,
    /// What no link leads out of.
    base: PathBuf,
    /// The folder as seen from `base`, with a slash behind it.
    below: &'static str,
    /// What stands before a file's path where it is told.
    prefix: String,
}

/// Names of the folders in the one that holds a project's memory.
const WORKSPACE: &str = "workspace/";
const TEAM: &str = "shared/";
/// The lock of a folder's writers.
const LOCK: &str = "workspace.lock";

impl Root {
    pub(super) fn of(engine: &Engine, corner: Corner) -> Option<Self> {
        let own = |below: &'static str| Self {
            corner,
            folder: engine.folder.join(below),
            base: engine.folder.clone(),
            below,
            prefix: format!("{}/{below}", places::OWN_FOLDER),
        };
        match corner {
            Corner::Project => Some(own(WORKSPACE)),
            Corner::Team => Some(own(TEAM)),
            Corner::User => {
                let folder = engine.settings.workspace.user_folder.clone()?;
                Some(Self {
                    corner,
                    prefix: format!("{}/", folder.display()),
                    base: folder.clone(),
                    folder,
                    below: "",
                })
            }
        }
    }

    /// A workspace of another program at `folder`, which is told as `shown`.
    pub(super) fn foreign(folder: &Path, shown: &str) -> Self {
        Self {
            corner: Corner::User,
            prefix: format!("{}/", shown.trim_end_matches('/')),
            base: folder.to_owned(),
            folder: folder.to_owned(),
            below: "",
        }
    }

    pub(super) fn is_there(&self) -> bool {
        self.folder.is_dir()
    }

    /// A file's path as it is told.
    pub(super) fn shown(&self, path: &str) -> String {
        format!("{}{path}", self.prefix)
    }

    /// The text of a file; `None` if it is missing.
    pub(super) fn read(&self, path: &str) -> Result<Option<TextFile>, TextProblem> {
        let relative = format!("{}{path}", self.below);
        match places::read_text(&self.base, &relative, limits::WORKSPACE_FILE_BYTES_MAX) {
            Ok(file) => Ok(Some(file)),
            Err(TextProblem::Missing) => Ok(None),
            Err(problem) => Err(problem),
        }
    }

    pub(super) fn stat(&self, path: &str) -> Option<FileStat> {
        places::stat(&self.folder.join(path))
    }

    /// Where a file is written: inside the folder, whatever links there are.
    pub(super) fn target(&self, path: &str) -> Result<PathBuf, Fault> {
        let shown = self.shown(path);
        let relative = format!("{}{path}", self.below);
        let inside = places::normalise_inside(&self.base, &relative);
        let inside = inside.map_err(|problem: PathProblem| refused(&shown, &problem))?;
        Ok(self.base.join(inside))
    }

    /// Makes of a file's text what `edit` says, as one step; `None` if that is nothing. Call it with the lock.
    ///
    /// A person may save the file in between: then it is read and edited anew.
    pub(super) fn change(
        &self,
        path: &str,
        template: &str,
        mut edit: impl FnMut(&str) -> Option<String>,
    ) -> Result<Option<()>, Fault> {
        let target = self.target(path)?;
        for _ in 0..limits::DECISIONS_MAX {
            let found = self.read(path);
            let found = found.map_err(|problem| refused(&self.shown(path), &problem))?;
            let before = found.as_ref().map(|file| file.stat);
            let text = found.map_or_else(|| template.to_owned(), |file| file.text);
            let Some(edited) = edit(&text) else {
                return Ok(None);
            };
            self.fits(path, &edited)?;
            make_folder_of(&target)?;
            if places::stat(&target) == before {
                durable::write_atomic(&target, edited.as_bytes())?;
                return Ok(Some(()));
            }
        }
        let shown = self.shown(path);
        Err(Fault::failed(format!("{shown} is being changed all the time")).hint("try again"))
    }

    fn fits(&self, path: &str, text: &str) -> Result<(), Fault> {
        let most = limits::WORKSPACE_FILE_BYTES_MAX;
        if text.len() as u64 <= most {
            return Ok(());
        }
        let shown = self.shown(path);
        Err(
            Fault::refused(format!("{shown} would have more than {most} bytes"))
                .hint("move what is old into another file"),
        )
    }

    /// Takes the oldest entries out of a file that has become too long, and puts them behind those of its archive;
    /// where they went. A kill in between leaves them in both, never in none.
    pub(super) fn archive_oldest(&self, path: &str) -> Result<Option<PathBuf>, Fault> {
        let Ok(Some(page)) = self.read(path) else {
            return Ok(None);
        };
        let split = workspace::moved_out(&page.text, limits::WORKSPACE_KEPT_BYTES);
        let Some((_, moved)) = split else {
            return Ok(None);
        };
        let archive = self.free_archive(path, moved.len())?;
        self.change(&archive, "", |text| {
            // What a kill left in both is not put there twice.
            let is_new = !text.contains(&moved);
            is_new.then(|| format!("{text}{moved}"))
        })?;
        self.change(path, "", |text| {
            let (kept, again) = workspace::moved_out(text, limits::WORKSPACE_KEPT_BYTES)?;
            (again == moved).then_some(kept)
        })?;
        self.target(&archive).map(Some)
    }

    /// The archive of a file, which has room for so many bytes; a full one is set aside.
    fn free_archive(&self, path: &str, bytes: usize) -> Result<String, Fault> {
        let archive = workspace::archive_of(path);
        let full = limits::WORKSPACE_FILE_BYTES_MAX.saturating_sub(bytes as u64);
        let is_full = (self.stat(&archive)).is_some_and(|stat| stat.size_bytes > full);
        if is_full {
            durable::set_aside(&self.target(&archive)?, "old")?;
        }
        Ok(archive)
    }

    /// Puts the daily logs that are older than so many days into the archive; whether there were any.
    pub(super) fn archive_days(&self, today: civil::Date, days: u32) -> Result<bool, Fault> {
        let mut moved = false;
        if days == 0 {
            return Ok(moved);
        }
        for name in self.names("memory").0 {
            let old = workspace::day_of(&name).and_then(|day| today.since(day).ok());
            if old.is_none_or(|age| age.get_days() <= i32::try_from(days).unwrap_or(i32::MAX)) {
                continue;
            }
            let from = self.target(&format!("memory/{name}"))?;
            let to = self.target(&format!("{ARCHIVE}/{name}"))?;
            make_folder_of(&to)?;
            // One that was there before stays; the log then stays where it is.
            if to.symlink_metadata().is_err() && from.is_file() {
                durable::move_to_free(&from, &to)?;
                moved = true;
            }
        }
        Ok(moved)
    }

    /// The files that are records, in the order in which they count, and what is to be told of others.
    pub(super) fn files(&self) -> (Vec<String>, Vec<String>) {
        let mut notes = Vec::new();
        let mut files = Vec::new();
        let mut list = |folder: &str, wanted: &dyn Fn(&str) -> bool| {
            let (names, more) = self.names(folder);
            notes.extend(more);
            let names = names.into_iter().filter(|name| wanted(name));
            let at = |name: String| match folder {
                "" => name,
                folder => format!("{folder}/{name}"),
            };
            files.extend(names.map(at));
        };
        if self.corner == Corner::Team {
            list("", &|name| name.ends_with(".md") && !name.starts_with('.'));
            return (files, notes);
        }
        let is_page = |folder: &'static str| {
            move |name: &str| {
                let at = |page: &workspace::Page| match folder {
                    "" => page.path.to_owned(),
                    folder => page
                        .path
                        .strip_prefix(folder)
                        .unwrap_or("")
                        .trim_start_matches('/')
                        .to_owned(),
                };
                let is = |page: &workspace::Page| {
                    at(page) == name || workspace::archive_of(&at(page)) == name
                };
                PAGES.iter().any(|page| !at(page).is_empty() && is(page))
            }
        };
        list("", &is_page(""));
        list(".learnings", &is_page(".learnings"));
        let is_day = |name: &str| {
            workspace::day_of(
                name.strip_suffix(".archive.md")
                    .map(|s| format!("{s}.md"))
                    .as_deref()
                    .unwrap_or(name),
            )
            .is_some()
        };
        list("memory", &is_day);
        list(ARCHIVE, &is_day);
        (files, notes)
    }

    /// The names in a folder, sorted, and what is to be told of them.
    fn names(&self, folder: &str) -> (Vec<String>, Vec<String>) {
        let mut names = Vec::new();
        let mut notes = Vec::new();
        let Ok(place) = self
            .target(if folder.is_empty() { "." } else { folder })
            .or_else(|fault| match folder {
                // The folder itself, where nothing is below the base.
                "" if self.below.is_empty() => Ok(self.folder.clone()),
                _ => Err(fault),
            })
        else {
            notes.push(format!(
                "{} leads out of its folder and is not read",
                self.shown(folder)
            ));
            return (names, notes);
        };
        for entry in fs::read_dir(place).into_iter().flatten().flatten() {
            let name = entry.file_name();
            match name
                .to_str()
                .filter(|name| !name.contains(char::is_control))
            {
                Some(name) => names.push(name.to_owned()),
                None => notes.push(format!(
                    "{}: a name that is no text on one line is not read",
                    self.shown(folder)
                )),
            }
            if names.len() > limits::WORKSPACE_FILES_MAX {
                notes.push(format!(
                    "{}: more than {} files; the rest is not read",
                    self.shown(folder),
                    limits::WORKSPACE_FILES_MAX
                ));
                break;
            }
        }
        names.sort();
        names.truncate(limits::WORKSPACE_FILES_MAX);
        (names, notes)
    }
}

impl Engine {
    /// Keeps other processes from writing workspace files of this project.
    pub(in crate::engine) fn workspace_lock(&self) -> Result<Lock, Fault> {
        if !self.folder.is_dir() {
            durable::create_dir_private(&self.folder)?;
        }
        let lock = self.folder.join(LOCK);
        Ok(durable::lock(&lock, limits::FILE_LOCK_MS)?)
    }

    /// The same for the workspace that `root` is: a person's is shared by all projects.
    pub(super) fn workspace_lock_in(&self, root: &Root) -> Result<Lock, Fault> {
        if root.corner != Corner::User {
            return self.workspace_lock();
        }
        if !root.is_there() {
            durable::create_dir_private(&root.folder)?;
        }
        let lock = root.folder.join(LOCK);
        Ok(durable::lock(&lock, limits::FILE_LOCK_MS)?)
    }
}

/// Makes the folder of a file that is to be written.
pub(super) fn make_folder_of(path: &Path) -> Result<(), Fault> {
    if let Some(folder) = path.parent().filter(|folder| !folder.is_dir()) {
        durable::create_dir_private(folder)?;
    }
    Ok(())
}

pub(super) fn refused(shown: &str, problem: &dyn std::fmt::Display) -> Fault {
    Fault::refused(format!("{shown}: {problem}"))
        .hint("nothing was written; put the file in order, then try again")
}
