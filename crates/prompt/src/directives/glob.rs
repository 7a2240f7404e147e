//! Glob patterns of paths: `*` and `?` inside of one name, `**` for any folders.
//!
//! Matching goes folder by folder, so that only folders that can contain a match are read. A name that begins with a
//! point is matched only by a pattern that begins with a point.

/// A parsed pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Glob {
    base: Vec<String>,
    parts: Vec<GlobPart>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum GlobPart {
    /// Any number of folders, `**`.
    AnyFolders,
    /// One name, with wildcards.
    Name(Vec<char>),
}

/// Match state of a folder: for each part of the pattern, true if matching can continue with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GlobState(Vec<bool>);

impl Glob {
    /// Parses a pattern; `None` if it has `..` after a wildcard.
    pub fn new(pattern: &str) -> Option<Self> {
        let names: Vec<&str> = (pattern.split('/').skip_while(|name| name.is_empty()))
            .filter(|name| !matches!(*name, "" | "."))
            .collect();
        let wild = names.iter().position(|name| name.contains(['*', '?']));
        let (base, rest) = names.split_at(wild.unwrap_or(names.len()));
        if rest.contains(&"..") {
            return None;
        }
        let mut base: Vec<String> = base.iter().map(|&name| name.to_owned()).collect();
        if pattern.starts_with('/') {
            base.insert(0, "/".to_owned());
        }
        let mut parts: Vec<GlobPart> = Vec::with_capacity(rest.len());
        for &name in rest {
            let part = if name == "**" {
                GlobPart::AnyFolders
            } else {
                GlobPart::Name(name.chars().collect())
            };
            if part != GlobPart::AnyFolders || parts.last() != Some(&GlobPart::AnyFolders) {
                parts.push(part);
            }
        }
        // `docs/**` matches every file below `docs`.
        if parts.last() == Some(&GlobPart::AnyFolders) {
            parts.push(GlobPart::Name(vec!['*']));
        }
        Some(Self { base, parts })
    }

    /// Returns the folder that contains all matches; empty for the current folder.
    pub fn base(&self) -> String {
        self.base.join("/").replacen("//", "/", 1)
    }

    /// Returns the state of the base folder.
    pub fn start(&self) -> GlobState {
        let mut state = vec![false; self.parts.len() + 1];
        state[0] = true;
        self.with_empty_globstars(state)
    }

    /// Returns the state of the folder `name` in a folder with the state `state`.
    pub fn enter(&self, state: &GlobState, name: &str) -> GlobState {
        let mut next = vec![false; state.0.len()];
        for (at, part) in self.parts.iter().enumerate() {
            if !state.0[at] {
                continue;
            }
            match part {
                GlobPart::AnyFolders => next[at] |= !name.starts_with('.'),
                GlobPart::Name(pattern) => next[at + 1] |= is_match(pattern, name),
            }
        }
        self.with_empty_globstars(next)
    }

    /// Returns true if files below a folder with this state can match.
    pub fn can_match_below(&self, state: &GlobState) -> bool {
        state.0[..self.parts.len()].contains(&true)
    }

    /// Returns true if the file `name` in a folder with this state matches.
    pub fn matches_file(&self, state: &GlobState, name: &str) -> bool {
        self.enter(state, name).0[self.parts.len()]
    }

    /// Adds the states in which `**` matches no folder.
    fn with_empty_globstars(&self, mut state: Vec<bool>) -> GlobState {
        for (at, part) in self.parts.iter().enumerate() {
            if *part == GlobPart::AnyFolders && state[at] {
                state[at + 1] = true;
            }
        }
        GlobState(state)
    }
}

/// Returns true if a name matches one part. The time is at most proportional to the product of both lengths.
fn is_match(pattern: &[char], name: &str) -> bool {
    if name.starts_with('.') && pattern.first() != Some(&'.') {
        return false;
    }
    let name: Vec<char> = name.chars().collect();
    let (mut w, mut n) = (0, 0);
    // Index of the last `*`, and the length of its match.
    let mut star: Option<(usize, usize)> = None;
    while n < name.len() {
        match pattern.get(w) {
            Some('*') => {
                star = Some((w, n));
                w += 1;
            }
            Some(&c) if c == '?' || c == name[n] => {
                w += 1;
                n += 1;
            }
            Some(_) | None => {
                let Some((at, reached)) = star else {
                    return false;
                };
                star = Some((at, reached + 1));
                w = at + 1;
                n = reached + 1;
            }
        }
    }
    pattern[w..].iter().all(|&c| c == '*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(pattern: &str, path: &str, expected: bool) {
        let glob = Glob::new(pattern).unwrap();
        let below = match glob.base() {
            base if base.is_empty() => Some(path),
            base => path
                .strip_prefix(base.as_str())
                .and_then(|rest| rest.strip_prefix('/')),
        };
        let found = below.is_some_and(|below| {
            let mut names: Vec<&str> = below.split('/').collect();
            let file = names.pop().unwrap();
            let state = names
                .iter()
                .fold(glob.start(), |state, name| glob.enter(&state, name));
            glob.matches_file(&state, file)
        });
        assert_eq!(found, expected, "{pattern} {path}");
    }

    #[test]
    fn matches_file_follows_glob_rules() {
        for (pattern, path, expected) in [
            ("docs/*.md", "docs/a.md", true),
            ("docs/*.md", "docs/a/b.md", false),
            ("docs/*.md", "docs/a.txt", false),
            ("./docs//*.md", "docs/a.md", true),
            ("docs/**", "docs/a.md", true),
            ("docs/**", "docs/a/b/c.md", true),
            ("docs/**", "other/a.md", false),
            ("**", "a", true),
            ("**/*.md", "a.md", true),
            ("**/*.md", "x/y/a.md", true),
            ("**/x/**/*.md", "x/a.md", true),
            ("**/x/**/*.md", "a/x/b/c/a.md", true),
            ("**/x/**/*.md", "a/b/c/a.md", false),
            ("**/**/a", "a", true),
            ("*/a", "x/a", true),
            ("*/a", "a", false),
            ("a?c", "abc", true),
            ("a?c", "ac", false),
            ("a?c", "aéc", true),
            ("a**c", "abbc", true),
            ("*a*b*", "xaxbx", true),
            ("*a*b*", "xbxa", false),
            ("*", ".env", false),
            (".*", ".env", true),
            ("**/*.md", ".git/a.md", false),
            (".github/*.md", ".github/a.md", true),
            ("**/.env", "a/.env", true),
            ("*.MD", "a.md", false),
        ] {
            check(pattern, path, expected);
        }
        assert_eq!(Glob::new("a/*/../b"), None);
        assert_eq!(Glob::new("../a/*").unwrap().base(), "../a");
        assert_eq!(Glob::new("/x/y/*").unwrap().base(), "/x/y");
        assert_eq!(Glob::new("/*").unwrap().base(), "/");
    }

    #[test]
    fn can_match_below_is_false_for_other_folders() {
        let glob = Glob::new("*/b/c*.md").unwrap();
        let a = glob.enter(&glob.start(), "a");
        assert!(glob.can_match_below(&a));
        let other = glob.enter(&a, "x");
        assert!(!glob.can_match_below(&other));
        let b = glob.enter(&a, "b");
        assert!(glob.can_match_below(&b) && glob.matches_file(&b, "c1.md"));
        assert!(!glob.can_match_below(&glob.enter(&b, "c1.md")));
    }

    #[test]
    fn matches_file_with_many_wildcards_is_fast() {
        let glob = Glob::new(&"*a".repeat(2_000)).unwrap();
        assert!(!glob.matches_file(&glob.start(), &"a".repeat(255)));
        let glob = Glob::new(&"**/*/".repeat(800)).unwrap();
        assert!(!glob.matches_file(&glob.start(), "a"));
    }
}
