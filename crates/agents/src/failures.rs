//! Failures of commands and file edits. The same failure has the same key in every session.

mod cause;
mod command_line;
pub mod command_result;
mod command_words;
mod deliberate_failure;
mod normal_command;
mod output_line;
mod output_phrases;
pub mod shell_line;
mod test_counts;
mod test_name;

pub use cause::{names_all_failing_tests, names_failing_tests, reports_failure};
pub use command_line::{CommandSlice, Operator, split_commands, split_words, unquote};
pub use command_words::{CommandWords, has_side_effects, is_heirloom_command, is_probe};
pub use deliberate_failure::{is_deliberate_failure, is_guessed_path};
pub use normal_command::{
    base_name, essential_commands, is_assignment, is_writer, normalize_command, unwrap_shell,
};
pub use test_counts::{TestCounts, read_test_counts};
pub use test_name::test_of_error;

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

/// A failed action.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// The command on one line, or the path of the edited file.
    pub command: String,
    /// The line of the output that names the fault, and the failing test if there is one.
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

    /// Returns the record key: the same in every session, and for the same message with other numbers. Failures of
    /// different tests have different keys.
    pub fn key(&self) -> String {
        let error = text::hash16(&text::error_identity(&self.error));
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
        false => quoted(&text::excerpt(
            command,
            limits::FAILURE_TEXT_COMMAND_CHARS_MAX,
        )),
    };
    match error.is_empty() {
        true => format!("{what} failed"),
        false => format!("{what} failed: {error}"),
    }
}

/// Returns the error message of an output: the first line that names the fault, with the failing test.
fn error_line(output: &str) -> String {
    error_text(cause::find_cause(output))
}

/// Returns the error messages of an output: the one of its [`Failure`], then those of failing tests with other
/// messages, at most `most`.
pub fn error_lines(output: &str, most: usize) -> Vec<String> {
    let causes = cause::find_causes(output, most);
    causes.into_iter().map(error_text).collect()
}

fn error_text(cause: cause::Cause) -> String {
    match cause.test {
        Some(test) if !cause.message.contains(&test) => {
            let most = limits::HOOK_ERROR_CHARS_MAX.saturating_sub(text::chars(&test) + 3);
            format!("{} ({test})", text::excerpt(&cause.message, most))
        }
        _ => cause.message,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn key_differs_for_other_tests() {
        let output = |test: &str, line: u32| {
            format!(
                "1) test {test} (App.CartTest)\n   test/cart_test.exs:{line}\n   Assertion with == failed\n2 tests, 1 failure"
            )
        };
        let one = Failure::new("mix test", &output("adds", 3));
        assert_eq!(one.error, "Assertion with == failed (test adds)");
        assert_eq!(
            one.key(),
            Failure::new("cd a && mix test 2>&1 | tail -30", &output("adds", 9)).key()
        );
        assert_ne!(
            one.key(),
            Failure::new("mix test", &output("removes", 3)).key()
        );
        let named = |test: &str| Failure::new("pytest", &format!("{test} failed: refused"));
        assert_ne!(named("test_1").key(), named("test_2").key());
    }

    #[test]
    fn error_line_picks_first_line_that_names_the_fault() {
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
    fn failure_text_has_expected_wording() {
        let failed = Failure::new("echo `x`", "cannot");
        assert_eq!(failure_text(&failed), "`echo 'x'` failed: cannot");
        assert_eq!(failure_text(&Failure::new("x", "")), "`x` failed");
        let edit = Failure::from_edit("a.rs", "String to replace not found in file.");
        assert_eq!(
            failure_text(&edit),
            "editing `a.rs` failed: String to replace not found in file."
        );
    }

    #[test]
    fn failure_text_shortens_long_command() {
        let command = format!("git commit -m '{}'", "words of a message ".repeat(20));
        let text = failure_text(&Failure::new(&command, "nothing to commit"));
        assert!(text.ends_with("…` failed: nothing to commit"), "{text}");
        let chars = text::chars(&text) - text::chars("`` failed: nothing to commit");
        assert_eq!(chars, limits::FAILURE_TEXT_COMMAND_CHARS_MAX);
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
