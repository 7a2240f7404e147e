//! Reader of git's index: the tracked files of a project, without walking its folders.

use heirloom_model::limits;
use std::collections::BTreeMap;

/// Length of an entry before its name in bytes: times, numbers, size, checksum, flags.
const FIXED_BYTES: usize = 62;
/// Flag of an entry with two more bytes of flags.
const EXTENDED: u16 = 0x4000;
/// Value of the length field for names that are longer than the field can express.
const LONG_NAME: usize = 0x0fff;
/// Offset of the flags in an entry.
const FLAGS_AT: usize = 60;
/// Offset of the modification time in an entry: seconds, then nanoseconds.
const MODIFIED_AT: usize = 8;
/// Offset of the file's size in an entry.
const SIZE_AT: usize = 36;

/// Parses the paths of a git index, in its order, as far as it can be read; also returns a note about the rest.
///
/// Supports versions 2 to 4 with checksums of 20 bytes. Paths that are not UTF-8 are skipped.
pub fn parse_paths(index: &[u8]) -> (Vec<String>, Option<String>) {
    let (mut found, mut is_over) = (Vec::new(), false);
    let note = read_entries(index, |_, name| {
        is_over = found.len() >= limits::TRACKED_FILES_MAX;
        if let Ok(path) = std::str::from_utf8(name)
            && !is_over
        {
            found.push(path.to_owned());
        }
        !is_over
    });
    let most = limits::TRACKED_FILES_MAX;
    let over = is_over.then(|| format!("only {most} of the tracked files are read"));
    (found, over.or(note))
}

/// A file as git saw it when it was checked out or added.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IndexEntry {
    /// Modification time, nanoseconds since 1970; 0 if git did not record it.
    pub modified_ns: i64,
    /// The low 32 bits of its size in bytes.
    pub size_bytes: u32,
}

/// Finds the entry of the file `path`, relative to the work tree; `None` if git does not track it.
pub fn find_entry(index: &[u8], path: &str) -> Option<IndexEntry> {
    // Version 4 stores a path without the part that it shares with the path before it.
    let has_whole_paths = be_number(index, 4).is_some_and(|version| version < 4);
    if has_whole_paths && memchr::memmem::find(index, path.as_bytes()).is_none() {
        return None;
    }
    let mut found = None;
    read_entries(index, |at, name| {
        if name == path.as_bytes() {
            found = entry_state(index, at);
        }
        found.is_none()
    });
    found
}

fn entry_state(index: &[u8], at: usize) -> Option<IndexEntry> {
    let seconds = i64::from(be_number(index, at + MODIFIED_AT)?);
    let nanoseconds = i64::from(be_number(index, at + MODIFIED_AT + 4)?);
    Some(IndexEntry {
        modified_ns: seconds * 1_000_000_000 + nanoseconds,
        size_bytes: be_number(index, at + SIZE_AT)?,
    })
}

fn be_number(index: &[u8], at: usize) -> Option<u32> {
    let bytes = index.get(at..at + 4)?;
    Some(u32::from_be_bytes(bytes.try_into().ok()?))
}

/// Calls `visit` with the offset and the path of each entry until it returns false; returns a note about entries that
/// cannot be read.
fn read_entries(index: &[u8], mut visit: impl FnMut(usize, &[u8]) -> bool) -> Option<String> {
    let (Some(b"DIRC"), Some(version @ 2..=4), Some(count)) =
        (index.get(..4), be_number(index, 4), be_number(index, 8))
    else {
        return Some("git's index has an unknown format".to_owned());
    };
    let mut name: Vec<u8> = Vec::new();
    let mut at = 12;
    for _ in 0..count {
        let Some(next) = read_entry(index, at, version, &mut name) else {
            return Some("git's index is truncated".to_owned());
        };
        if !visit(at, &name) {
            break;
        }
        at = next;
    }
    None
}

/// Reads the entry at `at` and replaces `name`; returns the offset of the next entry.
fn read_entry(index: &[u8], at: usize, version: u32, name: &mut Vec<u8>) -> Option<usize> {
    let flags = index.get(at + FLAGS_AT..at + FIXED_BYTES)?;
    let flags = u16::from_be_bytes(flags.try_into().ok()?);
    let extended = version >= 3 && flags & EXTENDED != 0;
    let mut from = at + FIXED_BYTES + if extended { 2 } else { 0 };
    if version == 4 {
        let dropped = read_offset(index, &mut from)?;
        name.truncate(name.len().checked_sub(dropped)?);
    } else {
        name.clear();
    }
    let rest = index.get(from..)?;
    let flag_length = usize::from(flags) & LONG_NAME;
    let length = if version < 4 && flag_length < LONG_NAME {
        flag_length
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

/// Reads a number in git's variable-length encoding of offsets.
fn read_offset(index: &[u8], at: &mut usize) -> Option<usize> {
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

/// Renders the tree of these paths to [`limits::TREE_DEPTH`] folders, one line for each folder, the upper ones first:
/// `src/: a.rs, b.rs, more/ (12)`, where 12 is the number of files below the folder.
pub fn render_tree<'p>(paths: impl Iterator<Item = &'p str>) -> Vec<String> {
    // Content of each folder by depth and path; folders with the number of files below them.
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

    /// Returns an index of version 2 with these paths.
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
    fn parse_paths_reads_versions_2_and_4() {
        let expected = ["Cargo.toml", "crates/a/src/lib.rs", "d", "docs/1234567.md"];
        assert_eq!(
            parse_paths(&index(&expected)),
            (expected.map(str::to_owned).to_vec(), None)
        );
        // Version 4: "src/a" and then "src/bc", which drops one byte of it.
        let mut four = b"DIRC\0\0\0\x04\0\0\0\x02".to_vec();
        for (dropped, rest) in [(0, "src/a"), (1, "bc")] {
            four.extend([7; FLAGS_AT]);
            four.extend([0, 6, dropped]);
            four.extend(rest.as_bytes());
            four.push(0);
        }
        assert_eq!(parse_paths(&four).0, ["src/a", "src/bc"]);
    }

    #[test]
    fn find_entry_returns_time_and_size_of_a_tracked_file() {
        let mut one = index(&["a/b", "a/bc"]);
        let second = 12 + (FIXED_BYTES + 3 + 1).next_multiple_of(8);
        one[second + MODIFIED_AT..second + MODIFIED_AT + 8]
            .copy_from_slice(&[0, 0, 0, 2, 0, 0, 0, 5]);
        one[second + SIZE_AT..second + SIZE_AT + 4].copy_from_slice(&[0, 0, 1, 0]);
        let expected = IndexEntry {
            modified_ns: 2_000_000_005,
            size_bytes: 256,
        };
        assert_eq!(find_entry(&one, "a/bc"), Some(expected));
        assert_eq!(find_entry(&one, "b"), None, "only a part of a path");
        assert_eq!(find_entry(b"DIRC", "a/bc"), None);
    }

    #[test]
    fn parse_paths_over_the_maximum_reports_note() {
        let most = limits::TRACKED_FILES_MAX;
        for count in [most, most + 1] {
            let (found, note) = parse_paths(&index(&vec!["a"; count]));
            assert_eq!((found.len(), note.is_some()), (most, count > most));
        }
    }

    #[test]
    fn render_tree_limits_depth_and_names() {
        let lines = render_tree(["a.rs", "src/b.rs", "src/x/c.rs", "src/x/y/z/d.rs"].into_iter());
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
            let lines = render_tree(names.iter().map(String::as_str));
            assert_eq!(lines[0].ends_with("… 1 more"), cut);
        }
    }

    proptest! {
        #[test]
        fn parse_any_bytes_does_not_panic(mut bytes in prop::collection::vec(any::<u8>(), 0..200), version in 0u8..6) {
            parse_paths(&bytes);
            let mut header = b"DIRC\0\0\0".to_vec();
            header.push(version);
            header.append(&mut bytes);
            let (found, _) = parse_paths(&header);
            render_tree(found.iter().map(String::as_str));
        }

        #[test]
        fn parse_paths_of_truncated_index_returns_prefix(cut in 0usize..400) {
            let expected = ["a", "bb/cc", "dd/ee/ff"];
            let whole = index(&expected);
            let (found, note) = parse_paths(&whole[..cut.min(whole.len())]);
            prop_assert!(expected.iter().zip(&found).all(|(a, b)| a == b));
            prop_assert!(note.is_some() || found.len() == expected.len());
        }
    }
}
