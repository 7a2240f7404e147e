//! Patterns of paths: `*` and `?` inside of one name, `**` for any folders.
//!
//! A pattern is asked folder by folder, so that only folders are read in which something may match. What begins
//! with a point is matched by what begins with a point.

/// A pattern, taken apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Glob {
    base: Vec<String>,
    parts: Vec<Part>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    /// Any number of folders.
    Deep,
    /// One name.
    One(Vec<char>),
}

/// How much of a pattern the folders on the way to somewhere match: before which parts one may stand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place(Vec<bool>);

impl Glob {
    /// The pattern; none if it goes up from a folder that it only matches.
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
        let mut parts: Vec<Part> = Vec::with_capacity(rest.len());
        for &name in rest {
            let part = if name == "**" {
                Part::Deep
            } else {
                Part::One(name.chars().collect())
            };
            if part != Part::Deep || parts.last() != Some(&Part::Deep) {
                parts.push(part);
            }
        }
        // `docs/**` is every file below.
        if parts.last() == Some(&Part::Deep) {
            parts.push(Part::One(vec!['*']));
        }
        Some(Self { base, parts })
    }

    /// The folder below which everything lies that can match; empty for the folder that the pattern is seen from.
    pub fn base(&self) -> String {
        self.base.join("/").replacen("//", "/", 1)
    }

    /// Where one stands in the base.
    pub fn start(&self) -> Place {
        let mut place = vec![false; self.parts.len() + 1];
        place[0] = true;
        self.settled(place)
    }

    /// Where one stands in the folder `name` of the folder `place`.
    pub fn enter(&self, place: &Place, name: &str) -> Place {
        let mut next = vec![false; place.0.len()];
        for (at, part) in self.parts.iter().enumerate() {
            if !place.0[at] {
                continue;
            }
            match part {
                Part::Deep => next[at] |= !name.starts_with('.'),
                Part::One(wanted) => next[at + 1] |= is_match(wanted, name),
            }
        }
        self.settled(next)
    }

    /// Whether something below may match.
    pub fn goes_on(&self, place: &Place) -> bool {
        place.0[..self.parts.len()].contains(&true)
    }

    /// Whether the file `name` in the folder `place` matches.
    pub fn takes(&self, place: &Place, name: &str) -> bool {
        self.enter(place, name).0[self.parts.len()]
    }

    /// Any number of folders may be none.
    fn settled(&self, mut place: Vec<bool>) -> Place {
        for (at, part) in self.parts.iter().enumerate() {
            if *part == Part::Deep && place[at] {
                place[at + 1] = true;
            }
        }
        Place(place)
    }
}

/// Whether a name matches one part. Takes time with the product of both lengths at most.
fn is_match(wanted: &[char], name: &str) -> bool {
    if name.starts_with('.') && wanted.first() != Some(&'.') {
        return false;
    }
    let name: Vec<char> = name.chars().collect();
    let (mut w, mut n) = (0, 0);
    // Where the last `*` stands, and how far it reaches so far.
    let mut star: Option<(usize, usize)> = None;
    while n < name.len() {
        match wanted.get(w) {
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
    wanted[w..].iter().all(|&c| c == '*')
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
            let place = names
                .iter()
                .fold(glob.start(), |place, name| glob.enter(&place, name));
            glob.takes(&place, file)
        });
        assert_eq!(found, expected, "{pattern} {path}");
    }

    #[test]
    fn what_patterns_match() {
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
    fn only_folders_on_the_way_are_entered() {
        let glob = Glob::new("*/b/c*.md").unwrap();
        let a = glob.enter(&glob.start(), "a");
        assert!(glob.goes_on(&a));
        let other = glob.enter(&a, "x");
        assert!(!glob.goes_on(&other));
        let b = glob.enter(&a, "b");
        assert!(glob.goes_on(&b) && glob.takes(&b, "c1.md"));
        assert!(!glob.goes_on(&glob.enter(&b, "c1.md")));
    }

    #[test]
    fn many_stars_take_no_time() {
        let glob = Glob::new(&"*a".repeat(2_000)).unwrap();
        assert!(!glob.takes(&glob.start(), &"a".repeat(255)));
        let glob = Glob::new(&"**/*/".repeat(800)).unwrap();
        assert!(!glob.takes(&glob.start(), "a"));
    }
}
