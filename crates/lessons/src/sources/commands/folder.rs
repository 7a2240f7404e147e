//! Folders in which commands run, relative to the project as far as the conversation shows it.

use serde::{Deserialize, Serialize};

/// Greatest number of characters of a folder.
const FOLDER_CHARS_MAX: usize = 200;
/// Beginnings of absolute paths outside of projects.
const OUTSIDE: [&str; 5] = ["/tmp/", "/private/", "/var/", "/dev/", "/proc/"];

/// Working folder of the agent's shell, and the folder that all files of the session have in common.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct FolderTracker {
    /// Folder of the shell; relative to the project if it does not begin with `/`.
    current: String,
    /// Common folder of everything that was changed or entered.
    root: Option<String>,
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
        let target = target.trim_end_matches('/');
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
        let mut parts: Vec<&str> = match target.starts_with('/') {
            true => vec![""],
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

    /// Adds an absolute folder or the folder of an absolute file path to the common folder.
    pub(super) fn add_absolute(&mut self, folder: &str) {
        let is_hidden = folder.contains("/.");
        let is_outside = OUTSIDE.iter().any(|start| folder.starts_with(start));
        if !folder.starts_with('/') || is_hidden || is_outside || folder.len() > FOLDER_CHARS_MAX {
            return;
        }
        self.root = Some(match &self.root {
            Some(root) => common_folder(root, folder).to_owned(),
            None => folder.to_owned(),
        });
    }

    /// Returns a folder relative to the project; empty for the project itself or if it is unknown.
    pub(super) fn relative<'f>(&self, folder: &'f str) -> &'f str {
        if !folder.starts_with('/') {
            return folder.trim_start_matches("./");
        }
        let root = self.root.as_deref().unwrap_or_default();
        match folder.strip_prefix(root) {
            Some(rest) if !root.is_empty() && rest.starts_with('/') => rest.trim_matches('/'),
            _ => "",
        }
    }
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
    }
}
