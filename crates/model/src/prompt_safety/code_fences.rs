//! Code fences: one without an end would make code of everything behind a recalled text.

use super::Edit;
use super::look_alikes::is_backtick;

/// Smallest number of characters of a fence.
const FENCE_CHARS_MIN: usize = 3;
/// Character that replaces a backtick of a fence.
const QUOTE: char = '\'';
/// Character that replaces a tilde of a fence.
const DASH: char = '-';

/// Treatment of fences.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fences {
    /// All are replaced.
    Replaced,
    /// Those that begin a line stay if each block has an end.
    KeptIfClosed,
    /// All stay.
    Kept,
}

/// Returns the replacements of fences.
pub(super) fn find_fences(text: &str, fences: Fences) -> Vec<Edit> {
    let mut edits = Vec::new();
    let mut first_of_lines: Vec<Edit> = Vec::new();
    let mut is_open = None;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let start = line.len() - line.trim_start().len();
        for run in runs(line) {
            let mark = line.get(run.clone()).and_then(|run| run.chars().next());
            let with = match mark {
                Some('~') => DASH,
                Some(_) | None => QUOTE,
            };
            let is_first = run.start == start;
            let after = line.get(run.end..).unwrap_or_default();
            if with == DASH && !(is_first && is_info(after)) {
                continue;
            }
            let found = line
                .char_indices()
                .filter(|(place, _)| run.contains(place))
                .map(|(place, c)| Edit {
                    at: at + place,
                    length: c.len_utf8(),
                    with,
                });
            match is_first {
                true => {
                    first_of_lines.extend(found);
                    let count = line.get(run).map_or(0, |run| run.chars().count());
                    is_open = match is_open {
                        None => Some((with, count)),
                        Some((open, least))
                            if open == with && count >= least && after.trim().is_empty() =>
                        {
                            None
                        }
                        open => open,
                    };
                }
                false => edits.extend(found),
            }
        }
        at += line.len();
    }
    if fences == Fences::Replaced || is_open.is_some() {
        edits.extend(first_of_lines);
    }
    edits
}

/// Returns true if the text after tildes is the language of a block, and not the mark under a place in code.
fn is_info(after: &str) -> bool {
    let is_word = |c: char| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_' | '.' | '+');
    after.trim_end().chars().all(is_word)
}

/// Returns the ranges of the runs of backticks and of tildes in a line.
fn runs(line: &str) -> Vec<std::ops::Range<usize>> {
    let mut found = Vec::new();
    let mut open: Option<(usize, usize, bool)> = None;
    let mut close = |open: Option<(usize, usize, bool)>, end: usize| {
        if let Some((start, count, _)) = open.filter(|(_, count, _)| *count >= FENCE_CHARS_MIN) {
            debug_assert!(count > 0);
            found.push(start..end);
        }
    };
    for (at, c) in line.char_indices() {
        let kind = match c {
            '~' => Some(true),
            c if is_backtick(c) => Some(false),
            _ => None,
        };
        open = match (kind, open) {
            (Some(kind), Some((start, count, known))) if kind == known => {
                Some((start, count + 1, known))
            }
            (kind, before) => {
                close(before, at);
                kind.map(|kind| (at, 1, kind))
            }
        };
    }
    close(open, line.len());
    found
}
