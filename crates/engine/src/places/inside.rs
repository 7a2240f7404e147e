//! Paths that agents name, as paths inside the project.

use heirloom_model::limits::{LINKS_MAX, PATH_BYTES_MAX};
use std::collections::VecDeque;
use std::ffi::OsString;
use std::fs;
use std::path::{Component, Path, PathBuf};

/// Why a path is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PathProblem {
    /// Nothing is left of it.
    #[error("the path is empty")]
    Empty,
    /// It holds a NUL character.
    #[error("the path holds a NUL character")]
    Nul,
    /// It is longer than [`PATH_BYTES_MAX`].
    #[error("the path has {0} bytes, at most {PATH_BYTES_MAX} are allowed")]
    TooLong(usize),
    /// It goes through too many symbolic links.
    #[error("the path `{0}` goes through too many symbolic links")]
    TooManyLinks(String),
    /// It is, or leads, outside the project.
    #[error("the path `{0}` is outside the project")]
    Outside(String),
    /// It is the project's root itself.
    #[error("the path `{0}` is the project itself")]
    Root(String),
    /// It goes through a link that leads out of the folder that it stays in.
    #[error("`{0}` goes through a link that leads out of its folder")]
    Leads(String),
    /// It is git's.
    #[error("the path `{0}` belongs to git")]
    Git(String),
    /// It is a file of Heirloom's that is no mirror.
    #[error("the path `{0}` is a file of Heirloom's own")]
    Own(String),
}

/// A path that an agent named, relative to the project's root, with `/`.
///
/// Blanks and quotes around it are dropped, a backslash separates folders unless a file is called
/// so. `.` and `..` are resolved, and so are symbolic links as far as they exist; the file itself
/// need not exist. What is outside, also through a link, is refused.
pub fn normalise_inside(root: &Path, path: &str) -> Result<String, PathProblem> {
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
    if is_elsewhere(&separated) {
        return Err(PathProblem::Outside(shown()));
    }
    let root = super::real(root);
    let found =
        resolve(&root.join(&separated)).ok_or_else(|| PathProblem::TooManyLinks(shown()))?;
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

/// The path without blanks and pairs of quotes around it.
fn bare(path: &str) -> &str {
    let mut path = path.trim();
    for _ in 0..4 {
        path = path.trim_matches(['`', '"', '\'']).trim();
    }
    path
}

/// Paths that begin at a place of their own: a home folder, a drive.
fn is_elsewhere(path: &str) -> bool {
    let bytes = path.as_bytes();
    let drive =
        bytes.len() > 2 && bytes[0].is_ascii_alphabetic() && bytes[1] == b':' && bytes[2] == b'/';
    drive || path == "~" || path.starts_with("~/")
}

/// The absolute path with `.`, `..` and symbolic links resolved; what does not exist stays as it is.
///
/// `None` if there are too many links. Not `canonicalize`: that wants the whole path to exist.
pub(super) fn resolve(path: &Path) -> Option<PathBuf> {
    let mut left: VecDeque<OsString> = names(path);
    let mut done = PathBuf::from("/");
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
        if target.is_absolute() {
            done = PathBuf::from("/");
        }
        for name in names(&target).into_iter().rev() {
            left.push_front(name);
        }
    }
    Some(done)
}

/// The names in a path, `..` among them.
fn names(path: &Path) -> VecDeque<OsString> {
    let parts = path
        .components()
        .filter(|part| matches!(part, Component::Normal(_) | Component::ParentDir));
    parts.map(|part| part.as_os_str().to_owned()).collect()
}
