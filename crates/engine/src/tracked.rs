//! What git tracks, read from its index: the tree of a project without walking it.

use heirloom_model::limits;
use std::collections::BTreeMap;

/// Bytes of an entry before its name: times, numbers, size, checksum, flags.
const FIXED_BYTES: usize = 62;
/// The flag of an entry that has two bytes more.
const EXTENDED: u16 = 0x4000;
/// The length of a name that is longer than the flags can say.
const LONG_NAME: usize = 0x0fff;
/// Where the flags of an entry are.
const FLAGS_AT: usize = 60;

/// The paths of an index of git, in its order, as far as it can be read; and what is wrong with the rest.
///
/// Versions 2 to 4, with checksums of 20 bytes. Paths that are no UTF-8 are left out.
pub fn paths(index: &[u8]) -> (Vec<String>, Option<String>) {
    let number = |at: usize| -> Option<u32> {
        let bytes = index.get(at..at + 4)?;
        Some(u32::from_be_bytes(bytes.try_into().ok()?))
    };
    let (Some(b"DIRC"), Some(version @ 2..=4), Some(count)) =
        (index.get(..4), number(4), number(8))
    else {
        return (
            Vec::new(),
            Some("git's index is of an unknown sort".to_owned()),
        );
    };
    let mut found = Vec::new();
    let mut name: Vec<u8> = Vec::new();
    let mut at = 12;
    for _ in 0..count {
        if found.len() >= limits::TRACKED_FILES_MAX {
            let most = limits::TRACKED_FILES_MAX;
            return (
                found,
                Some(format!(
                    "only {most} of {count} tracked files are looked at"
                )),
            );
        }
        let Some(next) = entry(index, at, version, &mut name) else {
            return (
                found,
                Some("git's index ends in the midst of an entry".to_owned()),
            );
        };
        at = next;
        if let Ok(path) = std::str::from_utf8(&name) {
            found.push(path.to_owned());
        }
    }
    (found, None)
}

/// Reads the entry at `at`: its name takes the place of the one before; where the next one begins.
fn entry(index: &[u8], at: usize, version: u32, name: &mut Vec<u8>) -> Option<usize> {
    let flags = index.get(at + FLAGS_AT..at + FIXED_BYTES)?;
    let flags = u16::from_be_bytes(flags.try_into().ok()?);
    let extended = version >= 3 && flags & EXTENDED != 0;
    let mut from = at + FIXED_BYTES + if extended { 2 } else { 0 };
    if version == 4 {
        let dropped = offset(index, &mut from)?;
        name.truncate(name.len().checked_sub(dropped)?);
    } else {
        name.clear();
    }
    let rest = index.get(from..)?;
    let said = usize::from(flags) & LONG_NAME;
    let length = if version < 4 && said < LONG_NAME {
        said
    } else {
        memchr::memchr(0, rest)?
    };
    name.extend_from_slice(rest.get(..length)?);
    if name.len() > limits::PATH_BYTES_MAX {
        return None;
    }
    let end = from + length;
    Some(if version == 4 {
        end + 1
    } else {
        // One to eight zeros up to a multiple of eight.
        at + (end - at) / 8 * 8 + 8
    })
}

/// A number in git's coding of offsets.
fn offset(index: &[u8], at: &mut usize) -> Option<usize> {
    let mut next = || {
        let byte = *index.get(*at)?;
        *at += 1;
        Some(byte)
    };
    let mut byte = next()?;
    let mut value = usize::from(byte & 127);
    while byte & 128 != 0 {
        byte = next()?;
        value = value.checked_add(1)?.checked_mul(128)?;
        value = value.checked_add(usize::from(byte & 127))?;
    }
    Some(value)
}

/// The tree of these paths to [`limits::TREE_DEPTH`] folders, a line a folder, the upper ones first:
/// `src/: a.rs, b.rs, more/ (12)`, a folder with the number of files below it.
pub fn outline<'p>(paths: impl Iterator<Item = &'p str>) -> Vec<String> {
    // By depth and path: what is in it, folders with the files below them.
    let mut folders: BTreeMap<(usize, String), BTreeMap<String, usize>> = BTreeMap::new();
    for path in paths {
        let mut folder = String::new();
        let parts: Vec<&str> = path.split('/').collect();
        for (depth, part) in parts.iter().enumerate().take(limits::TREE_DEPTH) {
            let is_file = depth + 1 == parts.len();
            let name = if is_file {
                (*part).to_owned()
            } else {
                format!("{part}/")
            };
            let inside = folders.entry((depth, folder.clone())).or_default();
            *inside.entry(name).or_default() += usize::from(!is_file);
            folder.push_str(part);
            folder.push('/');
        }
    }
    let line = |((_, folder), inside): ((usize, String), BTreeMap<String, usize>)| {
        let shown = inside.iter().take(limits::TREE_NAMES_MAX);
        let mut names: Vec<String> = shown
            .map(|(name, below)| match below {
                0 => name.clone(),
                below => format!("{name} ({below})"),
            })
            .collect();
        if inside.len() > limits::TREE_NAMES_MAX {
            names.push(format!("… {} more", inside.len() - limits::TREE_NAMES_MAX));
        }
        let folder = if folder.is_empty() { "./" } else { &folder };
        format!("{folder}: {}", names.join(", "))
    };
    folders.into_iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// An index of version 2 with these paths.
    pub(super) fn index(paths: &[&str]) -> Vec<u8> {
        let mut bytes = b"DIRC\0\0\0\x02".to_vec();
        bytes.extend(u32::try_from(paths.len()).unwrap().to_be_bytes());
        for path in paths {
            let begin = bytes.len();
            bytes.extend([7; FLAGS_AT]);
            let length = path.len().min(LONG_NAME);
            bytes.extend(u16::try_from(length).unwrap().to_be_bytes());
            bytes.extend(path.as_bytes());
            bytes.push(0);
            while !(bytes.len() - begin).is_multiple_of(8) {
                bytes.push(0);
            }
        }
        bytes
    }

    #[test]
    fn an_index_names_its_paths() {
        let wanted = ["Cargo.toml", "crates/a/src/lib.rs", "d", "docs/1234567.md"];
        assert_eq!(
            paths(&index(&wanted)),
            (wanted.map(str::to_owned).to_vec(), None)
        );
        // Version 4: "src/a" and then "src/bc", which drops one byte of it.
        let mut four = b"DIRC\0\0\0\x04\0\0\0\x02".to_vec();
        for (dropped, rest) in [(0, "src/a"), (1, "bc")] {
            four.extend([7; FLAGS_AT]);
            four.extend([0, 6, dropped]);
            four.extend(rest.as_bytes());
            four.push(0);
        }
        assert_eq!(paths(&four).0, ["src/a", "src/bc"]);
    }

    #[test]
    fn so_many_files_are_looked_at() {
        let most = limits::TRACKED_FILES_MAX;
        for count in [most, most + 1] {
            let (found, note) = paths(&index(&vec!["a"; count]));
            assert_eq!((found.len(), note.is_some()), (most, count > most));
        }
    }

    #[test]
    fn an_outline_goes_so_deep_and_names_so_many() {
        let lines = outline(["a.rs", "src/b.rs", "src/x/c.rs", "src/x/y/z/d.rs"].into_iter());
        assert_eq!(limits::TREE_DEPTH, 3);
        assert_eq!(
            lines,
            [
                "./: a.rs, src/ (3)",
                "src/: b.rs, x/ (2)",
                "src/x/: c.rs, y/ (1)"
            ]
        );
        let most = limits::TREE_NAMES_MAX;
        for (count, cut) in [(most, false), (most + 1, true)] {
            let names: Vec<String> = (0..count).map(|n| format!("f{n}")).collect();
            let lines = outline(names.iter().map(String::as_str));
            assert_eq!(lines[0].ends_with("… 1 more"), cut);
        }
    }

    proptest! {
        #[test]
        fn no_bytes_panic_it(mut bytes in prop::collection::vec(any::<u8>(), 0..200), version in 0u8..6) {
            paths(&bytes);
            let mut header = b"DIRC\0\0\0".to_vec();
            header.push(version);
            header.append(&mut bytes);
            let (found, _) = paths(&header);
            outline(found.iter().map(String::as_str));
        }

        #[test]
        fn a_cut_index_gives_what_it_has(cut in 0usize..400) {
            let wanted = ["a", "bb/cc", "dd/ee/ff"];
            let whole = index(&wanted);
            let (found, note) = paths(&whole[..cut.min(whole.len())]);
            prop_assert!(wanted.iter().zip(&found).all(|(a, b)| a == b));
            prop_assert!(note.is_some() || found.len() == wanted.len());
        }
    }
}
