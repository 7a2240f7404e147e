//! Normal form of commands: what is run, without the folder, the environment, limits and filters of the output.

use super::command_line::{Operator, split_commands, split_words};
use heirloom_model::limits;

/// Shells that take a command as one argument.
pub(super) const SHELLS: [&str; 5] = ["sh", "bash", "zsh", "dash", "fish"];

/// Programs that only prepare the commands after them.
const SETUP: [&str; 12] = [
    "cd", "pushd", "popd", "export", "source", ".", "set", "unset", "alias", "sleep", "wait",
    "umask",
];

/// Programs that only print, or only set the exit status.
const MESSAGES: [&str; 5] = ["echo", "printf", "true", "false", ":"];

/// Programs behind a pipe that only select or reorder lines of the output.
pub(super) const FILTERS: [&str; 14] = [
    "tail", "head", "grep", "egrep", "rg", "cat", "less", "more", "tee", "sort", "uniq", "wc",
    "cut", "tr",
];

/// Programs whose redirection into a file is their purpose.
const WRITERS: [&str; 9] = [
    "echo", "printf", "cat", "tee", "sed", "awk", "jq", "sort", "envsubst",
];

/// Returns the simple commands of a line that count: not `cd`, `export`, `echo` and filters of the output. If none
/// counts, returns all.
pub fn essential_commands(command: &str) -> Vec<&str> {
    let mut found = Vec::new();
    collect_essential(unwrap_shell(command.trim()), 0, &mut found);
    if found.is_empty() {
        let all = split_commands(unwrap_shell(command.trim()));
        return all.iter().map(|one| one.text).collect();
    }
    found
}

fn collect_essential<'c>(command: &'c str, depth: usize, found: &mut Vec<&'c str>) {
    for one in split_commands(command) {
        if let Some(inner) = one.subshell().filter(|_| depth < limits::SUBSHELLS_MAX) {
            collect_essential(inner, depth + 1, found);
            continue;
        }
        let words = without_prefixes(&split_words(one.text));
        let Some(program) = words.first().map(|word| base_name(word)) else {
            continue;
        };
        let is_message = MESSAGES.contains(&program) && !one.text.contains('>');
        let is_filter = one.operator == Operator::Pipe && FILTERS.contains(&program);
        if !(SETUP.contains(&program) || is_message || is_filter) {
            found.push(one.text);
        }
    }
}

/// Normalises a command for comparison: only what counts, without assignments, time limits, redirections of the output
/// and repeated blanks.
pub fn normalize_command(command: &str) -> String {
    let commands = essential_commands(command);
    let plain = commands.iter().map(|one| normalize_simple(one));
    let plain: Vec<String> = plain.filter(|one| !one.is_empty()).collect();
    match plain.is_empty() {
        true => command.split_whitespace().collect::<Vec<_>>().join(" "),
        false => plain.join(" && "),
    }
}

/// Normalises a command without operators.
fn normalize_simple(command: &str) -> String {
    let words = without_prefixes(&split_words(command));
    let program = words.first().map_or("", |word| base_name(word));
    let is_writer = is_writer(program);
    let mut out: Vec<&str> = Vec::with_capacity(words.len());
    let mut words = words.into_iter();
    while let Some(word) = words.next() {
        match redirection(word) {
            Some(_) if is_writer && !is_descriptor_copy(word) => out.push(word),
            Some(Redirection::Alone) => {
                words.next();
            }
            Some(Redirection::WithTarget) => {}
            None => out.push(word),
        }
    }
    // Quoted blanks count as blanks: the same message may be wrapped differently.
    out.iter()
        .flat_map(|word| word.split_whitespace())
        .collect::<Vec<_>>()
        .join(" ")
}

/// Form of a redirection.
enum Redirection {
    /// The operator; the next word is the target.
    Alone,
    /// The operator with its target.
    WithTarget,
}

/// Recognises a redirection of the output.
fn redirection(word: &str) -> Option<Redirection> {
    let rest = word.trim_start_matches(|c: char| c.is_ascii_digit());
    let rest = rest.strip_prefix('&').unwrap_or(rest);
    let target = rest.strip_prefix(">>").or_else(|| rest.strip_prefix('>'))?;
    // Process substitution is an argument.
    match target.strip_prefix('|').unwrap_or(target) {
        "" => Some(Redirection::Alone),
        target if target.starts_with('(') => None,
        _ => Some(Redirection::WithTarget),
    }
}

/// Returns true for redirections such as `2>&1`, which write no file.
fn is_descriptor_copy(word: &str) -> bool {
    word.contains(">&")
}

/// Removes assignments and programs that limit the time or the priority of the command.
pub(super) fn without_prefixes<'w>(words: &[&'w str]) -> Vec<&'w str> {
    let mut rest = words;
    while let [first, others @ ..] = rest {
        let skipped = match base_name(first) {
            _ if is_assignment(first) => 1,
            "env" | "time" | "command" | "exec" | "nohup" => 1,
            "timeout" | "gtimeout" => 2 + flags_with_values(others, &["-k", "-s", "--signal"]),
            "nice" | "ionice" | "stdbuf" => 1 + flags_with_values(others, &["-n", "-c"]),
            _ => 0,
        };
        if skipped == 0 || skipped >= rest.len() {
            break;
        }
        rest = rest.get(skipped..).unwrap_or_default();
    }
    // A line that only sets variables has no command.
    if rest.iter().all(|word| is_assignment(word)) {
        return Vec::new();
    }
    rest.to_vec()
}

/// Returns the number of words of the options at the beginning, of which some have a separate value.
fn flags_with_values(words: &[&str], valued: &[&str]) -> usize {
    let mut count = 0;
    while let Some(word) = words.get(count).filter(|word| word.starts_with('-')) {
        count += 1 + usize::from(valued.contains(word));
    }
    count
}

/// Returns true for `NAME=value`.
pub fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty()
            && !name.starts_with(|c: char| c.is_ascii_digit())
            && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
    })
}

/// Returns true for programs whose redirection into a file is their purpose.
pub fn is_writer(program: &str) -> bool {
    WRITERS.contains(&program)
}

/// Returns the last component of a path.
pub fn base_name(word: &str) -> &str {
    word.rsplit('/').next().unwrap_or(word)
}

/// Returns the command inside of `bash -lc '…'`.
pub fn unwrap_shell(command: &str) -> &str {
    let mut words = command.splitn(3, ' ');
    let (Some(shell), Some(flag), Some(inner)) = (words.next(), words.next(), words.next()) else {
        return command;
    };
    let is_shell = SHELLS.contains(&base_name(shell));
    if !is_shell || !flag.starts_with('-') || !flag.ends_with('c') {
        return command;
    }
    let inner = inner.trim();
    let quoted = |quote: char| inner.strip_prefix(quote)?.strip_suffix(quote);
    quoted('\'').or_else(|| quoted('"')).unwrap_or(inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn normalize_command_keeps_what_is_run() {
        for (command, normal) in [
            ("cargo  test -p x\n", "cargo test -p x"),
            ("cd a && cargo test 2>&1 | tail -20", "cargo test"),
            (
                "cd a; FOO=1 BAR=2 timeout -k 5 60 cargo test > out.log 2>&1",
                "cargo test",
            ),
            (
                "export A=1 && npm test -- --ci | grep -v x | head -3",
                "npm test -- --ci",
            ),
            ("bash -lc 'cd \"a b\" && make all || true'", "make all"),
            ("(cd a && nice -n 10 make) ; echo \"exit $?\"", "make"),
            (
                "git add a && git commit -m 'x  y' && git push 2>/dev/null",
                "git add a && git commit -m 'x y' && git push",
            ),
            ("echo DB=1 >> .env", "echo DB=1 >> .env"),
            ("ls | sort", "ls"),
            ("A=1", "A=1"),
            ("cd a", "cd a"),
            ("", ""),
            ("time make", "make"),
            ("diff <(a) >(b)", "diff <(a) >(b)"),
            ("set -o pipefail; mix test 2>&1 | tee log", "mix test"),
        ] {
            assert_eq!(normalize_command(command), normal, "{command}");
        }
    }

    #[test]
    fn unwrap_shell_removes_one_pair_of_quotes() {
        assert_eq!(unwrap_shell("bash -c 'echo \"x\"'"), "echo \"x\"");
        assert_eq!(unwrap_shell("/bin/zsh -lc \"ls 'a'\""), "ls 'a'");
        assert_eq!(unwrap_shell("bash -x f"), "bash -x f");
    }
}
