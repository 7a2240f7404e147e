//! Removal of the lines and blocks of lines that a program wrote.

use super::marks::HostMark;
use std::borrow::Cow;

/// Removes the program's lines. Lines in blocks of code stay.
pub(super) fn remove_lines(text: &str, marks: &[&HostMark]) -> String {
    let mut out = String::with_capacity(text.len());
    let mut is_code = false;
    let mut block_end: Option<&str> = None;
    for whole in text.split_inclusive('\n') {
        let line = whole.trim();
        if let Some(end) = block_end {
            if line.starts_with(end) {
                block_end = None;
            }
            continue;
        }
        is_code ^= line.starts_with("```");
        if is_code {
            out.push_str(whole);
            continue;
        }
        let is_line = |mark: &&&HostMark| match mark {
            HostMark::Line(start) | HostMark::Block(start, _) => line.starts_with(start),
            HostMark::Element(_)
            | HostMark::Paste(_)
            | HostMark::Words(_)
            | HostMark::Text(_)
            | HostMark::WordsAfter(_)
            | HostMark::Placeholder(_)
            | HostMark::Quotation(_) => false,
        };
        match marks.iter().find(is_line) {
            Some(HostMark::Block(_, end)) => block_end = Some(end),
            Some(_) => {}
            None => out.push_str(&without_placeholders(whole, marks)),
        }
    }
    out
}

/// Returns a prompt without the marks that enclose all of it.
pub(super) fn without_quotation<'t>(text: &'t str, marks: &[&HostMark]) -> Cow<'t, str> {
    let enclosed = marks.iter().find_map(|mark| {
        let HostMark::Quotation(mark) = mark else {
            return None;
        };
        let inner = text.trim().strip_prefix(mark)?.strip_suffix(mark)?;
        let escaped = format!("\\{mark}");
        // A sentence may begin and end with a quotation, as in `"a b" is not "c d"`.
        let is_one = inner.matches(mark).count() == inner.matches(&escaped).count();
        (is_one && inner.contains(char::is_whitespace)).then(|| inner.replace(&escaped, mark))
    });
    enclosed.map_or(Cow::Borrowed(text), Cow::Owned)
}

/// Returns the text after the heading of a person's words, or the whole text.
pub(super) fn words_after_heading<'t>(text: &'t str, marks: &[&HostMark]) -> &'t str {
    let after = |mark: &&HostMark| match mark {
        HostMark::WordsAfter(heading) => text.split_once(heading).map(|(_, words)| words),
        HostMark::Element(_)
        | HostMark::Paste(_)
        | HostMark::Words(_)
        | HostMark::Text(_)
        | HostMark::Line(_)
        | HostMark::Block(..)
        | HostMark::Placeholder(_)
        | HostMark::Quotation(_) => None,
    };
    marks.iter().find_map(after).unwrap_or(text)
}

/// Removes placeholders such as `[Image #1]`.
fn without_placeholders(line: &str, marks: &[&HostMark]) -> String {
    let mut out = line.to_owned();
    for mark in marks {
        let HostMark::Placeholder(start) = mark else {
            continue;
        };
        while let Some(at) = out.find(start)
            && let Some(length) = out.get(at..).and_then(|rest| rest.find(']'))
        {
            out.replace_range(at..=at + length, "");
        }
    }
    out
}
