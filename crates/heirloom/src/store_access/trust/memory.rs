//! Trust in the memory of a project: used if this installation created it, or a person said so.

use super::super::private_files::write_file;
use super::marks::{Mark, MarkKind, Marks};
use crate::config::Environment;
use heirloom_fs::project_fs::{self, FileStat};
use heirloom_fs::{durable, git_index};
use heirloom_model::text::EscapedPath;
use heirloom_model::{Fault, Timestamp, limits};
use heirloom_store::{DATABASE, MARKER, SqliteStore, StoreMarker};
use std::path::{Path, PathBuf};

/// Entries of a memory's folder that a team commits; all others belong to one machine.
const SHARED_ENTRIES: [&str; 6] = [
    project_fs::CONFIG_FILE,
    ".gitignore",
    "commands",
    "shared",
    "workspace",
    // The mirror, which another program may have left; it is examined before it is read.
    "memory.json",
];

/// Files that a pull must not be able to replace: with them it would bring a memory, or the right to use it.
const PRIVATE_FILES: [&str; 3] = [DATABASE, MARKER, "tokens.json"];

/// Origin of the memory in a folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MemoryOrigin {
    /// The folder has no memory.
    Absent,
    /// This installation created it, or a person trusts it.
    Own,
    /// It came with a clone, an archive or a copy.
    Foreign,
    /// Git tracks a part of it, so that any pull can replace it.
    Tracked,
}

/// Memory in a folder, examined without opening the database.
pub(crate) struct MemoryTrust {
    marks: Marks,
    /// The folder, without links.
    folder: PathBuf,
    /// The user's data folder, whose memories cannot come with a project.
    data: Option<PathBuf>,
    /// Project on a database server, if the memory is there.
    server_project: Option<String>,
}

impl MemoryTrust {
    /// Returns the memory in `folder`, a path without links; with `server_project` only its files are there.
    pub(crate) fn new(env: &Environment, folder: &Path, server_project: Option<&str>) -> Self {
        Self {
            marks: Marks::of(env),
            folder: folder.to_owned(),
            data: env.data_dir(),
            server_project: server_project.map(str::to_owned),
        }
    }

    /// Returns the folder.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns the origin. Reads the marker file, names and metadata, nothing else.
    pub(crate) fn origin(&self) -> MemoryOrigin {
        if self.is_in_data_folder() {
            return MemoryOrigin::Own;
        }
        if self.is_tracked() {
            return MemoryOrigin::Tracked;
        }
        // Files before marks: a process that creates this memory now writes its mark before the first file, so that
        // files seen here without a mark are a stranger's. It replaces that mark by one with the id of the store,
        // hence the second look.
        let has_files = self.has_private_files();
        if self.mark().or_else(|| self.mark()).is_some() {
            return MemoryOrigin::Own;
        }
        match has_files {
            true => MemoryOrigin::Foreign,
            false => MemoryOrigin::Absent,
        }
    }

    /// Returns true if the folder has files that belong to one machine.
    fn has_private_files(&self) -> bool {
        let entries = self.folder.read_dir().into_iter().flatten().flatten();
        let names = entries.map(|entry| entry.file_name());
        // A write in progress is not one: `init` writes the config before there is a memory.
        let mut names = names.filter(|name| !durable::is_leftover(&name.to_string_lossy()));
        names.any(|name| !SHARED_ENTRIES.iter().any(|shared| name == *shared))
    }

    /// Refuses a memory of this origin if it is not to be used.
    pub(crate) fn require_own(&self, origin: MemoryOrigin) -> Result<(), Fault> {
        let folder = self.folder.to_escaped();
        match origin {
            MemoryOrigin::Absent | MemoryOrigin::Own => Ok(()),
            MemoryOrigin::Foreign => Err(Fault::refused(format!(
                "the memory in {folder} was not created by this installation: it came with a clone, a copy or an \
                 archive, or an older version created it"
            ))
            .hint("`heirloom trust` shows what it contains and lets it be used; or move that folder away and run `heirloom init`")),
            MemoryOrigin::Tracked => Err(Fault::refused(format!(
                "git tracks the memory in {folder}, so that a pull could replace it"
            ))
            .hint("take it out of the repository with `git rm --cached`, then run `heirloom trust`")),
        }
    }

    /// Records that the memory is used from now on; a marker file without an id gets one.
    pub(crate) fn mark_own(&self, now: Timestamp) -> Result<(), Fault> {
        if self.is_in_data_folder() {
            return Ok(());
        }
        let marker = self.folder.join(MARKER);
        let is_old = self.server_project.is_none() && self.store_id().is_none();
        if is_old && marker.symlink_metadata().is_ok() {
            write_file(&marker, &StoreMarker::new().to_bytes())?;
        }
        let (kind, content) = self.key();
        let found = project_fs::file_stat(&self.folder);
        self.marks.add(&Mark {
            inode: found.map_or(0, |found| found.inode),
            born_ns: found.map_or(0, |found| found.born_ns),
            ..Mark::new(kind, &self.folder, &content, now)
        })?;
        if content.is_empty() {
            return Ok(());
        }
        // The mark from before the store had an id.
        self.marks.remove(kind, &self.folder, "")
    }

    /// Withdraws the trust.
    pub(crate) fn unmark(&self) -> Result<(), Fault> {
        // A moved project has a mark for each place.
        while let Some(mark) = self.mark() {
            self.marks
                .remove(mark.kind, Path::new(&mark.path), &mark.content)?;
            if mark.kind == MarkKind::Server {
                break;
            }
            let is_it = |other: &Mark| {
                let is_folder = other.inode == mark.inode && other.born_ns == mark.born_ns;
                is_folder && (other.content == mark.content || other.kind == MarkKind::Server)
            };
            while let Some(other) = self.marks.find_folder(is_it) {
                self.marks
                    .remove(other.kind, Path::new(&other.path), &other.content)?;
            }
        }
        Ok(())
    }

    /// Returns the time from which files of the project count as written here, nanoseconds since 1970; `None` for a
    /// memory that is not used.
    pub(crate) fn used_since_ns(&self) -> Option<i64> {
        if self.is_in_data_folder() {
            return Some(0);
        }
        let mark = self.mark()?;
        match mark.since_ns {
            0 => self.marks.written_ns(&mark),
            since => Some(since),
        }
    }

    /// Returns the id of the memory: that of its store, the project on the server, or else the folder.
    pub(crate) fn id(&self) -> String {
        match self.key() {
            (_, id) if !id.is_empty() => id,
            _ => self.folder.to_string_lossy().into_owned(),
        }
    }

    /// Returns true if the memory has the id of one that this installation created in another folder.
    pub(crate) fn is_copy_of_own(&self) -> bool {
        let Some(id) = self.store_id() else {
            return false;
        };
        let is_it = |mark: &Mark| mark.kind == MarkKind::Memory && mark.content == id;
        self.marks.find_folder(is_it).is_some()
    }

    /// Returns true if the folder itself is used, with this memory or with another one.
    pub(crate) fn is_own_folder(&self) -> bool {
        let path = self.folder.to_string_lossy();
        let found = project_fs::file_stat(&self.folder);
        let is_it =
            |mark: &Mark| mark.path == path && found.is_some_and(|found| is_folder(found, mark));
        self.marks.find_folder(is_it).is_some()
    }

    /// Returns the size of the database in bytes; `None` without a database.
    pub(crate) fn database_bytes(&self) -> Option<u64> {
        let database = self.folder.join(DATABASE);
        Some(project_fs::file_stat(&database)?.size_bytes)
    }

    /// Counts the records in the database, for a person who decides about it. Triggers of the file are not run.
    pub(crate) fn stored_records(&self) -> Option<u64> {
        let survey = SqliteStore::survey_file(&self.folder.join(DATABASE));
        // A database that cannot be read is reported by the command that opens it.
        let projects = survey.ok()?.projects;
        Some(projects.iter().map(|project| project.records).sum())
    }

    fn key(&self) -> (MarkKind, String) {
        match &self.server_project {
            Some(project) => (MarkKind::Server, project.clone()),
            None => (MarkKind::Memory, self.store_id().unwrap_or_default()),
        }
    }

    /// Finds the mark of the memory. Two of path, id and folder number are required: a moved project has another path,
    /// a copy has another folder number, and a lost marker file has no id.
    fn mark(&self) -> Option<Mark> {
        let found = project_fs::file_stat(&self.folder)?;
        let is_same_folder = |mark: &Mark| is_folder(found, mark);
        let (kind, id) = self.key();
        let is_same_id = |mark: &Mark| !id.is_empty() && id == mark.content;
        let here = self.marks.find(kind, &self.folder, &id);
        if kind == MarkKind::Server {
            // The name is not secret: a clone at the same path must not inherit the trust.
            return here.filter(is_same_folder);
        }
        if let Some(mark) = here.filter(|mark| is_same_id(mark) || is_same_folder(mark)) {
            return Some(mark);
        }
        let path = self.folder.to_string_lossy();
        let moved = self
            .marks
            .find_folder(|mark| is_same_folder(mark) && (is_same_id(mark) || mark.path == path))?;
        let here = Mark {
            // A folder that joined a project of a server may use a database of its own too.
            kind,
            path: path.into_owned(),
            content: id.clone(),
            since_ns: match moved.since_ns {
                0 => self.marks.written_ns(&moved).unwrap_or_default(),
                since => since,
            },
            ..moved
        };
        // Best effort: without the new mark the former one is searched again.
        drop(self.marks.add(&here));
        Some(here)
    }

    fn store_id(&self) -> Option<String> {
        let file = self.folder.join(MARKER);
        let bytes = project_fs::read_bounded(&file, limits::CONFIG_BYTES_MAX).ok()?;
        Some(StoreMarker::parse(&bytes)?.store_id()?.to_owned())
    }

    /// Returns true if git tracks a private file. Reads git's index once: in a large repository it has megabytes.
    fn is_tracked(&self) -> bool {
        let Some((work, index)) = project_fs::git_index_path(&self.folder) else {
            return false;
        };
        let Ok(bytes) = project_fs::read_bounded(&index, limits::GIT_INDEX_BYTES_MAX) else {
            return false;
        };
        let Some(below) = self.folder.strip_prefix(&work).ok().and_then(Path::to_str) else {
            return false;
        };
        (PRIVATE_FILES.iter())
            .any(|name| git_index::find_entry(&bytes, &format!("{below}/{name}")).is_some())
    }

    /// Returns true for a memory in the user's data folder, which no project can bring.
    pub(crate) fn is_in_data_folder(&self) -> bool {
        let data = self.data.as_ref();
        let data = data.and_then(|data| project_fs::canonicalize(data).ok());
        data.is_some_and(|data| self.folder.starts_with(data))
    }
}

fn is_folder(found: FileStat, mark: &Mark) -> bool {
    mark.inode != 0 && found.inode == mark.inode && found.born_ns == mark.born_ns
}

/// Returns git's entry of a file, a path without links; `None` if it is not tracked, or its index cannot be read.
pub(super) fn tracked_entry(file: &Path) -> Option<git_index::IndexEntry> {
    let (work, index) = project_fs::git_index_path(file.parent()?)?;
    let bytes = project_fs::read_bounded(&index, limits::GIT_INDEX_BYTES_MAX).ok()?;
    let path = file.strip_prefix(&work).ok()?.to_str()?;
    git_index::find_entry(&bytes, path)
}
