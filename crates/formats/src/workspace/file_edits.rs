//! Edits of a Markdown file: adding an entry, and removing the oldest entries.

use heirloom_model::civil::Date;
use heirloom_model::text;

/// Renders an entry as a dated bullet; further lines are indented below it.
pub fn render_entry(day: Date, text: &str) -> String {
    let text = text.replace("\r\n", "\n");
    let mut lines = text.trim().lines();
    let mut entry = format!("- {day}: {}\n", lines.next().unwrap_or_default().trim());
    for line in lines {
        let line = line.trim_end();
        entry.push_str(&if line.is_empty() {
            "\n".to_owned()
        } else {
            format!("  {line}\n")
        });
    }
    entry
}

/// Appends an entry to a text; `None` if the text contains it already, with any date.
pub fn append_entry(page: &str, entry: &str) -> Option<String> {
    let entry_words = entry_text(entry);
    if blocks(page).any(|(block, is_entry)| is_entry && entry_text(block) == entry_words) {
        return None;
    }
    let mut text = page.to_owned();
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    // Directly after a heading or a comment, Markdown would not read a list.
    if (text.lines().next_back()).is_some_and(|last| !last.trim().is_empty() && !is_listed(last)) {
        text.push('\n');
    }
    text.push_str(entry);
    Some(text)
}

/// Removes the oldest dated entries of a page of more than `bytes_max`; returns the remaining text and the removed
/// entries. `None` if nothing is to be removed. Entries without a date belong to people and stay.
pub fn split_oldest_entries(page: &str, bytes_max: usize) -> Option<(String, String)> {
    let mut over = page.len().saturating_sub(bytes_max);
    if over == 0 {
        return None;
    }
    let blocks: Vec<_> = blocks(page).collect();
    let mut dated: Vec<(Date, usize)> = Vec::new();
    for (at, (block, is_entry)) in blocks.iter().enumerate() {
        if let Some(day) = date(block).filter(|_| *is_entry) {
            dated.push((day, at));
        }
    }
    dated.sort();
    // The newest entry always stays: it was only just written.
    dated.pop();
    let mut out = vec![false; blocks.len()];
    for (_, at) in dated {
        if over == 0 {
            break;
        }
        out[at] = true;
        over = over.saturating_sub(blocks[at].0.len());
    }
    let (mut remaining, mut removed) = (String::new(), String::new());
    for ((block, _), is_out) in blocks.iter().zip(&out) {
        let target = if *is_out {
            &mut removed
        } else {
            &mut remaining
        };
        target.push_str(block);
        if *is_out && !block.ends_with('\n') {
            removed.push('\n');
        }
    }
    (!removed.is_empty()).then_some((remaining, removed))
}

/// Returns the end of a text of at most `chars_max` characters, from the start of a line, and true if the text was
/// cut.
pub fn newest_part(page: &str, chars_max: usize) -> (&str, bool) {
    if text::chars(page) <= chars_max {
        return (page, false);
    }
    let tail = text::clip_start(page, chars_max);
    let starts_a_line =
        tail.len() < page.len() && page.as_bytes().get(page.len() - tail.len() - 1) == Some(&b'\n');
    if starts_a_line {
        return (tail, true);
    }
    match tail.split_once('\n') {
        Some((_, whole)) if !whole.trim().is_empty() => (whole, true),
        Some(_) | None => (tail, true),
    }
}

/// Splits a text without loss into entries (a bullet at the margin with the indented lines below it) and the text
/// between them; the flag is true for entries.
fn blocks(page: &str) -> impl Iterator<Item = (&str, bool)> {
    let mut rest = page;
    std::iter::from_fn(move || {
        let mut lines = rest.split_inclusive('\n');
        let first = lines.next()?;
        let is_entry = first.starts_with("- ");
        let mut length = first.len();
        let mut blank = 0;
        for line in lines {
            if line.trim().is_empty() {
                blank += line.len();
            } else if is_entry && line.starts_with([' ', '\t']) {
                // An empty line belongs to an entry only if the entry continues after it.
                length += blank + line.len();
                blank = 0;
            } else {
                break;
            }
        }
        let (block, left) = rest.split_at(length);
        rest = left;
        Some((block, is_entry))
    })
}

fn is_listed(line: &str) -> bool {
    line.starts_with("- ") || line.starts_with([' ', '\t'])
}

fn date(block: &str) -> Option<Date> {
    let day = block.strip_prefix("- ")?.get(..10)?;
    day.parse().ok()
}

/// Returns the text of an entry without its date.
fn entry_text(block: &str) -> String {
    let words = block.strip_prefix("- ").unwrap_or(block);
    let words = match date(block) {
        Some(_) => words.get(10..).unwrap_or_default().trim_start_matches(':'),
        None => words,
    };
    let lines: Vec<_> = words.lines().map(str::trim).collect();
    lines.join("\n").trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn day(day: i8) -> Date {
        Date::new(2026, 5, day).unwrap()
    }

    #[test]
    fn append_entry_adds_once_and_preserves_text() {
        let page = "# Memory\n\n<!-- x -->\nmine, without an end";
        let first = append_entry(page, &render_entry(day(1), "the port\nis 80\n")).unwrap();
        assert_eq!(
            first,
            "# Memory\n\n<!-- x -->\nmine, without an end\n\n- 2026-05-01: the port\n  is 80\n"
        );
        assert_eq!(
            append_entry(&first, &render_entry(day(2), "the port\n is 80")),
            None
        );
        let second = append_entry(&first, &render_entry(day(2), "more")).unwrap();
        assert!(second.ends_with("is 80\n- 2026-05-02: more\n"), "{second}");
        // An entry without a date, written by a person, counts as well.
        assert_eq!(
            append_entry("- more\n", &render_entry(day(2), "more")),
            None
        );
    }

    #[test]
    fn split_oldest_entries_removes_dated_entries() {
        let page = "# M\n- mine\n- 2026-05-03: c\n- 2026-05-01: a\n  more of a\n- 2026-05-02: b\n";
        let (remaining, removed) = split_oldest_entries(page, page.len() - 1).unwrap();
        assert_eq!(removed, "- 2026-05-01: a\n  more of a\n");
        assert_eq!(remaining, "# M\n- mine\n- 2026-05-03: c\n- 2026-05-02: b\n");
        assert_eq!(split_oldest_entries(page, page.len()), None);
        let (remaining, _) = split_oldest_entries(page, 0).unwrap();
        assert_eq!(remaining, "# M\n- mine\n- 2026-05-03: c\n");
        assert_eq!(split_oldest_entries("- mine\n- too\n", 1), None);
    }

    #[test]
    fn newest_part_cuts_the_beginning() {
        assert_eq!(newest_part("a\nbb\ncc\n", 100), ("a\nbb\ncc\n", false));
        assert_eq!(newest_part("a\nbb\ncc\n", 4), ("cc\n", true));
        assert_eq!(newest_part("a\nbb\ncc\n", 3), ("cc\n", true));
        assert_eq!(newest_part("abcdef", 3), ("def", true));
    }

    proptest! {
        #[test]
        fn split_and_append_preserve_every_line(page in "(- 2026-05-0[1-9]: [a-c]{0,9}\n|- [a-c]{1,5}\n|  x\n|\n|# h\n|[a-c]{0,4}){0,12}", cap in 0usize..60) {
            let whole: String = blocks(&page).map(|(block, _)| block).collect();
            prop_assert_eq!(&whole, &page);
            if let Some((remaining, removed)) = split_oldest_entries(&page, cap) {
                let sorted = |text: &str| {
                    let mut lines: Vec<_> = text.lines().map(str::to_owned).collect();
                    lines.sort();
                    lines
                };
                prop_assert_eq!(sorted(&format!("{removed}{remaining}")), sorted(&page));
            }
            let added = append_entry(&page, &render_entry(day(9), "new words"));
            prop_assert!(added.is_some_and(|text| text.starts_with(&page)));
        }
    }
}
