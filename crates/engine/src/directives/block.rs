//! A text between marks that it cannot forge: what it is, then a fence that is longer than any inside.

use super::shown::quoted;
use super::{Name, shown};
use heirloom_model::text;

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

/// As much of a block as has room in `chars_max`, in whole lines, with its fence and what is left out.
///
/// None if not one line has room, or the text is no block.
pub fn cut(block: &str, chars_max: usize) -> Option<String> {
    if text::chars(block) <= chars_max {
        return Some(block.to_owned());
    }
    let (label, rest) = block.split_once('\n')?;
    let (fence, rest) = rest.split_once('\n')?;
    let body = rest.strip_suffix('\n')?.strip_suffix(fence)?;
    if fence.len() < FENCE_MIN || !fence.bytes().all(|byte| byte == b'`') {
        return None;
    }
    let all = body.lines().count();
    // Label, two fences, and a line that says how many are out.
    let around = text::chars(label) + 2 * fence.len() + 3 + text::chars(&notice(all));
    let mut room = chars_max.checked_sub(around)?;
    let (mut end, mut taken) = (0, 0);
    for line in body.split_inclusive('\n') {
        match room.checked_sub(text::chars(line)) {
            Some(left) => room = left,
            None => break,
        }
        end += line.len();
        taken += 1;
    }
    if taken == 0 {
        return None;
    }
    let said = notice(all - taken);
    Some(format!("{label}\n{fence}\n{}{fence}\n{said}", &body[..end]))
}

fn notice(lines: usize) -> String {
    let word = if lines == 1 { "line" } else { "lines" };
    format!("… {lines} more {word} did not fit\n")
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
    fn a_cut_block_has_whole_lines_and_fits() {
        let whole = file("a.md", ALL, "one\ntwo\nthree\n");
        let all = text::chars(&whole);
        assert_eq!(cut(&whole, all), Some(whole.clone()));
        let mut longest = 0;
        for room in 0..all {
            let Some(part) = cut(&whole, room) else {
                assert_eq!(longest, 0);
                continue;
            };
            assert!(text::chars(&part) <= room, "{room}");
            assert!(part.starts_with("File a.md:\n```\none\n"), "{part}");
            assert!(part.contains("\n```\n… "), "{part}");
            longest = longest.max(part.len());
        }
        assert_eq!(cut("no block", 3), None);
    }
}
