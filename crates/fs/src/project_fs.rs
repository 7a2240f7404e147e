//! Project discovery, project names, and safe access to the files of a project.
//!
//! Only reads the file system: git's files are read, git is never run.

mod bounded_read;
mod file_digest;
mod git_config;
mod git_remote;
mod private_files;
mod project_location;
mod project_path;
mod safe_walk;
mod symlink_guard;
mod text_file;

pub use bounded_read::{read_bounded, read_bounded_following_links};
pub use file_digest::{DigestProblem, FileDigest, digest_file, file_size, open as open_file};
pub use git_remote::normalise_remote;
pub use private_files::{private_reason, reserved_reason};
pub use project_location::{Location, display_name, is_derived_name, is_path_name};
pub use project_path::{PathProblem, normalise_project_path};
pub use safe_walk::{EntryKind, FolderVisitor, OpenFile, SafeFolder, SafeOpenProblem};
pub use symlink_guard::{resolve_memory_folder, resolve_mirror_path};
pub use text_file::{FileStat, TextFile, TextProblem, file_stat, read_text};

use crate::platform;
use heirloom_model::{limits, text};
use std::io;
use std::path::{Component, Path, PathBuf};

/// Folder with the memory of a project.
pub const HEIRLOOM_FOLDER: &str = ".heirloom";
/// File in this folder that enables memory.
pub const CONFIG_FILE: &str = "config.toml";

/// Paths of a project that stores its memory in a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProjectPaths {
    /// Root folder of the project; paths of files are relative to it.
    pub root: PathBuf,
    /// Folder of its memory. In a linked worktree it is that of the main worktree, and may not exist yet.
    pub folder: PathBuf,
    /// Config file that enables memory; it exists.
    pub config: PathBuf,
}

/// The git repository that contains a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repository {
    /// Root of the work tree.
    pub work: PathBuf,
    /// Directory that all worktrees of the repository share, such as `.git`.
    pub common: PathBuf,
    /// Folder that contains the memory of the repository: the root of the main worktree; a bare repository itself.
    pub home: PathBuf,
}

impl Repository {
    fn is_bare(&self) -> bool {
        self.home == self.common
    }

    /// Returns true if this is a submodule of `outer`, whose git directory contains that of the submodule.
    fn is_submodule_of(&self, outer: &Self) -> bool {
        self.common.starts_with(outer.common.join("modules"))
    }
}

/// Finds the project of a folder: the nearest ancestor with `.heirloom/config.toml`, within its repository.
///
/// A repository below another project's folder, such as one of a folder of clones, is outside of that project; a
/// submodule is inside. In a linked worktree the memory is that of the main worktree, even if a tracked config file was
/// checked out into the linked one. `None` if no ancestor has a config file. A config file that may not be read is
/// found, so that its reader reports it.
pub fn find_project(start: &Path) -> Option<ProjectPaths> {
    let start = canonical(start);
    let repository = repository(&start);
    let boundary = search_boundary(&start);
    let within = |folder: &&Path| {
        boundary
            .as_ref()
            .is_none_or(|boundary| folder.starts_with(boundary))
    };
    start.ancestors().take_while(within).find_map(|folder| {
        let home = repository.as_ref().and_then(|repository| {
            let below = folder.strip_prefix(&repository.work).ok()?;
            let home = join_below(&repository.home, below);
            // A link in the main worktree must not lead out of it.
            (canonical(&home) == home).then_some(home)
        });
        let home = home.unwrap_or_else(|| folder.to_owned());
        let config_in = |at: &Path| {
            let config = at.join(HEIRLOOM_FOLDER).join(CONFIG_FILE);
            is_config(&config).then_some(config)
        };
        // Former versions stored the memory of a bare repository next to it.
        let former = repository
            .as_ref()
            .filter(|found| found.is_bare() && found.work == folder);
        let former = former.and_then(|found| found.common.parent());
        let former =
            former.filter(|former| config_in(former).is_some() && config_in(&home).is_none());
        let home = former.map_or(home, Path::to_owned);
        let config = config_in(&home).or_else(|| config_in(folder))?;
        Some(ProjectPaths {
            root: folder.to_owned(),
            folder: home.join(HEIRLOOM_FOLDER),
            config,
        })
    })
}

/// Returns the folder above which no project of `start` is searched: the root of its repository, for a submodule that of
/// the outermost one. `None` outside of a repository.
pub fn search_boundary(start: &Path) -> Option<PathBuf> {
    let mut inner = repository(start)?;
    while let Some(outer) = inner.work.parent().and_then(repository)
        && inner.is_submodule_of(&outer)
    {
        inner = outer;
    }
    Some(inner.work)
}

/// Returns true for a file, also for one in a folder that may not be read.
fn is_config(path: &Path) -> bool {
    match path.metadata() {
        Ok(found) => found.is_file(),
        Err(error) => {
            let is_closed = error.kind() == io::ErrorKind::PermissionDenied;
            is_closed
                && path
                    .parent()
                    .is_some_and(|folder| folder.symlink_metadata().is_ok())
        }
    }
}

/// Returns the paths of a new project, which `init` writes, even if they exist.
///
/// The root is that of the git work tree around `start`, else `start` itself.
pub fn new_project_paths(start: &Path) -> ProjectPaths {
    let start = canonical(start);
    let (root, home) = match repository(&start) {
        Some(repository) => (repository.work, repository.home),
        None => (start.clone(), start),
    };
    let folder = home.join(HEIRLOOM_FOLDER);
    ProjectPaths {
        root,
        config: folder.join(CONFIG_FILE),
        folder,
    }
}

/// Returns the root of the git work tree around a folder; `None` outside of one.
pub fn git_root(start: &Path) -> Option<PathBuf> {
    repository(&canonical(start)).map(|repository| repository.work)
}

/// Returns the root of the git work tree around a folder, and the path of its index, which may not exist.
pub fn git_index_path(start: &Path) -> Option<(PathBuf, PathBuf)> {
    let start = canonical(start);
    start
        .ancestors()
        .find_map(|folder| Some((folder.to_owned(), git_dir(folder)?.join("index"))))
}

/// Returns the git repository around a folder; `None` outside of a work tree.
pub fn repository(start: &Path) -> Option<Repository> {
    let start = canonical(start);
    let (work, git_dir) = start
        .ancestors()
        .find_map(|folder| Some((folder.to_owned(), git_dir(folder)?)))?;
    let common = match read_small(&git_dir.join("commondir")) {
        Some(content) => canonical(&git_dir.join(content.trim())),
        None => git_dir.clone(),
    };
    // A separate git directory without linked worktrees belongs to its only work tree.
    let is_single = common == git_dir && !is_marked_bare(&common);
    let home = if is_single {
        work.clone()
    } else {
        main_worktree(&common).unwrap_or_else(|| work.clone())
    };
    Some(Repository { work, common, home })
}

/// Returns the name of a project: the explicit name, else its git remote as `host/owner/name`, else the path of the
/// common directory of the repository, else the path of `root`.
///
/// A derived name always fits the limits of a name: one that is too long, or contains control characters, becomes its
/// end and a hash.
pub fn project_name(root: &Path, explicit: Option<&str>) -> String {
    match explicit.map(str::trim).filter(|name| !name.is_empty()) {
        Some(name) => name.to_owned(),
        None => fit_name(derived_name(&canonical(root))),
    }
}

fn derived_name(root: &Path) -> String {
    let Some(repository) = repository(root) else {
        return root.to_string_lossy().into_owned();
    };
    let config = read_small(&repository.common.join("config")).unwrap_or_default();
    let url = git_config::remote_url(&config);
    url.and_then(|url| normalise_remote(&url))
        .unwrap_or_else(|| repository.common.to_string_lossy().into_owned())
}

fn fit_name(name: String) -> String {
    if name.len() <= limits::NAME_BYTES_MAX && !name.contains(char::is_control) {
        return name;
    }
    let last = name
        .rsplit(std::path::is_separator)
        .next()
        .unwrap_or_default();
    // Forty characters of four bytes and the hash are below the limit.
    let end = text::one_line(text::clip_start(last, 40));
    format!("{end}-{}", text::hash16(&name))
}

/// Returns the git directory of a folder that is the root of a work tree.
fn git_dir(folder: &Path) -> Option<PathBuf> {
    let dot_git = folder.join(".git");
    let found = if dot_git.is_dir() {
        dot_git
    } else {
        let content = read_small(&dot_git)?;
        folder.join(content.strip_prefix("gitdir:")?.trim())
    };
    found.join("HEAD").is_file().then(|| canonical(&found))
}

/// Returns the root of the main worktree for the directory that all worktrees share.
fn main_worktree(common: &Path) -> Option<PathBuf> {
    let config = read_small(&common.join("config")).unwrap_or_default();
    // Repositories of submodules configure their work tree.
    match git_config::value(&config, "core", None, "worktree") {
        Some(content) => Some(canonical(&common.join(content))),
        None if common.file_name().is_some_and(|name| name == ".git") => {
            common.parent().map(Path::to_owned)
        }
        None => Some(common.to_owned()),
    }
}

/// Returns true if the config of a git directory says that it has no work tree of its own.
fn is_marked_bare(common: &Path) -> bool {
    let config = read_small(&common.join("config")).unwrap_or_default();
    git_config::value(&config, "core", None, "bare").is_some_and(|value| value == "true")
}

/// Reads a file of git as text; `None` if it cannot be read or is too large.
fn read_small(path: &Path) -> Option<String> {
    let bytes = read_bounded_following_links(path, limits::GIT_FILE_BYTES_MAX).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// Returns the absolute path without symbolic links, and on Windows without the prefix `\\?\` where it is not needed.
pub fn canonicalize(path: &Path) -> io::Result<PathBuf> {
    platform::canonicalize(path)
}

/// Returns the absolute path without symbolic links; the path as it is if it cannot be resolved.
fn canonical(path: &Path) -> PathBuf {
    canonicalize(path)
        .or_else(|_| std::path::absolute(path))
        .unwrap_or_else(|_| path.to_owned())
}

/// Appends the components of `below` to `base`, without a trailing slash.
fn join_below(base: &Path, below: &Path) -> PathBuf {
    let mut path = base.to_owned();
    path.extend(
        below
            .components()
            .filter(|part| matches!(part, Component::Normal(_))),
    );
    path
}
