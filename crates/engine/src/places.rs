//! Where a project lives, what it is called, and which paths are inside it.
//!
//! Only reads the file system: git's files are read, git is never run.

mod beneath;
mod config;
mod digest;
mod inside;
mod links;
mod remote;
mod text_file;
mod whole;

pub use beneath::{Beneath, BeneathProblem, Entry, OpenFile, Visitor};
pub use digest::{DigestProblem, FileDigest, digest, file_size, open as open_file};
pub use inside::{PathProblem, normalise_inside};
pub use links::{memory_folder, mirror_path};
pub use remote::normalise_remote;
pub use text_file::{FileStat, TextFile, TextProblem, read_text, stat};
pub use whole::whole_file;

use heirloom_model::{limits, text};
use std::fs;
use std::io::Read;
use std::path::{Component, Path, PathBuf};

/// The folder that holds a project's memory.
pub const OWN_FOLDER: &str = ".heirloom";
/// The file in it that switches memory on.
pub const CONFIG_FILE: &str = "config.toml";

/// A project that keeps its memory in a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The folder whose files the project is about; paths of files are relative to it.
    pub root: PathBuf,
    /// The folder of its memory. In a linked worktree it is the main worktree's, and may not exist
    /// yet.
    pub folder: PathBuf,
    /// The config file that switches memory on; it exists.
    pub config: PathBuf,
}

/// The git repository around a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repository {
    /// The top of the work tree.
    pub work: PathBuf,
    /// What all worktrees of the repository share, such as `.git`.
    pub common: PathBuf,
    /// The folder at which the repository's memory is kept: the top of the main worktree; for a bare
    /// repository the folder beside it.
    pub home: PathBuf,
}

/// The project of a folder: the nearest folder upwards with `.heirloom/config.toml`.
///
/// A linked worktree stands for the main one: its memory is the main worktree's, even when a config
/// file that git tracks was checked out into it. `None` if no folder upwards has a config file.
pub fn find_root(start: &Path) -> Option<Place> {
    let start = real(start);
    let repository = repository(&start);
    start.ancestors().find_map(|folder| {
        let home = repository.as_ref().and_then(|repository| {
            let below = folder.strip_prefix(&repository.work).ok()?;
            let home = joined(&repository.home, below);
            // A link in the main worktree is no way out of it.
            (real(&home) == home).then_some(home)
        });
        let home = home.unwrap_or_else(|| folder.to_owned());
        let configs = [&home, folder as &Path].map(|at| at.join(OWN_FOLDER).join(CONFIG_FILE));
        let config = configs.into_iter().find(|config| config.is_file())?;
        Some(Place {
            root: folder.to_owned(),
            folder: home.join(OWN_FOLDER),
            config,
        })
    })
}

/// The place that a new project gets: where `init` writes, whether or not something is there.
///
/// The top of the git work tree around `start`, else `start` itself.
pub fn new_place(start: &Path) -> Place {
    let start = real(start);
    let (root, home) = match repository(&start) {
        Some(repository) => (repository.work, repository.home),
        None => (start.clone(), start),
    };
    let folder = home.join(OWN_FOLDER);
    Place {
        root,
        config: folder.join(CONFIG_FILE),
        folder,
    }
}

/// The top of the git work tree around a folder; `None` outside of one.
pub fn git_root(start: &Path) -> Option<PathBuf> {
    repository(&real(start)).map(|repository| repository.work)
}

/// The top of the git work tree around a folder, and its index, which may not be there.
pub fn git_index(start: &Path) -> Option<(PathBuf, PathBuf)> {
    let start = real(start);
    start
        .ancestors()
        .find_map(|folder| Some((folder.to_owned(), git_dir(folder)?.join("index"))))
}

/// The git repository around a folder; `None` outside of a work tree.
pub fn repository(start: &Path) -> Option<Repository> {
    let start = real(start);
    let (work, git_dir) = start
        .ancestors()
        .find_map(|folder| Some((folder.to_owned(), git_dir(folder)?)))?;
    let common = match read_small(&git_dir.join("commondir")) {
        Some(said) => real(&git_dir.join(said.trim())),
        None => git_dir.clone(),
    };
    let home = if common == git_dir {
        work.clone()
    } else {
        main_worktree(&common).unwrap_or_else(|| work.clone())
    };
    Some(Repository { work, common, home })
}

/// What a project is called: the explicit name, else its git remote as `host/owner/name`, else the
/// path of the repository's common directory, else the path of `root`.
///
/// What was not said explicitly always fits a project's name: one that is too long, or holds control
/// characters, becomes its end and a hash.
pub fn project_name(root: &Path, explicit: Option<&str>) -> String {
    match explicit.map(str::trim).filter(|name| !name.is_empty()) {
        Some(name) => name.to_owned(),
        None => fitting(found_name(&real(root))),
    }
}

fn found_name(root: &Path) -> String {
    let Some(repository) = repository(root) else {
        return root.to_string_lossy().into_owned();
    };
    let config = read_small(&repository.common.join("config")).unwrap_or_default();
    let url = config::remote_url(&config);
    url.and_then(|url| normalise_remote(&url))
        .unwrap_or_else(|| repository.common.to_string_lossy().into_owned())
}

fn fitting(name: String) -> String {
    if name.len() <= limits::NAME_BYTES_MAX && !name.contains(char::is_control) {
        return name;
    }
    let last = name.rsplit('/').next().unwrap_or_default();
    // Forty characters of four bytes and the hash stay below the limit.
    let end = text::one_line(text::clip_start(last, 40));
    format!("{end}-{}", text::hash16(&name))
}

/// The git directory of a folder that is the top of a work tree.
fn git_dir(folder: &Path) -> Option<PathBuf> {
    let dot_git = folder.join(".git");
    let found = if dot_git.is_dir() {
        dot_git
    } else {
        let said = read_small(&dot_git)?;
        folder.join(said.strip_prefix("gitdir:")?.trim())
    };
    found.join("HEAD").is_file().then(|| real(&found))
}

/// The top of the main worktree, seen from the directory that all worktrees share.
fn main_worktree(common: &Path) -> Option<PathBuf> {
    let config = read_small(&common.join("config")).unwrap_or_default();
    // Repositories of submodules name their work tree.
    match config::value(&config, "core", None, "worktree") {
        Some(said) => Some(real(&common.join(said))),
        None => common.parent().map(Path::to_owned),
    }
}

/// A file of git as text; `None` if it cannot be read or is larger than such files are.
fn read_small(path: &Path) -> Option<String> {
    // Opening a named pipe would wait.
    if !path.is_file() {
        return None;
    }
    let mut bytes = Vec::new();
    let file = fs::File::open(path).ok()?;
    file.take(limits::GIT_FILE_BYTES_MAX + 1)
        .read_to_end(&mut bytes)
        .ok()?;
    let fits = u64::try_from(bytes.len()).is_ok_and(|length| length <= limits::GIT_FILE_BYTES_MAX);
    fits.then(|| String::from_utf8_lossy(&bytes).into_owned())
}

/// The absolute path without symbolic links; as it is where that cannot be had.
fn real(path: &Path) -> PathBuf {
    fs::canonicalize(path)
        .or_else(|_| std::path::absolute(path))
        .unwrap_or_else(|_| path.to_owned())
}

/// `base` with the components of `below`; no trailing slash when there are none.
fn joined(base: &Path, below: &Path) -> PathBuf {
    let mut path = base.to_owned();
    path.extend(
        below
            .components()
            .filter(|part| matches!(part, Component::Normal(_))),
    );
    path
}
