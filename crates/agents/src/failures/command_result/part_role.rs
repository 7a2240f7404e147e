//! Purpose of a simple command: what its exit status and its output mean.

use serde::{Deserialize, Serialize};

/// Purpose of a simple command.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PartRole {
    /// Work that succeeds or fails.
    #[default]
    Work,
    /// Preparation of the shell: `cd`, `export`.
    Setup,
    /// Prints a text.
    Message,
    /// Always succeeds, or always fails.
    Constant(bool),
    /// Selects lines of another command's output.
    Filter,
    /// Shows or moves files, and names itself in its errors.
    Reader,
    /// Status 1 is an answer, not a failure: `grep`, `diff`, `test`.
    Lookup,
}

/// Programs that prepare the shell.
const SETUP: [&str; 20] = [
    "cd", "pushd", "popd", "export", "source", ".", "set", "unset", "alias", "umask", "shopt",
    "local", "declare", "readonly", "typeset", "trap", "wait", "clear", "read", "mapfile",
];
/// Programs that succeed with any input.
pub(super) const PASSERS: [&str; 16] = [
    "tail", "head", "cat", "tee", "less", "more", "sort", "uniq", "wc", "cut", "tr", "column",
    "nl", "tac", "rev", "fold",
];
/// Further programs that select or change lines of an output.
const FILTERS: [&str; 8] = ["sed", "awk", "gawk", "jq", "yq", "xargs", "perl", "strings"];
/// Programs that show or move files, and name themselves in their errors.
const READERS: [&str; 24] = [
    "ls", "cat", "head", "tail", "less", "more", "cp", "mv", "rm", "mkdir", "rmdir", "touch", "ln",
    "chmod", "wc", "sort", "uniq", "cut", "stat", "file", "tree", "du", "find", "fd",
];
/// Programs whose status 1 is an answer.
const LOOKUPS: [&str; 20] = [
    "grep", "egrep", "fgrep", "rg", "ag", "ack", "zgrep", "test", "[", "[[", "diff", "cmp",
    "which", "type", "pgrep", "pkill", "killall", "pidof", "lsof", "fuser",
];
/// Programs that show files, histories or logs, which may tell of any failure.
const CONTENT: [&str; 36] = [
    "cat",
    "head",
    "tail",
    "less",
    "more",
    "grep",
    "egrep",
    "fgrep",
    "rg",
    "ag",
    "sed",
    "awk",
    "jq",
    "yq",
    "diff",
    "ls",
    "find",
    "fd",
    "tree",
    "sort",
    "nl",
    "journalctl",
    "dmesg",
    "gh",
    "glab",
    "curl",
    "wget",
    "bat",
    "xxd",
    "strings",
    "heirloom",
    "zgrep",
    "log",
    "logread",
    "logcat",
    "syslog",
];
/// Subcommands of `git`, `docker` and the like that show histories or logs.
const CONTENT_VERBS: [&str; 8] = [
    "log", "logs", "show", "diff", "blame", "grep", "cat-file", "reflog",
];

/// Returns the purpose of a command with its words, which follows a pipe or not.
pub(super) fn role_of(program: &str, words: &[String], is_piped: bool) -> PartRole {
    let word = |number: usize| words.get(number).map_or("", String::as_str);
    let has = |option: &str| words.iter().any(|word| word == option);
    match program {
        "true" | ":" | "sleep" => PartRole::Constant(true),
        "false" => PartRole::Constant(false),
        "exit" | "return" if matches!(word(0), "0") => PartRole::Constant(true),
        "exit" | "return" if word(0).parse::<i64>().is_ok() => PartRole::Constant(false),
        "echo" | "printf" => PartRole::Message,
        "git" if is_git_lookup(word(0), words) => PartRole::Lookup,
        "command" if matches!(word(0), "-v" | "-V") => PartRole::Lookup,
        "jq" if has("-e") || has("--exit-status") => PartRole::Lookup,
        "systemctl" if matches!(word(0), "is-active" | "is-enabled" | "status") => PartRole::Lookup,
        _ if SETUP.contains(&program) => PartRole::Setup,
        _ if is_piped && PASSERS.contains(&program) => PartRole::Constant(true),
        _ if LOOKUPS.contains(&program) => PartRole::Lookup,
        _ if is_piped && FILTERS.contains(&program) => PartRole::Filter,
        _ if READERS.contains(&program) => PartRole::Reader,
        _ => PartRole::Work,
    }
}

fn is_git_lookup(verb: &str, words: &[String]) -> bool {
    let has = |option: &str| words.iter().any(|word| word == option);
    match verb {
        "grep" => true,
        "diff" | "diff-index" | "diff-files" => {
            has("--exit-code") || has("--quiet") || has("--no-index") || has("--check")
        }
        "merge-base" => has("--is-ancestor"),
        "show-ref" | "rev-parse" | "check-ignore" => {
            has("-q") || has("--quiet") || verb == "check-ignore"
        }
        "ls-remote" => has("--exit-code"),
        "config" => has("--get"),
        _ => false,
    }
}

/// Returns true for programs that show content which may tell of any failure.
pub(super) fn shows_content(program: &str, words: &[String]) -> bool {
    let verb = words.iter().find(|word| !word.starts_with('-'));
    CONTENT.contains(&program)
        || matches!(
            program,
            "git" | "docker" | "kubectl" | "podman" | "jj" | "hg"
        ) && words
            .iter()
            .take(4)
            .chain(verb)
            .any(|word| CONTENT_VERBS.contains(&word.as_str()))
}
