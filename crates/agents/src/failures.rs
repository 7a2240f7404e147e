//! Failures of commands and file edits. The same failure has the same key in every session.

mod command_words;

pub use command_words::{
    has_side_effects, is_failure_expected, is_fix_for, is_heirloom_command, is_probe,
};

use command_words::normalize_command;
use heirloom_model::{limits, text};

/// Action that was performed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Subject {
    /// A command was run.
    Command(String),
    /// A file was edited.
    Edit(String),
}

impl Subject {
    /// Returns the common key prefix of all failures of this action. A command counts as the same in any folder.
    pub fn prefix(&self) -> String {
        match self {
            Self::Command(command) => {
                format!("command:{}:", text::hash16(&normalize_command(command)))
            }
            Self::Edit(file) => format!("edit:{}:", text::hash16(file)),
        }
    }

    /// Returns the action on one line, in backticks.
    pub fn display_text(&self) -> String {
        let most = limits::HOOK_COMMAND_CHARS_MAX;
        match self {
            Self::Command(command) => quoted(&text::excerpt(command.trim(), most)),
            Self::Edit(file) => format!("editing {}", quoted(&text::excerpt(file, most))),
        }
    }
}

fn quoted(what: &str) -> String {
    format!("`{}`", what.replace('`', "'"))
}

/// Words that mark a line of output as the error message.
const ERROR_WORDS: [&str; 14] = [
    "error",
    "fail",
    "cannot",
    "can't",
    "could not",
    "not found",
    "no such",
    "denied",
    "panicked",
    "exception",
    "fatal",
    "undefined",
    "unable",
    "invalid",
];

/// A failed action.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// The command on one line, or the path of the edited file.
    pub command: String,
    /// The error message.
    pub error: String,
    /// Common prefix of the keys of its failures.
    pub prefix: String,
}

impl Failure {
    /// Creates the failure of a command that printed `output`.
    pub fn new(command: &str, output: &str) -> Self {
        Self {
            command: text::excerpt(command.trim(), limits::HOOK_COMMAND_CHARS_MAX),
            error: error_line(output),
            prefix: Subject::Command(command.to_owned()).prefix(),
        }
    }

    /// Creates the failure of a file edit.
    pub fn from_edit(file: &str, content: &str) -> Self {
        Self {
            command: text::excerpt(file, limits::HOOK_COMMAND_CHARS_MAX),
            error: error_line(content),
            prefix: Subject::Edit(file.to_owned()).prefix(),
        }
    }

    /// Returns the record key: the same in every session, and for the same message with other numbers.
    pub fn key(&self) -> String {
        let error = text::hash16(&text::error_signature(&self.error));
        format!("{}{error}", self.prefix)
    }
}

/// Returns the text of a failure's record.
pub fn failure_text(failure: &Failure) -> String {
    let Failure {
        command,
        error,
        prefix,
    } = failure;
    let what = match prefix.starts_with("edit:") {
        true => format!("editing {}", quoted(command)),
        false => quoted(command),
    };
    match error.is_empty() {
        true => format!("{what} failed"),
        false => format!("{what} failed: {error}"),
    }
}

/// Returns the text of the record for a command that worked after a failed one, after changes to these files.
pub fn fix_text(failed: &Failure, worked: &str, changed: &[String]) -> String {
    let worked = text::excerpt(worked.trim(), limits::HOOK_COMMAND_CHARS_MAX);
    let is_same = failed.command == worked;
    let worked = quoted(&worked);
    match changed {
        [] if is_same => format!("{worked} worked when it was run again"),
        [] => format!("{worked} worked"),
        files => format!("{worked} worked after changes to {}", files.join(", ")),
    }
}

/// Returns the error message of an output: the first line with an error word, else the last line.
fn error_line(output: &str) -> String {
    let plain = text::strip_ansi(output);
    let mut last = "";
    for line in plain.lines().map(str::trim) {
        if line.is_empty() || line.starts_with("Exit code") || line.starts_with("Exit Code") {
            continue;
        }
        let lower = text::clip(line, limits::HOOK_ERROR_CHARS_MAX).to_lowercase();
        if ERROR_WORDS.iter().any(|word| lower.contains(word)) {
            return text::excerpt(line, limits::HOOK_ERROR_CHARS_MAX);
        }
        last = line;
    }
    text::excerpt(last, limits::HOOK_ERROR_CHARS_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn error_line_picks_first_line_with_error_word() {
        for (output, line) in [
            (
                "Exit code 1\nrunning\nerror[E0308]: mismatched\n  --> a.rs",
                "error[E0308]: mismatched",
            ),
            ("one\ntwo\n\n", "two"),
            ("", ""),
            ("\u{1b}[31mError: no\u{1b}[0m", "Error: no"),
        ] {
            assert_eq!(error_line(output), line, "{output}");
        }
    }

    #[test]
    fn prefix_ignores_folder_and_spacing() {
        let one = prefix("cargo test -p x");
        for other in [
            " cargo  test -p x\n",
            "cd /p && cargo test -p x",
            "cd a && cd b &&cargo test -p x",
        ] {
            assert_eq!(prefix(other), one, "{other}");
        }
        for other in ["cargo test -p y", "make && cargo test -p x", "cd a b && x"] {
            assert_ne!(prefix(other), one, "{other}");
        }
        assert_ne!(
            Subject::Edit("cargo test -p x".to_owned()).prefix(),
            one,
            "an edit is no command"
        );
    }

    #[test]
    fn key_ignores_folder_and_numbers() {
        let one = Failure::new("cargo test", "Exit code 101\nerror: 3 tests failed");
        let same = [
            Failure::new("cd a && cargo  test", "error: 4 tests failed\nat x"),
            Failure::new(" cargo test\n", "\u{1b}[31mError: 5 tests failed\u{1b}[0m"),
        ];
        for other in same {
            assert_eq!(other.key(), one.key(), "{other:?}");
        }
        let others = [
            Failure::new("cargo test -p a", "error: 3 tests failed"),
            Failure::new("cargo test", "error: no such file"),
            Failure::from_edit("cargo test", "error: 3 tests failed"),
        ];
        for other in others {
            assert_ne!(other.key(), one.key(), "{other:?}");
        }
        assert!(one.key().starts_with(&one.prefix) && one.prefix.ends_with(':'));
    }

    #[test]
    fn failure_text_and_fix_text_have_expected_wording() {
        let failed = Failure::new("echo `x`", "cannot");
        assert_eq!(failure_text(&failed), "`echo 'x'` failed: cannot");
        assert_eq!(failure_text(&Failure::new("x", "")), "`x` failed");
        let edit = Failure::from_edit("a.rs", "String to replace not found in file.");
        assert_eq!(
            failure_text(&edit),
            "editing `a.rs` failed: String to replace not found in file."
        );
        assert_eq!(
            fix_text(&Failure::new("x", ""), "x", &[]),
            "`x` worked when it was run again"
        );
        assert_eq!(
            fix_text(&Failure::new("x", ""), "y", &["a".to_owned()]),
            "`y` worked after changes to a"
        );
    }

    #[test]
    fn error_line_truncates_long_line() {
        let most = limits::HOOK_ERROR_CHARS_MAX;
        let fits = "x".repeat(most);
        assert_eq!(error_line(&fits), fits);
        let over = error_line(&"x".repeat(most + 1));
        assert!(over.ends_with('…') && text::chars(&over) == most);
    }

    #[test]
    fn display_text_truncates_long_command() {
        let long = Subject::Command("x".repeat(limits::HOOK_COMMAND_CHARS_MAX + 1));
        assert_eq!(
            text::chars(&long.display_text()),
            limits::HOOK_COMMAND_CHARS_MAX + 2
        );
        let fits = Subject::Command("x".repeat(limits::HOOK_COMMAND_CHARS_MAX));
        assert!(!fits.display_text().contains('…'));
        assert_eq!(
            Subject::Edit("a.rs".to_owned()).display_text(),
            "editing `a.rs`"
        );
    }

    fn prefix(command: &str) -> String {
        Subject::Command(command.to_owned()).prefix()
    }
}
