//! Hunks of unified diffs: their lines are those of a file.

use super::visible_text::is_blank;

/// Beginning of the line before a hunk, as the fast search finds it.
pub(super) const HUNK_START: &str = "@@ -";

/// An open hunk, by the numbers of lines that its first line announces.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct DiffHunk {
    old_lines: u64,
    new_lines: u64,
    /// Number of blanks before its lines.
    indent: usize,
}

impl DiffHunk {
    /// Returns the hunk that a line begins, such as `@@ -1,4 +1,6 @@ fn main()`.
    pub(super) fn open(line: &str) -> Option<Self> {
        let start = line.trim_start_matches(is_blank);
        let (ranges, _) = start.strip_prefix(HUNK_START)?.split_once(" @@")?;
        let (old, new) = ranges.split_once(" +")?;
        let lines = |range: &str| match range.split_once(',') {
            Some((from, count)) => from.parse::<u64>().ok().and(count.parse().ok()),
            None => range.parse::<u64>().ok().map(|_| 1),
        };
        Some(Self {
            old_lines: lines(old)?,
            new_lines: lines(new)?,
            indent: line.chars().count() - start.chars().count(),
        })
    }

    /// Returns true if a line belongs to the hunk. Lines with the marks of a hunk belong to it even if it announced fewer.
    pub(super) fn takes(&mut self, line: &str) -> bool {
        let mut rest = line;
        for _ in 0..self.indent {
            rest = rest.strip_prefix(is_blank).unwrap_or(rest);
        }
        match rest.chars().next() {
            Some('+') => self.new_lines = self.new_lines.saturating_sub(1),
            Some('-') => self.old_lines = self.old_lines.saturating_sub(1),
            Some(' ' | '\t') => self.take_both(),
            Some('\\') => {}
            // Programs cut the blank of an empty line.
            None if self.old_lines > 0 && self.new_lines > 0 => self.take_both(),
            Some(_) | None => return false,
        }
        true
    }

    fn take_both(&mut self) {
        self.old_lines = self.old_lines.saturating_sub(1);
        self.new_lines = self.new_lines.saturating_sub(1);
    }
}
