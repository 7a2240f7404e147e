//! Commands word by word: which are the same, which only look, and what mends what.

use super::Failure;

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
const PROBES: [&str; 42] = [
    "ls", "cat", "head", "tail", "grep", "rg", "egrep", "fgrep", "ag", "find", "fd", "which",
    "command", "type", "test", "[", "[[", "diff", "cmp", "stat", "file", "wc", "ps", "pgrep",
    "true", "false", "echo", "sleep", "kill", "pkill", "pwd", "tree", "sed", "awk", "nl", "cut",
    "sort", "uniq", "tr", "xargs", "less", "jq",
];

/// A command as two of them are compared: without the folder that it begins in, with single blanks.
pub(super) fn plain(command: &str) -> String {
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

/// Whether a command is Heirloom's: what it prints is here already.
pub fn is_own_command(command: &str) -> bool {
    Words::of(command).program == "heirloom"
}

/// Whether a command only looks for something at its end, or is Heirloom's, so that its failure says nothing that is
/// worth remembering.
pub fn asks_only(command: &str) -> bool {
    let plain = plain(command);
    let last = plain.rsplit(['|', ';', '&']).next().unwrap_or(&plain);
    let words = Words::of(last);
    let asks_git = words.program == "git"
        && matches!(
            words.verb,
            Some("diff" | "grep" | "show" | "log" | "status")
        );
    words.program.is_empty()
        || PROBES.contains(&words.program)
        || asks_git
        || is_own_command(command)
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
                // With how long it waits.
                None if first == "timeout" => 2,
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

#[cfg(test)]
mod tests {
    use super::*;

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
                fixes(&Failure::new(command, output), worked),
                does,
                "{command} | {worked}"
            );
        }
    }

    #[test]
    fn probes_and_own_commands_are_known() {
        assert!(is_probe("cd x && grep -r y ."));
        assert!(!is_probe("cargo test"));
        assert!(is_own_command("/usr/bin/heirloom recall x"));
        assert!(!is_own_command("echo heirloom"));
        assert!(!is_probe("timeout 60 cargo test") && !asks_only("timeout 60 cargo test"));
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
            "heirloom recall x",
            "",
        ] {
            assert!(asks_only(command), "{command}");
        }
        for command in ["cargo test", "git push", "grep x y && make", "npm install"] {
            assert!(!asks_only(command), "{command}");
        }
    }
}
