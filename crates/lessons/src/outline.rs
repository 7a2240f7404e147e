//! Outline of a text: its sections with their headings, list items and paragraphs.
//!
//! It reads Markdown and the plain text that trackers and agents write: `# Heading`, `**Heading**`, `1. Heading:`,
//! `Heading:`, `HEADING`, and the tags of a summary (`<key_knowledge>`). Fenced code is left out.

mod line;
#[cfg(test)]
mod tests;

use crate::sentences::plain_text;
use line::{LineForm, classify_line};

/// Greatest number of bytes of a text that are read.
const TEXT_BYTES_MAX: usize = 48 << 10;
/// Greatest number of items of an outline.
const ITEMS_MAX: usize = 400;
/// Greatest number of bytes of an item.
const ITEM_BYTES_MAX: usize = 1_600;

/// A list item or paragraph.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct OutlineItem {
    /// Bold beginning of the item, without its colon or dash.
    pub(crate) title: Option<String>,
    /// Plain text on one line, without the title.
    pub(crate) text: String,
    /// Items below it.
    pub(crate) children: Vec<String>,
    /// True for a list item or table row, false for a paragraph.
    pub(crate) is_listed: bool,
}

/// A heading with the items up to the next one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct OutlineSection {
    /// The heading without marks and number; empty before the first one.
    pub(crate) heading: String,
    /// Items and paragraphs.
    pub(crate) items: Vec<OutlineItem>,
}

impl OutlineItem {
    /// Returns title, text and children in one line.
    pub(crate) fn full_text(&self) -> String {
        let mut out = match &self.title {
            Some(title) if self.text.is_empty() && self.children.is_empty() => title.clone(),
            Some(title) if title.ends_with(['.', '!', '?']) => format!("{title} {}", self.text),
            Some(title) => format!("{title}: {}", self.text),
            None => self.text.clone(),
        };
        for (number, child) in self.children.iter().enumerate() {
            let gap = match (number, out.trim_end().chars().next_back()) {
                (_, None) => "",
                (0, Some('.' | ':' | '!' | '?')) => " ",
                (0, _) => ": ",
                (_, Some('.' | '!' | '?' | ';')) => " ",
                _ => "; ",
            };
            out.truncate(out.trim_end().len());
            out.push_str(gap);
            out.push_str(child);
        }
        out.trim().to_owned()
    }
}

/// Returns the sections of a text that have items.
pub(crate) fn read_outline(text: &str) -> Vec<OutlineSection> {
    let end = text.floor_char_boundary(TEXT_BYTES_MAX);
    let mut reader = OutlineReader::default();
    for line in text.get(..end).unwrap_or_default().lines() {
        reader.read_line(line);
        if reader.items + 1 >= ITEMS_MAX {
            break;
        }
    }
    reader.finish()
}

/// Item whose lines are read.
#[derive(Debug)]
struct OpenItem {
    /// Raw text of the item and its children.
    lines: Vec<String>,
    indentation: usize,
    is_listed: bool,
}

/// Reader of an outline, line by line.
#[derive(Debug, Default)]
struct OutlineReader {
    sections: Vec<OutlineSection>,
    heading: String,
    finished: Vec<OutlineItem>,
    open: Option<OpenItem>,
    /// Indentation of the section's list.
    base: Option<usize>,
    is_in_code: bool,
    is_after_blank: bool,
    items: usize,
}

impl OutlineReader {
    fn read_line(&mut self, raw: &str) {
        let trimmed = raw.trim();
        if trimmed.starts_with("```") || trimmed.starts_with("~~~") {
            self.is_in_code = !self.is_in_code;
            return;
        }
        if self.is_in_code {
            return;
        }
        match classify_line(raw) {
            LineForm::Blank => self.is_after_blank = true,
            LineForm::Heading(heading) => {
                self.end_section();
                let plain = plain_line(heading);
                let is_sign = |c: char| {
                    !c.is_alphanumeric() && !matches!(c, '`' | '<' | '/' | '@' | '.' | '_' | '(')
                };
                self.heading = plain.trim_start_matches(is_sign).replace("**", "");
                self.is_after_blank = false;
            }
            LineForm::TableRow(row) => {
                self.end_item();
                self.open_item(row.join(" — "), 0, true);
                self.is_after_blank = false;
            }
            LineForm::Item { indentation, text } => {
                let is_child = self.base.is_some_and(|base| indentation > base);
                match self.open.as_mut().filter(|open| open.is_listed && is_child) {
                    Some(open) => open.lines.push(text.to_owned()),
                    None => {
                        self.end_item();
                        self.base =
                            Some(self.base.map_or(indentation, |base| base.min(indentation)));
                        self.open_item(text.to_owned(), indentation, true);
                    }
                }
                self.is_after_blank = false;
            }
            LineForm::Text { indentation, text } => {
                let is_new = self.is_after_blank
                    && !self
                        .open
                        .as_ref()
                        .is_some_and(|open| open.is_listed && indentation > open.indentation);
                match self.open.as_mut().filter(|_| !is_new) {
                    Some(open) => {
                        if let Some(last) = open.lines.last_mut()
                            && last.len() + text.len() < ITEM_BYTES_MAX
                        {
                            last.push(' ');
                            last.push_str(text);
                        }
                    }
                    None => {
                        self.end_item();
                        self.open_item(text.to_owned(), indentation, false);
                    }
                }
                self.is_after_blank = false;
            }
        }
    }

    fn open_item(&mut self, text: String, indentation: usize, is_listed: bool) {
        self.open = Some(OpenItem {
            lines: vec![text],
            indentation,
            is_listed,
        });
    }

    fn end_item(&mut self) {
        let Some(open) = self.open.take() else {
            return;
        };
        let mut lines = open.lines.iter().map(|line| plain_line(line));
        let raw = open.lines.first().map_or("", String::as_str);
        let (title, text) = split_title(raw);
        // The first line is the title, or is in `text` already.
        let _ = lines.next();
        let item = OutlineItem {
            title,
            text,
            children: lines.filter(|line| !line.is_empty()).collect(),
            is_listed: open.is_listed,
        };
        if item.title.is_some() || !item.text.is_empty() || !item.children.is_empty() {
            self.items += 1;
            self.finished.push(item);
        }
    }

    fn end_section(&mut self) {
        self.end_item();
        self.base = None;
        let items = std::mem::take(&mut self.finished);
        let heading = std::mem::take(&mut self.heading);
        if !items.is_empty() {
            self.sections.push(OutlineSection { heading, items });
        }
    }

    fn finish(mut self) -> Vec<OutlineSection> {
        self.end_section();
        self.sections
    }
}

/// Returns the bold beginning of an item, and the rest, both as plain text.
fn split_title(raw: &str) -> (Option<String>, String) {
    let bold = raw
        .strip_prefix("**")
        .and_then(|rest| rest.split_once("**"))
        .filter(|(title, _)| !title.trim().is_empty());
    let Some((title, rest)) = bold else {
        return (None, plain_line(raw));
    };
    let marks = [' ', ':', '-', '–', '—', '→'];
    let is_title = title.ends_with(':')
        || rest
            .trim_start()
            .starts_with([':', '-', '–', '—', '→', '(']);
    if !is_title && !rest.trim().is_empty() && !rest.starts_with(' ') {
        return (None, plain_line(raw));
    }
    let is_sentence = !is_title && rest.trim_start().starts_with(char::is_lowercase);
    if is_sentence {
        return (None, plain_line(raw));
    }
    let title = plain_line(title.trim_end_matches(marks));
    let rest = rest.trim_start_matches(marks);
    (
        Some(title).filter(|title| !title.is_empty()),
        plain_line(rest),
    )
}

/// Returns one line of Markdown as plain text.
fn plain_line(line: &str) -> String {
    let end = line.floor_char_boundary(ITEM_BYTES_MAX);
    let text = plain_text(line.get(..end).unwrap_or_default());
    text.trim().replace('\n', " ")
}
