//! What Heirloom itself put into a conversation: it is known already.

use std::borrow::Cow;

/// How the fence of what is injected begins and ends: `<heirloom-memory …>` to `</heirloom-memory>`; Gemini CLI hands
/// the brackets on as entities.
const FORMS: [[&str; 3]; 2] = [["<", "</", ">"], ["&lt;", "&lt;/", "&gt;"]];
/// How the names of all fences begin.
const NAME: &str = "heirloom";
/// The first line of a context.
const CONTEXT: &str = "## Session Memory";
/// How messages begin that stand in a window in the place of others.
const WINDOW: [&str; 3] = [
    "[TASK ANCHOR — Reminder] ",
    "[CONVERSATION SUMMARY — Heirloom]",
    "[Stale output from ",
];

/// The text without what Heirloom put there; often as it was.
pub fn without_own(text: &str) -> Cow<'_, str> {
    if WINDOW.iter().any(|mark| text.starts_with(mark)) {
        return Cow::Borrowed("");
    }
    let mut text = Cow::Borrowed(text);
    for [opens, closes, ends] in FORMS {
        let start = format!("{opens}{NAME}");
        if text.contains(&start) {
            text = Cow::Owned(without_fences(&text, opens, closes, ends));
        }
    }
    match text.contains(CONTEXT) {
        true => Cow::Owned(without_context(&text)),
        false => text,
    }
}

fn without_fences(text: &str, opens: &str, closes: &str, ends: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    let opening = format!("{opens}{NAME}");
    while let Some(start) = rest.find(&opening) {
        out.push_str(&rest[..start]);
        let fence = &rest[start + opens.len()..];
        let name = fence.len() - fence.trim_start_matches(is_of_name).len();
        let closing = format!("{closes}{}{ends}", &fence[..name]);
        rest = match fence.find(&closing) {
            Some(end) => &fence[end + closing.len()..],
            // What was cut off has no end.
            None => "",
        };
    }
    out.push_str(rest);
    out
}

fn is_of_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '-' | '_')
}

/// Leaves the lines of contexts out: headings, items, and what stands right below them.
fn without_context(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let (mut inside, mut gap) = (false, false);
    for whole in text.split_inclusive('\n') {
        let line = whole.trim_end();
        if line == CONTEXT {
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
    fn what_was_injected_is_left_out_and_nothing_else() {
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
            assert_eq!(without_own(given), left, "{given}");
        }
    }
}
