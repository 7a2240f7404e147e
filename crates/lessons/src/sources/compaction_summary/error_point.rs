//! Points about errors: the error, and the fix.

use crate::cues::SummaryCues;
use crate::outline::OutlineItem;
use crate::sentences::{capitalize, sentences, shorten_to_sentences};

/// Greatest number of characters of an error's description.
const ERROR_CHARS_MAX: usize = 170;
/// Greatest number of characters of a fix.
const FIX_CHARS_MAX: usize = 230;

/// Labels of the cause. What follows is no fix, as in "Root cause: Using the whole line as a name instead of parsing it".
const CAUSE_LABELS: [&str; 5] = ["root cause", "cause", "reason", "problem", "issue"];

/// An error with its fix.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ErrorPoint {
    /// The error.
    pub(super) error: String,
    /// The fix.
    pub(super) fix: String,
}

/// Returns the error and the fix that a point describes; `None` if it describes no fix.
pub(super) fn read_error_point(item: &OutlineItem, cues: &SummaryCues) -> Option<ErrorPoint> {
    let mut error = String::new();
    let mut fix = String::new();
    if let Some(title) = &item.title {
        error.push_str(title);
    }
    let parts = std::iter::once(item.text.as_str()).chain(item.children.iter().map(String::as_str));
    for part in parts {
        let lower = part.to_lowercase();
        if cues.phrases.wish.begins(&lower) {
            continue;
        }
        let mut is_cause = false;
        for clause in clauses(part) {
            let lower = clause.to_lowercase();
            if CAUSE_LABELS.contains(&lower.trim_end_matches(':')) {
                is_cause = true;
                continue;
            }
            let is_fix = !std::mem::take(&mut is_cause)
                && (cues.phrases.fix_starts.begins(&lower) || cues.phrases.fix_parts.is_in(&lower));
            if !fix.is_empty() || is_fix {
                push_sentence(&mut fix, &without_label(clause));
            } else {
                let gap = if item.title.is_some()
                    && error == *item.title.as_deref().unwrap_or_default()
                {
                    ": "
                } else {
                    " "
                };
                if !error.is_empty() {
                    error.truncate(error.trim_end_matches([' ', ':']).len());
                    error.push_str(gap);
                }
                error.push_str(clause.trim_end_matches(':'));
            }
        }
    }
    if fix.is_empty() {
        // Without a fix in clear words, the text after a title is the explanation and the fix.
        let title = item.title.as_deref()?;
        fix = error
            .strip_prefix(title)?
            .trim_start_matches([' ', ':'])
            .to_owned();
        if cues.phrases.failing.is_in(&fix.to_lowercase()) {
            // "Snap name: The install failed." tells the error again.
            return None;
        }
        title.clone_into(&mut error);
    }
    let error = shorten(&capitalize(&error), ERROR_CHARS_MAX)?;
    let fix = shorten(&capitalize(&fix), FIX_CHARS_MAX)?;
    Some(ErrorPoint { error, fix })
}

/// Returns the sentences of a text, and the parts of a sentence before and after a colon or an arrow.
fn clauses(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    for sentence in sentences(text) {
        let mut rest = sentence;
        while let Some((at, length)) = clause_end(rest) {
            found.push(rest.get(..at).unwrap_or_default().trim());
            rest = rest.get(at + length..).unwrap_or_default();
        }
        found.push(rest.trim());
    }
    found.retain(|clause| clause.chars().any(char::is_alphanumeric));
    found
}

/// Returns the place and length of a colon or an arrow before a capital letter, outside of code and quotations.
fn clause_end(sentence: &str) -> Option<(usize, usize)> {
    let masked = crate::sentences::mask_quoted_and_code(sentence);
    let mut found: Option<(usize, usize)> = None;
    for mark in [": ", " → ", " -> ", "; "] {
        for (at, _) in masked.match_indices(mark) {
            let next = sentence
                .get(at + mark.len()..)
                .and_then(|rest| rest.chars().next());
            let begins =
                mark.contains(['→', '>']) || next.is_some_and(|c| c.is_uppercase() || c == '`');
            if begins && found.is_none_or(|(known, _)| at < known) {
                found = Some((at, mark.len()));
            }
        }
    }
    found.filter(|(at, _)| *at > 0)
}

/// Returns a clause without a label such as `Fix:`.
fn without_label(clause: &str) -> String {
    let labels = [
        "Fix:",
        "Fixed:",
        "Solution:",
        "Resolution:",
        "Resolved:",
        "Workaround:",
    ];
    let rest = labels.iter().find_map(|label| clause.strip_prefix(label));
    rest.unwrap_or(clause).trim().to_owned()
}

fn push_sentence(out: &mut String, sentence: &str) {
    let bare = [
        "Fix",
        "Fixed",
        "Solution",
        "Resolution",
        "Resolved",
        "Workaround",
    ];
    if sentence.is_empty() || bare.contains(&sentence) {
        // The label alone: the fix is in the next clause.
        if out.is_empty() {
            out.push(' ');
        }
        return;
    }
    if !out.trim().is_empty() {
        if !out.ends_with(['.', '!', '?', ';', ':']) {
            out.push('.');
        }
        out.push(' ');
    }
    out.push_str(sentence);
}

/// Returns the first sentences, with a full stop; `None` if nothing is left.
fn shorten(text: &str, chars_max: usize) -> Option<String> {
    let text = text.trim();
    let mut short = shorten_to_sentences(text, chars_max);
    if short.is_empty() {
        // One long sentence ends at its last comma or bracket that fits.
        let end = text
            .char_indices()
            .nth(chars_max)
            .map_or(text.len(), |(at, _)| at);
        let head = text.get(..end)?;
        let at = head
            .rfind([',', ';', '(', '—'])
            .filter(|at| *at > chars_max / 3)?;
        head.get(..at)?.trim_end().clone_into(&mut short);
    }
    if !short.ends_with(['.', '!', '?']) {
        short.truncate(short.trim_end_matches([':', ',', ';']).len());
        short.push('.');
    }
    short.chars().any(char::is_alphanumeric).then_some(short)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cues::Cues;
    use crate::outline::read_outline;

    fn read(line: &str) -> Option<(String, String)> {
        let sections = read_outline(line);
        let point = read_error_point(&sections.first()?.items[0], &Cues::get().summaries)?;
        Some((point.error, point.fix))
    }

    #[test]
    fn read_error_point_separates_error_and_fix() {
        for (line, error, fix) in [
            (
                "- **Worker tests: no database**: The worker opens its own connection. Fixed by using `share_pool(true)` in the setup.",
                "Worker tests: no database: The worker opens its own connection.",
                "Fixed by using `share_pool(true)` in the setup.",
            ),
            (
                "- **Lint depth (max 2)** in `walk`: Extracted `walk_child`.",
                "Lint depth (max 2) in `walk`.",
                "Extracted `walk_child`.",
            ),
            (
                "- **Old cache**: `make clean` solved stale objects.",
                "Old cache.",
                "`make clean` solved stale objects.",
            ),
            (
                "- **Import fails**:\n  - Fix: Added `paths` to `tsconfig.json`\n  - User feedback: use aliases",
                "Import fails.",
                "Added `paths` to `tsconfig.json`.",
            ),
            (
                "- **Wrong package name**:\n  - Root cause: Using \"jq/edge\" as a name instead of parsing it\n  - Fix: Use `Package.parse()` in `loader.py`",
                "Wrong package name: Using \"jq/edge\" as a name instead of parsing it.",
                "Use `Package.parse()` in `loader.py`.",
            ),
            (
                "- Wrong port 80 → changed `PORT` to 8080",
                "Wrong port 80.",
                "Changed `PORT` to 8080.",
            ),
        ] {
            assert_eq!(
                read(line),
                Some((error.to_owned(), fix.to_owned())),
                "{line}"
            );
        }
        assert_eq!(read("- The tests are slow"), None);
        assert_eq!(read("- **Types**: The check failed in two files."), None);
        assert_eq!(read("- **Old key**:\n  - The server did not answer"), None);
    }
}
