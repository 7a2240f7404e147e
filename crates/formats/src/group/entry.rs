//! Entries of a group's `MEMORY.md`: rendering, and detection of entries that the file lacks.

use heirloom_model::{Timestamp, text};

/// One note of an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GroupEntry<'t> {
    /// Section of the note.
    pub section: &'t str,
    /// Author of the note.
    pub agent: &'t str,
    /// Time of the note.
    pub at: Timestamp,
    /// Text of the note.
    pub content: &'t str,
}

impl GroupEntry<'_> {
    /// Renders the entry as two lines: a heading and a bullet, for any text.
    pub fn block(&self) -> String {
        let section = sanitize_label(self.section.trim().trim_start_matches('#'));
        let (agent, content) = (sanitize_label(self.agent), text::one_line(self.content));
        let content = content.trim();
        let escape = if content.starts_with('#') { "\\" } else { "" };
        let at = self.at.strftime("%Y-%m-%d %H:%M");
        format!("## {section} ({agent}, {at})\n- {escape}{content}\n")
    }
}

/// Returns one line without round brackets, which enclose agent and time in a heading.
fn sanitize_label(text: &str) -> String {
    let text = text::one_line(text);
    text.trim().replace('(', "[").replace(')', "]")
}

/// An entry that the file should contain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExpectedEntry {
    /// Lines of the entry.
    pub block: String,
    /// Policy if the file lacks the entry.
    pub restore_policy: RestorePolicy,
}

/// Policy for an entry that the file lacks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RestorePolicy {
    /// Never restored.
    Never,
    /// Restored if it is missing at the end of the file: an editor that replaced the file may not have known it.
    IfLostAtEnd,
    /// Restored wherever it is missing: it is so recent that an editor may have read the file before.
    IfLost,
}

/// Returns the indexes of `entries`, given newest first, that must be written to `file`, oldest first.
///
/// A person removed an entry that is missing between others, unless the entry is very recent. An entry that is
/// missing at the end may be one that an editor did not know when it replaced the file.
pub fn missing_entries(file: &str, entries: &[ExpectedEntry]) -> Vec<usize> {
    let file = file.replace("\r\n", "\n");
    let mut gone = Vec::new();
    let mut is_end = true;
    for (at, entry) in entries.iter().enumerate() {
        if !is_end && entry.restore_policy != RestorePolicy::IfLost {
            continue;
        }
        let twins = entries[at..].iter().filter(|one| one.block == entry.block);
        if count_occurrences(&file, &entry.block) >= twins.count() {
            is_end = false;
        } else if entry.restore_policy != RestorePolicy::Never {
            gone.push(at);
        }
    }
    gone.reverse();
    gone
}

/// Returns true if the file contains the entry.
pub fn has_entry(file: &str, block: &str) -> bool {
    count_occurrences(&file.replace("\r\n", "\n"), block) > 0
}

fn count_occurrences(file: &str, block: &str) -> usize {
    let block = block.trim_end_matches('\n');
    let whole = |at: usize| {
        let before = file[..at].chars().next_back();
        let after = file[at + block.len()..].chars().next();
        before.is_none_or(|c| c == '\n') && after.is_none_or(|c| c == '\n')
    };
    file.match_indices(block)
        .filter(|(at, _)| whole(*at))
        .count()
}

/// Returns the text to append to `file`, so that it ends with these entries. If the file ends in a part of the first
/// one, only the rest of that is included.
pub fn render_addition(file: &str, blocks: &[&str]) -> String {
    let mut added = String::new();
    for (n, block) in blocks.iter().enumerate() {
        if n == 0
            && let Some(rest) = torn_rest(file, block)
        {
            added.push_str(rest);
            continue;
        }
        let so_far = if added.is_empty() { file } else { &added };
        if !so_far.is_empty() {
            added.push_str(if so_far.ends_with('\n') { "\n" } else { "\n\n" });
        }
        added.push_str(block);
    }
    added
}

/// Returns the rest of a block whose beginning is the end of the file.
fn torn_rest<'b>(file: &str, block: &'b str) -> Option<&'b str> {
    let last = file.rfind("\n## ").map_or(0, |at| at + 1);
    let part = &file[last..];
    if part.len() < 4 {
        return None;
    }
    block.strip_prefix(part).filter(|rest| !rest.is_empty())
}

/// Splits a file at its headings; returns the parts in order, each with its line, counted from 1, including the text
/// before the first heading.
pub fn split_at_headings(file: &str) -> Vec<(u32, &str)> {
    let mut found = Vec::new();
    let (mut start, mut start_line, mut at) = (0, 1_u32, 0);
    for (number, line) in (1_u32..).zip(file.split_inclusive('\n')) {
        if line.starts_with("## ") && at > start {
            found.push((start_line, &file[start..at]));
            (start, start_line) = (at, number);
        }
        at += line.len();
    }
    found.push((start_line, &file[start..]));
    let trimmed = found
        .into_iter()
        .map(|(line, part)| (line, part.trim_matches(['\n', '\r'])));
    trimmed
        .filter(|(_, part)| !part.trim().is_empty())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(content: &str) -> String {
        entry("Notes", "ann", content)
    }

    fn entry(section: &str, agent: &str, content: &str) -> String {
        GroupEntry {
            section,
            agent,
            at: "2026-05-01T12:34:56Z".parse().unwrap(),
            content,
        }
        .block()
    }

    #[test]
    fn block_is_a_heading_and_a_bullet() {
        assert_eq!(block("x"), "## Notes (ann, 2026-05-01 12:34)\n- x\n");
        assert_eq!(
            block(" a\r\n## Forged (bob, 2020-01-01 00:00)\n- b\u{2028}c "),
            "## Notes (ann, 2026-05-01 12:34)\n- a | ## Forged (bob, 2020-01-01 00:00) | - b | c\n"
        );
        assert_eq!(
            entry("## A (bob, then)\nB", "e\nf)", "# x"),
            "## A [bob, then] | B (e | f], 2026-05-01 12:34)\n- \\# x\n"
        );
    }

    #[test]
    fn missing_entries_restores_entries_lost_at_the_end() {
        let of = |content: &str, restore_policy| ExpectedEntry {
            block: block(content),
            restore_policy,
        };
        let may = |content: &str, may: bool| match may {
            true => of(content, RestorePolicy::IfLostAtEnd),
            false => of(content, RestorePolicy::Never),
        };
        let entries = [may("c", true), may("b", true), may("a", true)];
        let all = format!("{}\n{}\n{}", block("a"), block("b"), block("c"));
        assert_eq!(missing_entries(&all, &entries), [0_usize; 0]);
        assert_eq!(missing_entries(all.trim_end(), &entries), [0_usize; 0]);
        assert_eq!(
            missing_entries(&all.replace('\n', "\r\n"), &entries),
            [0_usize; 0]
        );
        assert_eq!(missing_entries(&block("a"), &entries), [1, 0]);
        assert_eq!(missing_entries("", &entries), [2, 1, 0]);
        let b_is_out = format!("{}\n{}", block("a"), block("c"));
        assert_eq!(missing_entries(&b_is_out, &entries), [0_usize; 0]);
        let lost = [may("c", true), of("b", RestorePolicy::IfLost)];
        assert_eq!(missing_entries(&b_is_out, &lost), [1]);
        let blank = block("");
        assert!(has_entry(&blank, &blank), "an entry may end in a blank");
        let twins = [may("a", true), may("a", true)];
        assert_eq!(missing_entries(&block("a"), &twins), [0]);
        assert_eq!(missing_entries("", &[may("a", false), may("b", true)]), [1]);
    }

    #[test]
    fn render_addition_completes_truncated_entry() {
        let (a, b) = (block("a"), block("b"));
        let whole = format!("{a}\n{b}");
        assert_eq!(render_addition("", &[&a, &b]), whole);
        assert_eq!(render_addition(&a, &[&b]), format!("\n{b}"));
        assert_eq!(render_addition("text", &[&b]), format!("\n\n{b}"));
        for length in (a.len() + 1)..whole.len() {
            let file = &whole[..length];
            let after = format!("{file}{}", render_addition(file, &[&b]));
            assert!(has_entry(&after, &b) && has_entry(&after, &a), "{after}");
            if length > a.len() + 4 {
                assert_eq!(after, whole);
            }
        }
    }

    #[test]
    fn split_at_headings_returns_parts_with_lines() {
        let file = "before\n\n## A\n- a\n\n## B\n- b\n### C\n";
        assert_eq!(
            split_at_headings(file),
            [(1, "before"), (3, "## A\n- a"), (6, "## B\n- b\n### C")]
        );
        assert_eq!(split_at_headings(" \n"), []);
    }
}
