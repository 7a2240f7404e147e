//! Analysis of shell commands: programs and verbs, read-only commands, and commands whose failure is expected.

use super::command_line::split_words;
use super::normal_command::{base_name, essential_commands, unwrap_shell, without_prefixes};

/// Wrappers before a program that do not change its identity.
const WRAPPERS: [&[&str]; 13] = [
    &["sudo"],
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

/// Programs that look something up; an empty result is not an error.
const PROBES: [&str; 42] = [
    "ls", "cat", "head", "tail", "grep", "rg", "egrep", "fgrep", "ag", "find", "fd", "which",
    "command", "type", "test", "[", "[[", "diff", "cmp", "stat", "file", "wc", "ps", "pgrep",
    "true", "false", "echo", "sleep", "kill", "pkill", "pwd", "tree", "sed", "awk", "nl", "cut",
    "sort", "uniq", "tr", "xargs", "less", "jq",
];

/// Returns true for a command that only looks something up.
pub fn is_probe(command: &str) -> bool {
    PROBES.contains(&CommandWords::parse(command).program) && !has_side_effects(command)
}

/// Returns true if a command changes something although its program usually only reads: redirection to a file,
/// in-place edit, killed process.
pub fn has_side_effects(command: &str) -> bool {
    let command = unwrap_shell(command.trim());
    // The lines after the first one of a here-document are data.
    let end = match (command.find("<<"), command.find('\n')) {
        (Some(here), Some(end)) if here < end => end,
        _ => command.len(),
    };
    let code = mask_quoted(&command[..end]);
    if redirects_to_file(&code) {
        return true;
    }
    let parts = code.split(['|', ';', '&', '\n']);
    parts
        .map(CommandWords::parse)
        .any(|words| match words.program {
            "tee" | "kill" | "pkill" | "killall" => true,
            "sed" | "perl" => words.arguments.iter().any(|word| {
                let is_short = word.starts_with('-') && !word.starts_with("--");
                word.starts_with("--in-place") || is_short && word.contains('i')
            }),
            "sort" => words.arguments.contains(&"-o"),
            "find" => words.arguments.contains(&"-delete"),
            _ => false,
        })
}

/// Replaces each quoted or escaped character by `x`, so that none of them is parsed as an operator.
fn mask_quoted(command: &str) -> String {
    let mut quote = None;
    let mut is_escaped = false;
    let one = |c: char| {
        let inside = is_escaped || quote.is_some_and(|open| open != c);
        let was_escaped = std::mem::replace(&mut is_escaped, false);
        match c {
            '\\' if !was_escaped && quote != Some('\'') => is_escaped = true,
            '"' | '\'' if !was_escaped => match quote {
                Some(open) if open == c => quote = None,
                Some(_) => {}
                None => quote = Some(c),
            },
            _ => {}
        }
        if inside { 'x' } else { c }
    };
    command.chars().map(one).collect()
}

/// Returns true for a redirection into a file, not into another stream or a device such as `/dev/null`.
fn redirects_to_file(code: &str) -> bool {
    const NOWHERE: [&str; 4] = ["/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty"];
    let mut rest = code;
    while let Some(at) = rest.find('>') {
        let is_arrow = rest[..at].ends_with(['-', '=']);
        let rest_after = rest[at..].trim_start_matches(['>', '|']);
        let target = rest_after.trim_start();
        let word = target.split([' ', ';', '|', '&', ')', '\n', '\t']).next();
        let word = word.unwrap_or_default();
        let is_stream = rest_after.starts_with('&') || rest_after.starts_with('(');
        if !is_stream && !is_arrow && !word.is_empty() && !NOWHERE.contains(&word) {
            return true;
        }
        rest = rest_after;
    }
    false
}

/// Returns true for a command of Heirloom, whose output is already in memory.
pub fn is_heirloom_command(command: &str) -> bool {
    CommandWords::parse(command).program == "heirloom"
}

/// Returns true for a program that looks something up, so that its failure is no fault of the project.
pub(super) fn is_lookup_program(program: &str, verb: Option<&str>) -> bool {
    let is_git_query = || {
        matches!(
            verb,
            Some("diff" | "grep" | "show" | "log" | "status" | "blame")
        )
    };
    PROBES.contains(&program) || program == "heirloom" || program == "git" && is_git_query()
}

/// Parts of a command.
#[derive(Debug, PartialEq, Eq)]
pub struct CommandWords<'c> {
    /// Name of the program, without its folder and wrappers such as `npx`.
    pub program: &'c str,
    /// First word that is not an option: usually the subcommand.
    pub verb: Option<&'c str>,
    /// All words after the program.
    pub arguments: Vec<&'c str>,
}

impl<'c> CommandWords<'c> {
    /// Parses the first command of a line that counts.
    pub fn parse(command: &'c str) -> Self {
        let first = essential_commands(command).into_iter().next();
        Self::parse_simple(first.unwrap_or_default())
    }

    /// Parses a command without operators.
    pub fn parse_simple(command: &'c str) -> Self {
        let mut words = without_prefixes(&split_words(command));
        while let Some(before) = WRAPPERS.iter().find(|before| words.starts_with(before))
            && before.len() < words.len()
        {
            words = without_prefixes(&words.split_off(before.len()));
        }
        let mut words = words.into_iter();
        let program = base_name(words.next().unwrap_or_default());
        let arguments: Vec<_> = words.collect();
        let verb = arguments
            .iter()
            .copied()
            .find(|word| !word.starts_with('-'));
        Self {
            program,
            verb,
            arguments,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_probe_and_is_heirloom_command_classify_commands() {
        assert!(is_probe("cd x && grep -r y ."));
        assert!(!is_probe("cargo test"));
        assert!(is_heirloom_command("/usr/bin/heirloom recall x"));
        assert!(!is_heirloom_command("echo heirloom"));
        assert!(!is_probe("timeout 60 cargo test"));
    }

    #[test]
    fn has_side_effects_redirections_and_in_place_edits() {
        for command in [
            "cat > tool.py <<'X'\nprint(1)\nX",
            "echo x > f",
            "echo DB=1 >> .env",
            "echo x >| f",
            "cd a && echo x 2>&1 >f",
            "ls &> out",
            "sed -i s/a/b/ f",
            "sed -ni s/a/b/p f",
            "sed --in-place=.bak s/a/b/ f",
            "cat f | tee g",
            "sort -o f f",
            "find . -name x -delete",
            "kill 1234",
            "pkill -f server",
            "bash -lc 'echo x > f'",
            "cat <<X > f\na\nX",
        ] {
            assert!(has_side_effects(command), "{command}");
            assert!(!is_probe(command), "{command}");
        }
        for command in [
            "cat f",
            "ls 2>/dev/null",
            "ls > /dev/null 2>&1",
            "echo 'a > b'",
            "echo \"a > b\"",
            "echo a \\> b",
            "grep -i x f",
            "grep '->' f",
            "sed -n 1,5p f",
            "sed -e 's/a/i/' f",
            "cat <<X\na > b\nX",
            "awk '$1 > 3' f",
            "diff <(ls a) <(ls b)",
            "test 1 -gt 0",
        ] {
            assert!(!has_side_effects(command), "{command}");
        }
    }
}
