//! Requests: the person's words of a prompt, and the difference between a task and a follow-up.

use crate::bounded_text::bounded;
use crate::cues::{OutcomeCues, TurnWords};
use crate::sentences::{is_question, plain_text};
use crate::sources::person_rules::own_text;
use heirloom_agents::failures::{error_lines, reports_failure};
use heirloom_agents::host_text::{SlashCommand, parse_slash_command};

/// Number of characters from which on a turn is a task of its own.
const TASK_CHARS_MIN: usize = 90;
/// Number of characters up to which a turn that continues the one before is no task.
const CONTINUATION_CHARS_MAX: usize = 240;
/// Number of words from which on a turn that begins with a verb of work is a task of its own.
const TASK_WORDS_MIN: usize = 4;
/// Number of words below which a request says nothing without the command before it.
const CLEAR_WORDS_MIN: usize = 4;
/// Greatest number of bytes of pasted output that are searched for an error.
const PASTED_BYTES_MAX: usize = 8 << 10;
/// Greatest number of bytes of an error line.
const ERROR_BYTES_MAX: usize = 200;
/// Parts of lines of pasted output that name a fault.
const ERROR_MARKS: [&str; 6] = [
    "Error:",
    "error:",
    "error[",
    "Exception",
    "panicked at",
    "fatal:",
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

/// A person's turn without what programs add.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct CaseRequest {
    /// The person's words as plain text: without logs, code, quotations and wrappers.
    pub(super) text: String,
    /// The line that names the fault in output that the person pasted.
    pub(super) error: String,
    /// Slash command without arguments that may ask for work.
    pub(super) command: Option<String>,
}

impl CaseRequest {
    /// Reads a prompt.
    pub(super) fn read(prompt: &str, words: &TurnWords) -> Self {
        let prompt = prompt.trim();
        if let Some(command) = parse_slash_command(prompt) {
            return Self::of_command(&command, words);
        }
        let own = clean(prompt, words);
        let text = match announced_heading(prompt) {
            Some(heading) => format!("{heading}\n{own}"),
            None => own,
        };
        Self {
            error: pasted_error(prompt, &text),
            text,
            command: None,
        }
        .with_own_words()
    }

    /// Takes the error as the request if the person wrote nothing else.
    fn with_own_words(mut self) -> Self {
        if self.text.is_empty() {
            self.text = std::mem::take(&mut self.error);
        }
        self
    }

    fn of_command(command: &SlashCommand, words: &TurnWords) -> Self {
        if command.is_of_program() {
            return Self::default();
        }
        let arguments = clean(&command.arguments, words);
        match arguments.is_empty() {
            true => Self {
                command: Some(bounded(&command.name, 60)),
                ..Self::default()
            },
            false => Self {
                text: format!("{} {arguments}", command.name),
                ..Self::default()
            },
        }
    }

    /// Returns the request with the command before it, if it is unclear without it.
    pub(super) fn with_command(&self, command: &str, cues: &OutcomeCues) -> Self {
        let words = self.text.split_whitespace().count();
        let is_unclear =
            words < CLEAR_WORDS_MIN && !cues.phrases.work_verbs.begins(&self.text.to_lowercase());
        if command.is_empty() || !is_unclear {
            return self.clone();
        }
        let text = match self.text.is_empty() {
            true => command.to_owned(),
            false => format!("{command}: {}", self.text),
        };
        Self {
            text,
            ..self.clone()
        }
    }

    /// Returns the kind of the request.
    pub(super) fn kind(&self, cues: &OutcomeCues) -> RequestKind {
        let request = self.text.as_str();
        let lower = request.to_lowercase();
        let bare = lower.trim_matches(|c: char| !c.is_alphanumeric());
        if bare.is_empty() || cues.phrases.approvals.contains(bare) {
            return RequestKind::Empty;
        }
        if request.starts_with('/') {
            return RequestKind::Task;
        }
        let plain = without_politeness(&lower, cues);
        let is_continuation = cues.phrases.continuations.begins(plain)
            && request.chars().nth(CONTINUATION_CHARS_MAX).is_none();
        if is_continuation {
            return RequestKind::FollowUp;
        }
        let is_long = request.chars().nth(TASK_CHARS_MIN).is_some();
        let words = request.split_whitespace().count();
        let begins = cues.phrases.work_verbs.begins(plain);
        match is_long || (begins && !is_question(request) && words >= TASK_WORDS_MIN) {
            true => RequestKind::Task,
            false => RequestKind::FollowUp,
        }
    }
}

/// Returns the person's words of a text as plain text.
fn clean(prompt: &str, words: &TurnWords) -> String {
    let own = own_text(prompt, words);
    let mut lines = String::with_capacity(own.len());
    for line in own.lines() {
        // Some terminals end a line with a backslash, which continues the prompt.
        let line = line.trim_end().trim_end_matches('\\').trim_end();
        let is_terminal = ["➜ ", "❯", "$ ", "% ", "PS "]
            .iter()
            .any(|start| line.starts_with(start));
        let is_attachment = line.ends_with(']')
            && ["[Image", "[Pasted text"]
                .iter()
                .any(|start| line.starts_with(start));
        if !is_attachment && !is_terminal {
            lines.push_str(line);
            lines.push('\n');
        }
    }
    plain_text(&lines).trim().to_owned()
}

/// Returns the first heading after a line that announces it, as in `Implement the following plan:` before a pasted plan.
/// The person's words do not include it, because lines of logs and comments begin in the same way.
fn announced_heading(prompt: &str) -> Option<&str> {
    let mut lines = prompt
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty());
    let heading = lines.next()?.ends_with(':').then(|| lines.next())??;
    let text = heading.strip_prefix('#')?.trim_start_matches('#').trim();
    (!text.is_empty()).then_some(text)
}

/// Returns the line that names the fault among the lines of a prompt that are not the person's words.
fn pasted_error(prompt: &str, own: &str) -> String {
    let end = prompt.floor_char_boundary(PASTED_BYTES_MAX);
    let pasted: Vec<&str> = (prompt.get(..end).unwrap_or_default().lines())
        .filter(|line| !line.trim().is_empty() && !own.contains(line.trim()))
        .collect();
    let pasted = pasted.join("\n");
    let reported = reports_failure(&pasted)
        .then(|| error_lines(&pasted, 1).pop())
        .flatten();
    let named = || {
        let is_error = |line: &&str| ERROR_MARKS.iter().any(|mark| line.contains(mark));
        pasted
            .lines()
            .find(is_error)
            .map(|line| line.trim().to_owned())
    };
    let line = reported.or_else(named).unwrap_or_default();
    bounded(&line, ERROR_BYTES_MAX)
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
    use heirloom_agents::AgentProgram;

    /// Reads a prompt as the transcript reader passes it on.
    fn read(prompt: &str) -> CaseRequest {
        let prompt = AgentProgram::ClaudeCode.person_text(prompt);
        CaseRequest::read(&prompt, &Cues::get().person_rules.turns)
    }

    #[test]
    fn read_removes_what_programs_add() {
        for (prompt, own) in [
            ("<system-reminder>x</system-reminder>\nFix it", "Fix it"),
            (
                "<command-message>a</command-message>\n<command-name>/review</command-name>\n<command-args>the changes</command-args>",
                "/review the changes",
            ),
            ("[Image #1]\nFix it\\\nand test it", "Fix it\nand test it"),
            ("Why?\n12:01:02.100 Cloning\n12:01:02.200 Failed", "Why?"),
            ("[Request interrupted by user for tool use]", ""),
            ("<command-name>/clear</command-name>", ""),
            ("/clear", ""),
            ("/src/a.rs is wrong", "/src/a.rs is wrong"),
        ] {
            assert_eq!(read(prompt).text, own, "{prompt}");
        }
        assert_eq!(
            read("<command-name>/todos</command-name>")
                .command
                .as_deref(),
            Some("/todos")
        );
        assert_eq!(read("/clear").command, None);
    }

    #[test]
    fn read_keeps_the_error_of_pasted_output() {
        let request = read(
            "The import fails:\n```\nTraceback (most recent call last):\n  File \"a.py\", line 1\nKeyError: 'year'\n```",
        );
        assert_eq!(request.text, "The import fails:");
        assert_eq!(request.error, "KeyError: 'year'");
        assert_eq!(read("The import fails when no error is set").error, "");
        let pasted =
            read("➜ shop git:(main) git push\nerror: failed to push some refs\nhint: fetch first");
        assert_eq!(pasted.text, "error: failed to push some refs");
    }

    #[test]
    fn read_takes_the_heading_of_an_announced_plan() {
        let request = read(
            "Implement the following plan:\n\n# Plan: Dates without a day\n\n## Context\n\nToday they fail.",
        );
        assert!(
            request.text.starts_with("Plan: Dates without a day\n"),
            "{request:?}"
        );
    }

    #[test]
    fn with_command_names_the_command_of_a_short_answer() {
        let cues = &Cues::get().outcome;
        let text = |prompt: &str| read(prompt).with_command("/todos", cues).text;
        assert_eq!(text("8"), "/todos: 8");
        assert_eq!(text(""), "/todos");
        assert_eq!(
            text("Add a page for the orders"),
            "Add a page for the orders"
        );
    }

    #[test]
    fn kind_separates_tasks_and_follow_ups() {
        let cues = &Cues::get().outcome;
        for (request, kind) in [
            ("yes", RequestKind::Empty),
            ("Continue.", RequestKind::Empty),
            ("/clear", RequestKind::Empty),
            ("", RequestKind::Empty),
            ("did you push?", RequestKind::FollowUp),
            ("check the log", RequestKind::FollowUp),
            (
                "also add a test for the empty file and one for the file with only a header, please, both in tests",
                RequestKind::FollowUp,
            ),
            ("Please add a page for orders", RequestKind::Task),
            ("could you implement a parser for dates", RequestKind::Task),
            ("can you present it now?", RequestKind::FollowUp),
            ("/review the changes", RequestKind::Task),
        ] {
            assert_eq!(read(request).kind(cues), kind, "{request}");
        }
    }
}
