//! Redaction: secrets are found by their looks or by the names beside them, and a mark takes their place.
//!
//! Pure: text in, text out. The mark says what was there: `[redacted:github-token]`. Only the secret goes,
//! so that a record stays useful: `password = [redacted:password]`.

mod again;
mod anchors;
mod assign;
mod formats;
mod headers;
mod json;
mod keys;
mod names;
mod pattern;
mod places;
mod rules;
mod scan;
mod shape;
mod values;

use heirloom_model::settings::RedactSettings;
use rules::UserRules;
use scan::MARK;
use std::borrow::Cow;
use std::ops::Range;

/// Times that a redacted text is looked at again: a mark may uncover what stood beside a secret.
const PASSES_MAX: usize = 64;
/// Up to this many bytes a text with marks is looked at whole again: records, and most of what is printed.
const LOOKED_AT_WHOLE: usize = 64 << 10;

/// Finds secrets, by the built-in rules and those of one configuration.
#[derive(Debug, Default)]
pub struct Redactor {
    user: UserRules,
}

/// A secret in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Finding<'r> {
    /// What it is, as the mark says it.
    pub kind: &'r str,
    /// Its first byte.
    pub start: usize,
    /// The byte behind it.
    pub end: usize,
}

/// A rule of a configuration that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the redaction rule `{}` cannot be used: {problem}", heirloom_model::text::excerpt(.rule, 80))]
pub struct BadRule {
    /// The rule as it was given.
    pub rule: String,
    /// What is wrong with it.
    pub problem: String,
}

/// A built-in format, for lists and tests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FormatRule {
    /// What the mark says.
    pub kind: &'static str,
    /// The expression.
    pub expression: &'static str,
    /// Its part before the anchor.
    pub before: &'static str,
    /// The public rule set that it comes from, and its name there.
    pub source: &'static str,
}

/// Every built-in format that can be told by its looks alone.
pub fn formats() -> impl Iterator<Item = FormatRule> {
    formats::FORMATS.iter().map(|format| FormatRule {
        kind: format.kind,
        expression: format.front,
        before: format.back,
        source: format.source,
    })
}

impl Redactor {
    /// A redactor by these settings. Costs nothing without rules of a person: the built-in ones need no
    /// preparation.
    ///
    /// Errors: a rule that is no regular expression, or over a cap.
    pub fn new(settings: &RedactSettings) -> Result<Self, BadRule> {
        Ok(Self {
            user: UserRules::new(settings)?,
        })
    }

    /// `text` with a mark in the place of each secret; borrowed if there is none.
    ///
    /// Redacting what was redacted changes nothing. Takes time linear in the text, and never panics.
    pub fn redact<'t>(&self, text: &'t str) -> Cow<'t, str> {
        self.redact_telling(text, &mut Vec::new())
    }

    /// Whether a text has, or would leave, a mark in the place of a secret.
    pub fn has_secret(&self, text: &str) -> bool {
        text.contains(MARK) || !self.is_clean(text)
    }

    /// As [`redact`](Self::redact); the kinds of what was found go to `kinds`.
    pub fn redact_telling<'t>(&self, text: &'t str, kinds: &mut Vec<String>) -> Cow<'t, str> {
        let found = self.find(text);
        if found.is_empty() {
            return Cow::Borrowed(text);
        }
        let mut reaches_far = self.reach_far(&found);
        let (mut clean, mut marks) = replaced(text, &found, kinds);
        for _ in 1..PASSES_MAX {
            let mut found = if reaches_far {
                self.find(&clean)
            } else {
                self.find_around(&clean, &marks)
            };
            // A mark in the place of a quote opens others, however far away: what is kept is looked at whole.
            if found.is_empty() && !reaches_far && clean.len() <= LOOKED_AT_WHOLE {
                found = self.find(&clean);
            }
            if found.is_empty() {
                break;
            }
            reaches_far |= self.reach_far(&found);
            (clean, marks) = replaced(&clean, &found, kinds);
        }
        Cow::Owned(clean)
    }

    /// Whether marks in the place of these may matter anywhere in the text: a rule of a person may reach
    /// anywhere, and a key from its first line to its last.
    fn reach_far(&self, found: &[Finding<'_>]) -> bool {
        !self.user.is_empty() || found.iter().any(|one| one.kind == keys::KIND)
    }

    /// What is to be found now that `marks` are in a text that was looked at before.
    fn find_around(&self, text: &str, marks: &[Range<usize>]) -> Vec<Finding<'_>> {
        let Some(windows) = again::windows(text.as_bytes(), marks) else {
            return self.find(text);
        };
        let shifted = |window: Range<usize>| {
            let found = self.find(text.get(window.clone()).unwrap_or(""));
            found.into_iter().map(move |one| Finding {
                start: one.start + window.start,
                end: one.end + window.start,
                ..one
            })
        };
        windows.into_iter().flat_map(shifted).collect()
    }

    /// Redacts a text in place; the kinds of what was found go to `kinds`.
    pub fn redact_in_place(&self, text: &mut String, kinds: &mut Vec<String>) {
        if let Cow::Owned(clean) = self.redact_telling(text, kinds) {
            *text = clean;
        }
    }

    /// Whether there is nothing to redact in `text`.
    pub fn is_clean(&self, text: &str) -> bool {
        self.find(text).is_empty()
    }

    /// The secrets in `text`, in order and apart from each other. Marks are none.
    pub fn find(&self, text: &str) -> Vec<Finding<'_>> {
        let mut found: Vec<_> = scan::hits(text)
            .into_iter()
            .map(|hit| Finding {
                kind: hit.kind,
                start: hit.start,
                end: hit.end,
            })
            .collect();
        self.user.find(text, |kind, start, end| {
            found.push(Finding { kind, start, end })
        });
        if found.is_empty() {
            return found;
        }
        found.retain(|one| !self.user.allows(text.get(one.start..one.end).unwrap_or("")));
        if text.contains(MARK) {
            keep_marks(text, &mut found);
        }
        merged(found)
    }
}

/// The mark of a kind.
fn mark(kind: &str) -> String {
    format!("{MARK}{kind}]")
}

/// The text with marks in the place of what was found, and where they are.
fn replaced(
    text: &str,
    found: &[Finding<'_>],
    kinds: &mut Vec<String>,
) -> (String, Vec<Range<usize>>) {
    let mut marks = Vec::with_capacity(found.len());
    let mut clean = String::with_capacity(text.len());
    let mut from = 0;
    for one in found {
        clean.push_str(text.get(from..one.start).unwrap_or(""));
        let start = clean.len();
        clean.push_str(&mark(one.kind));
        marks.push(start..clean.len());
        kinds.push(one.kind.to_owned());
        from = one.end;
    }
    clean.push_str(text.get(from..).unwrap_or(""));
    (clean, marks)
}

/// Leaves marks out of what was found; what reaches into one takes it whole.
fn keep_marks(text: &str, found: &mut Vec<Finding<'_>>) {
    let marks: Vec<Range<usize>> = memchr::memmem::find_iter(text.as_bytes(), MARK.as_bytes())
        .filter_map(|at| Some(at..scan::mark_end(text.as_bytes(), at)?))
        .collect();
    found.retain_mut(|one| {
        let first = marks.partition_point(|mark| mark.end <= one.start);
        let end = one.end;
        let touched = marks[first..].iter().take_while(|mark| mark.start < end);
        for mark in touched {
            if mark.start <= one.start && end <= mark.end {
                return false;
            }
            one.start = one.start.min(mark.start);
            one.end = one.end.max(mark.end);
        }
        true
    });
}

/// In order, overlapping ones as one; the first and longest names it.
fn merged<'r>(mut found: Vec<Finding<'r>>) -> Vec<Finding<'r>> {
    found.sort_by_key(|one| (one.start, std::cmp::Reverse(one.end)));
    let mut apart: Vec<Finding<'r>> = Vec::with_capacity(found.len());
    for one in found {
        match apart.last_mut() {
            Some(last) if one.start < last.end => last.end = last.end.max(one.end),
            Some(_) | None => apart.push(one),
        }
    }
    apart
}
