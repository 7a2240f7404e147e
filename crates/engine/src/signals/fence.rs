//! Fenced code in Markdown, as far as it decides whether a signal counts.

use super::marks::skip_list_mark;
use super::shown::is_blank;

/// A fence that is open.
#[derive(Debug, Clone)]
pub(super) struct Fence {
    mark: char,
    length: usize,
    /// Columns before it, list marks counted, quote marks not.
    indent: usize,
    /// Quote marks before it.
    quotes: usize,
    /// Whether signals in it count: it has no language, or `text`.
    pub(super) counts: bool,
    /// Signals in it that did not count.
    pub(super) hidden: u64,
}

/// What a line is to an open fence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Meeting {
    /// Its content.
    Inside,
    /// Its end.
    Closes,
    /// Outside: the quotation in which it stood is over.
    Leaves,
}

/// How far an indented line is still a closing fence, as in CommonMark.
const CLOSING_INDENT_MORE: usize = 3;

impl Fence {
    /// The fence that this line opens, if it opens one.
    ///
    /// Any indentation and any quote and list marks may stand before it: without the whole tree of
    /// Markdown blocks nobody can say how deep a list is, and agents indent loosely.
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
        let language = info.split(is_blank).find(|word| !word.is_empty());
        Some(Self {
            mark,
            length,
            indent,
            quotes,
            counts: language.is_none_or(|word| word.eq_ignore_ascii_case("text")),
            hidden: 0,
        })
    }

    /// What this line is to the fence.
    pub(super) fn meet(&self, line: &str) -> Meeting {
        let mut rest = line;
        for _ in 0..self.quotes {
            match rest.trim_start_matches(is_blank).strip_prefix('>') {
                Some(after) => rest = after,
                None => return Meeting::Leaves,
            }
        }
        let (columns, rest) = skip_blanks(rest);
        let after = rest.trim_start_matches(self.mark);
        let closes = columns <= self.indent + CLOSING_INDENT_MORE
            && rest.len() - after.len() >= self.length
            && after.chars().all(is_blank);
        if closes {
            Meeting::Closes
        } else {
            Meeting::Inside
        }
    }

    /// Whether a line without any mark can end it.
    pub(super) fn is_quoted(&self) -> bool {
        self.quotes > 0
    }
}

/// The columns of the blanks at the beginning, a tab to the next multiple of four, and the rest.
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
