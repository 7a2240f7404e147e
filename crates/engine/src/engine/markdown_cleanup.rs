//! Text of Markdown files for prompts: without comments, which are for the authors of the file, and without headings
//! that have no content.

use std::borrow::Cow;

/// Start and end of a comment.
const COMMENT: (&str, &str) = ("<!--", "-->");

/// Returns a page without comments and empty headings; borrowed if it has neither. Code is unchanged.
pub(super) fn prompt_text(page: &str) -> Cow<'_, str> {
    let plain = without_comments(page);
    match without_empty_headings(&plain) {
        Some(shorter) => Cow::Owned(shorter),
        None => plain,
    }
}

/// Marker of a code fence.
#[derive(Clone, Copy)]
struct Fence {
    mark: char,
    length: usize,
}

impl Fence {
    /// Returns the fence that a line opens.
    fn opened_by(line: &str) -> Option<Self> {
        let line = line.trim_start();
        let mark = line
            .chars()
            .next()
            .filter(|mark| matches!(mark, '`' | '~'))?;
        let length = line.len() - line.trim_start_matches(mark).len();
        (length >= 3).then_some(Self { mark, length })
    }

    fn is_closed_by(self, line: &str) -> bool {
        let line = line.trim();
        line.len() >= self.length && line.chars().all(|c| c == self.mark)
    }
}

/// Tracks if lines are inside of a code fence.
#[derive(Default)]
struct FenceTracker(Option<Fence>);

impl FenceTracker {
    /// Reads the next line; returns true if it belongs to a fenced block.
    fn read(&mut self, line: &str) -> bool {
        match self.0 {
            Some(fence) => {
                if fence.is_closed_by(line) {
                    self.0 = None;
                }
                true
            }
            None => {
                self.0 = Fence::opened_by(line);
                self.0.is_some()
            }
        }
    }
}

/// Removes comments outside of code, and the lines that they leave empty. A comment without an end stays.
fn without_comments(page: &str) -> Cow<'_, str> {
    let (opens, closes) = COMMENT;
    if !page.contains(opens) {
        return Cow::Borrowed(page);
    }
    let mut out = String::with_capacity(page.len());
    let mut fence = FenceTracker::default();
    let mut rest = page;
    // The search for an end that does not exist is not repeated.
    let mut has_end = true;
    while !rest.is_empty() {
        let end = rest.find('\n').map_or(rest.len(), |end| end + 1);
        let (line, after) = rest.split_at(end);
        let comment = (!fence.read(line) && has_end)
            .then(|| comment_start(line))
            .flatten();
        let Some(start) = comment else {
            out.push_str(line);
            rest = after;
            continue;
        };
        let (before, inside) = rest.split_at(start);
        let Some(length) = inside.find(closes) else {
            has_end = false;
            out.push_str(line);
            rest = after;
            continue;
        };
        rest = inside.get(length + closes.len()..).unwrap_or_default();
        out.push_str(before);
        let line_end = rest.find('\n').map_or(rest.len(), |end| end + 1);
        let (tail, next) = rest.split_at(line_end);
        if tail.trim().is_empty() {
            let kept = out.trim_end_matches([' ', '\t']).len();
            out.truncate(kept);
            // A line that only had the comment goes with its line break.
            if is_line_start(&out) {
                rest = next;
            }
        }
    }
    Cow::Owned(out)
}

fn is_line_start(text: &str) -> bool {
    text.is_empty() || text.ends_with('\n')
}

/// Returns the offset of the first comment in a line that is not in a code span.
fn comment_start(line: &str) -> Option<usize> {
    let mut ticks = 0;
    let mut from = 0;
    for (at, _) in line.match_indices(COMMENT.0) {
        ticks += line
            .get(from..at)
            .unwrap_or_default()
            .bytes()
            .filter(|byte| *byte == b'`')
            .count();
        from = at;
        if ticks % 2 == 0 {
            return Some(at);
        }
    }
    None
}

/// Returns the level of a heading.
fn heading_level(line: &str) -> Option<usize> {
    let level = line.bytes().take_while(|byte| *byte == b'#').count();
    let rest = line.get(level..)?;
    let is_heading = (1..=6).contains(&level) && (rest.trim().is_empty() || rest.starts_with(' '));
    is_heading.then_some(level)
}

/// Removes headings that are followed by no text before the next heading of their level; `None` if there is no such heading.
fn without_empty_headings(page: &str) -> Option<String> {
    let mut fence = FenceTracker::default();
    let lines: Vec<(&str, Option<usize>)> = page
        .split_inclusive('\n')
        .map(|line| {
            let level = if fence.read(line) {
                None
            } else {
                heading_level(line)
            };
            (line, level)
        })
        .collect();
    // From the end: a heading has content if text or a deeper heading with content follows.
    let mut content_level = 0;
    let mut kept = vec![true; lines.len()];
    for ((line, level), keeps) in lines.iter().zip(kept.iter_mut()).rev() {
        match level {
            None if !line.trim().is_empty() => content_level = usize::MAX,
            None => {}
            Some(level) => {
                *keeps = content_level > *level;
                if *keeps {
                    content_level = *level;
                }
            }
        }
    }
    if kept.iter().all(|keeps| *keeps) {
        return None;
    }
    let mut out = String::with_capacity(page.len());
    let mut follows_removed = false;
    for ((line, _), keeps) in lines.iter().zip(kept) {
        // The empty lines below a heading go with it.
        follows_removed = !keeps || (follows_removed && line.trim().is_empty());
        if !follows_removed {
            out.push_str(line);
        }
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use heirloom_formats::workspace::FIXED_FILES;

    #[test]
    fn templates_have_no_text_for_prompts() {
        for page in FIXED_FILES {
            assert_eq!(prompt_text(page.template).trim(), "", "{}", page.path);
        }
        for (page, left) in [
            ("# a\n<!-- b\n- c\n-->\n## d <!-- e -->\n", ""),
            ("<!-- a --> b\n", " b\n"),
            ("# a\n<!-- b -->\n- c\n", "# a\n- c\n"),
            (
                "# Soul\n\n<!-- Who. -->\n\nBe brief.\n",
                "# Soul\n\n\nBe brief.\n",
            ),
            ("- a <!-- note -->\n- b\n", "- a\n- b\n"),
            ("- a <!-- x --> b\n", "- a  b\n"),
            ("  <!-- x -->\n- b\n", "- b\n"),
            ("- a\n<!-- x --><!-- y -->\n- b\n", "- a\n- b\n"),
            (
                "```\n<!-- kept -->\n# kept\n```\n",
                "```\n<!-- kept -->\n# kept\n```\n",
            ),
            ("write `<!-- x -->` here\n", "write `<!-- x -->` here\n"),
            (
                "- a\n<!-- never closed\n- b\n",
                "- a\n<!-- never closed\n- b\n",
            ),
            ("# A\n\n## Empty\n\n## Full\n- x\n", "# A\n\n## Full\n- x\n"),
            ("# A\n- x\n## Empty\n\n", "# A\n- x\n"),
            ("## One\n# Two\ntext\n", "# Two\ntext\n"),
            ("plain\n", "plain\n"),
            ("", ""),
        ] {
            assert_eq!(prompt_text(page), left, "{page:?}");
        }
    }

    #[test]
    fn text_without_comments_and_headings_is_borrowed() {
        assert!(matches!(prompt_text("# a\n- b\n"), Cow::Borrowed(_)));
    }

    #[test]
    fn many_unclosed_comments_are_read_once() {
        let page = "<!-- x\n".repeat(200_000);
        assert_eq!(prompt_text(&page), page);
    }

    proptest::proptest! {
        #[test]
        fn prompt_text_handles_any_text(page in "(<!--|-->|# a|## b|```|`|- c|\n|\\PC){0,30}") {
            let text = prompt_text(&page);
            proptest::prop_assert!(text.len() <= page.len());
        }
    }
}
