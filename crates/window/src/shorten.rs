//! What is left of an output: a preview at entry, a stub when it is stale.

use crate::own::{self, OVERFLOW_MARK, STALE_MARK};
use crate::size::chars;
use aho_corasick::{AhoCorasick, MatchKind};
use heirloom_model::text::{clip, clip_start, hash16};
use std::sync::LazyLock;

/// Most characters of a stale output.
pub(crate) const STALE_CHARS: usize = 440;
/// The beginning of a stale output that is kept, characters.
const STALE_HEAD_CHARS: usize = 150;
/// The longest line that is taken from the middle of an output, characters.
const LINE_CHARS_MAX: usize = 160;
/// Most bytes of an output's middle that are looked through.
const SCAN_BYTES_MAX: usize = 4 << 20;
/// Most words that lines are looked for by.
const WORDS_MAX: usize = 400;
/// The longest tool name that a preview or a stub says, characters.
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

/// Words that the lines of an output are worth keeping for.
pub(crate) struct Wanted(Option<AhoCorasick>);

impl Wanted {
    /// Names and paths of five letters at least in `texts`, the earlier text first.
    pub(crate) fn of(texts: &[&str]) -> Self {
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

/// Names, numbers with letters and paths in a text: runs of word characters, dots, slashes and hyphens.
pub(crate) fn identifiers(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '/' | '-')))
        .map(|word| word.trim_matches(|c| matches!(c, '.' | '-' | '/')))
        .filter(|word| word.len() >= 5 && !word.starts_with(|c: char| c.is_ascii_digit()))
}

/// Where the whole text of an output is kept.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Whole {
    pub(crate) id: String,
    pub(crate) name: String,
}

/// The id and the file name of an output's whole text. `time` is the message's own, if it has one.
pub(crate) fn whole(text: &str, tool: &str, time_ms: Option<i64>) -> Whole {
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
            // Two outputs of one moment differ in the hash.
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
    Whole {
        name: format!("overflow/overflow_{time}{id}_{tool}.txt"),
        id,
    }
}

/// The id that a text of ours says, if it is what is left of an output.
pub(crate) fn original_id(text: &str) -> Option<&str> {
    own::left(text)?;
    let id = text.rsplit("id ").next()?.get(..16)?;
    id.bytes()
        .all(|byte| byte.is_ascii_hexdigit())
        .then_some(id)
}

/// What is left of a long output at entry: its beginning, its end, its error lines and the lines
/// that say one of the `wanted` words; at most `budget` characters.
pub(crate) fn preview(
    text: &str,
    length: usize,
    budget: usize,
    whole: &Whole,
    wanted: &Wanted,
) -> String {
    let foot = format!(
        "{OVERFLOW_MARK}{}, {length} chars, id {}]",
        whole.name.trim_start_matches("overflow/"),
        whole.id
    );
    let room = budget.saturating_sub(chars(&foot) + 6);
    let tail = at_line_start(clip_start(text, room * 3 / 10));
    let head = at_line_end(clip(text, room * 4 / 10));
    // What no line needs is left out: a short preview costs less at every turn to come.
    let left = room.saturating_sub(chars(head) + chars(tail));
    let lines = telling_lines(between(text, head, tail), left, wanted);
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

/// What stands between the beginning and the end of a text.
fn between<'a>(text: &'a str, head: &str, tail: &str) -> &'a str {
    text.get(head.len()..text.len().saturating_sub(tail.len()))
        .unwrap_or_default()
}

/// The text up to its last line's end, unless that loses much.
fn at_line_end(text: &str) -> &str {
    match text.rfind('\n') {
        Some(at) if at * 4 > text.len() * 3 => &text[..at],
        _ => text,
    }
}

/// The text from its first line's start, unless that loses much.
fn at_line_start(text: &str) -> &str {
    match text.find('\n') {
        Some(at) if at * 4 < text.len() => &text[at + 1..],
        _ => text,
    }
}

/// Error lines and lines with wanted words, in their order, at most `room` characters.
fn telling_lines(text: &str, room: usize, wanted: &Wanted) -> String {
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
    // The best first; among equals the earlier ones.
    scored.sort_by_key(|(at, worth)| (std::cmp::Reverse(*worth), *at));
    let mut left = room;
    let mut taken: Vec<(usize, &str)> = Vec::new();
    for (at, _) in scored {
        let end = scanned[at..]
            .find('\n')
            .map_or(scanned.len(), |length| at + length);
        let line = clip(scanned[at..end].trim_end(), LINE_CHARS_MAX);
        let cost = chars(line) + 1;
        if cost <= left {
            left -= cost;
            taken.push((at, line));
        }
        if left < 20 {
            break;
        }
    }
    taken.sort_unstable();
    let mut out = String::new();
    for (_, line) in taken {
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

/// What is left of a stale output: its beginning and its error lines, at most [`STALE_CHARS`].
pub(crate) fn stale(text: &str, length: usize, tool: &str, whole: &Whole) -> String {
    let tool = if tool.is_empty() {
        "tool"
    } else {
        clip(tool, TOOL_CHARS_MAX)
    };
    let head = clip(text, STALE_HEAD_CHARS);
    let opening = format!("{STALE_MARK}{tool} — compressed] {head}…");
    let foot = format!(" ({length} chars, use {tool} if needed, id {})", whole.id);
    let room = STALE_CHARS.saturating_sub(chars(&opening) + chars(&foot) + 1);
    let body = own::overflow_foot(text).map_or(text, |at| &text[..at]);
    let rest = body.get(head.len()..).unwrap_or_default();
    let lines = telling_lines(rest, room, &Wanted(None));
    let lines = lines.trim_end();
    let gap = if lines.is_empty() { "" } else { "\n" };
    format!("{opening}{gap}{lines}{foot}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::Left;

    #[test]
    fn a_preview_keeps_both_ends_and_what_tells() {
        let text: String = (0..2_000)
            .map(|line| match line {
                700 => "thread main panicked: FAILED to open\n".to_owned(),
                900 => "calls frobnicate_widget here\n".to_owned(),
                _ => format!("line {line} of the log\n"),
            })
            .collect();
        let whole = whole(&text, "bash; rm -rf", Some(1_700_000_000_000));
        assert_eq!(
            whole.name,
            format!(
                "overflow/overflow_20231114T221320-{}_bash__rm_-rf.txt",
                whole.id
            )
        );
        let wanted = Wanted::of(&["fix frobnicate_widget"]);
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
        assert_eq!(own::left(&left), Some(Left::Preview));
        assert_eq!(original_id(&left), Some(whole.id.as_str()));
        assert_eq!(super::whole(&left, "bash", None).id, whole.id);
    }

    #[test]
    fn a_stub_keeps_errors_and_the_id() {
        let text = format!(
            "{}\nerror: no such table\n{}",
            "a".repeat(3_000),
            "b\n".repeat(400)
        );
        let whole = whole(&text, "", None);
        let left = stale(&text, chars(&text), "", &whole);
        assert!(chars(&left) <= STALE_CHARS);
        assert!(
            left.contains("no such table") && own::left(&left) == Some(Left::Stub),
            "{left}"
        );
        assert_eq!(original_id(&left), Some(whole.id.as_str()));
    }
}
