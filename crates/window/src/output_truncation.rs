//! Shortening of tool outputs: a preview when first sent, a stub when stale.

use crate::markers::{self, OVERFLOW_MARK, STALE_MARK};
use crate::token_estimate::chars;
use aho_corasick::{AhoCorasick, MatchKind};
use heirloom_model::text::{clip, clip_start, hash16};
use std::sync::LazyLock;

/// Maximum length of a stub, characters.
pub(crate) const STALE_CHARS: usize = 440;
/// Length of the beginning that a stub keeps, characters.
const STALE_HEAD_CHARS: usize = 150;
/// Longest line taken from the middle of an output, characters.
const LINE_CHARS_MAX: usize = 160;
/// Number of bytes of an output's middle that are scanned.
const SCAN_BYTES_MAX: usize = 4 << 20;
/// Maximum number of keywords.
const WORDS_MAX: usize = 400;
/// Longest tool name in a preview or a stub, characters.
const TOOL_CHARS_MAX: usize = 40;

static ERRORS: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| {
    AhoCorasick::builder()
        .ascii_case_insensitive(true)
        .build([
            "error",
            "exception",
            "traceback",
            "failed",
            "panic",
            "fatal",
        ])
        .ok()
});

/// Matcher of keywords whose lines a preview keeps.
pub(crate) struct KeywordMatcher(Option<AhoCorasick>);

impl KeywordMatcher {
    /// Collects identifiers and paths of at least five characters from `texts`, in order.
    pub(crate) fn from_texts(texts: &[&str]) -> Self {
        let mut words: Vec<&str> = Vec::new();
        let mut seen = std::collections::HashSet::new();
        for text in texts {
            for word in identifiers(text) {
                if words.len() < WORDS_MAX && seen.insert(word) {
                    words.push(word);
                }
            }
        }
        Self(
            AhoCorasick::builder()
                .match_kind(MatchKind::LeftmostFirst)
                .build(words)
                .ok(),
        )
    }
}

/// Splits a text into identifiers and paths: runs of word characters, dots, slashes and hyphens.
pub(crate) fn identifiers(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '/' | '-')))
        .map(|word| word.trim_matches(|c| matches!(c, '.' | '-' | '/')))
        .filter(|word| word.len() >= 5 && !word.starts_with(|c: char| c.is_ascii_digit()))
}

/// Reference to the full text of an output.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct OriginalRef {
    pub(crate) id: String,
    pub(crate) name: String,
}

/// Returns the id and the file name of an output's full text. `time_ms` is the time of the message, if known.
pub(crate) fn original_ref(text: &str, tool: &str, time_ms: Option<i64>) -> OriginalRef {
    let id = original_id(text).map_or_else(|| hash16(text), str::to_owned);
    let safe: String = clip(tool, TOOL_CHARS_MAX)
        .chars()
        .map(|c| {
            if c.is_ascii_alphanumeric() || c == '-' {
                c
            } else {
                '_'
            }
        })
        .collect();
    let time = time_ms
        .and_then(|ms| heirloom_model::Timestamp::from_millisecond(ms).ok())
        .map(|time| {
            // Outputs of the same time differ in the hash.
            let digits: String = time
                .to_string()
                .chars()
                .filter(char::is_ascii_alphanumeric)
                .take(15)
                .collect();
            format!("{digits}-")
        })
        .unwrap_or_default();
    let tool = if safe.is_empty() { "tool" } else { &safe };
    OriginalRef {
        name: format!("overflow/overflow_{time}{id}_{tool}.txt"),
        id,
    }
}

/// Returns the id in a shortened output.
pub(crate) fn original_id(text: &str) -> Option<&str> {
    markers::classify_output(text)?;
    let id = text.rsplit("id ").next()?.get(..16)?;
    id.bytes()
        .all(|byte| byte.is_ascii_hexdigit())
        .then_some(id)
}

/// Renders a preview: beginning, end, error lines and lines with keywords, at most `budget` characters.
pub(crate) fn preview(
    text: &str,
    length: usize,
    budget: usize,
    whole: &OriginalRef,
    wanted: &KeywordMatcher,
) -> String {
    let foot = format!(
        "{OVERFLOW_MARK}{}, {length} chars, id {}]",
        whole.name.trim_start_matches("overflow/"),
        whole.id
    );
    let chars_left = budget.saturating_sub(chars(&foot) + 6);
    let tail = at_line_start(clip_start(text, chars_left * 3 / 10));
    let head = at_line_end(clip(text, chars_left * 4 / 10));
    // Unused space is not filled: a shorter preview costs less at every later turn.
    let left = chars_left.saturating_sub(chars(head) + chars(tail));
    let lines = relevant_lines(middle_of(text, head, tail), left, wanted);
    let mut out = String::with_capacity(budget + 64);
    out.push_str(head);
    out.push_str("\n…\n");
    if !lines.is_empty() {
        out.push_str(&lines);
        out.push_str("…\n");
    }
    out.push_str(tail);
    out.push_str(&foot);
    out
}

/// Returns the text between the beginning and the end.
fn middle_of<'a>(text: &'a str, head: &str, tail: &str) -> &'a str {
    text.get(head.len()..text.len().saturating_sub(tail.len()))
        .unwrap_or_default()
}

/// Truncates a text to its last line end, unless that loses much.
fn at_line_end(text: &str) -> &str {
    match text.rfind('\n') {
        Some(at) if at * 4 > text.len() * 3 => &text[..at],
        _ => text,
    }
}

/// Truncates a text to its first line start, unless that loses much.
fn at_line_start(text: &str) -> &str {
    match text.find('\n') {
        Some(at) if at * 4 < text.len() => &text[at + 1..],
        _ => text,
    }
}

/// Returns error lines and lines with keywords in order, at most `chars_left` characters.
fn relevant_lines(text: &str, chars_left: usize, wanted: &KeywordMatcher) -> String {
    let scanned = clip_bytes(text, SCAN_BYTES_MAX);
    let mut marks: Vec<(usize, u8)> = Vec::new();
    if let Some(errors) = ERRORS.as_ref() {
        for found in errors.find_iter(scanned) {
            marks.push((line_start(scanned, found.start()), 2));
        }
    }
    if let Some(wanted) = &wanted.0 {
        for found in wanted.find_iter(scanned) {
            marks.push((line_start(scanned, found.start()), 1));
        }
    }
    marks.sort_unstable();
    let mut scored: Vec<(usize, u32)> = Vec::new();
    for (at, worth) in marks {
        match scored.last_mut() {
            Some((last, sum)) if *last == at => *sum += u32::from(worth),
            _ => scored.push((at, u32::from(worth))),
        }
    }
    // Best lines first; ties by position.
    scored.sort_by_key(|(at, worth)| (std::cmp::Reverse(*worth), *at));
    let mut left = chars_left;
    let mut selected: Vec<(usize, &str)> = Vec::new();
    for (at, _) in scored {
        let end = scanned[at..]
            .find('\n')
            .map_or(scanned.len(), |length| at + length);
        let line = clip(scanned[at..end].trim_end(), LINE_CHARS_MAX);
        let cost = chars(line) + 1;
        if cost <= left {
            left -= cost;
            selected.push((at, line));
        }
        if left < 20 {
            break;
        }
    }
    selected.sort_unstable();
    let mut out = String::new();
    for (_, line) in selected {
        out.push_str(line);
        out.push('\n');
    }
    out
}

fn line_start(text: &str, at: usize) -> usize {
    text[..at].rfind('\n').map_or(0, |end| end + 1)
}

fn clip_bytes(text: &str, bytes_max: usize) -> &str {
    let mut end = text.len().min(bytes_max);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

/// Renders a stub: the beginning and error lines, at most `chars_max`.
pub(crate) fn stale_stub(
    text: &str,
    length: usize,
    tool: &str,
    whole: &OriginalRef,
    chars_max: usize,
) -> String {
    let tool = match tool {
        "" => "tool",
        tool => clip(tool, TOOL_CHARS_MAX),
    };
    let mark = format!("{STALE_MARK}{tool} — compressed] ");
    let foot = format!(" ({length} chars, use {tool} if needed, id {})", whole.id);
    let chars_left = chars_max.saturating_sub(chars(&mark) + chars(&foot) + 2);
    let head = clip(text, STALE_HEAD_CHARS.min(chars_left));
    let opening = format!("{mark}{head}…");
    let chars_left = chars_left.saturating_sub(chars(head));
    let body = markers::overflow_foot(text).map_or(text, |at| &text[..at]);
    let rest = body.get(head.len()..).unwrap_or_default();
    let lines = relevant_lines(rest, chars_left, &KeywordMatcher(None));
    let lines = lines.trim_end();
    let gap = if lines.is_empty() { "" } else { "\n" };
    format!("{opening}{gap}{lines}{foot}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compaction_policy::PREVIEW_CHARS_MIN;
    use crate::message::ShortenedForm;

    #[test]
    fn preview_keeps_ends_errors_and_keywords() {
        let text: String = (0..2_000)
            .map(|line| match line {
                700 => "thread main panicked: FAILED to open\n".to_owned(),
                900 => "calls frobnicate_widget here\n".to_owned(),
                _ => format!("line {line} of the log\n"),
            })
            .collect();
        let whole = original_ref(&text, "bash; rm -rf", Some(1_700_000_000_000));
        assert_eq!(
            whole.name,
            format!(
                "overflow/overflow_20231114T221320-{}_bash__rm_-rf.txt",
                whole.id
            )
        );
        let wanted = KeywordMatcher::from_texts(&["fix frobnicate_widget"]);
        let left = preview(&text, chars(&text), 2_000, &whole, &wanted);
        assert!(chars(&left) <= 2_000, "{}", chars(&left));
        for part in [
            "line 0 ",
            "line 1999 ",
            "FAILED to open",
            "frobnicate_widget",
        ] {
            assert!(left.contains(part), "{part}: {left}");
        }
        assert_eq!(
            markers::classify_output(&left),
            Some(ShortenedForm::Preview)
        );
        assert_eq!(original_id(&left), Some(whole.id.as_str()));
        assert_eq!(original_ref(&left, "bash", None).id, whole.id);
    }

    #[test]
    fn stub_keeps_errors_and_id() {
        let text = format!(
            "{}\nerror: no such table\n{}",
            "a".repeat(3_000),
            "b\n".repeat(400)
        );
        let whole = original_ref(&text, "", None);
        let left = stale_stub(&text, chars(&text), "", &whole, STALE_CHARS);
        assert!(chars(&left) <= STALE_CHARS);
        // The shortest stub, of the shortest preview and the longest name.
        let shortest = PREVIEW_CHARS_MIN / 4 * 3;
        let short = stale_stub(&text, chars(&text), &"t".repeat(99), &whole, shortest);
        assert!(chars(&short) <= shortest, "{short}");
        assert_eq!(original_id(&short), Some(whole.id.as_str()));
        assert!(
            left.contains("no such table")
                && markers::classify_output(&left) == Some(ShortenedForm::Stub),
            "{left}"
        );
        assert_eq!(original_id(&left), Some(whole.id.as_str()));
    }
}
