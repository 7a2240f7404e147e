//! Lines of a turn that are the person's own words: without code, logs, quotations and text that a program injected.

use crate::cues::TurnWords;
use crate::sentences::{plain_text, without_blocks};

/// Bytes that are read of a turn, at its beginning and at its end; the part between them is a pasted text.
const HEAD_BYTES: usize = 24 * 1024;
const TAIL_BYTES: usize = 8 * 1024;
/// Number of different unclosed tags after which tags stay in the text.
const OPEN_TAGS_MAX: usize = 8;
/// Share of symbols, in percent, from which on a line is code.
const SYMBOLS_PERCENT: usize = 14;
/// Share of machine lines, in percent, from which on the lines between them are a program's too.
const MACHINE_PERCENT: usize = 40;
/// Bytes of a line that are classified.
const LINE_BYTES: usize = 400;

/// Returns the lines of the turn that the person wrote, as plain text with wrapped lines joined.
pub(super) fn own_lines(turn: &str, words: &TurnWords) -> Vec<String> {
    plain_text(&own_text(turn, words))
        .lines()
        .filter(|line| !line.is_empty())
        .map(str::to_owned)
        .collect()
}

/// Returns the lines of the turn that the person wrote, with their Markdown syntax.
pub(in crate::sources) fn own_text(turn: &str, words: &TurnWords) -> String {
    let text = without_tags(&shorten(turn));
    let text = without_blocks(&text);
    let mut own = String::with_capacity(text.len());
    let mut block: Vec<&str> = Vec::new();
    for line in text.lines().chain([""]) {
        if line.trim().is_empty() {
            add_block(&mut own, &block, words);
            own.push('\n');
            block.clear();
        } else {
            block.push(line);
        }
    }
    own
}

/// Returns the beginning and the end of a long turn.
fn shorten(turn: &str) -> String {
    if turn.len() <= HEAD_BYTES + TAIL_BYTES {
        return turn.to_owned();
    }
    let mut head = HEAD_BYTES;
    while !turn.is_char_boundary(head) {
        head -= 1;
    }
    let mut tail = turn.len() - TAIL_BYTES;
    while !turn.is_char_boundary(tail) {
        tail += 1;
    }
    let (head, tail) = (turn.get(..head), turn.get(tail..));
    format!(
        "{}\n\n{}",
        head.unwrap_or_default(),
        tail.unwrap_or_default()
    )
}

/// Removes elements such as `<system-reminder>…</system-reminder>`, whose names have a hyphen or underscore.
fn without_tags(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    let mut open: Vec<&str> = Vec::new();
    while let Some((before, after)) = rest.split_once('<') {
        out.push_str(before);
        let length = after
            .bytes()
            .take_while(|byte| byte.is_ascii_lowercase() || matches!(byte, b'-' | b'_'))
            .count();
        let name = after.get(..length).unwrap_or_default();
        let is_tag = (3..64).contains(&length)
            && name.contains(['-', '_'])
            && after
                .get(length..)
                .is_some_and(|next| next.starts_with(['>', ' ', '\n', '/']));
        if !is_tag || open.contains(&name) || open.len() >= OPEN_TAGS_MAX {
            out.push('<');
            rest = after;
            continue;
        }
        let closing = format!("</{name}>");
        match after.find(&closing) {
            Some(end) => {
                out.push('\n');
                rest = after.get(end + closing.len()..).unwrap_or_default();
            }
            None => {
                open.push(name);
                out.push('<');
                rest = after;
            }
        }
    }
    out.push_str(rest);
    out
}

/// Adds the person's lines of a block of lines without an empty one.
fn add_block(own: &mut String, block: &[&str], words: &TurnWords) {
    let labels: Vec<&str> = block.iter().filter_map(|line| line_label(line)).collect();
    let has_known_label = |line: &str| {
        let label = line_label(line);
        label.is_some_and(|label| labels.iter().filter(|one| **one == label).count() > 1)
    };
    let is_machine: Vec<bool> = block
        .iter()
        .map(|line| has_known_label(line) || is_machine_line(line, words))
        .collect();
    let count = is_machine.iter().filter(|machine| **machine).count();
    let is_pasted = count >= 2 && count * 100 >= block.len() * MACHINE_PERCENT;
    let first = is_machine.iter().position(|machine| *machine);
    let last = is_machine.iter().rposition(|machine| *machine);
    let (Some(first), Some(last)) = (first, last) else {
        for line in block {
            own.push_str(line);
            own.push('\n');
        }
        return;
    };
    for (index, (line, machine)) in block.iter().zip(&is_machine).enumerate() {
        let is_between = (first..=last).contains(&index) || line.starts_with(['\t', ' ']);
        let is_part = is_pasted && is_between;
        if !machine && !is_part {
            own.push_str(line);
            own.push('\n');
        }
    }
}

/// Returns the first word of a line if it ends with a colon. Two lines of a block with the same one are output of a program,
/// such as `debug1: …` of `ssh -v`.
fn line_label(line: &str) -> Option<&str> {
    let first = line.split_whitespace().next()?;
    (first.len() > 1 && first.ends_with(':')).then_some(first)
}

/// Returns true if a program wrote the line: a log line, a stack frame, code, or a command with its prompt.
fn is_machine_line(raw: &str, words: &TurnWords) -> bool {
    let mut end = raw.len().min(LINE_BYTES);
    while !raw.is_char_boundary(end) {
        end -= 1;
    }
    let line = raw.get(..end).unwrap_or_default().trim();
    if has_time(line) || line.ends_with(['{', '}', ';']) || line.ends_with("=>") {
        return true;
    }
    let first = line.as_bytes().first().map(u8::to_ascii_lowercase);
    let starts = words.machine_starts.iter().any(|start| {
        let head = || line.get(..start.len()).unwrap_or_default();
        start.as_bytes().first().copied() == first
            && head().eq_ignore_ascii_case(start)
            && (!start.starts_with(char::is_alphabetic)
                || line.contains([
                    '(', ')', '{', '}', ';', '=', '<', '>', '[', ']', ':', '/', '!',
                ]))
    });
    if starts {
        return true;
    }
    let (mut symbols, mut others) = (0, 0);
    let mut is_code = false;
    for c in line.chars() {
        match c {
            '`' => is_code = !is_code,
            ' ' => {}
            _ if is_code => {}
            '{' | '}' | ';' | '=' | '<' | '>' | '[' | ']' | '|' | '\\' | '(' | ')' | '$' | '&' => {
                symbols += 1;
            }
            _ => others += 1,
        }
    }
    symbols >= 3 && symbols * 100 >= (symbols + others) * SYMBOLS_PERCENT
}

/// Returns true if the line begins with a date or a time of day.
fn has_time(line: &str) -> bool {
    let mut digits = 0;
    for (index, c) in line.chars().take(24).enumerate() {
        match c {
            '0'..='9' => digits += 1,
            ':' | '-' | '/' | '.' | 'T' | '[' | '(' | ' ' => {}
            _ => return digits >= 6 && index >= 8,
        }
    }
    digits >= 6
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cues::Cues;

    fn own(turn: &str) -> String {
        own_lines(turn, &Cues::get().person_rules.turns).join("|")
    }

    #[test]
    fn own_lines_leave_code_logs_and_injected_text_out() {
        for (turn, expected) in [
            ("use pnpm\nand tests", "use pnpm|and tests"),
            ("<system-reminder>\nx\n</system-reminder>fix it", "fix it"),
            ("a <b-c> d", "a <b-c> d"),
            ("see\n```\nnever\n```\n> always\nok", "see|ok"),
            ("2025-01-02 12:00:01 WARN never\nhow?", "how?"),
            ("[12:00:01] always\nhow?", "how?"),
            ("def f():\n    # always first\n    return 1;\n\nwhy", "why"),
            ("run it:\n$ npm ci\nnpm ERR! always\nok", "run it:|ok"),
            ("why?\nssh1: offer a key\nssh1: never mind", "why?"),
            (
                "note: use tabs\nwhy: they are wider",
                "note: use tabs|why: they are wider",
            ),
            (
                "error messages start lowercase",
                "error messages start lowercase",
            ),
            (
                "use `foo(a, b);` for (most) things",
                "use `foo(a, b);` for (most) things",
            ),
        ] {
            assert_eq!(own(turn), expected, "{turn}");
        }
    }

    #[test]
    fn own_lines_of_hostile_turns_are_bounded() {
        for unit in ["<a-b>", "<", "`", "x ", "{;\n", "\0", "é"] {
            let turn = unit.repeat(1 << 17);
            let length = own(&turn).len();
            assert!(length <= 4 * (HEAD_BYTES + TAIL_BYTES), "{unit}");
        }
    }
}
