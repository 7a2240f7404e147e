//! The files that the rules read.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

/// The repository as data: path from the root (with `/`) to text.
#[derive(Debug, Default)]
pub(super) struct Tree {
    files: BTreeMap<String, String>,
}

impl Tree {
    /// Reads every file that git tracks, and new ones that it does not ignore: a rule should speak
    /// before `git add`, not after. Bytes that are not UTF-8 become replacement characters.
    pub(super) fn load(root: &Path) -> Result<Self, String> {
        let output = Command::new("git")
            .args(["ls-files", "-z", "--cached", "--others"])
            .arg("--exclude-standard")
            .current_dir(root)
            .output()
            .map_err(|error| format!("cannot start git: {error}"))?;
        if !output.status.success() {
            return Err(format!(
                "git ls-files failed: {}",
                String::from_utf8_lossy(&output.stderr).trim()
            ));
        }
        let mut files = BTreeMap::new();
        for path in String::from_utf8_lossy(&output.stdout).split('\0') {
            // A tracked file that was deleted or is a link to a folder has no text.
            if !path.is_empty()
                && let Ok(bytes) = std::fs::read(root.join(path))
            {
                files.insert(
                    path.to_owned(),
                    String::from_utf8_lossy(&bytes).into_owned(),
                );
            }
        }
        Ok(Self { files })
    }

    /// A tree in memory.
    #[cfg(test)]
    pub(super) fn of(files: &[(&str, &str)]) -> Self {
        let owned = |(path, text): &(&str, &str)| ((*path).to_owned(), (*text).to_owned());
        Self {
            files: files.iter().map(owned).collect(),
        }
    }

    /// Returns the number of files.
    pub(super) fn len(&self) -> usize {
        self.files.len()
    }

    /// Every path and text, sorted by path.
    pub(super) fn files(&self) -> impl Iterator<Item = (&str, &str)> {
        self.files
            .iter()
            .map(|(path, text)| (path.as_str(), text.as_str()))
    }

    /// The files whose names end in `.extension`, without recorded test data.
    pub(super) fn with_extension(&self, extension: &str) -> impl Iterator<Item = (&str, &str)> {
        self.files().filter(move |(path, _)| {
            !is_fixture(path)
                && path
                    .rsplit_once('.')
                    .is_some_and(|(_, found)| found == extension)
        })
    }

    /// The text of one file.
    pub(super) fn get(&self, path: &str) -> Option<&str> {
        self.files.get(path).map(String::as_str)
    }

    /// True if a file or a folder with files has this path; the empty path is the root.
    pub(super) fn has(&self, path: &str) -> bool {
        let folder = format!("{path}/");
        path.is_empty()
            || self.files.contains_key(path)
            || self
                .files
                .range(folder.clone()..)
                .next()
                .is_some_and(|(found, _)| found.starts_with(&folder))
    }
}

/// Recorded test data keeps the names, links and sizes that it came with.
pub(super) fn is_fixture(path: &str) -> bool {
    path.split('/').any(|part| part == "fixtures")
}

/// Tests, by where they are: they may be longer, and may touch what their subject may not.
pub(super) fn is_test(path: &str) -> bool {
    let file = path.rsplit('/').next().unwrap_or(path);
    file == "tests.rs"
        || file.ends_with("_tests.rs")
        || path
            .split('/')
            .any(|part| part == "tests" || part == "benches")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folder_exists_if_it_contains_a_file() {
        let tree = Tree::of(&[("docs/guide/a.md", ""), ("docs.txt", "")]);
        for (path, expected) in [
            ("", true),
            ("docs", true),
            ("docs/guide", true),
            ("docs/guide/a.md", true),
            ("docs/gui", false),
            ("guide", false),
        ] {
            assert_eq!(tree.has(path), expected, "{path}");
        }
    }

    #[test]
    fn test_files_are_recognised_by_path() {
        for (path, expected) in [
            ("crates/a/tests/run.rs", true),
            ("crates/a/src/b/tests.rs", true),
            ("crates/a/src/b_tests.rs", true),
            ("benches/x.rs", true),
            ("crates/testkit/src/lib.rs", false),
            ("crates/a/src/contests.rs", false),
        ] {
            assert_eq!(is_test(path), expected, "{path}");
        }
    }

    #[test]
    fn fixtures_are_not_sources() {
        let tree = Tree::of(&[("a/fixtures/b.rs", ""), ("a/c.rs", ""), ("a/d.md", "")]);
        let paths: Vec<&str> = tree.with_extension("rs").map(|(path, _)| path).collect();
        assert_eq!(paths, ["a/c.rs"]);
    }
}
