//! Marks of what a person trusts: one file for each in the user's data folder.
//!
//! Never stored in a project, which could bring its own trust. Separate files let concurrent calls not overwrite each
//! other.

use super::super::private_files::{create_folder, remove_file, write_file};
use crate::config::Environment;
use heirloom_fs::project_fs;
use heirloom_model::{Fault, Timestamp, limits};
use heirloom_prompt::custom_commands;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// Subfolder of the user's data folder.
const FOLDER: &str = "trust";

/// Kind of a trusted thing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum MarkKind {
    /// A store in the folder of a project.
    #[serde(rename = "memory")]
    Memory,
    /// A project of a database server, used by a folder.
    #[serde(rename = "server")]
    Server,
    /// A file whose text is used.
    #[serde(rename = "file")]
    File,
    /// A custom command.
    #[serde(rename = "command")]
    Command,
}

impl MarkKind {
    fn as_str(self) -> &'static str {
        match self {
            Self::Memory => "memory",
            Self::Server => "server",
            Self::File => "file",
            Self::Command => "command",
        }
    }
}

/// A trusted thing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Mark {
    #[serde(rename = "kind")]
    pub(crate) kind: MarkKind,
    /// Path of the folder or file.
    #[serde(rename = "path")]
    pub(crate) path: String,
    /// Id of the store, name of the project, or SHA-256 of the file.
    #[serde(rename = "content")]
    pub(crate) content: String,
    /// Number of the database's file, which a move keeps and a copy does not; 0 for other kinds.
    #[serde(rename = "inode", default)]
    pub(crate) inode: u64,
    /// Creation time of the database's file, nanoseconds since 1970; 0 if unknown.
    #[serde(rename = "born_ns", default)]
    pub(crate) born_ns: u64,
    /// Time from which files of the project count as written here, nanoseconds since 1970 by the clock of the file
    /// system; 0 means the time at which the mark was written.
    #[serde(rename = "since_ns", default)]
    pub(crate) since_ns: i64,
    /// True if a person decided against the file.
    #[serde(rename = "revoked", default)]
    pub(crate) is_revoked: bool,
    /// Fingerprint of the text that was last written here, for a file that a person did not decide about.
    #[serde(rename = "written", default)]
    pub(crate) written: String,
    #[serde(rename = "at")]
    pub(crate) at: String,
}

impl Mark {
    /// Creates a mark for `path` with `content`.
    pub(crate) fn new(kind: MarkKind, path: &Path, content: &str, now: Timestamp) -> Self {
        Self {
            kind,
            path: path.to_string_lossy().into_owned(),
            content: content.to_owned(),
            inode: 0,
            born_ns: 0,
            since_ns: 0,
            is_revoked: false,
            written: String::new(),
            at: now.to_string(),
        }
    }
}

/// The marks in the user's data folder.
#[derive(Debug, Clone)]
pub(crate) struct Marks {
    /// `None` if the environment has no data folder.
    folder: Option<PathBuf>,
}

impl Marks {
    /// Returns the marks of the user.
    pub(crate) fn of(env: &Environment) -> Self {
        Self {
            folder: env.trust_dir().map(|data| data.join(FOLDER)),
        }
    }

    /// Returns the mark of this kind for `path` with `content`.
    pub(crate) fn find(&self, kind: MarkKind, path: &Path, content: &str) -> Option<Mark> {
        let mark = read(&self.file(kind, &path.to_string_lossy(), content)?)?;
        let is_it = mark.kind == kind && mark.path == path.to_string_lossy();
        (is_it && mark.content == content).then_some(mark)
    }

    /// Finds a mark of a folder with a memory by other properties than its path and id.
    pub(crate) fn find_folder(&self, is_it: impl Fn(&Mark) -> bool) -> Option<Mark> {
        const KINDS: [MarkKind; 2] = [MarkKind::Memory, MarkKind::Server];
        let entries = self.folder.as_ref()?.read_dir().ok()?.flatten();
        let folders = entries.filter(|entry| {
            let name = entry.file_name();
            let name = name.to_string_lossy();
            KINDS.iter().any(|kind| name.starts_with(kind.as_str()))
        });
        folders
            .filter_map(|entry| read(&entry.path()))
            .find(|mark| KINDS.contains(&mark.kind) && is_it(mark))
    }

    /// Writes a mark.
    pub(crate) fn add(&self, mark: &Mark) -> Result<(), Fault> {
        let file = self.required_file(mark.kind, &mark.path, &mark.content)?;
        if let Some(folder) = file.parent() {
            create_folder(folder)?;
        }
        let text = serde_json::to_string(mark)
            .map_err(|error| Fault::failed(format!("cannot write a mark of trust: {error}")))?;
        write_file(&file, format!("{text}\n").as_bytes())
    }

    /// Removes a mark, if there is one.
    pub(crate) fn remove(&self, kind: MarkKind, path: &Path, content: &str) -> Result<(), Fault> {
        remove_file(&self.required_file(kind, &path.to_string_lossy(), content)?)
    }

    /// Returns the modification time of a memory's mark.
    pub(crate) fn written_ns(&self, mark: &Mark) -> Option<i64> {
        let file = self.file(mark.kind, &mark.path, &mark.content)?;
        Some(project_fs::file_stat(&file)?.modified_ns)
    }

    fn required_file(&self, kind: MarkKind, path: &str, content: &str) -> Result<PathBuf, Fault> {
        self.file(kind, path, content).ok_or_else(|| {
            Fault::failed("there is no folder for what you trust")
                .hint("set HOME, or XDG_DATA_HOME to an absolute path")
        })
    }

    fn file(&self, kind: MarkKind, path: &str, content: &str) -> Option<PathBuf> {
        let name = custom_commands::fingerprint(&[path.as_bytes(), content.as_bytes()]);
        let kind = kind.as_str();
        Some(self.folder.as_ref()?.join(format!("{kind}-{name}.json")))
    }
}

fn read(file: &Path) -> Option<Mark> {
    let bytes = project_fs::read_bounded(file, limits::CONFIG_BYTES_MAX).ok()?;
    serde_json::from_slice(&bytes).ok()
}
