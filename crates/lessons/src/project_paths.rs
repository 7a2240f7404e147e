//! Paths of the project as a reader sees them: relative to the project's folder, as far as it is known.

use crate::bounded_text::bounded;
use serde::{Deserialize, Serialize};

/// Bytes of the folder that are kept.
const FOLDER_BYTES_MAX: usize = 300;

/// Folders that are usually at the top of a project.
const TOP_FOLDERS: [&str; 40] = [
    "src",
    "lib",
    "test",
    "tests",
    "spec",
    "config",
    "assets",
    "app",
    "apps",
    "packages",
    "crates",
    "docs",
    "scripts",
    "priv",
    "public",
    "cmd",
    "internal",
    "pkg",
    "bin",
    "tools",
    "server",
    "client",
    "frontend",
    "backend",
    "web",
    "api",
    "include",
    "examples",
    "benches",
    "migrations",
    "db",
    "prisma",
    "components",
    "pages",
    "infra",
    "deploy",
    "terraform",
    ".github",
    "resources",
    "e2e",
];

/// Folders that hold no projects.
const OUTSIDE: [&str; 5] = ["/tmp/", "/var/", "/private/", "/etc/", "/usr/"];

/// Common folder of the absolute paths of a conversation.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct ProjectPaths {
    /// Common folder, with `/` at its end; empty before the first path.
    common: String,
    /// True if the folder was given and is not a guess.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    is_given: bool,
}

impl ProjectPaths {
    /// Stores the project's folder. Paths that are added later do not change it.
    pub(crate) fn set_project(&mut self, folder: &str) {
        let folder = folder.replace('\\', "/");
        let folder = folder.trim_end_matches('/');
        if is_absolute(folder) && folder.len() < FOLDER_BYTES_MAX {
            self.common = format!("{folder}/");
            self.is_given = true;
        }
    }

    /// Takes note of a path of the project.
    pub(crate) fn add(&mut self, path: &str) {
        if self.is_given || !is_absolute(path) || path.len() > FOLDER_BYTES_MAX {
            return;
        }
        let path = path.replace('\\', "/");
        if OUTSIDE.iter().any(|start| path.starts_with(start)) || has_hidden_folder(&path) {
            return;
        }
        let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
        let folder = format!("{folder}/");
        if self.common.is_empty() {
            self.common = bounded(&folder, FOLDER_BYTES_MAX);
            return;
        }
        let same = self
            .common
            .bytes()
            .zip(folder.bytes())
            .take_while(|(a, b)| a == b)
            .count();
        let head = self
            .common
            .get(..self.common.floor_char_boundary(same))
            .unwrap_or_default();
        let shared = head.rfind('/').map_or(0, |at| at + 1);
        // A file somewhere else does not belong to the project.
        let is_home = head.starts_with("/home/") || head.starts_with("/Users/");
        let depth = head
            .get(..shared)
            .map_or(0, |head| head.matches('/').count());
        if depth > if is_home { 3 } else { 1 } {
            self.common.truncate(shared);
        }
    }

    /// Returns true for a file that belongs to no project: a temporary one, or one of an agent program's settings.
    pub(crate) fn is_outside(&self, path: &str) -> bool {
        let path = path.replace('\\', "/");
        let is_inside = self.is_given && path.starts_with(&self.common);
        let is_home_setting = || {
            path.contains("/.claude/") || path.contains("/.codex/") || path.contains("/.gemini/")
        };
        is_absolute(&path)
            && !is_inside
            && (OUTSIDE.iter().any(|start| path.starts_with(start)) || is_home_setting())
    }

    /// Returns a folder relative to the project's, which is empty for itself; a folder outside as it is, and `None` if it
    /// is not known where the folder is.
    pub(crate) fn relative_folder(&self, folder: &str) -> Option<String> {
        let folder = folder.replace('\\', "/");
        let folder = folder.trim_end_matches('/');
        if folder.contains("..") || folder.contains('$') || folder == "-" {
            return None;
        }
        if !is_absolute(folder) {
            return Some(
                folder
                    .trim_start_matches("./")
                    .trim_start_matches('.')
                    .to_owned(),
            );
        }
        let inside = format!("{folder}/");
        match inside.strip_prefix(&self.common) {
            Some(rest) if !self.common.is_empty() => Some(rest.trim_end_matches('/').to_owned()),
            _ => self.is_given.then(|| folder.to_owned()),
        }
    }

    /// Returns a text with the paths in it relative to the project's folder.
    pub(crate) fn without_folder(&self, text: &str) -> String {
        match self.common.is_empty() {
            true => text.to_owned(),
            false => text.replace(&self.common, ""),
        }
    }

    /// Returns a path without the project's folder.
    pub(crate) fn display(&self, path: &str) -> String {
        let path = path.replace('\\', "/");
        if !is_absolute(&path) {
            return path.strip_prefix("./").unwrap_or(&path).to_owned();
        }
        let relative = path
            .strip_prefix(&self.common)
            .filter(|_| !self.common.is_empty());
        let is_top = |rest: &str| {
            rest.split('/')
                .next()
                .is_some_and(|first| TOP_FOLDERS.contains(&first))
        };
        let by_name = below_top_folder(&path);
        match (relative, by_name) {
            (Some(rest), _) if self.is_given => rest.to_owned(),
            (Some(rest), None) => rest.to_owned(),
            (Some(rest), Some(_)) if is_top(rest) => rest.to_owned(),
            (_, Some(rest)) => rest.to_owned(),
            (None, None) => last_components(&path, 2).to_owned(),
        }
    }
}

/// Returns true for a path in a folder of a program's settings.
fn has_hidden_folder(path: &str) -> bool {
    let mut parts = path.split('/').rev().skip(1);
    parts.any(|part| part.starts_with('.') && part.len() > 1)
}

fn is_absolute(path: &str) -> bool {
    path.starts_with(['/', '\\', '~'])
        || path
            .get(1..3)
            .is_some_and(|rest| matches!(rest, ":\\" | ":/"))
}

/// Returns the path from a folder on that is usually at the top of a project, without folders of systems and users.
fn below_top_folder(path: &str) -> Option<&str> {
    let mut at = 0;
    for (number, part) in path.split('/').enumerate() {
        // `/usr/lib`, `/home/app`, `/Users/x/src` are no projects.
        if number > 3 && TOP_FOLDERS.contains(&part) {
            return path.get(at..);
        }
        at += part.len() + 1;
    }
    None
}

fn last_components(path: &str, count: usize) -> &str {
    match path.rmatch_indices('/').nth(count - 1) {
        Some((at, _)) => path.get(at + 1..).unwrap_or(path),
        None => path.trim_start_matches('/'),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_outside_knows_temporary_files_and_settings() {
        let mut paths = ProjectPaths::default();
        paths.set_project("/tmp/shop");
        for (path, is_outside) in [
            ("/tmp/shop/src/a.rs", false),
            ("/tmp/plan.txt", true),
            ("/home/u/.claude/plans/a.md", true),
            ("/home/u/shop.worktrees/x/src/a.rs", false),
            ("src/a.rs", false),
        ] {
            assert_eq!(paths.is_outside(path), is_outside, "{path}");
        }
    }

    #[test]
    fn display_shows_paths_of_the_project() {
        let mut paths = ProjectPaths::default();
        assert_eq!(
            paths.display("/home/u/p/shop/lib/shop/cart.ex"),
            "lib/shop/cart.ex"
        );
        for path in [
            "/home/u/p/shop/lib/shop/cart.ex",
            "/home/u/p/shop/lib/shop/item.ex",
        ] {
            paths.add(path);
        }
        assert_eq!(
            paths.display("/home/u/p/shop/lib/shop/cart.ex"),
            "lib/shop/cart.ex"
        );
        paths.add("/home/u/p/shop/mix.exs");
        paths.add("/tmp/x.txt");
        for (path, shown) in [
            ("/home/u/p/shop/mix.exs", "mix.exs"),
            ("/home/u/p/shop/config/test.exs", "config/test.exs"),
            ("/home/u/p/shop/odd/a.ex", "odd/a.ex"),
            ("lib/a.ex", "lib/a.ex"),
            ("./a.ex", "a.ex"),
            ("/etc/hosts", "etc/hosts"),
            ("C:\\p\\a.cs", "p/a.cs"),
        ] {
            assert_eq!(paths.display(path), shown, "{path}");
        }
        let mut given = ProjectPaths::default();
        given.set_project("/home/u/p/shop/");
        given.add("/home/u/p/other/lib/a.ex");
        assert_eq!(given.display("/home/u/p/shop/web/lib/a.ex"), "web/lib/a.ex");
        assert_eq!(
            paths.without_folder("at /home/u/p/shop/lib/a.ex:3"),
            "at lib/a.ex:3"
        );
    }
}
