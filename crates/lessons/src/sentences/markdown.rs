//! Markdown: plain text, and masking of code and quotations.

use super::is_cjk;
use std::borrow::Cow;

/// Greatest number of bytes between the two ends of a link, an emphasis, or a quotation.
const SPAN_BYTES_MAX: usize = 600;
/// Number of characters from which on a line is taken for one that an editor wrapped.
const WRAPPED_CHARS_MIN: usize = 40;

/// Line of a Markdown text.
enum Line<'a> {
    Blank,
    /// Start or end of a fenced code block.
    Fence,
    /// Line of a block quotation.
    Quote,
    /// Heading, list item or table row: begins a paragraph.
    Item(&'a str),
    Text(&'a str),
}

/// Returns the text without Markdown syntax and without fenced code: one line for each paragraph, list item, heading
/// and row. Lines that an editor wrapped are joined; code spans keep their backticks.
pub(crate) fn plain_text(markdown: &str) -> String {
    let mut out = String::with_capacity(markdown.len().min(1 << 16));
    let mut fence = None;
    let mut previous = "";
    let mut is_open = false;
    for raw in markdown.lines() {
        match parse_line(raw, &mut fence) {
            Line::Fence | Line::Blank => is_open = false,
            Line::Quote => {
                let text = raw.trim_start_matches([' ', '\t', '>']);
                push_line(&mut out, text, false);
                is_open = false;
            }
            Line::Item(text) => {
                push_line(&mut out, text, false);
                (is_open, previous) = (!raw.trim_start().starts_with(['#', '|']), text);
            }
            Line::Text(text) => {
                push_line(&mut out, text, is_open && is_wrapped(previous, raw));
                (is_open, previous) = (true, text);
            }
        }
    }
    out
}

/// Returns the lines of the text that are neither fenced code nor a block quotation, unchanged.
pub(crate) fn without_blocks(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut fence = None;
    for raw in text.lines() {
        if !matches!(parse_line(raw, &mut fence), Line::Fence | Line::Quote) {
            out.push_str(raw);
            out.push('\n');
        }
    }
    out
}

/// Character that replaces each byte of masked text.
pub(super) const MASK: char = '\u{1a}';

/// Replaces each byte of code spans and quotations of a line by a control character, so that offsets stay the same.
pub(crate) fn mask_quoted_and_code(line: &str) -> Cow<'_, str> {
    mask(line, true)
}

/// Masks quotations, and with `code` also code spans and short quotations.
fn mask(line: &str, code: bool) -> Cow<'_, str> {
    if !line.contains(['`', '"', '\'', '“', '„', '«', '»', '‘', '「', '『']) {
        return Cow::Borrowed(line);
    }
    let mut out = String::with_capacity(line.len());
    let mut closers = ClosingMarks::default();
    let (mut at, mut previous) = (0, ' ');
    while let Some(c) = line.get(at..).and_then(|rest| rest.chars().next()) {
        out.push(c);
        let inner = at + c.len_utf8();
        let end = closing_mark(c, previous).and_then(|mark| closers.find(line, inner, c, mark));
        let Some(end) = end.filter(|end| (inner + 1..inner + SPAN_BYTES_MAX).contains(end)) else {
            (previous, at) = (c, inner);
            continue;
        };
        let text = line.get(inner..end).unwrap_or_default();
        let is_kept = !code && (c == '`' || text.split_whitespace().nth(3).is_none());
        if is_kept {
            out.push_str(text);
        } else {
            out.extend(std::iter::repeat_n(MASK, text.len()));
        }
        let mark = line.get(end..).and_then(|rest| rest.chars().next());
        out.extend(mark);
        at = end + mark.map_or(0, char::len_utf8);
        previous = mark.unwrap_or(' ');
    }
    Cow::Owned(out)
}

/// Returns the character that closes a span opened by `c` after `previous`.
fn closing_mark(c: char, previous: char) -> Option<char> {
    match c {
        '`' => Some('`'),
        '"' => Some('"'),
        // After a letter it is an apostrophe.
        '\'' if !previous.is_alphanumeric() => Some('\''),
        '“' => Some('”'),
        '„' => Some('“'),
        '‘' if !previous.is_alphanumeric() => Some('’'),
        '«' => Some('»'),
        '»' => Some('«'),
        '「' => Some('」'),
        '『' => Some('』'),
        _ => None,
    }
}

/// Offsets of the next closing mark of each opening mark, so that a line is searched once for each.
#[derive(Default)]
struct ClosingMarks(Vec<(char, Option<usize>)>);

impl ClosingMarks {
    /// Returns the offset of the first `mark` at or after `from` that can close `opener`.
    fn find(&mut self, line: &str, from: usize, opener: char, mark: char) -> Option<usize> {
        let known = self.0.iter().position(|(known, _)| *known == opener);
        if let Some((_, found)) = known.and_then(|index| self.0.get(index))
            && found.is_none_or(|found| found >= from)
        {
            return *found;
        }
        let rest = line.get(from..).unwrap_or_default();
        let mut found = None;
        let mut chars = rest.char_indices().peekable();
        while let Some((at, c)) = chars.next() {
            let is_apostrophe = matches!(opener, '\'' | '‘')
                && chars.peek().is_some_and(|(_, next)| next.is_alphanumeric());
            if c == mark && !is_apostrophe {
                found = Some(from + at);
                break;
            }
        }
        match known.and_then(|index| self.0.get_mut(index)) {
            Some(entry) => entry.1 = found,
            None => self.0.push((opener, found)),
        }
        found
    }
}

/// Classifies a line; `fence` is the open code fence.
fn parse_line<'a>(raw: &'a str, fence: &mut Option<&'a str>) -> Line<'a> {
    let line = raw.trim();
    for mark in ["```", "~~~"] {
        if line.starts_with(mark) {
            match *fence {
                Some(open) if open != mark => {}
                Some(_) => *fence = None,
                // A fence that closes on its own line is a code span.
                None if line.len() > 6 && line.ends_with(mark) => {}
                None => *fence = Some(mark),
            }
            return Line::Fence;
        }
    }
    if fence.is_some() {
        return Line::Fence;
    }
    if line.is_empty() || is_rule(line) {
        return Line::Blank;
    }
    if line.starts_with('>') {
        return Line::Quote;
    }
    match without_item_mark(line) {
        Some(text) => Line::Item(text),
        None => Line::Text(line),
    }
}

/// Characters of a drawn line from which on it separates parts of a text.
const DRAWN_MIN: usize = 5;

/// Returns true for a thematic break, for the separator line of a table, and for a drawn line, which may name a part.
fn is_rule(line: &str) -> bool {
    let is_drawn = |c: &char| matches!(c, '─' | '━' | '═');
    line.chars().filter(is_drawn).take(DRAWN_MIN).count() == DRAWN_MIN
        || line.len() >= 3
            && line
                .chars()
                .all(|c| matches!(c, '-' | '*' | '_' | '=' | '|' | ':' | ' '))
}

/// Returns the text of a heading, list item or table row.
pub(crate) fn without_item_mark(line: &str) -> Option<&str> {
    let heading = line.trim_start_matches('#');
    if heading.len() < line.len() && heading.starts_with(' ') {
        return Some(heading.trim());
    }
    if line.starts_with('|') {
        return Some(line.trim_matches(['|', ' ']));
    }
    for mark in ["- ", "* ", "+ ", "• ", "– "] {
        if let Some(text) = line.strip_prefix(mark) {
            let text = text.trim_start();
            let boxes = ["[ ] ", "[x] ", "[X] "];
            return Some(
                boxes
                    .iter()
                    .find_map(|mark| text.strip_prefix(mark))
                    .unwrap_or(text),
            );
        }
    }
    let digits = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let number = line.len() - digits.len();
    let text = digits.strip_prefix(['.', ')', '、'])?;
    ((1..=3).contains(&number) && text.starts_with(' ')).then(|| text.trim_start())
}

/// Returns true if `raw` continues the line before it, because an editor wrapped the text.
fn is_wrapped(previous: &str, raw: &str) -> bool {
    let previous = previous.trim_end();
    let ends = previous.ends_with(['.', '!', '?', ':', ';', '。', '！', '？', '：', '；']);
    let first = raw.trim_start().chars().next().unwrap_or(' ');
    let is_long = previous.chars().nth(WRAPPED_CHARS_MIN).is_some();
    let goes_on = previous.ends_with([',', '，', '、'])
        || raw.starts_with("  ")
        || !(first.is_uppercase() || is_cjk(first));
    is_long && goes_on && (!ends || raw.starts_with("  "))
}

/// Adds a line without its inline syntax, to the last one if it `continues` that.
fn push_line(out: &mut String, text: &str, continues: bool) {
    if continues {
        out.truncate(out.trim_end().len());
        let is_joined =
            out.chars().next_back().is_some_and(is_cjk) && text.chars().next().is_some_and(is_cjk);
        if !is_joined {
            out.push(' ');
        }
    }
    push_inline(out, text.trim());
    out.push('\n');
}

/// Adds a line without emphasis and link targets; code spans stay as they are.
fn push_inline(out: &mut String, text: &str) {
    let (mut at, mut previous) = (0, ' ');
    let (mut has_ticks, mut has_links) = (true, text.contains("]("));
    let mut next_link = 0;
    while let Some(c) = text.get(at..).and_then(|rest| rest.chars().next()) {
        let next = at + c.len_utf8();
        let rest = text.get(next..).unwrap_or_default();
        let mut end = next;
        match c {
            '`' if has_ticks => {
                match rest.find('`') {
                    Some(length) => end = next + length + 1,
                    None => has_ticks = false,
                }
                out.push_str(text.get(at..end).unwrap_or_default());
            }
            '[' if has_links => {
                if next_link < next {
                    match rest.find("](") {
                        Some(length) => next_link = next + length,
                        None => has_links = false,
                    }
                }
                let label = text.get(next..next_link).unwrap_or_default();
                let target = text.get(next_link..).unwrap_or_default();
                match link_length(label, target).filter(|_| has_links) {
                    Some(length) => {
                        out.push_str(label);
                        end = next_link + length;
                    }
                    None => out.push(c),
                }
            }
            '*' => {
                let stars = rest.len() - rest.trim_start_matches('*').len();
                let after = rest.trim_start_matches('*').chars().next();
                if !is_emphasis(previous, stars + 1, after.unwrap_or(' ')) {
                    out.extend(std::iter::repeat_n('*', stars + 1));
                }
                end = next + stars;
            }
            _ => out.push(c),
        }
        let head = text.get(..end).unwrap_or_default();
        previous = head.chars().next_back().unwrap_or(' ');
        at = end;
    }
}

/// Returns true if a run of stars is emphasis, not a glob such as `**/*.md` or a product such as `2 * 3`.
fn is_emphasis(previous: char, stars: usize, next: char) -> bool {
    let is_glob = "/.*_".contains(previous) || (previous == ' ' && "/._,)".contains(next));
    let is_free = previous.is_whitespace() && next.is_whitespace();
    let is_inner = stars == 1 && previous.is_alphanumeric() && next.is_alphanumeric();
    !(is_glob || is_free || is_inner)
}

/// Returns the length of a link's rest after the label, which begins with `](`.
fn link_length(label: &str, rest: &str) -> Option<usize> {
    if label.is_empty() || label.len() > SPAN_BYTES_MAX || label.contains(['[', ']']) {
        return None;
    }
    let end = rest
        .bytes()
        .take(SPAN_BYTES_MAX)
        .position(|byte| matches!(byte, b')' | b' ' | b'\n'))?;
    (rest.as_bytes().get(end) == Some(&b')')).then_some(end + 1)
}
