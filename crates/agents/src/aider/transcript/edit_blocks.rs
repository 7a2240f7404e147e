//! Edits in the text of aider's model: search and replace blocks, unified diffs, and whole files, each in a fence.

use crate::transcripts::FileEdit;

/// Characters around the name of a file.
const DECORATION: [char; 5] = ['*', '`', ':', '#', ' '];

/// Part of a block to which a line belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum BlockPart {
    Outside,
    /// A fence without markers, which may be a whole file.
    Whole,
    Removed,
    Added,
    Diff,
}

/// Returns the edits that a text shows, at most one for each file and block.
pub(super) fn edit_blocks(text: &str) -> Vec<FileEdit> {
    let mut edits = Vec::new();
    let mut part = BlockPart::Outside;
    let (mut path, mut removed, mut added) = ("", String::new(), String::new());
    for line in text.lines() {
        let is_fence = line.starts_with("```");
        match (part, marker(line)) {
            (BlockPart::Outside | BlockPart::Whole, Some(Marker::Search)) => {
                part = BlockPart::Removed;
                removed.clear();
                added.clear();
            }
            (BlockPart::Removed, Some(Marker::Divider)) => part = BlockPart::Added,
            (BlockPart::Added, Some(Marker::Replace)) => {
                push_edit(&mut edits, path, &removed, &added);
                part = BlockPart::Whole;
                removed.clear();
                added.clear();
            }
            (BlockPart::Outside, _) if is_fence => {
                let is_diff = line.trim_end() == "```diff";
                part = if is_diff {
                    BlockPart::Diff
                } else {
                    BlockPart::Whole
                };
                removed.clear();
                added.clear();
            }
            (BlockPart::Outside, _) if !line.trim().is_empty() => {
                path = line.trim_matches(DECORATION);
            }
            (BlockPart::Outside, _) => {}
            (BlockPart::Whole | BlockPart::Diff, _) if is_fence => {
                push_edit(&mut edits, path, &removed, &added);
                part = BlockPart::Outside;
            }
            (BlockPart::Whole | BlockPart::Added, _) => add_line(&mut added, line),
            (BlockPart::Removed, _) => add_line(&mut removed, line),
            (BlockPart::Diff, _) => {
                if let Some(file) = line.strip_prefix("+++ ") {
                    path = file.trim();
                } else if let Some(line) = line.strip_prefix('+') {
                    add_line(&mut added, line);
                } else if let Some(line) = line
                    .strip_prefix('-')
                    .filter(|rest| !rest.starts_with("-- "))
                {
                    add_line(&mut removed, line);
                }
            }
        }
    }
    edits
}

/// A line that separates the parts of a block.
enum Marker {
    Search,
    Divider,
    Replace,
}

fn marker(line: &str) -> Option<Marker> {
    let line = line.trim_end();
    let rest = |sign: char| {
        let rest = line.trim_start_matches(sign);
        (5..=9).contains(&(line.len() - rest.len())).then_some(rest)
    };
    match line.as_bytes().first()? {
        b'<' if rest('<') == Some(" SEARCH") => Some(Marker::Search),
        b'=' if rest('=') == Some("") => Some(Marker::Divider),
        b'>' if rest('>') == Some(" REPLACE") => Some(Marker::Replace),
        _ => None,
    }
}

fn add_line(text: &mut String, line: &str) {
    text.push_str(line);
    text.push('\n');
}

fn push_edit(edits: &mut Vec<FileEdit>, path: &str, removed: &str, added: &str) {
    let is_empty = removed.trim().is_empty() && added.trim().is_empty();
    if !is_empty && !path.is_empty() {
        edits.push(FileEdit::replacing(path.to_owned(), removed, added));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edit_blocks_of_all_formats_are_found() {
        let text = "I change it.\n\nsrc/a.py\n```python\n<<<<<<< SEARCH\nx = 1\n=======\nx = 2\n>>>>>>> REPLACE\n```\n\n**b.txt**\n```\nwhole\nfile\n```\n\n```diff\n--- c.go\n+++ c.go\n@@ ... @@\n same\n-old\n+new\n```\nRun:\n```sh\nmake\n```\n";
        let edits = edit_blocks(text);
        let shown: Vec<_> = (edits.iter())
            .map(|edit| (&*edit.path, &*edit.removed, &*edit.added))
            .collect();
        assert_eq!(
            shown,
            [
                ("src/a.py", "x = 1", "x = 2"),
                ("b.txt", "", "whole\nfile"),
                ("c.go", "old", "new"),
                // Only edits that the program applied are used.
                ("Run", "", "make"),
            ]
        );
    }

    #[test]
    fn edit_blocks_of_odd_texts_are_empty() {
        for text in [
            "",
            "```",
            "<<<<<<< SEARCH\nx",
            "=======\n>>>>>>> REPLACE",
            "```diff\n--- a\n",
        ] {
            assert!(edit_blocks(text).is_empty(), "{text}");
        }
    }
}
