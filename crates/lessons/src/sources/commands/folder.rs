//! Folders in which commands run, relative to the project as far as the conversation shows it.

use heirloom_agents::transcripts::ToolOutcome;
use serde::{Deserialize, Serialize};

/// Greatest number of characters of a folder.
const FOLDER_CHARS_MAX: usize = 200;
/// Beginnings of absolute paths outside of projects.
const OUTSIDE: [&str; 5] = ["/tmp/", "/private/", "/var/", "/dev/", "/proc/"];

/// Greatest number of components of a folder that is shown if the project's folder is a guess.
const SHOWN_DEPTH_MAX: usize = 3;

/// Working folder of the agent's shell, and the folder that all files of the session have in common.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct FolderTracker {
    /// Folder of the shell; relative to the project if it does not begin with `/`.
    current: String,
    /// Common folder of everything that was changed or entered.
    root: Option<String>,
    /// True if the root was given and is not a guess.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    is_given: bool,
}

impl FolderTracker {
    /// Returns the folder of the shell.
    pub(super) fn current(&self) -> &str {
        &self.current
    }

    /// Stores the folder in which the shell remains.
    pub(super) fn set_current(&mut self, folder: &str) {
        folder.clone_into(&mut self.current);
    }

    /// Returns the folder after `cd target` in `folder`; the project if it cannot be known.
    pub(super) fn enter(folder: &str, target: &str) -> String {
        let target = target.trim_end_matches(['/', '\\']).replace('\\', "/");
        let target = target.as_str();
        if target.is_empty()
            || target.starts_with(['~', '$', '-', '`'])
            || target.len() > FOLDER_CHARS_MAX
        {
            return String::new();
        }
        // A shell that does not keep its folder enters the same one again.
        if folder == target || folder.ends_with(&format!("/{target}")) {
            return folder.to_owned();
        }
        let mut parts: Vec<&str> = match is_absolute(target) {
            true if target.starts_with('/') => vec![""],
            true => Vec::new(),
            false => folder.split('/').filter(|_| !folder.is_empty()).collect(),
        };
        for part in target.split('/') {
            match part {
                "" | "." => {}
                ".." if parts
                    .last()
                    .is_some_and(|last| !last.is_empty() && *last != "..") =>
                {
                    parts.pop();
                }
                part => parts.push(part),
            }
        }
        let joined = parts.join("/");
        match joined.len() <= FOLDER_CHARS_MAX {
            true => joined,
            false => String::new(),
        }
    }

    /// Stores the project's folder. Folders that are added later do not change it.
    pub(super) fn set_project(&mut self, folder: &str) {
        let folder = folder.replace('\\', "/");
        let folder = folder.trim_end_matches('/');
        if is_absolute(folder) && folder.len() <= FOLDER_CHARS_MAX {
            self.root = Some(folder.to_owned());
            self.is_given = true;
        }
    }

    /// Adds an absolute folder or the folder of an absolute file path to the common folder.
    pub(super) fn add_absolute(&mut self, folder: &str) {
        let is_hidden = folder.contains("/.");
        let is_outside = OUTSIDE.iter().any(|start| folder.starts_with(start));
        let is_usable =
            is_absolute(folder) && !is_hidden && !is_outside && folder.len() <= FOLDER_CHARS_MAX;
        if self.is_given || !is_usable {
            return;
        }
        let folder = folder.replace('\\', "/");
        match &self.root {
            Some(root) => {
                // A folder of another project does not belong to this one.
                let common = common_folder(root, &folder);
                if depth(common) > home_depth(common) {
                    self.root = Some(common.to_owned());
                }
            }
            None => self.root = Some(folder),
        }
    }

    /// Returns a folder relative to the project; empty for the project itself or if it is unknown.
    pub(super) fn relative<'f>(&self, folder: &'f str) -> &'f str {
        if !is_absolute(folder) {
            return folder.trim_start_matches("./");
        }
        let root = self.root.as_deref().unwrap_or_default();
        match folder.strip_prefix(root) {
            Some(rest)
                if !root.is_empty()
                    && rest.starts_with('/')
                    && (self.is_given || depth(rest) <= SHOWN_DEPTH_MAX) =>
            {
                rest.trim_matches('/')
            }
            _ => "",
        }
    }
}

/// Returns true for a path from the root of a file system.
fn is_absolute(path: &str) -> bool {
    let is_drive = |path: &str| {
        path.starts_with(|c: char| c.is_ascii_alphabetic())
            && path
                .get(1..3)
                .is_some_and(|rest| matches!(rest, ":/" | ":\\"))
    };
    path.starts_with('/') || is_drive(path)
}

/// Returns the number of components of a person's home folder that a path begins with, as in `/home/x/p`.
fn home_depth(path: &str) -> usize {
    let parts = path.split('/').filter(|part| !part.is_empty());
    let home = parts
        .take(2)
        .position(|part| matches!(part, "home" | "Users"));
    home.map_or(0, |at| at + 2)
}

/// Returns the number of components of a path.
fn depth(path: &str) -> usize {
    path.split('/').filter(|part| !part.is_empty()).count()
}

/// Returns the longest common folder of two absolute folders.
fn common_folder<'f>(one: &'f str, other: &str) -> &'f str {
    let mut end = 0;
    for (part, next) in one.split('/').zip(other.split('/')) {
        if part != next {
            break;
        }
        end += part.len() + 1;
    }
    one.get(..end.saturating_sub(1).min(one.len()))
        .unwrap_or_default()
}

/// Returns true if a result shows that the shell is not in the folder that its commands entered.
pub(super) fn is_folder_lost(outcome: ToolOutcome, output: &str) -> bool {
    let end = output.floor_char_boundary(400);
    let head = output.get(..end).unwrap_or_default();
    let start = output.ceil_char_boundary(output.len().saturating_sub(300));
    let tail = output.get(start..).unwrap_or_default();
    tail.contains("Shell cwd was reset") || (outcome == ToolOutcome::Failed && head.contains("cd:"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn enter_follows_cd() {
        for (folder, target, expected) in [
            ("", "assets", "assets"),
            ("assets", "..", ""),
            ("a/b", "../c", "a/c"),
            ("a", "/p/q/", "/p/q"),
            ("/p/q", "..", "/p"),
            ("a", "~", ""),
            ("a", "$X", ""),
            ("a", ".", "a"),
            ("a/web", "web", "a/web"),
            ("a", "C:\\p\\q", "C:/p/q"),
        ] {
            assert_eq!(
                FolderTracker::enter(folder, target),
                expected,
                "{folder} {target}"
            );
        }
    }

    #[test]
    fn relative_uses_common_folder() {
        let mut folders = FolderTracker::default();
        assert_eq!(folders.relative("/p/q"), "");
        for folder in ["/h/p/lib/a", "/h/p/assets", "/tmp/x", "/h/.claude/plans"] {
            folders.add_absolute(folder);
        }
        assert_eq!(folders.relative("/h/p/assets"), "assets");
        assert_eq!(folders.relative("/h/p"), "");
        assert_eq!(folders.relative("/h/pp"), "");
        assert_eq!(folders.relative("web"), "web");
        let mut homes = FolderTracker::default();
        homes.add_absolute("/home/u/p/shop");
        homes.add_absolute("/home/u/other/x");
        assert_eq!(homes.relative("/home/u/p/shop/web"), "web");
        folders.set_project("C:\\p\\shop");
        folders.add_absolute("/h/q");
        assert_eq!(folders.relative("C:/p/shop/web"), "web");
        assert_eq!(folders.relative("C:/p/shop"), "");
    }
}
