//! Text of requests: cleaning, and the difference between a task and a follow-up.

use crate::cues::{OutcomeCues, TurnWords};
use crate::sentences::{is_question, plain_text};
use crate::sources::person_rules::own_text;

/// Number of characters from which on a turn is a task of its own.
const TASK_CHARS_MIN: usize = 90;
/// Number of words from which on a turn that begins with a verb of work is a task of its own.
const TASK_WORDS_MIN: usize = 4;
/// Elements in which programs wrap a request.
const WRAPPERS: [[&str; 2]; 4] = [
    ["<command-args>", "</command-args>"],
    ["<user_query>", "</user_query>"],
    ["<user-query>", "</user-query>"],
    ["<user_message>", "</user_message>"],
];

/// Kind of a person's turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RequestKind {
    /// It asks for nothing.
    Empty,
    /// It continues the request before it.
    FollowUp,
    /// It is a request of its own.
    Task,
}

/// Returns the person's words of a prompt as plain text: without logs, code, quotations, and what programs add.
pub(super) fn clean_request(prompt: &str, words: &TurnWords) -> String {
    let own = own_text(unwrap_request(prompt), words);
    let mut lines = String::with_capacity(own.len());
    for line in own.lines() {
        // Some terminals end a line with a backslash, which continues the prompt.
        let line = line.trim_end().trim_end_matches('\\').trim_end();
        let is_attachment = line.ends_with(']')
            && ["[Image", "[Pasted text"]
                .iter()
                .any(|start| line.starts_with(start));
        if !is_attachment {
            lines.push_str(line);
            lines.push('\n');
        }
    }
    plain_text(&lines).trim().to_owned()
}

/// Returns the request in the element in which a program wrapped it.
fn unwrap_request(prompt: &str) -> &str {
    WRAPPERS
        .iter()
        .find_map(|[open, close]| {
            let (_, inner) = prompt.split_once(open)?;
            Some(inner.split_once(close)?.0)
        })
        .unwrap_or(prompt)
}

/// Returns the kind of a cleaned prompt.
pub(super) fn classify_request(request: &str, cues: &OutcomeCues) -> RequestKind {
    let lower = request.to_lowercase();
    let bare = lower.trim_matches(|c: char| !c.is_alphanumeric());
    let is_command = request.starts_with('/') && !request.contains(char::is_whitespace);
    if bare.is_empty() || is_command || cues.phrases.approvals.contains(bare) {
        return RequestKind::Empty;
    }
    let is_long = request.chars().nth(TASK_CHARS_MIN).is_some();
    let is_open = is_question(request);
    let words = request.split_whitespace().count();
    let begins = cues
        .phrases
        .work_verbs
        .begins(without_politeness(&lower, cues));
    match is_long || (begins && !is_open && words >= TASK_WORDS_MIN) {
        true => RequestKind::Task,
        false => RequestKind::FollowUp,
    }
}

/// Returns a request without "please" and similar words before it.
pub(super) fn without_politeness<'r>(request: &'r str, cues: &OutcomeCues) -> &'r str {
    let mut rest = request.trim_start();
    for _ in 0..3 {
        let lower_starts = |start: &str| {
            rest.get(..start.len())
                .is_some_and(|head| head.eq_ignore_ascii_case(start))
        };
        let longest = cues
            .phrases
            .politeness
            .iter()
            .filter(|start| lower_starts(start))
            .map(String::len)
            .max();
        match longest {
            Some(length) => {
                rest = rest
                    .get(length..)
                    .unwrap_or_default()
                    .trim_start_matches([' ', ','])
            }
            None => break,
        }
    }
    rest
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cues::Cues;

    #[test]
    fn clean_request_removes_what_programs_add() {
        for (prompt, own) in [
            ("<system-reminder>x</system-reminder>\nFix it", "Fix it"),
            (
                "<command-message>a</command-message>\n<command-args>Fix it</command-args>",
                "Fix it",
            ),
            (
                "<environment_context>\n<cwd>/x</cwd>\n</environment_context>",
                "",
            ),
            ("[Image #1]\nFix it\\\nand test it", "Fix it\nand test it"),
            ("Why?\n12:01:02.100 Cloning\n12:01:02.200 Failed", "Why?"),
        ] {
            assert_eq!(
                clean_request(prompt, &Cues::get().person_rules.turns),
                own,
                "{prompt}"
            );
        }
    }

    #[test]
    fn classify_request_separates_tasks_and_follow_ups() {
        let cues = &Cues::get().outcome;
        for (request, kind) in [
            ("yes", RequestKind::Empty),
            ("Continue.", RequestKind::Empty),
            ("/clear", RequestKind::Empty),
            ("", RequestKind::Empty),
            ("did you push?", RequestKind::FollowUp),
            ("check the log", RequestKind::FollowUp),
            ("Please add a page for orders", RequestKind::Task),
            ("could you implement a parser for dates", RequestKind::Task),
            ("can you present it now?", RequestKind::FollowUp),
        ] {
            assert_eq!(classify_request(request, cues), kind, "{request}");
        }
    }
}
