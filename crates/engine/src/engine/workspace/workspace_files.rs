//! Access to the files of workspaces and of the team's memory.

use super::Engine;
use crate::engine::groups::MEMORY as GROUP_MEMORY;
use crate::engine::{FileTrust, FileVerdict, Workspaces};
use heirloom_formats::group::check_group_name;
use heirloom_formats::workspace::{self, ARCHIVE_FOLDER, FIXED_FILES};
use heirloom_fs::durable::{self, Lock};
use heirloom_fs::project_fs::{self, FileStat, PathProblem, TextFile, TextProblem};
use heirloom_model::text::EscapedPath;
use heirloom_model::{Fault, civil, limits, text};
use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Kind of a folder with Markdown files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WorkspaceKind {
    /// The person's workspace.
    User,
    /// The project's workspace.
    Project,
    /// The team's memory.
    Team,
    /// The folders of groups, each with a `MEMORY.md`.
    Groups,
}

/// Folder whose Markdown files are stored as records.
#[derive(Clone)]
pub(super) struct WorkspaceRoot {
    pub(super) kind: WorkspaceKind,
    /// The folder.
    pub(super) folder: PathBuf,
    /// Folder that links must stay in.
    base: PathBuf,
    /// Path of the folder relative to `base`, with a trailing slash.
    below: &'static str,
    /// Prefix of displayed paths.
    prefix: String,
    /// Trust in the files; `None` for folders of the person, which no project can bring.
    trust: Option<Arc<dyn FileTrust>>,
}

/// Names of the folders in the memory's folder.
const WORKSPACE: &str = "workspace/";
const TEAM: &str = "shared/";
const GROUPS: &str = "groups/";
/// Lock for writes to a folder.
const LOCK: &str = "workspace.lock";

impl WorkspaceRoot {
    /// Returns the folder; `None` if it is not configured, or the project's files are not available.
    pub(super) fn open(engine: &Engine, kind: WorkspaceKind) -> Option<Self> {
        if !engine.has_files {
            return None;
        }
        let own = |below: &'static str| Self {
            kind,
            folder: engine.folder.join(below),
            base: engine.folder.clone(),
            below,
            prefix: format!("{}/{below}", project_fs::HEIRLOOM_FOLDER),
            trust: Some(Arc::clone(&engine.file_trust)),
        };
        match kind {
            WorkspaceKind::Project => Some(own(WORKSPACE)),
            WorkspaceKind::Team => Some(own(TEAM)),
            WorkspaceKind::Groups => Some(own(GROUPS)),
            WorkspaceKind::User => {
                let folder = engine.settings.workspace.user_folder.clone()?;
                Some(Self {
                    kind,
                    prefix: format!("{}/", folder.to_escaped()),
                    base: folder.clone(),
                    folder,
                    below: "",
                    trust: None,
                })
            }
        }
    }

    /// Returns a workspace of another program at `folder`, displayed as `shown`.
    pub(super) fn foreign(folder: &Path, shown: &str) -> Self {
        Self {
            kind: WorkspaceKind::User,
            prefix: format!("{}/", shown.trim_end_matches('/')),
            base: folder.to_owned(),
            folder: folder.to_owned(),
            below: "",
            trust: None,
        }
    }

    pub(super) fn is_there(&self) -> bool {
        self.folder.is_dir()
    }

    /// Returns the displayed path of a file.
    pub(super) fn shown(&self, path: &str) -> String {
        format!("{}{}", self.prefix, text::escape_name(path))
    }

    /// Reads a file; `None` if it is missing, or a person decided against it.
    ///
    /// Errors: `Untrusted` for a file that came with the project, until a person has decided.
    pub(super) fn read(&self, path: &str) -> Result<Option<TextFile>, TextProblem> {
        let found = self.read_any(path)?;
        let verdict = found.as_ref().map(|file| self.verdict(path, &file.text));
        match verdict {
            Some(FileVerdict::Undecided) => Err(TextProblem::Untrusted),
            Some(FileVerdict::Revoked) => Ok(None),
            Some(FileVerdict::Trusted) | None => Ok(found),
        }
    }

    pub(super) fn verdict(&self, path: &str, text: &str) -> FileVerdict {
        let is_template = |page: &workspace::FixedFile| page.path == path && page.template == text;
        if FIXED_FILES.iter().any(is_template) {
            return FileVerdict::Trusted;
        }
        self.trust.as_ref().map_or(FileVerdict::Trusted, |trust| {
            trust.verdict(&self.folder.join(path), text.as_bytes())
        })
    }

    /// Reads a file without regard to trust; `None` if it is missing.
    pub(super) fn read_any(&self, path: &str) -> Result<Option<TextFile>, TextProblem> {
        let relative = format!("{}{path}", self.below);
        match project_fs::read_text(&self.base, &relative, limits::WORKSPACE_FILE_BYTES_MAX) {
            Ok(file) => Ok(Some(file)),
            Err(TextProblem::Missing) => Ok(None),
            Err(problem) => Err(problem),
        }
    }

    pub(super) fn stat(&self, path: &str) -> Option<FileStat> {
        project_fs::file_stat(&self.folder.join(path))
    }

    /// Returns the path for writing a file. Links may not lead out of the folder.
    pub(super) fn target(&self, path: &str) -> Result<PathBuf, Fault> {
        let shown = self.shown(path);
        let relative = format!("{}{path}", self.below);
        let inside = project_fs::normalise_project_path(&self.base, &relative);
        let inside = inside.map_err(|problem: PathProblem| refused(&shown, &problem))?;
        Ok(self.base.join(inside))
    }

    /// Replaces a file's text by the result of `edit` atomically; `None` leaves it unchanged. Needs the lock.
    ///
    /// If a person saves the file meanwhile, it is read and edited again.
    pub(super) fn change(
        &self,
        path: &str,
        template: &str,
        mut edit: impl FnMut(&str) -> Option<String>,
    ) -> Result<Option<()>, Fault> {
        let target = self.target(path)?;
        for _ in 0..limits::MERGE_RETRIES_MAX {
            let found = self.read_any(path);
            let found = found.map_err(|problem| refused(&self.shown(path), &problem))?;
            // An edit would make the rest of the file this machine's own.
            let is_foreign = (found.as_ref())
                .is_some_and(|file| self.verdict(path, &file.text) != FileVerdict::Trusted);
            if is_foreign {
                return Err(refused(&self.shown(path), &TextProblem::Untrusted));
            }
            let before = found.as_ref().map(|file| file.stat);
            let text = found.map_or_else(|| template.to_owned(), |file| file.text);
            let Some(edited) = edit(&text) else {
                return Ok(None);
            };
            self.check_size(path, &edited)?;
            make_folder_of(&target)?;
            if project_fs::file_stat(&target) == before {
                durable::write_atomic(&target, edited.as_bytes())?;
                return Ok(Some(()));
            }
        }
        let shown = self.shown(path);
        Err(Fault::failed(format!("{shown} changes too often")).hint("try again"))
    }

    fn check_size(&self, path: &str, text: &str) -> Result<(), Fault> {
        let most = limits::WORKSPACE_FILE_BYTES_MAX;
        if text.len() as u64 <= most {
            return Ok(());
        }
        let shown = self.shown(path);
        Err(
            Fault::refused(format!("{shown} would have more than {most} bytes"))
                .hint("move old content into another file"),
        )
    }

    /// Adds an entry to a file; `None` if the file has it. If the file becomes too long, its oldest entries move to the
    /// end of its archive, whose path is returned. The archive is written first: a crash may leave them in both files,
    /// never in none, and the file is as before or has the entry and its final length.
    pub(super) fn add_entry(
        &self,
        path: &str,
        template: &str,
        entry: &str,
    ) -> Result<Option<Option<PathBuf>>, Fault> {
        let mut archived = Ok(None);
        let changed = self.change(path, template, |page| {
            let edited = workspace::append_entry(page, entry)?;
            let most = limits::WORKSPACE_ARCHIVE_AT_BYTES;
            let Some((kept, moved)) = workspace::split_oldest_entries(&edited, most) else {
                return Some(edited);
            };
            archived = self.add_to_archive(path, &moved).map(Some);
            archived.is_ok().then_some(kept)
        })?;
        let archived = archived?;
        Ok(changed.map(|()| archived))
    }

    /// Adds entries to the end of a file's archive; returns its path.
    fn add_to_archive(&self, path: &str, moved: &str) -> Result<PathBuf, Fault> {
        let archive = self.free_archive(path, moved.len())?;
        self.change(&archive, "", |text| {
            // A crash may have left them in both files.
            let is_new = !text.contains(moved);
            is_new.then(|| format!("{text}{moved}"))
        })?;
        self.target(&archive)
    }

    /// Returns an archive's text with an empty line for each line that its page has too: a crash between the changes of
    /// the two files leaves moved entries in both, and they are still those of the page.
    pub(super) fn without_entries_of(&self, path: &str, archive: &str) -> String {
        let page = match self.read(path) {
            Ok(Some(page)) => page.text,
            Ok(None) | Err(_) => return archive.to_owned(),
        };
        let is_heading = |line: &str| line.trim_start().starts_with('#');
        let lines = page.lines().filter(|line| !is_heading(line));
        let lines: HashSet<&str> = lines.collect();
        let kept = archive.lines().flat_map(|line| {
            let kept = if lines.contains(line) { "" } else { line };
            [kept, "\n"]
        });
        kept.collect()
    }

    /// Returns the archive of a file with space for `bytes`; a full one is renamed.
    fn free_archive(&self, path: &str, bytes: usize) -> Result<String, Fault> {
        let archive = workspace::archive_path(path);
        let full = limits::WORKSPACE_FILE_BYTES_MAX.saturating_sub(bytes as u64);
        let is_full = (self.stat(&archive)).is_some_and(|stat| stat.size_bytes > full);
        if is_full {
            durable::rename_with_suffix(&self.target(&archive)?, "old")?;
        }
        Ok(archive)
    }

    /// Moves daily logs older than `days` to the archive; returns true if there were any.
    pub(super) fn archive_days(&self, today: civil::Date, days: u32) -> Result<bool, Fault> {
        let mut moved = false;
        if days == 0 {
            return Ok(moved);
        }
        for name in self.list_names("memory").0 {
            let old = workspace::daily_log_date(&name).and_then(|day| today.since(day).ok());
            if old.is_none_or(|age| age.get_days() <= i32::try_from(days).unwrap_or(i32::MAX)) {
                continue;
            }
            let from = self.target(&format!("memory/{name}"))?;
            let to = self.target(&format!("{ARCHIVE_FOLDER}/{name}"))?;
            make_folder_of(&to)?;
            // An existing archive is not overwritten; the log then stays.
            if to.symlink_metadata().is_err() && from.is_file() {
                durable::move_to_free(&from, &to)?;
                moved = true;
            }
        }
        Ok(moved)
    }

    /// Lists the files that are stored as records, in order of precedence, and notes about others.
    pub(super) fn files(&self) -> (Vec<String>, Vec<String>) {
        if self.kind == WorkspaceKind::Groups {
            return self.group_files();
        }
        let mut notes = Vec::new();
        let mut files = Vec::new();
        let mut list = |folder: &str, wanted: &dyn Fn(&str) -> bool| {
            let (names, more) = self.list_names(folder);
            notes.extend(more);
            let names = names.into_iter().filter(|name| wanted(name));
            let at = |name: String| match folder {
                "" => name,
                folder => format!("{folder}/{name}"),
            };
            files.extend(names.map(at));
        };
        if self.kind == WorkspaceKind::Team {
            list("", &|name| name.ends_with(".md") && !name.starts_with('.'));
            return (files, notes);
        }
        let is_page = |folder: &'static str| {
            move |name: &str| {
                let at = |page: &workspace::FixedFile| match folder {
                    "" => page.path.to_owned(),
                    folder => page
                        .path
                        .strip_prefix(folder)
                        .unwrap_or("")
                        .trim_start_matches('/')
                        .to_owned(),
                };
                let is = |page: &workspace::FixedFile| {
                    at(page) == name || workspace::archive_path(&at(page)) == name
                };
                FIXED_FILES
                    .iter()
                    .any(|page| !at(page).is_empty() && is(page))
            }
        };
        list("", &is_page(""));
        list(".learnings", &is_page(".learnings"));
        let is_day = |name: &str| {
            workspace::daily_log_date(
                name.strip_suffix(".archive.md")
                    .map(|s| format!("{s}.md"))
                    .as_deref()
                    .unwrap_or(name),
            )
            .is_some()
        };
        list("memory", &is_day);
        list(ARCHIVE_FOLDER, &is_day);
        (files, notes)
    }

    /// Lists the `MEMORY.md` of each group, and notes about skipped names. Links are not followed.
    fn group_files(&self) -> (Vec<String>, Vec<String>) {
        if self.folder.is_symlink() {
            return (Vec::new(), Vec::new());
        }
        let (mut names, notes) = self.list_names("");
        names.retain(|name| check_group_name(name).is_ok());
        let files = names.into_iter().filter_map(|name| {
            let folder = self.folder.join(&name);
            let file = folder.join(GROUP_MEMORY);
            let is_group = !folder.is_symlink() && !file.is_symlink() && file.is_file();
            is_group.then(|| format!("{name}/{GROUP_MEMORY}"))
        });
        (files.collect(), notes)
    }

    /// Lists the names in a folder, sorted, and notes about skipped ones.
    fn list_names(&self, folder: &str) -> (Vec<String>, Vec<String>) {
        let mut names = Vec::new();
        let mut notes = Vec::new();
        let Ok(place) = self
            .target(if folder.is_empty() { "." } else { folder })
            .or_else(|fault| match folder {
                // The folder itself, if it is the base.
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
                    "{}: a name with invalid or control characters is not read",
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

impl Workspaces<'_> {
    /// Locks the workspace files of this project against other processes.
    pub(in crate::engine) fn lock(&self) -> Result<Lock, Fault> {
        if !self.engine.folder.is_dir() {
            durable::create_dir_private(&self.engine.folder)?;
        }
        let lock = self.engine.folder.join(LOCK);
        Ok(durable::lock(&lock, limits::FILE_LOCK_MS)?)
    }

    /// Locks the workspace `root`; that of a person is shared by all projects.
    pub(super) fn lock_in(&self, root: &WorkspaceRoot) -> Result<Lock, Fault> {
        if root.kind != WorkspaceKind::User {
            return self.lock();
        }
        if !root.is_there() {
            durable::create_dir_private(&root.folder)?;
        }
        let lock = root.folder.join(LOCK);
        Ok(durable::lock(&lock, limits::FILE_LOCK_MS)?)
    }
}

/// Creates the folder of a file.
pub(super) fn make_folder_of(path: &Path) -> Result<(), Fault> {
    if let Some(folder) = path.parent().filter(|folder| !folder.is_dir()) {
        durable::create_dir_private(folder)?;
    }
    Ok(())
}

pub(super) fn refused(shown: &str, problem: &dyn std::fmt::Display) -> Fault {
    Fault::refused(format!("{shown}: {problem}"))
        .hint("nothing was written; repair the file and try again")
}
