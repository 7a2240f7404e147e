//! The entries of a group's `MEMORY.md`: how one is written, and which ones the file lacks.

use heirloom_model::{Timestamp, text};

/// One note of an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry<'t> {
    /// Its section.
    pub section: &'t str,
    /// Who noted it.
    pub agent: &'t str,
    /// When.
    pub at: Timestamp,
    /// What is noted.
    pub content: &'t str,
}

impl Entry<'_> {
    /// The two lines of the file: a heading and a bullet, whatever the words are.
    pub fn block(&self) -> String {
        let section = label(self.section.trim().trim_start_matches('#'));
        let (agent, content) = (label(self.agent), text::one_line(self.content));
        let content = content.trim();
        let escape = if content.starts_with('#') { "\\" } else { "" };
        let at = self.at.strftime("%Y-%m-%d %H:%M");
        format!("## {section} ({agent}, {at})\n- {escape}{content}\n")
    }
}

/// One line, without the brackets that hold the agent and the time.
fn label(said: &str) -> String {
    let said = text::one_line(said);
    said.trim().replace('(', "[").replace(')', "]")
}

/// An entry that the file should have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    /// Its lines.
    pub block: String,
    /// Whether it is written if it is not there; else somebody took it out.
    pub comes_back: ComesBack,
}

/// From where an entry that the file lacks may have been lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ComesBack {
    /// From nowhere: it stays out.
    Never,
    /// From the end, which an editor did not know when it replaced the file.
    FromTheEnd,
    /// From anywhere: it was there so shortly that an editor may have read the file before or after.
    FromAnywhere,
}

/// Which of `entries`, the newest first, are to be written to `file`, the oldest first.
///
/// What is gone from between others was taken out by somebody, unless it was there so shortly. What is gone from the end
/// may be what an editor did not know when it replaced the file.
pub fn missing(file: &str, entries: &[Candidate]) -> Vec<usize> {
    let file = file.replace("\r\n", "\n");
    let mut gone = Vec::new();
    let mut is_end = true;
    for (at, entry) in entries.iter().enumerate() {
        if !is_end && entry.comes_back != ComesBack::FromAnywhere {
            continue;
        }
        let twins = entries[at..].iter().filter(|one| one.block == entry.block);
        if occurrences(&file, &entry.block) >= twins.count() {
            is_end = false;
        } else if entry.comes_back != ComesBack::Never {
            gone.push(at);
        }
    }
    gone.reverse();
    gone
}

/// Whether the file has the entry.
pub fn is_there(file: &str, block: &str) -> bool {
    occurrences(&file.replace("\r\n", "\n"), block) > 0
}

fn occurrences(file: &str, block: &str) -> usize {
    let block = block.trim_end_matches('\n');
    let whole = |at: usize| {
        let before = file[..at].chars().next_back();
        let behind = file[at + block.len()..].chars().next();
        before.is_none_or(|c| c == '\n') && behind.is_none_or(|c| c == '\n')
    };
    file.match_indices(block)
        .filter(|(at, _)| whole(*at))
        .count()
}

/// What is to be written behind `file`, so that it ends with these entries; the rest of the first one if the file ends in
/// a part of it.
pub fn addition(file: &str, blocks: &[&str]) -> String {
    let mut added = String::new();
    for (n, block) in blocks.iter().enumerate() {
        if n == 0
            && let Some(rest) = torn(file, block)
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

/// What is left of a block, a part of which is the end of the file.
fn torn<'b>(file: &str, block: &'b str) -> Option<&'b str> {
    let last = file.rfind("\n## ").map_or(0, |at| at + 1);
    let part = &file[last..];
    if part.len() < 4 {
        return None;
    }
    block.strip_prefix(part).filter(|rest| !rest.is_empty())
}

/// The parts of a file that begin with a heading, in their order, each with its line, counted from 1; and what stands
/// before the first heading.
pub fn blocks(file: &str) -> Vec<(u32, &str)> {
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
        Entry {
            section,
            agent,
            at: "2026-05-01T12:34:56Z".parse().unwrap(),
            content,
        }
        .block()
    }

    #[test]
    fn an_entry_is_a_heading_and_a_bullet() {
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
    fn what_is_gone_from_the_end_comes_back_once() {
        let of = |content: &str, comes_back| Candidate {
            block: block(content),
            comes_back,
        };
        let may = |content: &str, may: bool| match may {
            true => of(content, ComesBack::FromTheEnd),
            false => of(content, ComesBack::Never),
        };
        let entries = [may("c", true), may("b", true), may("a", true)];
        let all = format!("{}\n{}\n{}", block("a"), block("b"), block("c"));
        assert_eq!(missing(&all, &entries), [0_usize; 0]);
        assert_eq!(missing(all.trim_end(), &entries), [0_usize; 0]);
        assert_eq!(missing(&all.replace('\n', "\r\n"), &entries), [0_usize; 0]);
        assert_eq!(missing(&block("a"), &entries), [1, 0]);
        assert_eq!(missing("", &entries), [2, 1, 0]);
        let b_is_out = format!("{}\n{}", block("a"), block("c"));
        assert_eq!(missing(&b_is_out, &entries), [0_usize; 0]);
        let lost = [may("c", true), of("b", ComesBack::FromAnywhere)];
        assert_eq!(missing(&b_is_out, &lost), [1]);
        let blank = block("");
        assert!(is_there(&blank, &blank), "an entry may end in a blank");
        let twins = [may("a", true), may("a", true)];
        assert_eq!(missing(&block("a"), &twins), [0]);
        assert_eq!(missing("", &[may("a", false), may("b", true)]), [1]);
    }

    #[test]
    fn a_torn_entry_is_written_to_its_end() {
        let (a, b) = (block("a"), block("b"));
        let whole = format!("{a}\n{b}");
        assert_eq!(addition("", &[&a, &b]), whole);
        assert_eq!(addition(&a, &[&b]), format!("\n{b}"));
        assert_eq!(addition("text", &[&b]), format!("\n\n{b}"));
        for kept in (a.len() + 1)..whole.len() {
            let file = &whole[..kept];
            let after = format!("{file}{}", addition(file, &[&b]));
            assert!(is_there(&after, &b) && is_there(&after, &a), "{after}");
            if kept > a.len() + 4 {
                assert_eq!(after, whole);
            }
        }
    }

    #[test]
    fn a_file_falls_into_its_headings() {
        let file = "before\n\n## A\n- a\n\n## B\n- b\n### C\n";
        assert_eq!(
            blocks(file),
            [(1, "before"), (3, "## A\n- a"), (6, "## B\n- b\n### C")]
        );
        assert_eq!(blocks(" \n"), []);
    }
}
