//! A text between marks that it cannot forge: what it is, then a fence that is longer than any inside.

use super::shown::quoted;
use super::{Name, shown};
use heirloom_model::section::Frame;

/// Shortest fence.
const FENCE_MIN: usize = 3;

/// Which lines of a whole are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shown {
    /// The first, counted from 1.
    pub from: usize,
    /// The last.
    pub to: usize,
    /// How many there are.
    pub of: usize,
}

/// A file's lines between their marks; `path` is told on one line, whatever is in it.
pub fn file(path: &str, shown: Shown, body: &str) -> String {
    let path = shown::name(&Name::Exact(path.to_owned()));
    // A name in quotes would say the same; without them nobody confuses it with what follows.
    block(&format!("File {path}{}:", lines(shown)), body)
}

/// An agent's output between its marks.
pub fn output(agent: &str, shown: Shown, body: &str) -> String {
    let label = format!("Output of {}{}:", quoted(agent), lines(shown));
    block(&label, body)
}

fn lines(shown: Shown) -> String {
    let Shown { from, to, of } = shown;
    if from == 1 && to == of {
        String::new()
    } else {
        format!(", lines {from}-{to} of {of}")
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

/// Which marks of a block stay when lines between them are cut: its label and both fences.
pub fn frame(block: &str) -> Frame {
    let mut lines = block.split_inclusive('\n').map(str::len);
    let label = lines.next().unwrap_or(0);
    let fence = lines.next().unwrap_or(0);
    Frame {
        above: label + fence,
        below: fence,
        keeps_last: false,
    }
}

/// The last lines of a text, and which they are.
pub fn tail(text: &str, lines: usize) -> (&str, Shown) {
    let of = text.lines().count();
    let from = of.saturating_sub(lines);
    let start = text.split_inclusive('\n').take(from).map(str::len).sum();
    let shown = Shown {
        from: from + 1,
        to: of,
        of,
    };
    (&text[start..], shown)
}

/// The lines `from` to `to` of a text, counted from 1; none if it has no line `from`.
pub fn lines_of(text: &str, from: usize, to: Option<usize>) -> Option<(&str, Shown)> {
    let of = text.lines().count();
    let to = to.unwrap_or(of).min(of);
    if from > of {
        return None;
    }
    let mut sizes = text.split_inclusive('\n').map(str::len);
    let start: usize = sizes.by_ref().take(from - 1).sum();
    let length: usize = sizes.take(to + 1 - from).sum();
    Some((&text[start..start + length], Shown { from, to, of }))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: Shown = Shown {
        from: 1,
        to: 2,
        of: 2,
    };

    #[test]
    fn a_text_cannot_end_its_block() {
        let body = "```\n# heading\n````\n";
        assert_eq!(
            file("a.md", ALL, body),
            "File a.md:\n`````\n```\n# heading\n````\n`````\n"
        );
        assert_eq!(file("a.md", ALL, "x"), "File a.md:\n```\nx\n```\n");
        assert_eq!(file("a.md", ALL, ""), "File a.md:\n```\n```\n");
        assert_eq!(
            file("a\n# b.md", ALL, "x"),
            "File \"a\\n# b.md\":\n```\nx\n```\n"
        );
    }

    #[test]
    fn lines_of_a_text() {
        let text = "1\n2\n3\n4";
        for (from, to, expected) in [
            (1, None, Some(("1\n2\n3\n4", 1, 4))),
            (2, Some(3), Some(("2\n3\n", 2, 3))),
            (4, Some(9), Some(("4", 4, 4))),
            (5, None, None),
        ] {
            let found = lines_of(text, from, to);
            let found = found.map(|(text, shown)| (text, shown.from, shown.to));
            assert_eq!(found, expected, "{from} {to:?}");
        }
        assert_eq!(lines_of("", 1, None), None);
        assert_eq!(tail(text, 2).0, "3\n4");
        assert_eq!(tail(text, 9).0, text);
        assert_eq!(tail("", 2).0, "");
    }

    #[test]
    fn the_marks_of_a_block_are_its_frame() {
        let whole = file("a.md", ALL, "one\n````\nthree\n");
        let Frame { above, below, .. } = frame(&whole);
        assert_eq!(&whole[..above], "File a.md:\n`````\n");
        assert_eq!(&whole[above..whole.len() - below], "one\n````\nthree\n");
        assert_eq!(&whole[whole.len() - below..], "`````\n");
    }
}
