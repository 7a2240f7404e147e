//! Guard for paths that Heirloom writes: links in a project must not lead out of it.
//!
//! A project may be a clone from an untrusted source, and so are its links.

use super::project_path::resolve;
use super::{
    CONFIG_FILE, HEIRLOOM_FOLDER, PathProblem, ProjectPaths, canonical, normalise_project_path,
};
use heirloom_model::text;
use heirloom_model::text::EscapedPath;
use std::path::{Component, Path, PathBuf};

/// Prefixes of the names of files in the memory folder that are not mirrors.
const HEIRLOOM_FILES: [&str; 4] = [CONFIG_FILE, ".gitignore", "store.json", "heirloom.db"];
/// Folder of git, and the file that replaces it in a linked worktree.
const GIT: &str = ".git";

/// Resolves the memory folder of the project at `place`, without links; it need not exist.
///
/// A folder `.heirloom` that is a link inside of the project is followed. Errors: `LinkLeadsOut` for one that leads
/// out of it, `InsideGit` for one that leads into git's own folder, `Root`, `TooManyLinks`. A folder in the user's
/// data folder is returned unchanged.
pub fn resolve_memory_folder(place: &ProjectPaths) -> Result<PathBuf, PathProblem> {
    let is_own = place
        .folder
        .file_name()
        .is_some_and(|n| n == HEIRLOOM_FOLDER);
    let Some(home) = place.folder.parent().filter(|_| is_own) else {
        return Ok(place.folder.clone());
    };
    let home = canonical(home);
    let shown = || place.folder.to_escaped();
    let folder =
        resolve(&home.join(HEIRLOOM_FOLDER)).ok_or_else(|| PathProblem::TooManyLinks(shown()))?;
    match folder.strip_prefix(&home) {
        Err(_) => Err(PathProblem::LinkLeadsOut(shown())),
        Ok(inside) if inside.as_os_str().is_empty() => Err(PathProblem::Root(shown())),
        Ok(inside) if is_in_git(inside) => Err(PathProblem::InsideGit(shown())),
        Ok(_) => Ok(folder),
    }
}

/// Resolves the path of the mirror that is configured as `configured`: a path in the project at `root`, whose memory
/// is in `folder`. The result has no links and need not exist.
///
/// A path below `.heirloom/` must stay in that folder. Errors: those of [`normalise_project_path`]; `LinkLeadsOut`;
/// `InsideGit`; `HeirloomFile` for a file of Heirloom that the mirror would overwrite.
pub fn resolve_mirror_path(
    root: &Path,
    folder: &Path,
    configured: &str,
) -> Result<PathBuf, PathProblem> {
    let below = configured
        .strip_prefix(HEIRLOOM_FOLDER)
        .and_then(|rest| rest.strip_prefix('/'))
        .filter(|rest| !rest.split('/').any(|part| part == ".." || part.is_empty()));
    let base = if below.is_some() { folder } else { root };
    let shown = || text::excerpt(configured, 200);
    let inside = normalise_project_path(base, below.unwrap_or(configured)).map_err(|problem| {
        let leads = below.is_some() && matches!(problem, PathProblem::Outside(_));
        if leads {
            PathProblem::LinkLeadsOut(shown())
        } else {
            problem
        }
    })?;
    let path = base.join(&inside);
    if is_in_git(Path::new(&inside)) {
        return Err(PathProblem::InsideGit(shown()));
    }
    let is_in_own = path.parent().is_some_and(|parent| {
        parent == canonical(folder)
            || parent
                .file_name()
                .is_some_and(|name| name == HEIRLOOM_FOLDER)
    });
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let name = name.to_lowercase();
    if is_in_own && HEIRLOOM_FILES.iter().any(|own| name.starts_with(own)) {
        return Err(PathProblem::HeirloomFile(shown()));
    }
    Ok(path)
}

/// Returns true if a path inside of a project belongs to git.
fn is_in_git(inside: &Path) -> bool {
    inside.components().any(|part| match part {
        Component::Normal(name) => name.eq_ignore_ascii_case(GIT),
        Component::Prefix(_) | Component::RootDir | Component::CurDir | Component::ParentDir => {
            false
        }
    })
}
