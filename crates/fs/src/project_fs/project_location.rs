//! The location of a project seen from the folder that holds its store, and the short name that people see.

use super::{HEIRLOOM_FOLDER, ProjectPaths, canonical, fit_name, repository};
use heirloom_model::text;
use std::path::{Path, PathBuf};

/// The location of a project that has the folder of its store for itself.
const HERE: &str = ".";
/// Git directories that belong to the folder around them.
const GIT_FOLDERS: [&str; 2] = [".git", ".bare"];

/// A project's location: nothing in its name changes when the folder is renamed, moved, copied or mounted elsewhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Location {
    /// `.`, or the name of a bare repository next to the store: two of them may share one store.
    pub name: String,
    /// The folder of the project, of the main worktree in a linked one; for a bare repository the folder around it.
    pub home: PathBuf,
    /// The store's folder is inside of the project, not in the user's data folder.
    pub is_inside: bool,
    /// The path that names the project where nothing else does.
    path: PathBuf,
}

impl Location {
    /// Finds the location of the project at `place`.
    pub fn of(place: &ProjectPaths) -> Self {
        let root = canonical(&place.root);
        let repository = repository(&root);
        let is_inside = place.folder.ends_with(HEIRLOOM_FOLDER);
        let home = match (place.folder.parent(), &repository) {
            (Some(home), _) if is_inside => home.to_owned(),
            (_, Some(repository)) => repository.home.clone(),
            (_, None) => root.clone(),
        };
        let path = repository.map_or_else(|| root.clone(), |repository| repository.common);
        Self {
            name: location_name(&home, &path),
            home,
            is_inside,
            path,
        }
    }

    /// Returns the folder that is this project's alone: `home`, or the bare repository in it.
    pub fn folder(&self) -> PathBuf {
        match self.is_alone() {
            true => self.home.clone(),
            false => self.home.join(&self.name),
        }
    }

    /// Returns true if no other project can share the store.
    pub fn is_alone(&self) -> bool {
        self.name == HERE
    }

    /// Returns the name that the path alone gives the project.
    pub fn path_name(&self) -> String {
        fit_name(self.path.to_string_lossy().into_owned())
    }

    /// Returns true if a project in a store of an older version that is called `name` can be the one at this location:
    /// it was called by a path before a move, or by a remote that has changed.
    pub fn may_be_called(&self, name: &str) -> bool {
        if !is_derived_name(name) {
            return false;
        }
        let path = Path::new(name);
        if !is_path_name(name) {
            return self.is_alone();
        }
        if !self.is_alone() {
            return path.ends_with(&self.name);
        }
        // Another repository next to the store is another project.
        path.parent() != Some(&self.home)
            || location_name(&self.home, path) == HERE
            || !path.exists()
    }

    /// Returns the short name for people of the project that is called `name` and is at this location.
    pub fn display_name(&self, name: &str) -> String {
        if !is_path_name(name) && !has_hash(name) {
            return name.to_owned();
        }
        text::one_line(&display_name(&self.folder().to_string_lossy()))
    }
}

fn location_name(home: &Path, path: &Path) -> String {
    let name = path.file_name().map(|name| name.to_string_lossy());
    match name {
        Some(name) if path.parent() == Some(home) && !GIT_FOLDERS.contains(&&*name) => {
            name.into_owned()
        }
        Some(_) | None => HERE.to_owned(),
    }
}

/// Returns the short name of a project for people: the last part of the path of its folder, or the name as it is.
pub fn display_name(name: &str) -> String {
    if !is_path_name(name) {
        return name.to_owned();
    }
    let mut path = Path::new(name);
    if path
        .file_name()
        .is_some_and(|last| GIT_FOLDERS.iter().any(|git| last == *git))
    {
        path = path.parent().unwrap_or(path);
    }
    let last = path.file_name().unwrap_or(path.as_os_str());
    let last = last.to_string_lossy();
    match last.strip_suffix(".git") {
        Some(short) if !short.is_empty() => short.to_owned(),
        Some(_) | None => last.into_owned(),
    }
}

/// Returns true for a name that is an absolute path. One of Unix counts on Windows too, because stores are copied.
pub fn is_path_name(name: &str) -> bool {
    name.starts_with('/') || Path::new(name).is_absolute()
}

/// Returns true for a name that was derived from a path or a remote, as far as its form says.
pub fn is_derived_name(name: &str) -> bool {
    let host = name.split_once('/').map(|(host, _)| host);
    is_path_name(name) || has_hash(name) || host.is_some_and(|host| host.contains('.'))
}

/// Returns true for a path that was too long for a name: its end and a hash.
fn has_hash(name: &str) -> bool {
    let hash = name.rsplit_once('-').map(|(_, hash)| hash);
    hash.is_some_and(|hash| {
        hash.len() == 16
            && hash
                .bytes()
                .all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn display_name_of_a_path_is_its_folder() {
        for (name, short) in [
            ("/x/proj/.git", "proj"),
            ("/x/proj", "proj"),
            ("/x/proj/.bare", "proj"),
            ("/x/repo.git", "repo"),
            ("/x/.git/modules/sub", "sub"),
            ("/", "/"),
            ("/.git", "/"),
            ("github.com/o/n", "github.com/o/n"),
            ("mine", "mine"),
        ] {
            assert_eq!(display_name(name), short, "{name}");
        }
    }

    #[test]
    fn is_derived_name_of_an_explicit_name_is_false() {
        for name in [
            "mine",
            "team/api",
            "a-0123",
            "proj.git",
            "x-0123456789abcdeg",
        ] {
            assert!(!is_derived_name(name), "{name}");
        }
        for name in ["/x/p/.git", "git.example/o/n", ".git-0123456789abcdef"] {
            assert!(is_derived_name(name), "{name}");
        }
    }
}
