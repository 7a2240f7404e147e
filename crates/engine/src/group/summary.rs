//! What conversations of a group came to: a part of `summary.md` for each, between marks; the rest is people's.

use heirloom_model::{limits, text};

/// The page with this conversation's part as `said`, the newest part last; `None` if it says that already.
///
/// The oldest of too many parts go. What stands outside of parts stays as it is.
pub fn with_summary(page: &str, conversation: &str, said: &str) -> Option<String> {
    let name = plain(conversation);
    let part = part(&name, said);
    if page.contains(&part) {
        return None;
    }
    let mut page = match range(page, &name) {
        Some(range) => [&page[..range.start], &page[range.end..]].concat(),
        None => page.to_owned(),
    };
    while names(&page).len() >= limits::GROUP_SUMMARIES_MAX {
        let Some(range) = names(&page).first().and_then(|name| range(&page, name)) else {
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

fn part(name: &str, said: &str) -> String {
    let said = said.trim().replace("<!--", "<! --");
    let most = limits::GROUP_SUMMARY_CHARS_MAX;
    let said = if text::chars(&said) > most {
        // The state of the task stands at the end.
        let (head, tail) = (
            text::clip(&said, most * 3 / 4),
            text::clip_start(&said, most / 5),
        );
        format!("{head}\n…\n{tail}")
    } else {
        said
    };
    format!("{}{said}\n{}", begin(name), end(name))
}

fn begin(name: &str) -> String {
    format!("{BEGIN}{name} -->\n")
}

fn end(name: &str) -> String {
    format!("<!-- end of {name} -->\n")
}

const BEGIN: &str = "<!-- conversation ";

/// Where the part of that name stands.
fn range(page: &str, name: &str) -> Option<std::ops::Range<usize>> {
    let start = page.find(&begin(name))?;
    let end = end(name);
    let length = page[start..].find(&end)? + end.len();
    Some(start..start + length)
}

/// The names of the parts, in order.
fn names(page: &str) -> Vec<String> {
    let name = |line: &str| Some(line.strip_prefix(BEGIN)?.strip_suffix(" -->")?.to_owned());
    let mut names: Vec<String> = page.lines().filter_map(name).collect();
    names.retain(|name| range(page, name).is_some());
    names
}

/// A name that can stand in a comment.
fn plain(name: &str) -> String {
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
    fn each_conversation_has_one_part_and_people_keep_theirs() {
        let mine = "# Ours\nsaid by a person\n";
        let one = with_summary(mine, "s 1", "first").unwrap();
        assert!(one.starts_with(mine), "{one}");
        assert_eq!(with_summary(&one, "s 1", "first"), None);
        let two = with_summary(&one, "s2", "second <!-- end of s_1 -->").unwrap();
        let changed = with_summary(&two, "s 1", "third").unwrap();
        assert!(
            changed.starts_with(mine) && !changed.contains("first"),
            "{changed}"
        );
        assert_eq!(names(&changed), ["s2", "s_1"]);
        assert_eq!(changed.matches("<!--").count(), 4, "{changed}");
    }

    #[test]
    fn the_oldest_of_too_many_go_and_long_ones_keep_their_end() {
        let mut page = "mine".to_owned();
        for n in 0..limits::GROUP_SUMMARIES_MAX + 3 {
            page = with_summary(&page, &format!("s{n}"), "x").unwrap();
        }
        let left = names(&page);
        assert_eq!(left.len(), limits::GROUP_SUMMARIES_MAX);
        assert_eq!(left[0], "s3");
        assert!(page.starts_with("mine\n"), "{page}");
        let long = format!(
            "begin {} end",
            "word ".repeat(limits::GROUP_SUMMARY_CHARS_MAX)
        );
        let page = with_summary("", "s", &long).unwrap();
        assert!(page.chars().count() < limits::GROUP_SUMMARY_CHARS_MAX + 100);
        assert!(page.contains("begin") && page.contains(" end\n"));
    }
}
