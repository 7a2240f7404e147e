//! Form of a single line of an outline.

/// Greatest number of characters of a heading without a mark.
const HEADING_CHARS_MAX: usize = 70;
/// Greatest number of words of a heading without a mark.
const HEADING_WORDS_MAX: usize = 8;

/// Form of a line.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum LineForm<'a> {
    /// Empty line, rule, or separator of a table.
    Blank,
    /// Heading, without its marks.
    Heading(&'a str),
    /// Cells of a table row.
    TableRow(Vec<&'a str>),
    /// List item.
    Item {
        /// Columns before the mark.
        indentation: usize,
        /// Text after the mark.
        text: &'a str,
    },
    /// Any other line.
    Text {
        /// Columns before the text.
        indentation: usize,
        /// The text.
        text: &'a str,
    },
}

/// Returns the form of a line.
pub(super) fn classify_line(raw: &str) -> LineForm<'_> {
    let line = raw.trim();
    let blanks = raw.len() - raw.trim_start().len();
    let is_separator = |c: char| matches!(c, '-' | '=' | '*' | '_' | '|' | ':' | ' ' | '+');
    if line.is_empty() || (line.len() >= 3 && line.chars().all(is_separator)) {
        return LineForm::Blank;
    }
    if let Some(heading) = marked_heading(line) {
        return LineForm::Heading(heading);
    }
    if line.starts_with('|') && line.ends_with('|') && line.len() > 2 {
        let cells = line.trim_matches('|').split('|').map(str::trim);
        return LineForm::TableRow(cells.filter(|cell| !cell.is_empty()).take(8).collect());
    }
    if let Some((is_numbered, text)) = item_text(line) {
        if is_numbered && blanks < 3 && is_section_title(text) {
            return LineForm::Heading(bare_heading(text));
        }
        return LineForm::Item {
            indentation: blanks,
            text,
        };
    }
    if blanks < 2 && (is_section_title(line) || is_capitals(line)) {
        return LineForm::Heading(bare_heading(line));
    }
    LineForm::Text {
        indentation: blanks,
        text: line,
    }
}

/// Returns the heading of a line with heading marks, a bold line, or a tag.
fn marked_heading(line: &str) -> Option<&str> {
    let rest = line.trim_start_matches('#');
    let marks = line.len() - rest.len();
    if (1..=6).contains(&marks) && rest.starts_with(' ') {
        return Some(bare_heading(rest));
    }
    if let Some(inner) = line.strip_prefix("**") {
        let inner = inner.strip_suffix(':').unwrap_or(inner);
        if let Some(title) = inner.strip_suffix("**")
            && !title.contains("**")
            && title.chars().count() <= HEADING_CHARS_MAX * 2
        {
            return Some(bare_heading(title));
        }
    }
    let tag = line.strip_prefix('<')?.strip_suffix('>')?;
    let name = tag.strip_prefix('/').unwrap_or(tag);
    let is_name = name
        .bytes()
        .all(|b| b.is_ascii_lowercase() || b == b'_' || b == b'-');
    match (is_name && !name.is_empty(), tag.starts_with('/')) {
        (true, false) => Some(name),
        (true, true) => Some(""),
        (false, _) => None,
    }
}

/// Returns true for a short line that ends with a colon.
fn is_section_title(line: &str) -> bool {
    let line = line.trim_end_matches(['*', '_', ' ']);
    let Some(title) = line.strip_suffix([':', '：']) else {
        return false;
    };
    let title = title.trim_start_matches(['*', '_']);
    title.starts_with(|c: char| c.is_alphabetic())
        && title.len() <= HEADING_CHARS_MAX * 4
        && title.chars().count() <= HEADING_CHARS_MAX
        && title.split_whitespace().count() <= HEADING_WORDS_MAX
        && !title.contains(['.', '`', '?', '!', '='])
}

/// Returns true for a short line of capital letters.
fn is_capitals(line: &str) -> bool {
    line.len() > 3
        && line.len() <= HEADING_CHARS_MAX
        && line
            .chars()
            .all(|c| c.is_uppercase() || matches!(c, ' ' | '-' | '&'))
        && line.chars().filter(|c| c.is_uppercase()).count() > 3
}

/// Returns a heading without emphasis, number and colon.
fn bare_heading(heading: &str) -> &str {
    let marks = |c: char| matches!(c, '*' | '_' | ':' | '：' | ' ' | '#');
    let heading = heading.trim_matches(marks);
    let after = heading.trim_start_matches(|c: char| c.is_ascii_digit());
    let digits = heading.len() - after.len();
    match after.strip_prefix(['.', ')']) {
        Some(rest) if (1..=2).contains(&digits) && rest.starts_with(' ') => {
            rest.trim_matches(marks)
        }
        _ => heading,
    }
}

/// Returns the text of a list item, and true if it has a number.
fn item_text(line: &str) -> Option<(bool, &str)> {
    for mark in ["- ", "* ", "+ ", "• ", "– ", "◦ ", "▪ "] {
        if let Some(text) = line.strip_prefix(mark) {
            let text = text.trim_start();
            let boxes = ["[ ] ", "[x] ", "[X] "];
            let inner = boxes.iter().find_map(|mark| text.strip_prefix(mark));
            return Some((false, inner.unwrap_or(text)));
        }
    }
    let after = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let digits = line.len() - after.len();
    let text = after.strip_prefix(['.', ')'])?;
    ((1..=3).contains(&digits) && text.starts_with(' ')).then(|| (true, text.trim_start()))
}
