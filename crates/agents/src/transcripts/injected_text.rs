//! Removal of text that Heirloom itself injected into a conversation and that memory therefore already has.

use std::borrow::Cow;

/// Delimiters of an injection envelope's tags (`<heirloom-memory …>` to `</heirloom-memory>`), plain and with the
/// entities that Gemini CLI produces.
const TAG_FORMS: [[&str; 3]; 2] = [["<", "</", ">"], ["&lt;", "&lt;/", "&gt;"]];
/// Common prefix of the tag names of all envelopes.
const TAG_PREFIX: &str = "heirloom";
/// First line of a context.
const CONTEXT_HEADING: &str = "## Session Memory";
/// Beginnings of messages that replace others in a window.
const WINDOW_MARKERS: [&str; 3] = [
    "[TASK ANCHOR — Reminder] ",
    "[CONVERSATION SUMMARY — Heirloom]",
    "[Stale output from ",
];

/// Returns the text without text injected by Heirloom, borrowed if nothing was removed.
pub fn without_injected_text(text: &str) -> Cow<'_, str> {
    if WINDOW_MARKERS.iter().any(|mark| text.starts_with(mark)) {
        return Cow::Borrowed("");
    }
    let mut text = Cow::Borrowed(text);
    for [opens, closes, ends] in TAG_FORMS {
        let start = format!("{opens}{TAG_PREFIX}");
        if text.contains(&start) {
            text = Cow::Owned(without_envelopes(&text, opens, closes, ends));
        }
    }
    match text.contains(CONTEXT_HEADING) {
        true => Cow::Owned(without_context(&text)),
        false => text,
    }
}

fn without_envelopes(text: &str, opens: &str, closes: &str, ends: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    let opening = format!("{opens}{TAG_PREFIX}");
    while let Some(start) = rest.find(&opening) {
        out.push_str(&rest[..start]);
        let fence = &rest[start + opens.len()..];
        let name = fence.len() - fence.trim_start_matches(is_tag_char).len();
        let closing = format!("{closes}{}{ends}", &fence[..name]);
        rest = match fence.find(&closing) {
            Some(end) => &fence[end + closing.len()..],
            // A truncated envelope has no end tag.
            None => "",
        };
    }
    out.push_str(rest);
    out
}

fn is_tag_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '-' | '_')
}

/// Removes the lines of contexts: headings, items, and their continuation lines.
fn without_context(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let (mut inside, mut gap) = (false, false);
    for whole in text.split_inclusive('\n') {
        let line = whole.trim_end();
        if line == CONTEXT_HEADING {
            inside = true;
        } else if inside {
            let is_part = ["## ", "### ", "- ", "  "]
                .iter()
                .any(|start| line.starts_with(start));
            let follows = !gap && !line.starts_with("# ");
            inside = line.is_empty() || is_part || follows;
        }
        gap = line.is_empty();
        if !inside {
            out.push_str(whole);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_injected_text_removes_only_injected_text() {
        for (given, left) in [
            ("plain", "plain"),
            (
                "<heirloom-memory from=\"x\">\n- a\n</heirloom-memory>\nFix it",
                "\nFix it",
            ),
            (
                "a <heirloom>x</heirloom> b <heirloom-hint>y</heirloom-hint> c",
                "a  b  c",
            ),
            ("before <heirloom-memory> cut", "before "),
            (
                "a &lt;heirloom-memory project=\"x\"&gt; - b &lt;/heirloom-memory&gt; c",
                "a  c",
            ),
            (
                "## Session Memory\n\n### Task 7\nBranch: x\n\n### Decisions\n- a\n  b\n\nNow do it.\n- really\n",
                "Now do it.\n- really\n",
            ),
            ("[TASK ANCHOR — Reminder] Your goal", ""),
        ] {
            assert_eq!(without_injected_text(given), left, "{given}");
        }
    }
}
