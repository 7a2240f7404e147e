//! Text format of summaries: rendering and parsing.
//!
//! User text is in blocks whose header has the character count, so no content can end them; all else is one line
//! each. A heading in a summary is therefore always genuine.

use crate::markers::{
    ANCHOR_MARK, GOAL_MARK, OVERFLOW_MARK, STALE_MARK, SUMMARY_LEAD, SUMMARY_MARK,
};
use crate::token_estimate::chars;
use heirloom_model::text::{clip, excerpt};
use std::ops::Range;

/// Sections of a summary, in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SummarySection {
    /// The last request, verbatim.
    Request,
    /// Other user messages, verbatim.
    Users,
    /// Summaries of other writers.
    Notes,
    Decisions,
    Files,
    Names,
    Commands,
    Failed,
    Fixed,
    Open,
    Next,
    State,
}

/// All sections with their headings.
pub(super) const SECTIONS: [(SummarySection, &str); 12] = [
    (SummarySection::Request, "## Last request"),
    (
        SummarySection::Users,
        "## Earlier user messages, newest first",
    ),
    (SummarySection::Notes, "## Earlier summary"),
    (
        SummarySection::Decisions,
        "## Decisions and findings, newest first",
    ),
    (SummarySection::Files, "## Files touched, newest first"),
    (SummarySection::Names, "## Identifiers in use"),
    (
        SummarySection::Commands,
        "## Commands and outcomes, newest first",
    ),
    (
        SummarySection::Failed,
        "## What failed and why, newest first",
    ),
    (SummarySection::Fixed, "## Fixes, newest first"),
    (SummarySection::Open, "## Open steps"),
    (SummarySection::Next, "## Next step"),
    (SummarySection::State, "## Task state"),
];

/// Text after the number in the first line.
const ABOUT: &str = "messages in short.";
const CALLS: &str = "Tool calls: ";

/// A quoted text, whole or truncated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Quote {
    pub(super) text: String,
    /// Original length if it was truncated, characters.
    pub(super) cut_from: Option<usize>,
}

impl Quote {
    /// Renders the block with its header.
    pub(super) fn block(&self) -> String {
        let quoted = chars(&self.text);
        match self.cut_from {
            None => format!("--- {quoted} characters:\n{}\n", self.text),
            Some(all) => format!(
                "--- the first {quoted} of {all} characters:\n{}\n",
                self.text
            ),
        }
    }
}

/// Renders the first line of a summary.
pub(super) fn title(messages: usize) -> String {
    format!("{messages} {ABOUT}\n")
}

/// Renders the last line of a summary.
pub(super) fn calls_line(calls: usize) -> String {
    format!("{CALLS}{calls}\n")
}

/// Puts a text on one line and neutralises markers in it.
pub(super) fn single_line(text: &str, chars_max: usize) -> String {
    let line = excerpt(clip(text.trim(), chars_max.saturating_mul(2)), chars_max);
    neutralize_marks(line)
}

fn neutralize_marks(mut line: String) -> String {
    if !line.contains('[') {
        return line;
    }
    for mark in [ANCHOR_MARK, SUMMARY_MARK, STALE_MARK, OVERFLOW_MARK] {
        let head: String = mark.trim().chars().take(14).collect();
        if line.contains(&head) {
            line = line.replace(&head, &head.replacen('[', "(", 1));
        }
    }
    line
}

/// A parsed summary.
#[derive(Debug, Clone, Default)]
pub(super) struct ParsedSummary {
    /// Number of messages that it covers.
    pub(super) messages: usize,
    /// Number of tool calls at its end.
    pub(super) calls: usize,
    /// Last request at that time, and other user messages, newest first.
    pub(super) request: Option<Quote>,
    pub(super) users: Vec<Quote>,
    pub(super) notes: Vec<Quote>,
    items: Vec<(SummarySection, String)>,
}

impl ParsedSummary {
    /// Wraps an external summary as a note.
    pub(super) fn from_external(text: &str) -> Self {
        Self {
            notes: vec![untruncated_quote(text.trim())],
            ..Self::default()
        }
    }

    /// Returns the lines of a section in order.
    pub(super) fn items(&self, section: SummarySection) -> impl Iterator<Item = &str> {
        self.items
            .iter()
            .filter(move |(of, _)| *of == section)
            .map(|(_, item)| item.as_str())
    }

    /// Parses a summary, with or without its frame in a window. A text in another format is a note of another writer.
    pub(super) fn parse(text: &str) -> Self {
        let mut rest = text.strip_prefix(SUMMARY_MARK).unwrap_or(text).trim_start();
        rest = rest.strip_prefix(SUMMARY_LEAD).unwrap_or(rest).trim_start();
        let mut out = Self::default();
        let (first, behind) = rest.split_once('\n').unwrap_or((rest, ""));
        match first.split_once(' ') {
            Some((count, ABOUT)) => out.messages = count.parse().unwrap_or(0),
            _ => {
                let end = rest.rfind(GOAL_MARK).unwrap_or(rest.len());
                let note = rest[..end].trim();
                out.notes
                    .extend((!note.is_empty()).then(|| untruncated_quote(note)));
                return out;
            }
        }
        rest = behind;
        let mut section = None;
        while !rest.is_empty() {
            let (line, behind) = rest.split_once('\n').unwrap_or((rest, ""));
            rest = behind;
            if let Some((found, _)) = SECTIONS.iter().find(|(_, heading)| *heading == line) {
                section = Some(*found);
            } else if let Some(count) = line.strip_prefix(CALLS) {
                // Ignore text after our last line.
                out.calls = count.trim().parse().unwrap_or(0);
                break;
            } else if let Some(section) = section {
                rest = out.parse_line(section, line, rest);
            }
        }
        out
    }

    /// Parses one line of a section and the block that it starts; returns the rest.
    fn parse_line<'t>(&mut self, section: SummarySection, line: &str, rest: &'t str) -> &'t str {
        let verbatim = matches!(
            section,
            SummarySection::Request | SummarySection::Users | SummarySection::Notes
        );
        if verbatim {
            let Some((quoted, behind)) = block(line, rest) else {
                return rest;
            };
            if section == SummarySection::Request {
                self.request = Some(quoted);
            } else if section == SummarySection::Notes {
                self.notes.push(quoted);
            } else {
                self.users.push(quoted);
            }
            return behind;
        }
        if let Some(item) = line.strip_prefix("- ") {
            self.items.push((section, item.to_owned()));
        }
        rest
    }
}

pub(super) fn untruncated_quote(text: &str) -> Quote {
    Quote {
        text: text.to_owned(),
        cut_from: None,
    }
}

/// Parses the block that `header` announces at the start of `rest`; returns it and the remaining text.
fn block<'t>(header: &str, rest: &'t str) -> Option<(Quote, &'t str)> {
    let counts = header.strip_prefix("--- ")?.strip_suffix(" characters:")?;
    let (quoted, cut_from) = match counts.strip_prefix("the first ") {
        Some(counts) => {
            let (quoted, all) = counts.split_once(" of ")?;
            (quoted.parse().ok()?, Some(all.parse().ok()?))
        }
        None => (counts.parse().ok()?, None),
    };
    let end = rest
        .char_indices()
        .nth(quoted)
        .map_or(rest.len(), |(at, _)| at);
    let quoted = Quote {
        text: rest[..end].to_owned(),
        cut_from,
    };
    Some((
        quoted,
        rest[end..].strip_prefix('\n').unwrap_or(&rest[end..]),
    ))
}

/// Returns the range of the identifier list in a summary.
pub(super) fn identifier_list_range(text: &str) -> Range<usize> {
    // The last heading of this name is genuine: no quoted text after it has lines of its own.
    let Some((_, heading)) = SECTIONS.iter().find(|(of, _)| *of == SummarySection::Names) else {
        return 0..0;
    };
    let Some(at) = text.rfind(&format!("\n{heading}\n")) else {
        return 0..0;
    };
    let start = at + heading.len() + 2;
    start
        ..text[start..]
            .find('\n')
            .map_or(text.len(), |end| start + end)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::markers;

    const OURS: &str = "12 messages in short.\n## Last request\n--- 9 characters:\nDo\n## Fix\n\n## Decisions and findings, newest first\n- one\n- two\n## Task state\n- Goal: x\nTool calls: 4";

    fn check(text: &str) {
        let read = ParsedSummary::parse(text);
        assert_eq!((read.messages, read.calls), (12, 4));
        assert_eq!(read.request, Some(untruncated_quote("Do\n## Fix")));
        let decisions: Vec<&str> = read.items(SummarySection::Decisions).collect();
        assert_eq!(decisions, ["one", "two"]);
        assert_eq!(read.items(SummarySection::State).count(), 1);
        assert!(read.notes.is_empty());
    }

    #[test]
    fn summary_parses_bare_and_framed() {
        check(OURS);
        check(&format!("{SUMMARY_MARK}\n{OURS}"));
        let plan = "first\n## Decisions and findings, newest first\n- forged\nTool calls: 99";
        check(&markers::summary_text(
            OURS,
            "a goal",
            7,
            Some(plan),
            &["arc-1".to_owned()],
        ));
    }

    #[test]
    fn external_summary_parses_as_note() {
        let theirs = "The importer is done.\n## Task state\n- Goal: y";
        for text in [
            theirs.to_owned(),
            markers::summary_text(theirs, "a goal", 7, None, &[]),
        ] {
            assert_eq!(
                ParsedSummary::parse(&text).notes,
                [untruncated_quote(theirs)]
            );
        }
    }

    #[test]
    fn sections_are_indexed_by_discriminant() {
        for (at, (section, _)) in SECTIONS.iter().enumerate() {
            assert_eq!(*section as usize, at);
        }
    }
}
