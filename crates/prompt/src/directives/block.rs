//! Fenced blocks: a label, then text in a fence that is longer than any fence inside of the text.

use super::display::quote;
use super::{FileSelector, display};
use heirloom_model::section::Frame;

/// Minimum length of a fence.
const FENCE_MIN: usize = 3;

/// Range of shown lines of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ShownLines {
    /// First line, counted from 1.
    pub from: usize,
    /// Last line.
    pub to: usize,
    /// Number of lines of the text.
    pub total: usize,
}

/// Renders lines of a file as a fenced block. `path` takes one line in any case.
pub fn render_file(path: &str, shown: ShownLines, body: &str) -> String {
    let path = display::render_selector(&FileSelector::Exact(path.to_owned()));
    // Quotes are used only if the name could be confused with the rest of the label.
    block(&format!("File {path}{}:", line_label(shown)), body)
}

/// Renders output of an agent as a fenced block.
pub fn render_output(agent: &str, shown: ShownLines, body: &str) -> String {
    let label = format!("Output of {}{}:", quote(agent), line_label(shown));
    block(&label, body)
}

fn line_label(shown: ShownLines) -> String {
    let ShownLines { from, to, total } = shown;
    if from == 1 && to == total {
        String::new()
    } else {
        format!(", lines {from}-{to} of {total}")
    }
}

fn block(label: &str, body: &str) -> String {
    let run = |text: &str| text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let longest = run(label).max(run(body));
    let fence = "`".repeat(FENCE_MIN.max(longest + 1));
    let end = if body.is_empty() || body.ends_with('\n') {
        ""
    } else {
        "\n"
    };
    format!("{label}\n{fence}\n{body}{end}{fence}\n")
}

/// Returns the frame of a block, which is preserved if lines are cut: its label and both fences.
pub fn frame_of_block(block: &str) -> Frame {
    let mut lines = block.split_inclusive('\n').map(str::len);
    let label = lines.next().unwrap_or(0);
    let fence = lines.next().unwrap_or(0);
    Frame {
        head_bytes: label + fence,
        tail_bytes: fence,
        keeps_last_lines: false,
    }
}

/// Returns the last lines of a text, and their range.
pub fn last_lines(text: &str, lines: usize) -> (&str, ShownLines) {
    let total = text.lines().count();
    let from = total.saturating_sub(lines);
    let start = text.split_inclusive('\n').take(from).map(str::len).sum();
    let shown = ShownLines {
        from: from + 1,
        to: total,
        total,
    };
    (&text[start..], shown)
}

/// Returns the lines `from` to `to` of a text, counted from 1; `None` if it has no line `from`.
pub fn select_lines(text: &str, from: usize, to: Option<usize>) -> Option<(&str, ShownLines)> {
    let total = text.lines().count();
    let to = to.unwrap_or(total).min(total);
    if from > total {
        return None;
    }
    let mut sizes = text.split_inclusive('\n').map(str::len);
    let start: usize = sizes.by_ref().take(from - 1).sum();
    let length: usize = sizes.take(to + 1 - from).sum();
    Some((&text[start..start + length], ShownLines { from, to, total }))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: ShownLines = ShownLines {
        from: 1,
        to: 2,
        total: 2,
    };

    #[test]
    fn render_file_fence_is_longer_than_fences_in_text() {
        let body = "```\n# heading\n````\n";
        assert_eq!(
            render_file("a.md", ALL, body),
            "File a.md:\n`````\n```\n# heading\n````\n`````\n"
        );
        assert_eq!(render_file("a.md", ALL, "x"), "File a.md:\n```\nx\n```\n");
        assert_eq!(render_file("a.md", ALL, ""), "File a.md:\n```\n```\n");
        assert_eq!(
            render_file("a\n# b.md", ALL, "x"),
            "File \"a\\n# b.md\":\n```\nx\n```\n"
        );
    }

    #[test]
    fn select_lines_returns_range() {
        let text = "1\n2\n3\n4";
        for (from, to, expected) in [
            (1, None, Some(("1\n2\n3\n4", 1, 4))),
            (2, Some(3), Some(("2\n3\n", 2, 3))),
            (4, Some(9), Some(("4", 4, 4))),
            (5, None, None),
        ] {
            let found = select_lines(text, from, to);
            let found = found.map(|(text, shown)| (text, shown.from, shown.to));
            assert_eq!(found, expected, "{from} {to:?}");
        }
        assert_eq!(select_lines("", 1, None), None);
        assert_eq!(last_lines(text, 2).0, "3\n4");
        assert_eq!(last_lines(text, 9).0, text);
        assert_eq!(last_lines("", 2).0, "");
    }

    #[test]
    fn frame_of_block_covers_label_and_fences() {
        let whole = render_file("a.md", ALL, "one\n````\nthree\n");
        let Frame {
            head_bytes: above,
            tail_bytes: below,
            ..
        } = frame_of_block(&whole);
        assert_eq!(&whole[..above], "File a.md:\n`````\n");
        assert_eq!(&whole[above..whole.len() - below], "one\n````\nthree\n");
        assert_eq!(&whole[whole.len() - below..], "`````\n");
    }
}
