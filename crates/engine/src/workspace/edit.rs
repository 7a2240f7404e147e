//! Adding an entry to a file that people edit, and taking the oldest ones out.

use heirloom_model::civil::Date;
use heirloom_model::text;

/// A dated bullet that says `said`; further lines stand below it, indented.
pub fn entry(day: Date, said: &str) -> String {
    let said = said.replace("\r\n", "\n");
    let mut lines = said.trim().lines();
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

/// The text with `entry` at its end; `None` if it says that already, whenever that was said.
pub fn with_entry(page: &str, entry: &str) -> Option<String> {
    let wanted = said(entry);
    if blocks(page).any(|(block, is_entry)| is_entry && said(block) == wanted) {
        return None;
    }
    let mut text = page.to_owned();
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    // Right behind a heading or a comment a list would be read as a part of it.
    if (text.lines().next_back()).is_some_and(|last| !last.trim().is_empty() && !is_listed(last)) {
        text.push('\n');
    }
    text.push_str(entry);
    Some(text)
}

/// What is left of a page of more than `bytes_max` when its oldest dated entries are taken out, and these; `None` if
/// nothing is to be taken. What has no date is a person's and stays.
pub fn moved_out(page: &str, bytes_max: usize) -> Option<(String, String)> {
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
    // The newest stays whatever its size: it was only just written.
    dated.pop();
    let mut out = vec![false; blocks.len()];
    for (_, at) in dated {
        if over == 0 {
            break;
        }
        out[at] = true;
        over = over.saturating_sub(blocks[at].0.len());
    }
    let (mut kept, mut moved) = (String::new(), String::new());
    for ((block, _), is_out) in blocks.iter().zip(&out) {
        let target = if *is_out { &mut moved } else { &mut kept };
        target.push_str(block);
        if *is_out && !block.ends_with('\n') {
            moved.push('\n');
        }
    }
    (!moved.is_empty()).then_some((kept, moved))
}

/// The end of a text that has at most `chars_max` characters, from the beginning of a line; and whether something was
/// cut.
pub fn newest(page: &str, chars_max: usize) -> (&str, bool) {
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

/// The text in pieces that together are all of it: entries (a bullet at the margin with the indented lines below it)
/// and what stands between them.
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
                // An empty line belongs to an entry only if the entry goes on behind it.
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

/// What an entry says, without its date.
fn said(block: &str) -> String {
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
    fn an_entry_is_added_once_and_what_people_wrote_stays() {
        let page = "# Memory\n\n<!-- x -->\nmine, without an end";
        let first = with_entry(page, &entry(day(1), "the port\nis 80\n")).unwrap();
        assert_eq!(
            first,
            "# Memory\n\n<!-- x -->\nmine, without an end\n\n- 2026-05-01: the port\n  is 80\n"
        );
        assert_eq!(with_entry(&first, &entry(day(2), "the port\n is 80")), None);
        let second = with_entry(&first, &entry(day(2), "more")).unwrap();
        assert!(second.ends_with("is 80\n- 2026-05-02: more\n"), "{second}");
        // What a person wrote without a date counts as well.
        assert_eq!(with_entry("- more\n", &entry(day(2), "more")), None);
    }

    #[test]
    fn the_oldest_dated_entries_go() {
        let page = "# M\n- mine\n- 2026-05-03: c\n- 2026-05-01: a\n  more of a\n- 2026-05-02: b\n";
        let (kept, moved) = moved_out(page, page.len() - 1).unwrap();
        assert_eq!(moved, "- 2026-05-01: a\n  more of a\n");
        assert_eq!(kept, "# M\n- mine\n- 2026-05-03: c\n- 2026-05-02: b\n");
        assert_eq!(moved_out(page, page.len()), None);
        let (kept, _) = moved_out(page, 0).unwrap();
        assert_eq!(kept, "# M\n- mine\n- 2026-05-03: c\n");
        assert_eq!(moved_out("- mine\n- too\n", 1), None);
    }

    #[test]
    fn what_is_cut_is_the_oldest() {
        assert_eq!(newest("a\nbb\ncc\n", 100), ("a\nbb\ncc\n", false));
        assert_eq!(newest("a\nbb\ncc\n", 4), ("cc\n", true));
        assert_eq!(newest("a\nbb\ncc\n", 3), ("cc\n", true));
        assert_eq!(newest("abcdef", 3), ("def", true));
    }

    proptest! {
        #[test]
        fn nothing_is_lost(page in "(- 2026-05-0[1-9]: [a-c]{0,9}\n|- [a-c]{1,5}\n|  x\n|\n|# h\n|[a-c]{0,4}){0,12}", cap in 0usize..60) {
            let whole: String = blocks(&page).map(|(block, _)| block).collect();
            prop_assert_eq!(&whole, &page);
            if let Some((kept, moved)) = moved_out(&page, cap) {
                let sorted = |text: &str| {
                    let mut lines: Vec<_> = text.lines().map(str::to_owned).collect();
                    lines.sort();
                    lines
                };
                prop_assert_eq!(sorted(&format!("{moved}{kept}")), sorted(&page));
            }
            let added = with_entry(&page, &entry(day(9), "new words"));
            prop_assert!(added.is_some_and(|text| text.starts_with(&page)));
        }
    }
}
