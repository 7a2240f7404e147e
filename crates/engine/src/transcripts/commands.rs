//! Commands that failed, and what worked in their place.

use heirloom_model::text;

/// Shells that take a command as one argument.
const SHELLS: [&str; 5] = ["sh", "bash", "zsh", "dash", "fish"];

/// Words before a program that do not change what it is.
const BEFORE: [&[&str]; 16] = [
    &["sudo"],
    &["time"],
    &["exec"],
    &["env"],
    &["npx"],
    &["bunx"],
    &["uv", "run"],
    &["uvx"],
    &["poetry", "run"],
    &["pipenv", "run"],
    &["bundle", "exec"],
    &["pnpm", "exec"],
    &["yarn", "exec"],
    &["python", "-m"],
    &["python3", "-m"],
    &["mise", "exec", "--"],
];

/// Programs that look something up: that they find nothing is no error.
const PROBES: [&str; 43] = [
    "ls", "cat", "head", "tail", "grep", "rg", "egrep", "fgrep", "ag", "find", "fd", "which",
    "command", "type", "test", "[", "[[", "diff", "cmp", "stat", "file", "wc", "ps", "pgrep",
    "true", "false", "echo", "sleep", "kill", "pkill", "pwd", "tree", "timeout", "sed", "awk",
    "nl", "cut", "sort", "uniq", "tr", "xargs", "less", "jq",
];

/// Tools that only show what is in the project, or note what is to be done.
const LOOKING: [&str; 17] = [
    "Read",
    "Glob",
    "Grep",
    "LS",
    "NotebookRead",
    "TodoWrite",
    "ToolSearch",
    "read_file",
    "read_many_files",
    "glob",
    "search_file_content",
    "list_directory",
    "list_dir",
    "grep_files",
    "write_todos",
    "update_plan",
    "view_image",
];

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

/// Longest words of an error that are kept, characters.
const ERROR_CHARS: usize = 300;
/// Longest words of a command that are kept, characters.
const COMMAND_CHARS: usize = 300;

/// A command that failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// The command on one line.
    pub command: String,
    /// What it said.
    pub error: String,
}

impl Failure {
    /// What a command that printed `output` failed with.
    pub fn new(command: &str, output: &str) -> Self {
        Self {
            command: text::excerpt(command.trim(), COMMAND_CHARS),
            error: telling(output),
        }
    }
}

/// How a failed command is remembered: what an error's identity is made of.
pub fn failure_text(failure: &Failure) -> String {
    let Failure { command, error } = failure;
    match error.is_empty() {
        true => format!("`{command}` failed"),
        false => format!("`{command}` failed: {error}"),
    }
}

/// How it is remembered what worked in the place of a failed command, after changes to these files.
pub fn fixed_text(failed: &Failure, worked: &str, changed: &[String]) -> String {
    let worked = text::excerpt(worked.trim(), COMMAND_CHARS);
    let after = match changed {
        [] => String::new(),
        files => format!(" after changes to {}", files.join(", ")),
    };
    match (failed.command == worked, after.is_empty()) {
        (true, true) => format!("`{worked}` worked when it was run again"),
        (true, false) => format!("`{worked}` worked{after}"),
        (false, _) => format!("`{worked}` worked{after}"),
    }
}

/// Whether a command that worked is what a failed one was to be: the same program and the same first word, or the
/// same words for another program where that was not there.
pub fn fixes(failed: &Failure, worked: &str) -> bool {
    let (one, other) = (Words::of(&failed.command), Words::of(worked));
    if one.program.is_empty() || other.program.is_empty() {
        return false;
    }
    if one.program == other.program {
        return one.verb == other.verb || one.verb.is_none() || other.verb.is_none();
    }
    let is_missing = ["not found", "no such file", "no module"]
        .iter()
        .any(|words| failed.error.to_lowercase().contains(words));
    is_missing && !one.rest.is_empty() && one.rest == other.rest
}

/// Whether a command only looks something up.
pub fn is_probe(command: &str) -> bool {
    PROBES.contains(&Words::of(command).program)
}

/// Whether a tool only shows what is in the project.
pub fn is_look(tool: &str) -> bool {
    LOOKING.contains(&tool)
}

/// Whether a command is Heirloom's: what it prints is here already.
pub fn is_own_command(command: &str) -> bool {
    Words::of(command).program == "heirloom"
}

/// A command that a program gave as words.
pub(super) fn of_words(words: &[String]) -> Option<String> {
    match words {
        [] => None,
        [shell, flag, command, ..] if is_shell(shell) && is_command_flag(flag) => {
            Some(command.clone())
        }
        words => Some(words.join(" ")),
    }
}

fn is_shell(word: &str) -> bool {
    SHELLS.contains(&base(word))
}

fn is_command_flag(flag: &str) -> bool {
    flag.starts_with('-') && flag.ends_with('c')
}

fn base(word: &str) -> &str {
    word.rsplit('/').next().unwrap_or(word)
}

/// What a command is about.
#[derive(Debug, PartialEq, Eq)]
struct Words<'c> {
    program: &'c str,
    /// Its first word that is no option: what the program is to do.
    verb: Option<&'c str>,
    /// All words behind the program.
    rest: Vec<&'c str>,
}

impl<'c> Words<'c> {
    fn of(command: &'c str) -> Self {
        let command = unwrapped(command.trim());
        // What stands before only goes to the place.
        let mut parts = command.split("&&").map(str::trim);
        let command = parts
            .find(|part| {
                !matches!(
                    part.split_whitespace().next(),
                    Some("cd" | "export" | "source")
                )
            })
            .unwrap_or(command);
        let mut words: Vec<&str> = command.split_whitespace().collect();
        loop {
            let first = words.first().copied().unwrap_or_default();
            let skip = match BEFORE.iter().find(|before| words.starts_with(before)) {
                Some(before) => before.len(),
                None => usize::from(is_assignment(first)),
            };
            if skip == 0 || skip >= words.len() {
                break;
            }
            words.drain(..skip);
        }
        let mut words = words.into_iter();
        let program = base(words.next().unwrap_or_default());
        let rest: Vec<_> = words.collect();
        let verb = rest.iter().copied().find(|word| !word.starts_with('-'));
        Self {
            program,
            verb,
            rest,
        }
    }
}

fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
    })
}

/// The command inside of `bash -lc '…'`.
fn unwrapped(command: &str) -> &str {
    let mut words = command.splitn(3, ' ');
    match (words.next(), words.next(), words.next()) {
        (Some(shell), Some(flag), Some(inner)) if is_shell(shell) && is_command_flag(flag) => {
            inner.trim().trim_matches(['\'', '"'])
        }
        _ => command,
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
        let lower = text::clip(line, ERROR_CHARS).to_lowercase();
        if TELLING.iter().any(|word| lower.contains(word)) {
            return text::excerpt(line, ERROR_CHARS);
        }
        last = line;
    }
    text::excerpt(last, ERROR_CHARS)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failed(command: &str, output: &str) -> Failure {
        Failure::new(command, output)
    }

    #[test]
    fn what_fixes_what() {
        for (command, output, worked, does) in [
            ("npm test", "1 failing", "npm test", true),
            ("npm test", "1 failing", "npm run test", false),
            ("npm test", "1 failing", "npm install", false),
            ("cargo build --foo", "error: x", "cargo build --bar", true),
            ("cd a && cargo test", "error", "cargo test -p b", true),
            ("pytest", "pytest: command not found", "uv run pytest", true),
            (
                "python x.py",
                "python: command not found",
                "python3 x.py",
                true,
            ),
            ("python x.py", "Traceback", "node x.py", false),
            ("bash -lc 'make all'", "error", "make all -j2", true),
            ("FOO=1 make", "error", "make", true),
            ("", "error", "", false),
        ] {
            assert_eq!(
                fixes(&failed(command, output), worked),
                does,
                "{command} | {worked}"
            );
        }
    }

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
    fn probes_and_own_commands_are_known() {
        assert!(is_probe("cd x && grep -r y ."));
        assert!(!is_probe("cargo test"));
        assert!(is_own_command("/usr/bin/heirloom recall x"));
        assert!(!is_own_command("echo heirloom"));
    }

    #[test]
    fn words_of_a_shell_are_its_command() {
        let words =
            |all: &[&str]| of_words(&all.iter().map(|w| (*w).to_owned()).collect::<Vec<_>>());
        assert_eq!(words(&["bash", "-lc", "ls -la"]).as_deref(), Some("ls -la"));
        assert_eq!(words(&["ls", "-la"]).as_deref(), Some("ls -la"));
        assert_eq!(words(&[]), None);
    }
}
