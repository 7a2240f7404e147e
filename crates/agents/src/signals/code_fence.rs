//! Markdown code fences, as far as they decide whether a signal counts.

use super::markdown_marks::skip_list_mark;
use super::visible_text::is_blank;

/// An open code fence.
#[derive(Debug, Clone)]
pub(super) struct CodeFence {
    mark: char,
    length: usize,
    /// Columns before the fence, including list marks, excluding quote marks.
    indent: usize,
    /// Number of quote marks before the fence.
    quotes: usize,
    /// Number of signals inside that did not count.
    pub(super) ignored_signals: u64,
}

/// Relation of a line to an open fence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FenceRelation {
    /// The line is content.
    Inside,
    /// The line closes the fence.
    Closes,
    /// The line is outside: the quotation that contains the fence has ended.
    Leaves,
}

/// Extra indentation that a closing fence may have, as in CommonMark.
const CLOSING_INDENT_MORE: usize = 3;

impl CodeFence {
    /// Returns the fence that this line opens, if any.
    ///
    /// Any indentation and any quote and list marks are accepted: the depth of a list is unknown without a full
    /// Markdown parser, and agents indent loosely.
    pub(super) fn open(line: &str) -> Option<Self> {
        let (mut rest, mut quotes, mut indent) = (line, 0, 0);
        loop {
            let (columns, after) = skip_blanks(rest);
            indent += columns;
            rest = after;
            if let Some(after) = rest.strip_prefix('>') {
                rest = after;
                quotes += 1;
                indent = 0;
            } else if let Some(after) = skip_list_mark(rest) {
                indent += rest.len() - after.len();
                rest = after;
            } else {
                break;
            }
        }
        let mark = rest.chars().next().filter(|c| matches!(c, '`' | '~'))?;
        let info = rest.trim_start_matches(mark);
        let length = rest.len() - info.len();
        // Backticks after the run make it a code span on one line.
        if length < 3 || (mark == '`' && info.contains('`')) {
            return None;
        }
        Some(Self {
            mark,
            length,
            indent,
            quotes,
            ignored_signals: 0,
        })
    }

    /// Returns the relation of this line to the fence.
    pub(super) fn relation_to(&self, line: &str) -> FenceRelation {
        let mut rest = line;
        for _ in 0..self.quotes {
            match rest.trim_start_matches(is_blank).strip_prefix('>') {
                Some(after) => rest = after,
                None => return FenceRelation::Leaves,
            }
        }
        let (columns, rest) = skip_blanks(rest);
        let after = rest.trim_start_matches(self.mark);
        let closes = columns <= self.indent + CLOSING_INDENT_MORE
            && rest.len() - after.len() >= self.length
            && after.chars().all(is_blank);
        if closes {
            FenceRelation::Closes
        } else {
            FenceRelation::Inside
        }
    }

    /// Returns true if a line without any mark can end the fence.
    pub(super) fn is_quoted(&self) -> bool {
        self.quotes > 0
    }
}

/// Returns the number of columns of leading blanks (a tab reaches the next multiple of four) and the rest.
fn skip_blanks(line: &str) -> (usize, &str) {
    let rest = line.trim_start_matches(is_blank);
    let mut columns = 0;
    for c in line[..line.len() - rest.len()].chars() {
        match c {
            '\t' => columns += 4 - columns % 4,
            c if c.is_whitespace() => columns += 1,
            _ => {}
        }
    }
    (columns, rest)
}
