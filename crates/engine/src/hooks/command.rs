//! What a failure is about: a command, or the edit of a file; the same words mean the same.

use heirloom_model::{limits, text};

/// What was done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Subject {
    /// A command was run.
    Command(String),
    /// A file was edited.
    Edit(String),
}

impl Subject {
    /// The key of failures of it.
    pub fn key(&self) -> String {
        match self {
            Self::Command(command) => {
                format!("command:{}", text::hash16(&plain(command)))
            }
            Self::Edit(file) => format!("edit:{}", text::hash16(file)),
        }
    }

    /// How it is told, on one line.
    pub fn shown(&self) -> String {
        let (what, most) = match self {
            Self::Command(command) => (command, limits::HOOK_COMMAND_CHARS_MAX),
            Self::Edit(file) => {
                return format!(
                    "editing `{}`",
                    text::excerpt(file, limits::HOOK_COMMAND_CHARS_MAX)
                );
            }
        };
        format!("`{}`", text::excerpt(what.trim(), most).replace('`', "'"))
    }
}

/// A command as two of them are compared: without the folder that it begins in, with single blanks.
fn plain(command: &str) -> String {
    let mut rest = command.trim();
    while let Some((first, behind)) = rest.split_once("&&") {
        let mut words = first.split_whitespace();
        if words.next() != Some("cd") || words.count() > 1 {
            break;
        }
        rest = behind.trim_start();
    }
    rest.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Programs that say no with an exit code: what they find is an answer and no failure.
const ASKING: [&str; 24] = [
    "[", "ag", "cat", "cmp", "command", "diff", "egrep", "fgrep", "file", "find", "fd", "grep",
    "head", "ls", "pgrep", "ps", "rg", "sed", "stat", "tail", "test", "type", "wc", "which",
];

/// Whether a command only looks for something, so that its failure says nothing that is worth remembering.
pub fn asks_only(command: &str) -> bool {
    let plain = plain(command);
    let last = plain.rsplit(['|', ';', '&']).next().unwrap_or(&plain);
    let mut words = last.split_whitespace().filter(|word| !word.contains('='));
    let Some(program) = words.next() else {
        return true;
    };
    let program = program.rsplit('/').next().unwrap_or(program);
    let second = words.next();
    ASKING.contains(&program)
        || (program == "git" && matches!(second, Some("diff" | "grep" | "show" | "log" | "status")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(command: &str) -> String {
        Subject::Command(command.to_owned()).key()
    }

    #[test]
    fn the_same_command_in_another_folder_and_spacing() {
        let one = key("cargo test -p x");
        for other in [
            " cargo  test -p x\n",
            "cd /p && cargo test -p x",
            "cd a && cd b &&cargo test -p x",
        ] {
            assert_eq!(key(other), one, "{other}");
        }
        for other in ["cargo test -p y", "make && cargo test -p x", "cd a b && x"] {
            assert_ne!(key(other), one, "{other}");
        }
        assert_ne!(
            Subject::Edit("cargo test -p x".to_owned()).key(),
            one,
            "an edit is no command"
        );
    }

    #[test]
    fn looking_is_no_trying() {
        for command in [
            "grep x y",
            "cargo build | grep error",
            "/usr/bin/test -f a",
            "cd a && ls b",
            "git diff --exit-code",
            "A=1 rg x",
            "",
        ] {
            assert!(asks_only(command), "{command}");
        }
        for command in ["cargo test", "git push", "grep x y && make", "npm install"] {
            assert!(!asks_only(command), "{command}");
        }
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
}
