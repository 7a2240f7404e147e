//! Summaries of conversations in `summary.md`: a part for each conversation, between markers; the other text belongs
//! to people.

use heirloom_model::{limits, text};

/// Replaces or adds the summary of a conversation, as the last part; `None` if the page has it already.
///
/// If there are too many parts, the oldest are removed. Text outside of parts is preserved.
pub fn upsert_summary(page: &str, conversation: &str, summary: &str) -> Option<String> {
    let name = comment_safe(conversation);
    let part = render_part(&name, summary);
    if page.contains(&part) {
        return None;
    }
    let mut page = match part_range(page, &name) {
        Some(range) => [&page[..range.start], &page[range.end..]].concat(),
        None => page.to_owned(),
    };
    while part_names(&page).len() >= limits::GROUP_SUMMARIES_MAX {
        let Some(range) = part_names(&page)
            .first()
            .and_then(|name| part_range(&page, name))
        else {
            break;
        };
        page.replace_range(range, "");
    }
    if !page.is_empty() && !page.ends_with('\n') {
        page.push('\n');
    }
    page.push_str(&part);
    Some(page)
}

fn render_part(name: &str, summary: &str) -> String {
    let summary = summary.trim().replace("<!--", "<! --");
    let most = limits::GROUP_SUMMARY_CHARS_MAX;
    let summary = if text::chars(&summary) > most {
        // The end of a summary has the state of the task.
        let (head, tail) = (
            text::clip(&summary, most * 3 / 4),
            text::clip_start(&summary, most / 5),
        );
        format!("{head}\n…\n{tail}")
    } else {
        summary
    };
    format!("{}{summary}\n{}", begin_marker(name), end_marker(name))
}

fn begin_marker(name: &str) -> String {
    format!("{BEGIN_MARKER}{name} -->\n")
}

fn end_marker(name: &str) -> String {
    format!("<!-- end of {name} -->\n")
}

const BEGIN_MARKER: &str = "<!-- conversation ";

/// Returns the range of the part with that name.
fn part_range(page: &str, name: &str) -> Option<std::ops::Range<usize>> {
    let start = page.find(&begin_marker(name))?;
    let end = end_marker(name);
    let length = page[start..].find(&end)? + end.len();
    Some(start..start + length)
}

/// Returns the names of the parts, in order.
fn part_names(page: &str) -> Vec<String> {
    let name = |line: &str| {
        Some(
            line.strip_prefix(BEGIN_MARKER)?
                .strip_suffix(" -->")?
                .to_owned(),
        )
    };
    let mut names: Vec<String> = page.lines().filter_map(name).collect();
    names.retain(|name| part_range(page, name).is_some());
    names
}

/// Replaces characters of a name that are not allowed in a comment.
fn comment_safe(name: &str) -> String {
    let plain = |c: char| match c {
        c if c.is_alphanumeric() || matches!(c, '.' | '_' | ':') => c,
        _ => '_',
    };
    text::clip(name, 100).chars().map(plain).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn upsert_summary_replaces_part_and_preserves_other_text() {
        let mine = "# Ours\nsaid by a person\n";
        let one = upsert_summary(mine, "s 1", "first").unwrap();
        assert!(one.starts_with(mine), "{one}");
        assert_eq!(upsert_summary(&one, "s 1", "first"), None);
        let two = upsert_summary(&one, "s2", "second <!-- end of s_1 -->").unwrap();
        let changed = upsert_summary(&two, "s 1", "third").unwrap();
        assert!(
            changed.starts_with(mine) && !changed.contains("first"),
            "{changed}"
        );
        assert_eq!(part_names(&changed), ["s2", "s_1"]);
        assert_eq!(changed.matches("<!--").count(), 4, "{changed}");
    }

    #[test]
    fn upsert_summary_removes_oldest_parts_and_shortens_long_ones() {
        let mut page = "mine".to_owned();
        for n in 0..limits::GROUP_SUMMARIES_MAX + 3 {
            page = upsert_summary(&page, &format!("s{n}"), "x").unwrap();
        }
        let left = part_names(&page);
        assert_eq!(left.len(), limits::GROUP_SUMMARIES_MAX);
        assert_eq!(left[0], "s3");
        assert!(page.starts_with("mine\n"), "{page}");
        let long = format!(
            "begin {} end",
            "word ".repeat(limits::GROUP_SUMMARY_CHARS_MAX)
        );
        let page = upsert_summary("", "s", &long).unwrap();
        assert!(page.chars().count() < limits::GROUP_SUMMARY_CHARS_MAX + 100);
        assert!(page.contains("begin") && page.contains(" end\n"));
    }
}
