//! Markdown marks around a signal.

use super::visible_text::is_blank;

/// Bullets that terminals show for list items, in addition to those of Markdown.
const BULLETS: [char; 7] = ['•', '◦', '‣', '▪', '●', '○', '⏺'];

/// Most digits in the number of a list item, as in CommonMark.
const ITEM_DIGITS_MAX: usize = 9;

/// Most emphasis and code marks before a signal. The limit keeps the search linear.
const MARKS_MAX: usize = 16;

/// Open emphasis and code marks, the innermost last: the mark and its number of repetitions.
#[derive(Debug, Clone, Default)]
pub(super) struct OpenMarks(Vec<(char, usize)>);

/// Returns the text after a list mark; `None` if the line does not begin with a list mark and a blank.
///
/// Without the blank it is not a list item: `+HEIRLOOM_…` is a line of a diff.
pub(super) fn skip_list_mark(line: &str) -> Option<&str> {
    let after = match line.chars().next()? {
        '-' | '+' | '*' => &line[1..],
        c if BULLETS.contains(&c) => &line[c.len_utf8()..],
        c if c.is_ascii_digit() => {
            let after = line.trim_start_matches(|c: char| c.is_ascii_digit());
            if line.len() - after.len() > ITEM_DIGITS_MAX {
                return None;
            }
            after.strip_prefix(['.', ')'])?
        }
        _ => return None,
    };
    if !after.starts_with(is_blank) {
        return None;
    }
    let item = after.trim_start_matches(is_blank);
    let boxes = ["[ ]", "[x]", "[X]"];
    let checked = boxes.iter().find_map(|mark| item.strip_prefix(mark));
    Some(
        checked
            .filter(|rest| rest.starts_with(is_blank))
            .unwrap_or(after),
    )
}

impl OpenMarks {
    /// Skips every list, emphasis and code mark at the beginning of a line; emphasis and code marks stay open. A quotation
    /// has the words of another author, and `+` begins an added line of a diff more often than a list item.
    pub(super) fn skip_line_marks<'a>(&mut self, line: &'a str) -> &'a str {
        let mut rest = line;
        loop {
            rest = rest.trim_start_matches(is_blank);
            let item = skip_list_mark(rest).filter(|_| !rest.starts_with('+'));
            if let Some(after) = item {
                rest = after;
            } else if let Some(after) = self.open_mark(rest) {
                rest = after;
            } else {
                return rest;
            }
        }
    }

    /// Skips blanks, then emphasis and code marks, which stay open.
    pub(super) fn skip_word_marks<'a>(&mut self, text: &'a str) -> &'a str {
        let mut rest = text.trim_start_matches(is_blank);
        while let Some(after) = self.open_mark(rest) {
            rest = after;
        }
        rest
    }

    fn open_mark<'a>(&mut self, text: &'a str) -> Option<&'a str> {
        if self.0.len() == MARKS_MAX {
            return None;
        }
        let mark = text
            .chars()
            .next()
            .filter(|c| matches!(c, '*' | '_' | '`'))?;
        let after = text.trim_start_matches(mark);
        self.0.push((mark, text.len() - after.len()));
        Some(after)
    }

    /// Removes leading marks that close open ones.
    pub(super) fn strip_closing_prefix<'a>(&mut self, text: &'a str) -> &'a str {
        let mut rest = text;
        while let Some((mark, count)) = self.0.last_mut() {
            let run = rest.len() - rest.trim_start_matches(*mark).len();
            let closed = run.min(*count);
            if closed == 0 {
                break;
            }
            rest = &rest[closed..];
            *count -= closed;
            if *count == 0 {
                self.0.pop();
            }
        }
        rest
    }

    /// Removes trailing blanks, and trailing marks that close open ones, the outermost last.
    pub(super) fn strip_closing_suffix<'a>(&mut self, text: &'a str) -> &'a str {
        let mut rest = text.trim_end_matches(is_blank);
        while let Some(last) = rest.chars().next_back()
            && let Some(at) = self.0.iter().position(|(mark, _)| *mark == last)
        {
            let run = rest.len() - rest.trim_end_matches(last).len();
            let closed = run.min(self.0[at].1);
            rest = rest[..rest.len() - closed].trim_end_matches(is_blank);
            self.0[at].1 -= closed;
            if self.0[at].1 == 0 {
                self.0.remove(at);
            }
        }
        rest
    }
}
