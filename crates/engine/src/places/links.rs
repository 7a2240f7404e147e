//! Where files of Heirloom's own may be written: links in a project do not lead the way out of it.
//!
//! A project comes with a clone, and so do its links.

use super::inside::resolve;
use super::{CONFIG_FILE, OWN_FOLDER, PathProblem, Place, normalise_inside, real};
use heirloom_model::text;
use std::path::{Component, Path, PathBuf};

/// What begins the name of a file in the folder that holds a project's memory and is no mirror.
const OWN_FILES: [&str; 4] = [CONFIG_FILE, ".gitignore", "store.json", "heirloom.db"];
/// The folder of git, and the file that stands for it in a linked worktree.
const GIT: &str = ".git";

/// The folder that holds the memory of the project at `place`, without links; it need not exist.
///
/// A folder `.heirloom` that is a link inside the project is followed. Errors: `Leads` for one that leads
/// out of it, `Git` for one that leads into git's own folder, `Root`, `TooManyLinks`. A folder that is not
/// in the project but with the person's own data is taken as it is.
pub fn memory_folder(place: &Place) -> Result<PathBuf, PathProblem> {
    let is_own = place.folder.file_name().is_some_and(|n| n == OWN_FOLDER);
    let Some(home) = place.folder.parent().filter(|_| is_own) else {
        return Ok(place.folder.clone());
    };
    let home = real(home);
    let shown = || place.folder.display().to_string();
    let folder =
        resolve(&home.join(OWN_FOLDER)).ok_or_else(|| PathProblem::TooManyLinks(shown()))?;
    match folder.strip_prefix(&home) {
        Err(_) => Err(PathProblem::Leads(shown())),
        Ok(inside) if inside.as_os_str().is_empty() => Err(PathProblem::Root(shown())),
        Ok(inside) if is_of_git(inside) => Err(PathProblem::Git(shown())),
        Ok(_) => Ok(folder),
    }
}

/// Where the mirror is that is configured as `configured`: a path in the project at `root`, whose memory is
/// in `folder`. Without links; it need not exist.
///
/// Below `.heirloom/` it stays in that folder. Errors: those of [`normalise_inside`]; `Leads`; `Git`; `Own` for a file
/// that is Heirloom's and no mirror, which the mirror would replace.
pub fn mirror_path(root: &Path, folder: &Path, configured: &str) -> Result<PathBuf, PathProblem> {
    let below = configured
        .strip_prefix(OWN_FOLDER)
        .and_then(|rest| rest.strip_prefix('/'))
        .filter(|rest| !rest.split('/').any(|part| part == ".." || part.is_empty()));
    let base = if below.is_some() { folder } else { root };
    let shown = || text::excerpt(configured, 200);
    let inside = normalise_inside(base, below.unwrap_or(configured)).map_err(|problem| {
        let leads = below.is_some() && matches!(problem, PathProblem::Outside(_));
        if leads {
            PathProblem::Leads(shown())
        } else {
            problem
        }
    })?;
    let path = base.join(&inside);
    if is_of_git(Path::new(&inside)) {
        return Err(PathProblem::Git(shown()));
    }
    let is_in_own = path.parent().is_some_and(|parent| {
        parent == real(folder) || parent.file_name().is_some_and(|name| name == OWN_FOLDER)
    });
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let name = name.to_lowercase();
    if is_in_own && OWN_FILES.iter().any(|own| name.starts_with(own)) {
        return Err(PathProblem::Own(shown()));
    }
    Ok(path)
}

/// Whether a path inside a project is git's business.
fn is_of_git(inside: &Path) -> bool {
    inside.components().any(|part| match part {
        Component::Normal(name) => name.eq_ignore_ascii_case(GIT),
        Component::Prefix(_) | Component::RootDir | Component::CurDir | Component::ParentDir => {
            false
        }
    })
}
