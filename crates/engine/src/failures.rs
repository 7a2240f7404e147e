//! What failed: a command, or the edit of a file. The same failure has the same name, whoever saw it.

mod words;

pub use words::{asks_only, fixes, is_own_command, is_probe};

use heirloom_model::{limits, text};
use words::plain;

/// What was done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Subject {
    /// A command was run.
    Command(String),
    /// A file was edited.
    Edit(String),
}

impl Subject {
    /// What the keys of all its failures begin with: the same words in another folder are the same command.
    pub fn prefix(&self) -> String {
        match self {
            Self::Command(command) => format!("command:{}:", text::hash16(&plain(command))),
            Self::Edit(file) => format!("edit:{}:", text::hash16(file)),
        }
    }

    /// How it is told, on one line.
    pub fn shown(&self) -> String {
        let most = limits::HOOK_COMMAND_CHARS_MAX;
        match self {
            Self::Command(command) => shown(&text::excerpt(command.trim(), most)),
            Self::Edit(file) => format!("editing {}", shown(&text::excerpt(file, most))),
        }
    }
}

fn shown(what: &str) -> String {
    format!("`{}`", what.replace('`', "'"))
}

/// Words that make a line of an output the one that says what went wrong.
const TELLING: [&str; 14] = [
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

/// Something that failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// The command on one line; of an edit what was edited.
    pub command: String,
    /// What it said.
    pub error: String,
    /// What the keys of its failures begin with.
    pub prefix: String,
}

impl Failure {
    /// What a command that printed `output` failed with.
    pub fn new(command: &str, output: &str) -> Self {
        Self {
            command: text::excerpt(command.trim(), limits::HOOK_COMMAND_CHARS_MAX),
            error: telling(output),
            prefix: Subject::Command(command.to_owned()).prefix(),
        }
    }

    /// What the edit of a file failed with.
    pub fn of_edit(file: &str, said: &str) -> Self {
        Self {
            command: text::excerpt(file, limits::HOOK_COMMAND_CHARS_MAX),
            error: telling(said),
            prefix: Subject::Edit(file.to_owned()).prefix(),
        }
    }

    /// The key of the record of it: the same for everybody who saw it, and for the same words with other numbers.
    pub fn key(&self) -> String {
        let error = text::hash16(&text::signature(&self.error));
        format!("{}{error}", self.prefix)
    }
}

/// How something that failed is remembered.
pub fn failure_text(failure: &Failure) -> String {
    let Failure {
        command,
        error,
        prefix,
    } = failure;
    let what = match prefix.starts_with("edit:") {
        true => format!("editing {}", shown(command)),
        false => shown(command),
    };
    match error.is_empty() {
        true => format!("{what} failed"),
        false => format!("{what} failed: {error}"),
    }
}

/// How it is remembered what worked in the place of a failed command, after changes to these files.
pub fn fixed_text(failed: &Failure, worked: &str, changed: &[String]) -> String {
    let worked = text::excerpt(worked.trim(), limits::HOOK_COMMAND_CHARS_MAX);
    let is_same = failed.command == worked;
    let worked = shown(&worked);
    match changed {
        [] if is_same => format!("{worked} worked when it was run again"),
        [] => format!("{worked} worked"),
        files => format!("{worked} worked after changes to {}", files.join(", ")),
    }
}

/// The line of an output that says what went wrong: the first that has such a word, else the last.
fn telling(output: &str) -> String {
    let plain = text::strip_ansi(output);
    let mut last = "";
    for line in plain.lines().map(str::trim) {
        if line.is_empty() || line.starts_with("Exit code") || line.starts_with("Exit Code") {
            continue;
        }
        let lower = text::clip(line, limits::HOOK_ERROR_CHARS_MAX).to_lowercase();
        if TELLING.iter().any(|word| lower.contains(word)) {
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
    fn the_telling_line_is_found() {
        for (output, line) in [
            (
                "Exit code 1\nrunning\nerror[E0308]: mismatched\n  --> a.rs",
                "error[E0308]: mismatched",
            ),
            ("one\ntwo\n\n", "two"),
            ("", ""),
            ("\u{1b}[31mError: no\u{1b}[0m", "Error: no"),
        ] {
            assert_eq!(telling(output), line, "{output}");
        }
    }

    #[test]
    fn the_same_command_in_another_folder_and_spacing() {
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
    fn the_same_failure_has_the_same_key() {
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
            Failure::of_edit("cargo test", "error: 3 tests failed"),
        ];
        for other in others {
            assert_ne!(other.key(), one.key(), "{other:?}");
        }
        assert!(one.key().starts_with(&one.prefix) && one.prefix.ends_with(':'));
    }

    #[test]
    fn how_failures_and_what_helped_are_told() {
        let failed = Failure::new("echo `x`", "cannot");
        assert_eq!(failure_text(&failed), "`echo 'x'` failed: cannot");
        assert_eq!(failure_text(&Failure::new("x", "")), "`x` failed");
        let edit = Failure::of_edit("a.rs", "String to replace not found in file.");
        assert_eq!(
            failure_text(&edit),
            "editing `a.rs` failed: String to replace not found in file."
        );
        assert_eq!(
            fixed_text(&Failure::new("x", ""), "x", &[]),
            "`x` worked when it was run again"
        );
        assert_eq!(
            fixed_text(&Failure::new("x", ""), "y", &["a".to_owned()]),
            "`y` worked after changes to a"
        );
    }

    #[test]
    fn of_a_long_line_the_beginning_is_kept() {
        let most = limits::HOOK_ERROR_CHARS_MAX;
        let fits = "x".repeat(most);
        assert_eq!(telling(&fits), fits);
        let over = telling(&"x".repeat(most + 1));
        assert!(over.ends_with('…') && text::chars(&over) == most);
    }

    #[test]
    fn a_long_command_is_told_shortly() {
        let long = Subject::Command("x".repeat(limits::HOOK_COMMAND_CHARS_MAX + 1));
        assert_eq!(
            text::chars(&long.shown()),
            limits::HOOK_COMMAND_CHARS_MAX + 2
        );
        let fits = Subject::Command("x".repeat(limits::HOOK_COMMAND_CHARS_MAX));
        assert!(!fits.shown().contains('…'));
        assert_eq!(Subject::Edit("a.rs".to_owned()).shown(), "editing `a.rs`");
    }

    fn prefix(command: &str) -> String {
        Subject::Command(command.to_owned()).prefix()
    }
}
