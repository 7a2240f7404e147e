//! Normalisation of paths from agents to paths inside of the project.

use crate::platform;
use heirloom_model::limits::{LINKS_MAX, PATH_BYTES_MAX};
use std::collections::VecDeque;
use std::ffi::OsString;
use std::fs;
use std::path::{Component, Path, PathBuf};

/// Error of a rejected path.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PathProblem {
    /// The path is empty.
    #[error("the path is empty")]
    Empty,
    /// The path contains a NUL character.
    #[error("the path holds a NUL character")]
    Nul,
    /// The path is longer than [`PATH_BYTES_MAX`].
    #[error("the path has {0} bytes, at most {PATH_BYTES_MAX} are allowed")]
    TooLong(usize),
    /// The path has too many symbolic links.
    #[error("the path `{0}` goes through too many symbolic links")]
    TooManyLinks(String),
    /// The path is outside of the project, or leads out of it.
    #[error("the path `{0}` is outside the project")]
    Outside(String),
    /// The path is the root of the project.
    #[error("the path `{0}` is the project itself")]
    Root(String),
    /// The path has a link that leads out of the folder that it must stay in.
    #[error("`{0}` goes through a link that leads out of its folder")]
    LinkLeadsOut(String),
    /// The path belongs to git.
    #[error("the path `{0}` belongs to git")]
    InsideGit(String),
    /// The path is a file of Heirloom other than a mirror.
    #[error("the path `{0}` is a file of Heirloom's own")]
    HeirloomFile(String),
}

/// Normalises a path from an agent to one relative to the root of the project, with `/`.
///
/// Blanks and quotes around it are removed, and a backslash separates folders unless a file has this name. `.`, `..`
/// and existing symbolic links are resolved; the file itself need not exist. A path outside of the project, also
/// through a link, is rejected.
pub fn normalise_project_path(root: &Path, path: &str) -> Result<String, PathProblem> {
    let path = bare(path);
    if path.is_empty() {
        return Err(PathProblem::Empty);
    }
    if path.contains('\0') {
        return Err(PathProblem::Nul);
    }
    if path.len() > PATH_BYTES_MAX {
        return Err(PathProblem::TooLong(path.len()));
    }
    let shown = || heirloom_model::text::excerpt(path, 200);
    let separated = if path.contains('\\') && fs::symlink_metadata(root.join(path)).is_err() {
        path.replace('\\', "/")
    } else {
        path.to_owned()
    };
    if is_outside_path(&separated) {
        return Err(PathProblem::Outside(shown()));
    }
    let root = super::canonical(root);
    let found = resolve_below(&root, Path::new(&separated))
        .ok_or_else(|| PathProblem::TooManyLinks(shown()))?;
    let inside = found
        .strip_prefix(&root)
        .map_err(|_| PathProblem::Outside(shown()))?;
    let parts = inside
        .components()
        .map(|part| part.as_os_str().to_string_lossy());
    let relative = parts.collect::<Vec<_>>().join("/");
    if relative.is_empty() {
        return Err(PathProblem::Root(shown()));
    }
    Ok(relative)
}

/// Removes blanks and quotes around a path.
fn bare(path: &str) -> &str {
    let mut path = path.trim();
    for _ in 0..4 {
        path = path.trim_matches(['`', '"', '\'']).trim();
    }
    path
}

/// Returns true for paths in a home folder or on a drive.
fn is_outside_path(path: &str) -> bool {
    let bytes = path.as_bytes();
    // On Windows it may be inside of the project, which is found out later.
    let drive = cfg!(not(windows))
        && bytes.len() > 2
        && bytes[0].is_ascii_alphabetic()
        && bytes[1] == b':'
        && bytes[2] == b'/';
    drive || path == "~" || path.starts_with("~/")
}

/// Returns the absolute path with `.`, `..` and symbolic links resolved; components that do not exist stay as they
/// are.
///
/// `None` if there are too many links. Not `canonicalize`, which requires that the whole path exists.
pub(super) fn resolve(path: &Path) -> Option<PathBuf> {
    resolve_below(Path::new("/"), path)
}

/// Returns the root that a path begins with: `/`, on Windows also a drive; empty for a relative path.
pub(super) fn root_of(path: &Path) -> PathBuf {
    let parts = path.components();
    parts
        .take_while(|part| matches!(part, Component::Prefix(_) | Component::RootDir))
        .collect()
}

/// Returns a path below a resolved folder as [`resolve`] does. An absolute path is not below it.
fn resolve_below(folder: &Path, path: &Path) -> Option<PathBuf> {
    let mut left: VecDeque<OsString> = names(path);
    let mut done = root_of(path);
    if done.as_os_str().is_empty() {
        folder.clone_into(&mut done);
    }
    let mut links = 0;
    while let Some(name) = left.pop_front() {
        if name == ".." {
            done.pop();
            continue;
        }
        done.push(&name);
        let Ok(target) = fs::read_link(&done) else {
            continue;
        };
        links += 1;
        if links > LINKS_MAX {
            return None;
        }
        done.pop();
        let root = root_of(&target);
        if !root.as_os_str().is_empty() {
            done = root;
        }
        for name in names(&target).into_iter().rev() {
            left.push_front(name);
        }
    }
    Some(platform::with_spelling_of_disk(done))
}

/// Returns the names in a path, including `..`.
fn names(path: &Path) -> VecDeque<OsString> {
    let parts = path
        .components()
        .filter(|part| matches!(part, Component::Normal(_) | Component::ParentDir));
    parts.map(|part| part.as_os_str().to_owned()).collect()
}
