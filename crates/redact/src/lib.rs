//! Redaction: finds secrets by their format or by the names next to them, and replaces each by a mark.
//!
//! Pure: text in, text out. The mark contains the kind of the secret: `[redacted:github-token]`. Only the secret is
//! replaced, so that a record remains useful: `password = [redacted:password]`.

mod anchor_checks;
mod assignment_syntax;
mod assignments;
mod base64_view;
mod commands;
mod decoded_view;
mod entropy;
mod escapes;
mod headers;
mod json;
mod named_pairs;
mod nouns;
mod pattern;
mod positional;
mod prefilter;
mod private_keys;
mod raw_tail;
mod rescan;
mod scan;
#[cfg(feature = "scan-log")]
pub mod scan_log;
mod secret_formats;
mod secret_names;
mod sentences;
mod tables;
mod text_bytes;
mod user_rules;
mod value_ranges;
mod value_rules;
mod value_shape;

use decoded_view::DecodedFinding;
use heirloom_model::settings::RedactSettings;
pub use raw_tail::RawTail;
use scan::MARK;
use std::borrow::Cow;
use std::ops::Range;
use user_rules::UserRules;

/// Maximum number of passes over a text: a mark may uncover another secret next to it.
const PASSES_MAX: usize = 64;
/// Maximum number of times that a text was encoded as base64.
const BASE64_DEPTH_MAX: usize = 2;
/// Largest redacted text in bytes that is scanned again as a whole. It covers records and most outputs.
const WHOLE_RESCAN_BYTES_MAX: usize = 64 << 10;

/// Finds and replaces secrets, with the built-in rules and those of one configuration.
#[derive(Debug, Default)]
pub struct Redactor {
    user: UserRules,
}

/// A secret in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Finding<'r> {
    /// Kind of the secret, as in the mark.
    pub kind: &'r str,
    /// Offset of its first byte.
    pub start: usize,
    /// Offset after its last byte.
    pub end: usize,
}

/// A redaction rule of a configuration that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the redaction rule `{}` cannot be used: {problem}", heirloom_model::text::excerpt(.rule, 80))]
pub struct InvalidRule {
    /// The rule as configured.
    pub rule: String,
    /// Description of the problem.
    pub problem: String,
}

/// A built-in secret format, for lists and tests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FormatRule {
    /// Kind in the mark.
    pub kind: &'static str,
    /// Pattern from the anchor on.
    pub expression: &'static str,
    /// Pattern before the anchor.
    pub before: &'static str,
    /// Public rule set of the format, and its name there.
    pub source: &'static str,
    /// True if the row was generated from the rule set.
    pub is_generated: bool,
}

/// Returns every built-in format that is recognised without a name.
pub fn formats() -> impl Iterator<Item = FormatRule> {
    let numbered = secret_formats::FORMATS.iter().enumerate();
    numbered.map(|(number, format)| FormatRule {
        is_generated: secret_formats::is_generated(number),
        kind: format.kind,
        expression: format.pattern,
        before: format.before,
        source: format.source,
    })
}

impl Redactor {
    /// Creates a redactor with these settings. Without user rules it costs nothing: the built-in rules need no
    /// preparation.
    ///
    /// Errors: a rule that is not a regular expression, or over a limit.
    pub fn new(settings: &RedactSettings) -> Result<Self, InvalidRule> {
        Ok(Self {
            user: UserRules::new(settings)?,
        })
    }

    /// Replaces each secret in `text` by a mark; returns borrowed text if there is no secret.
    ///
    /// Redacting a redacted text changes nothing. Takes time linear in the length of the text, and never panics.
    pub fn redact<'t>(&self, text: &'t str) -> Cow<'t, str> {
        self.redact_with_kinds(text, &mut Vec::new())
    }

    /// Returns true if a text contains a mark or a secret.
    pub fn has_secret(&self, text: &str) -> bool {
        text.contains(MARK) || !self.is_clean(text)
    }

    /// Redacts like [`redact`](Self::redact), and adds the kinds of the secrets to `kinds`.
    pub fn redact_with_kinds<'t>(&self, text: &'t str, kinds: &mut Vec<String>) -> Cow<'t, str> {
        let found = self.find(text);
        if found.is_empty() {
            return Cow::Borrowed(text);
        }
        let mut reaches_far = self.has_wide_effect(&found);
        let (mut clean, mut marks) = replace_with_marks(text, &found, kinds);
        for _ in 1..PASSES_MAX {
            let mut found = if reaches_far {
                self.find(&clean)
            } else {
                self.find_around(&clean, &marks)
            };
            // A mark instead of a quote pairs other quotes, however far away, so stored texts are scanned as a whole.
            if found.is_empty() && !reaches_far && clean.len() <= WHOLE_RESCAN_BYTES_MAX {
                found = self.find(&clean);
            }
            if found.is_empty() {
                break;
            }
            reaches_far |= self.has_wide_effect(&found);
            (clean, marks) = replace_with_marks(&clean, &found, kinds);
        }
        Cow::Owned(clean)
    }

    /// Replaces each secret of `text` that overlaps `part`; secrets elsewhere stay.
    pub fn redact_part<'t>(&self, text: &'t str, part: Range<usize>) -> Cow<'t, str> {
        let mut found = self.find(text);
        found.retain(|one| one.start < part.end && part.start < one.end);
        match found.is_empty() {
            true => Cow::Borrowed(text),
            false => Cow::Owned(replace_with_marks(text, &found, &mut Vec::new()).0),
        }
    }

    /// Returns true if replacing these findings can affect any part of the text: a user rule may match anywhere, and
    /// a private key has many lines.
    fn has_wide_effect(&self, found: &[Finding<'_>]) -> bool {
        !self.user.is_empty() || found.iter().any(|one| one.kind == private_keys::KIND)
    }

    /// Finds secrets around `marks` in a text that was scanned before.
    fn find_around(&self, text: &str, marks: &[Range<usize>]) -> Vec<Finding<'_>> {
        let Some(windows) = rescan::windows(text.as_bytes(), marks) else {
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

    /// Redacts a text in place, and adds the kinds of the secrets to `kinds`.
    pub fn redact_in_place(&self, text: &mut String, kinds: &mut Vec<String>) {
        if let Cow::Owned(clean) = self.redact_with_kinds(text, kinds) {
            *text = clean;
        }
    }

    /// Finds the secrets in a decoded part of a text.
    fn find_decoded<'r>(
        &'r self,
        view: &str,
        breaks: &[usize],
        found: &mut Vec<DecodedFinding<&'r str>>,
    ) {
        self.find_plain(view, breaks, found);
        found.extend(self.find_base64(view, BASE64_DEPTH_MAX));
    }

    /// Finds base64 that contains a secret, also in base64.
    fn find_base64(&self, text: &str, depth: usize) -> Vec<DecodedFinding<&str>> {
        if depth == 0 {
            return Vec::new();
        }
        base64_view::find(text, &mut |inner: &str| {
            let mut found: Vec<DecodedFinding<&str>> = Vec::new();
            self.find_plain(inner, &[], &mut found);
            let mut scan = |view: &str, breaks: &[usize], inside: &mut Vec<_>| {
                self.find_plain(view, breaks, inside);
            };
            found.extend(decoded_view::find(inner, &mut scan));
            found.extend(self.find_base64(inner, depth - 1));
            found.first().map(|one| one.kind)
        })
    }

    /// Finds the secrets in a decoded part of a text, without those in base64.
    fn find_plain<'r>(
        &'r self,
        view: &str,
        breaks: &[usize],
        found: &mut Vec<DecodedFinding<&'r str>>,
    ) {
        let hits = scan::hits(view, breaks);
        found.extend(hits.into_iter().map(|hit| DecodedFinding {
            range: hit.start..hit.end,
            kind: hit.kind,
        }));
        self.user.find(view, |kind, start, end| {
            let range = start..end;
            found.push(DecodedFinding { range, kind });
        });
        found.retain(|one| !self.user.allows(view.get(one.range.clone()).unwrap_or("")));
    }

    /// Returns true if `text` contains no secret.
    pub fn is_clean(&self, text: &str) -> bool {
        self.find(text).is_empty()
    }

    /// Finds the secrets in `text`, in order and without overlaps. Marks are not secrets.
    pub fn find(&self, text: &str) -> Vec<Finding<'_>> {
        #[cfg(feature = "scan-log")]
        scan_log::add(text);
        let mut found: Vec<_> = scan::hits(text, &[])
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
        found.retain(|one| !self.user.allows(text.get(one.start..one.end).unwrap_or("")));
        found.extend(
            self.find_base64(text, BASE64_DEPTH_MAX)
                .into_iter()
                .map(|one| Finding {
                    kind: one.kind,
                    start: one.range.start,
                    end: one.range.end,
                }),
        );
        let mut scan = |view: &str, breaks: &[usize], inside: &mut Vec<_>| {
            self.find_decoded(view, breaks, inside);
        };
        let decoded = decoded_view::find(text, &mut scan);
        found.extend(decoded.into_iter().map(|one| Finding {
            kind: one.kind,
            start: one.range.start,
            end: one.range.end,
        }));
        if found.is_empty() {
            return found;
        }
        if text.contains(MARK) {
            exclude_marks(text, &mut found);
        }
        merge_overlapping(found)
    }
}

/// Returns the mark of a kind.
fn mark(kind: &str) -> String {
    format!("{MARK}{kind}]")
}

/// Replaces the findings by marks; returns the text and the ranges of the marks.
fn replace_with_marks(
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

/// Removes findings inside of marks, and extends findings that overlap a mark to its ends.
fn exclude_marks(text: &str, found: &mut Vec<Finding<'_>>) {
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

/// Sorts findings and merges overlapping ones; the kind is that of the first and longest.
fn merge_overlapping<'r>(mut found: Vec<Finding<'r>>) -> Vec<Finding<'r>> {
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
