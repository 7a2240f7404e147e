//! Recorded folder: the path of a folder as an agent program wrote it, on this machine or another one.
//!
//! The same folder has several spellings: `C:\Users\dev\shop`, `c:/users/dev/shop/`, `/mnt/c/Users/dev/shop` and
//! `\\wsl.localhost\Ubuntu\mnt\c\Users\dev\shop`. They are compared as text, because the folder need not exist here.

use sha2::{Digest, Sha256};

/// Hosts of the network paths by which Windows reaches the files of a WSL distribution.
const WSL_HOSTS: [&str; 2] = ["wsl$", "wsl.localhost"];
/// Folders in which WSL, Cygwin and Git Bash mount the drives of Windows.
const DRIVE_MOUNTS: [&[&str]; 3] = [&["mnt"], &["cygdrive"], &[]];

/// Parts of a path. Those of Windows are compared without upper and lower case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct RecordedFolder {
    /// Drive (`c:`) or network host and share; empty for a path of Unix.
    volume: Vec<String>,
    parts: Vec<String>,
    is_absolute: bool,
}

impl RecordedFolder {
    /// Reads a path in any spelling.
    pub(super) fn parse(text: &str) -> Self {
        let text = text.trim_end_matches(['\r', '\n']);
        // A path of Unix may have `\` in a name.
        if text.starts_with('/') && !text.starts_with("//") {
            return Self::of_unix(&split(text, &['/']));
        }
        let parts = split(text, &['/', '\\']);
        let is_network = ["\\\\", "//", "\\/", "/\\"]
            .iter()
            .any(|start| text.starts_with(start));
        match (is_network, parts.split_first()) {
            (true, Some((host, rest))) => Self::of_network(host, rest),
            (false, Some((drive, rest))) if is_drive(drive) => Self {
                volume: vec![drive.to_lowercase()],
                parts: without_dots(rest),
                is_absolute: true,
            },
            _ => Self {
                volume: Vec::new(),
                parts: without_dots(&parts),
                is_absolute: text.starts_with('\\'),
            },
        }
    }

    fn of_unix(parts: &[&str]) -> Self {
        let drive = DRIVE_MOUNTS.iter().find_map(|mount| {
            let (letter, rest) = parts.strip_prefix(*mount)?.split_first()?;
            (letter.len() == 1 && is_drive(&format!("{letter}:"))).then_some((*letter, rest))
        });
        match drive {
            Some((letter, rest)) => Self {
                volume: vec![format!("{}:", letter.to_lowercase())],
                parts: without_dots(rest),
                is_absolute: true,
            },
            None => Self {
                volume: Vec::new(),
                parts: without_dots(parts),
                is_absolute: true,
            },
        }
    }

    fn of_network(host: &str, rest: &[&str]) -> Self {
        let is = |part: &str, name: &str| part.eq_ignore_ascii_case(name);
        match (host, rest) {
            // `\\?\C:\…` and `\\?\UNC\host\share\…`: paths without a limit of their length.
            ("?" | ".", [unc, host, rest @ ..]) if is(unc, "unc") => Self::of_network(host, rest),
            ("?" | ".", [drive, rest @ ..]) if is_drive(drive) => Self {
                volume: vec![drive.to_lowercase()],
                parts: without_dots(rest),
                is_absolute: true,
            },
            (_, [_distribution, rest @ ..]) if WSL_HOSTS.iter().any(|name| is(host, name)) => {
                Self::of_unix(rest)
            }
            _ => {
                let share = rest.first().map(|share| share.to_lowercase());
                Self {
                    volume: [Some(host.to_lowercase()), share]
                        .into_iter()
                        .flatten()
                        .collect(),
                    parts: without_dots(rest.get(1..).unwrap_or_default()),
                    is_absolute: true,
                }
            }
        }
    }

    /// Returns true for a path of Windows, also where another system mounts its drive.
    pub(super) fn is_of_windows(&self) -> bool {
        !self.volume.is_empty()
    }

    /// Returns the path below `root`, with `/`: empty for `root` itself, and `None` outside of it.
    pub(super) fn below(&self, root: &Self) -> Option<String> {
        if self.volume != root.volume || self.is_absolute != root.is_absolute {
            return None;
        }
        let is_same = |(one, other): (&String, &String)| match self.volume.is_empty() {
            true => one == other,
            false => one.to_lowercase() == other.to_lowercase(),
        };
        let count = root.parts.len();
        let begins = self.parts.get(..count)?;
        let rest = self.parts.get(count..)?;
        begins
            .iter()
            .zip(&root.parts)
            .all(is_same)
            .then(|| rest.join("/"))
    }

    /// Returns the path of `named` in this folder, or `named` itself if it is absolute.
    pub(super) fn join(&self, named: &Self) -> Self {
        if named.is_absolute {
            return named.clone();
        }
        let parts = self.parts.iter().chain(&named.parts).map(String::as_str);
        let parts: Vec<&str> = parts.collect();
        Self {
            volume: self.volume.clone(),
            parts: without_dots(&parts),
            is_absolute: self.is_absolute,
        }
    }

    /// Returns true for the SHA-256 of this path in one of its usual spellings, or of `text`, which names it.
    pub(super) fn has_hash(&self, text: &str, hash: &str) -> bool {
        let mut spellings = vec![
            text.to_owned(),
            text.trim_end_matches(['/', '\\']).to_owned(),
        ];
        let rest = self.parts.join("/");
        match self.volume.as_slice() {
            [] => spellings.push(format!("/{rest}")),
            [drive] => {
                let letter = drive.trim_end_matches(':');
                for drive in [drive.clone(), drive.to_uppercase()] {
                    spellings.push(format!("{drive}/{rest}"));
                    spellings.push(format!("{drive}\\{}", self.parts.join("\\")));
                }
                spellings.push(format!("/mnt/{letter}/{rest}"));
            }
            [host, share, ..] => {
                let rest = self.parts.join("\\");
                spellings.push(format!("\\\\{host}\\{share}\\{rest}"));
            }
        }
        spellings.iter().any(|spelling| {
            let digest = Sha256::digest(spelling.as_bytes());
            let hex: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
            hex.eq_ignore_ascii_case(hash)
        })
    }
}

fn split<'t>(text: &'t str, separators: &[char]) -> Vec<&'t str> {
    let parts = text.split(separators);
    parts.filter(|part| !part.is_empty()).collect()
}

fn is_drive(part: &str) -> bool {
    let mut letters = part.chars();
    let letter = letters
        .next()
        .is_some_and(|letter| letter.is_ascii_alphabetic());
    letter && letters.as_str() == ":"
}

/// Returns the parts without `.`, and without each part that `..` leaves again.
fn without_dots(parts: &[&str]) -> Vec<String> {
    let mut whole: Vec<String> = Vec::new();
    for part in parts {
        match *part {
            "." => {}
            ".." if whole.last().is_some_and(|last| last != "..") => drop(whole.pop()),
            part => whole.push(part.to_owned()),
        }
    }
    whole
}

#[cfg(test)]
mod tests {
    use super::*;

    fn below(path: &str, root: &str) -> Option<String> {
        RecordedFolder::parse(path).below(&RecordedFolder::parse(root))
    }

    #[test]
    fn folder_is_found_in_every_spelling() {
        let windows = [
            r"C:\Users\dev\shop",
            r"c:\users\DEV\Shop",
            r"C:\Users\dev\shop\",
            "C:/Users/dev/shop",
            "c:/Users/dev/shop//",
            r"C:\Users\dev\.\other\..\shop",
            r"\\?\C:\Users\dev\shop",
            "/mnt/c/Users/dev/shop",
            "/mnt/C/users/dev/shop/",
            "/cygdrive/c/Users/dev/shop",
            "/c/Users/dev/shop",
            r"\\wsl$\Ubuntu\mnt\c\Users\dev\shop",
            "//wsl.localhost/Debian/mnt/c/Users/dev/shop",
        ];
        let wsl = [
            "/home/dev/shop",
            "/home/dev//shop/",
            "/home/dev/./shop",
            r"\\wsl$\Ubuntu\home\dev\shop",
            r"\\WSL.localhost\Ubuntu-24.04\home\dev\shop\",
            "//wsl$/Ubuntu/home/dev/shop",
            r"\\?\UNC\wsl$\Ubuntu\home\dev\shop",
        ];
        let network = [
            r"\\files\team\shop",
            "//FILES/Team/Shop/",
            r"\\?\UNC\files\team\shop",
        ];
        for group in [&windows[..], &wsl, &network] {
            for one in group {
                for other in group {
                    assert_eq!(below(one, other).as_deref(), Some(""), "{one} in {other}");
                    let inner = format!("{}/src/Api", one.trim_end_matches(['/', '\\']));
                    assert_eq!(below(&inner, other).as_deref(), Some("src/Api"), "{inner}");
                    assert_eq!(below(other, &inner), None, "{other} in {inner}");
                }
            }
        }
        for (one, other) in [
            (windows[0], wsl[0]),
            (wsl[0], windows[0]),
            (windows[0], network[0]),
            (r"C:\Users\dev\shop", r"D:\Users\dev\shop"),
            (r"C:\Users\dev\shop-old", r"C:\Users\dev\shop"),
            ("/home/dev/Shop", "/home/dev/shop"),
            ("/home/dev/shop2", "/home/dev/shop"),
            ("/mnt/cd/shop", "/mnt/c/shop"),
            ("shop", "/shop"),
            (r"/home/dev\shop", "/home/dev"),
            ("/home/dev/shop/../other", "/home/dev/shop"),
        ] {
            assert_eq!(below(one, other), None, "{one} in {other}");
        }
    }

    #[test]
    fn files_are_named_relative_to_the_folder() {
        let root = RecordedFolder::parse(r"C:\Users\dev\shop");
        for (folder, named, found) in [
            (r"C:\Users\dev\shop", r"src\api.rs", Some("src/api.rs")),
            (
                r"C:\Users\dev\shop\web",
                r"..\src\api.rs",
                Some("src/api.rs"),
            ),
            (
                r"C:\Users\dev\shop",
                r"c:\users\dev\shop\src\Api.rs",
                Some("src/Api.rs"),
            ),
            (r"C:\Users\dev\shop", "/mnt/c/Users/dev/shop/a", Some("a")),
            (r"C:\Users\dev\shop", r"..\other\a", None),
            (r"C:\Users\dev\shop", r"D:\a", None),
        ] {
            let path = RecordedFolder::parse(folder).join(&RecordedFolder::parse(named));
            assert_eq!(path.below(&root).as_deref(), found, "{folder} {named}");
        }
    }

    #[test]
    fn hash_of_any_usual_spelling_is_found() {
        for (hashed, named) in [
            ("/home/dev/old-shop", "/home/dev/old-shop/"),
            ("/home/dev/old-shop", r"\\wsl$\Ubuntu\home\dev\old-shop"),
            (r"C:\Users\dev\shop", r"C:\Users\dev\shop\"),
            (r"c:\Users\dev\shop", "C:/Users/dev/shop"),
            (r"C:\Users\dev\shop", "/mnt/c/Users/dev/shop"),
            ("/mnt/c/Users/dev/shop", r"C:\Users\dev\shop"),
            (r"\\files\team\shop", "//files/team/shop"),
        ] {
            let digest = Sha256::digest(hashed.as_bytes());
            let hash: String = digest.iter().map(|byte| format!("{byte:02X}")).collect();
            let folder = RecordedFolder::parse(named);
            assert!(folder.has_hash(named, &hash), "{hashed} by {named}");
            assert!(!folder.has_hash(named, &hash.replace('0', "1")), "{named}");
        }
    }
}
