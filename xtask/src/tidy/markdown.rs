//! As much Markdown as the rules need: links, headings and anchors outside code.

use std::collections::BTreeMap;

/// A link and the line on which it is.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Link {
    pub(super) target: String,
    pub(super) line: usize,
}

/// Every link of a page: inline, by reference, and in HTML.
pub(super) fn links(text: &str) -> Vec<Link> {
    let mut found = Vec::new();
    for (line, prose) in prose(text) {
        let prose = without_code(prose);
        let inline = prose.match_indices("](").map(|(at, open)| at + open.len());
        let html = [" href=\"", " src=\""].into_iter().flat_map(|open| {
            let starts = prose.match_indices(open);
            starts.map(|(at, open)| at + open.len())
        });
        let targets = inline
            .filter_map(|at| destination(prose.get(at..)?))
            .chain(html.filter_map(|at| prose.get(at..)?.split('"').next()))
            .chain(definition(&prose));
        found.extend(targets.map(|target| Link {
            target: target.to_owned(),
            line,
        }));
    }
    found
}

/// Every anchor that a link to the page may name: headings as GitHub spells them, and ids.
pub(super) fn anchors(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    for (_, line) in prose(text) {
        if let Some(heading) = heading(line) {
            let slug = slug(heading);
            let count = seen.entry(slug.clone()).or_default();
            found.push(match *count {
                0 => slug,
                count => format!("{slug}-{count}"),
            });
            *count += 1;
        }
        for open in [" id=\"", " name=\""] {
            let ids = line
                .match_indices(open)
                .filter_map(|(at, open)| line.get(at + open.len()..)?.split('"').next());
            found.extend(ids.map(str::to_owned));
        }
    }
    found
}

/// The lines outside fenced code, numbered from 1.
pub(super) fn prose(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut fence: Option<&str> = None;
    text.lines().enumerate().filter_map(move |(at, line)| {
        let marker = fence_marker(line);
        match (fence, marker) {
            (None, None) => Some((at + 1, line)),
            (None, Some(_)) => {
                fence = marker;
                None
            }
            (Some(open), Some(close)) if close.starts_with(open) => {
                fence = None;
                None
            }
            (Some(_), _) => None,
        }
    })
}

/// The run of three or more backticks or tildes that a line starts with.
fn fence_marker(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let first = line.chars().next().filter(|c| "`~".contains(*c))?;
    let end = line.find(|c| c != first).unwrap_or(line.len());
    let (marker, rest) = line.split_at(end);
    // "``` code ```" on one line is inline code.
    (marker.len() >= 3 && !rest.contains('`')).then_some(marker)
}

/// The line with code spans blanked out.
pub(super) fn without_code(line: &str) -> String {
    let mut plain = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(at) = rest.find('`') {
        let (before, from) = rest.split_at(at);
        let ticks = from.len() - from.trim_start_matches('`').len();
        let (open, after) = from.split_at(ticks);
        plain.push_str(before);
        // A run of as many backticks closes the span; without one the backticks are text.
        let closed = after.match_indices(open).find(|(at, _)| {
            let end = at + ticks;
            !after.get(..*at).is_some_and(|text| text.ends_with('`'))
                && !after.get(end..).is_some_and(|text| text.starts_with('`'))
        });
        rest = match closed {
            Some((end, _)) => after.get(end + ticks..).unwrap_or_default(),
            None => after,
        };
        plain.push('_');
    }
    plain.push_str(rest);
    plain
}

/// The destination of an inline link, given what follows `](`.
fn destination(text: &str) -> Option<&str> {
    if let Some(bracketed) = text.strip_prefix('<') {
        return bracketed.split('>').next();
    }
    let mut depth = 0_usize;
    let end = text.find(|c: char| {
        match c {
            '(' => depth += 1,
            ')' if depth == 0 => return true,
            ')' => depth -= 1,
            _ => {}
        }
        c.is_whitespace()
    })?;
    text.get(..end)
}

/// Returns the destination of `[label]: target`; a footnote `[^1]: text` has none.
fn definition(line: &str) -> Option<&str> {
    let (label, rest) = line.trim_start().strip_prefix('[')?.split_once("]: ")?;
    let target = rest.split_whitespace().next()?;
    (!label.starts_with('^') && !label.contains(']'))
        .then(|| target.trim_start_matches('<').trim_end_matches('>'))
}

fn heading(line: &str) -> Option<&str> {
    let text = line.trim_start_matches('#');
    let level = line.len() - text.len();
    ((1..=6).contains(&level) && text.starts_with(' '))
        .then(|| text.trim().trim_end_matches('#').trim_end())
}

/// The anchor of a heading: lower case, dashes for spaces, no punctuation, link texts only.
fn slug(heading: &str) -> String {
    let mut text = heading.to_owned();
    while let Some(at) = text.find("](") {
        let Some(end) = text.get(at..).and_then(|rest| rest.find(')')) else {
            break;
        };
        text.replace_range(at..=at + end, "");
    }
    text.to_lowercase()
        .chars()
        .filter(|c| c.is_alphanumeric() || " -_".contains(*c))
        .map(|c| if c == ' ' { '-' } else { c })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn targets(text: &str) -> Vec<String> {
        links(text).into_iter().map(|link| link.target).collect()
    }

    #[test]
    fn links_of_each_syntax_are_found() {
        for (text, expected) in [
            ("[a](b.md) and ![c](d.png \"title\")", vec!["b.md", "d.png"]),
            ("[a](b_(c).md)", vec!["b_(c).md"]),
            ("[a](<b c.md>)", vec!["b c.md"]),
            ("[a]: b.md", vec!["b.md"]),
            ("[^1]: see", vec![]),
            (
                "<a href=\"b.md\"><img src=\"c.png\"></a>",
                vec!["b.md", "c.png"],
            ),
            ("`[a](b.md)` ``x ` [a](c.md)`` [d](e.md)", vec!["e.md"]),
            ("```text\n[a](b.md)\n```\n[c](d.md)", vec!["d.md"]),
            (
                "````\n```\n[a](b.md)\n```\n````\n~~~\n[a](b.md)\n~~~",
                vec![],
            ),
            ("one ` tick [a](b.md)", vec!["b.md"]),
        ] {
            assert_eq!(targets(text), expected, "{text}");
        }
    }

    #[test]
    fn link_has_line_number() {
        assert_eq!(links("a\n```\n```\n[b](c)")[0].line, 4);
    }

    #[test]
    fn anchors_follow_github_rules() {
        let page = "# Hello, World!\n## `init --user` & co\n## [A link](x.md) here ##\n\
            ## Hello, World\n#tag\n```\n# no\n```\n<a id=\"own\"></a>\n";
        assert_eq!(
            anchors(page),
            [
                "hello-world",
                "init---user--co",
                "a-link-here",
                "hello-world-1",
                "own"
            ]
        );
    }
}
