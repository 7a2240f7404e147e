//! Command runs: what a command line runs, reduced to what identifies it and to what a reader needs.

use crate::bounded_text::{bounded, bounded_excerpt};
use heirloom_agents::failures::command_result::{
    CommandShape, CommandState, ReportedStatus, ShapePart,
};
use heirloom_agents::failures::{
    CommandWords, Subject, normalize_command, split_commands, split_words, unquote,
};
use heirloom_agents::transcripts::ToolOutcome;
use serde::{Deserialize, Serialize};

/// Simple commands of a line that are kept.
const PARTS_MAX: usize = 4;
/// Words of a command that are kept.
const WORDS_MAX: usize = 16;
/// Bytes of a word.
const WORD_BYTES_MAX: usize = 80;
/// Bytes of a command as a reader sees it.
const TEXT_BYTES_MAX: usize = 110;
/// Bytes of a message or script in a command as a reader sees it.
const MESSAGE_BYTES_MAX: usize = 40;
/// Bytes of a command line that are read for its parts.
const LINE_BYTES_MAX: usize = 16 << 10;

/// Programs that run the script named by their first argument.
const INTERPRETERS: [&str; 12] = [
    "python", "python3", "node", "ruby", "perl", "php", "bash", "sh", "zsh", "deno", "tsx",
    "ts-node",
];

/// Verbs that take another word as their subcommand.
const NESTED_VERBS: [&str; 20] = [
    "run",
    "exec",
    "compose",
    "tool",
    "run-script",
    "workspace",
    "db",
    "make",
    "pr",
    "issue",
    "repo",
    "release",
    "workflow",
    "secret",
    "stash",
    "remote",
    "submodule",
    "worktree",
    "image",
    "container",
];

/// Returns the status of a command line, of which a transcript shows only the outcome of its call.
pub(crate) const fn reported_status(outcome: ToolOutcome) -> ReportedStatus {
    match outcome {
        ToolOutcome::Succeeded => ReportedStatus::Success,
        ToolOutcome::Failed => ReportedStatus::Failure(None),
        ToolOutcome::Rejected => ReportedStatus::Rejected,
    }
}

/// A simple command of a run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct CommandPart {
    /// Program and subcommand, such as `cargo test`.
    pub(crate) family: String,
    /// The command as a reader sees it.
    pub(crate) text: String,
    /// Words after the program, without quotes.
    pub(crate) words: Vec<String>,
    /// True if the program or an argument was quoted.
    pub(crate) has_quotes: bool,
    /// Number of the part in the structure of its line.
    pub(crate) number: usize,
}

/// Program and arguments that a command line runs.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct CommandRun {
    /// Key prefix of its failures.
    pub(crate) prefix: String,
    /// Simple commands that count.
    pub(crate) parts: Vec<CommandPart>,
    /// Folder of a `cd` before the command.
    pub(crate) folder: Option<String>,
    /// Names of variables that are set for the command, with their values.
    pub(crate) variables: Vec<String>,
}

impl CommandRun {
    /// Parses a command line.
    pub(crate) fn parse(line: &str) -> Self {
        Self::of_shape(line, &CommandShape::parse(line))
    }

    /// Describes a command line whose structure is known.
    pub(crate) fn of_shape(line: &str, shape: &CommandShape) -> Self {
        let prefix = Subject::Command(line.to_owned()).prefix();
        let line = line
            .get(..line.floor_char_boundary(LINE_BYTES_MAX))
            .unwrap_or_default();
        let has_essential = shape.parts.iter().any(ShapePart::is_essential);
        let mut parts: Vec<CommandPart> = Vec::new();
        for (number, part) in shape.parts.iter().enumerate() {
            if has_essential && !part.is_essential() {
                continue;
            }
            if parts.len() == PARTS_MAX {
                parts.pop();
            }
            parts.extend(CommandPart::parse(&part.text, number));
        }
        Self {
            prefix,
            parts,
            folder: last_folder(line),
            variables: variables(line),
        }
    }

    /// Returns the run reduced to what succeeded and the part that failed, which comes last.
    pub(crate) fn with_failed_part(
        &self,
        states: &[CommandState],
        number: usize,
        failed: &ShapePart,
    ) -> Self {
        let mut run = self.succeeded_parts(states);
        run.prefix.clone_from(&self.prefix);
        run.parts.truncate(PARTS_MAX - 1);
        run.parts.extend(CommandPart::parse(&failed.text, number));
        run
    }

    /// Returns the run reduced to the parts that succeeded. If some did not, it is not the run of the whole line.
    pub(crate) fn succeeded_parts(&self, states: &[CommandState]) -> Self {
        let has_succeeded =
            |part: &CommandPart| states.get(part.number) == Some(&CommandState::Succeeded);
        let mut run = self.clone();
        run.parts.retain(has_succeeded);
        if run.parts.len() < self.parts.len() {
            run.prefix.clear();
        }
        run
    }
}

impl CommandPart {
    fn parse(command: &str, number: usize) -> Option<Self> {
        let parsed = CommandWords::parse_simple(command);
        if parsed.program.is_empty() {
            return None;
        }
        let words: Vec<String> = parsed
            .arguments
            .iter()
            .filter(|word| !is_redirection(word))
            .take(WORDS_MAX)
            .map(|word| bounded(&unquote(word), WORD_BYTES_MAX))
            .collect();
        let family = family(parsed.program, &words);
        Some(Self {
            family: bounded(&family, WORD_BYTES_MAX),
            text: command_text(command),
            has_quotes: command.contains(['"', '\'']),
            words,
            number,
        })
    }

    /// Returns the options.
    pub(crate) fn options(&self) -> impl Iterator<Item = &str> {
        let words = self.words.iter().map(String::as_str);
        words.filter(|word| word.starts_with('-') && word.len() > 1)
    }

    /// Returns the arguments that select what is run: files, folders, packages and names of tests.
    pub(crate) fn targets(&self) -> Vec<&str> {
        let family: Vec<&str> = self.family.split(' ').skip(1).collect();
        let mut found = Vec::new();
        let mut is_selected = false;
        for word in &self.words {
            let word = word.as_str();
            if word.starts_with('-') {
                is_selected = SELECTING_OPTIONS.contains(&word);
                if let Some((option, value)) = word.split_once('=')
                    && SELECTING_OPTIONS.contains(&option)
                {
                    found.push(value);
                }
                continue;
            }
            let is_family = family.contains(&word) || family.contains(&base_name(word));
            if std::mem::take(&mut is_selected) || is_target(word) && !is_family {
                found.push(word);
            }
        }
        found
    }

    /// Returns the values of options that select what is run, such as `-k name`.
    pub(crate) fn selections(&self) -> Vec<&str> {
        let next = self.words.iter().skip(1).map(String::as_str).chain([""]);
        let values = self.words.iter().zip(next).filter_map(|(word, next)| {
            if SELECTING_OPTIONS.contains(&word.as_str()) {
                return Some(next);
            }
            let (option, value) = word.split_once('=')?;
            SELECTING_OPTIONS.contains(&option).then_some(value)
        });
        values.filter(|value| !value.is_empty()).collect()
    }

    /// Returns true if the command runs a script by its path.
    pub(crate) fn is_script(&self) -> bool {
        let program = self.family.split(' ').next().unwrap_or_default();
        let is_interpreter = |word: &&str| INTERPRETERS.contains(word);
        let mut words = std::iter::once(program).chain(self.words.iter().map(String::as_str));
        program.contains('/') || words.any(|word| is_interpreter(&word))
    }

    /// Returns true if the command runs code that is part of the command line.
    pub(crate) fn is_inline_script(&self) -> bool {
        let program = self.family.split(' ').next().unwrap_or_default();
        let reads_code =
            |word: &String| matches!(word.as_str(), "-c" | "-e" | "-p" | "-" | "--eval" | "-r");
        INTERPRETERS.contains(&program)
            && (self.words.is_empty()
                || self.words.iter().take(2).any(reads_code)
                || self.text.contains("<<"))
    }
}

/// Options whose value selects what is run.
const SELECTING_OPTIONS: [&str; 19] = [
    "-k",
    "-t",
    "-p",
    "--package",
    "--test",
    "--filter",
    "-run",
    "--run",
    "--grep",
    "-g",
    "--testNamePattern",
    "--only",
    "--tests",
    "-m",
    "--example",
    "-e",
    "--workspace",
    "--bin",
    "--include",
];

/// Returns true for an argument that selects what is run.
fn is_target(word: &str) -> bool {
    let is_plain = word
        .bytes()
        .all(|byte| byte.is_ascii_lowercase() || byte == b'-');
    word.contains(['/', '.', ':', '*', '_']) || !is_plain
}

/// Returns program and subcommand.
fn family(program: &str, words: &[String]) -> String {
    let mut family = program.trim_start_matches("./").to_owned();
    let mut plain = words.iter().filter(|word| !word.starts_with('-'));
    let Some(first) = plain.next() else {
        return family;
    };
    let is_script = INTERPRETERS.contains(&program) && first.contains(['.', '/']);
    if is_script {
        family = format!("{family} {}", base_name(first));
        // The subcommand of a script such as `manage.py`.
        if let Some(second) = plain.next().filter(|word| !is_target(word)) {
            family = format!("{family} {second}");
        }
        return family;
    }
    if is_target(first) && !first.contains(':') {
        return family;
    }
    family = format!("{family} {first}");
    if NESTED_VERBS.contains(&first.as_str())
        && let Some(second) = plain.next().filter(|word| !word.contains(['/', '.']))
    {
        family = format!("{family} {second}");
    }
    family
}

/// Returns a simple command on one short line: without redirections of the output, and without long messages.
fn command_text(command: &str) -> String {
    let normal = normalize_command(command);
    let mut out = String::new();
    let mut hides_value = false;
    for word in split_words(&normal) {
        let gap = if out.is_empty() { "" } else { " " };
        let is_long = word.len() > MESSAGE_BYTES_MAX
            && (hides_value || word.len() > WORD_BYTES_MAX && word.contains(' '));
        out.push_str(gap);
        out.push_str(if is_long { "…" } else { word });
        hides_value = matches!(
            word,
            "-m" | "--message" | "-c" | "-e" | "--title" | "--body"
        );
    }
    bounded_excerpt(&out, TEXT_BYTES_MAX)
}

fn is_redirection(word: &str) -> bool {
    let rest = word.trim_start_matches(|c: char| c.is_ascii_digit());
    rest.starts_with('>') || rest.starts_with("&>")
}

fn base_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// Returns the folder of the last `cd` of a line.
fn last_folder(line: &str) -> Option<String> {
    let commands = split_commands(line);
    let mut folders = commands.iter().filter_map(|one| {
        let words = split_words(one.text.trim_start_matches('('));
        match words.as_slice() {
            ["cd" | "pushd", folder] => Some(unquote(folder)),
            _ => None,
        }
    });
    folders
        .next_back()
        .map(|folder| bounded(&folder, WORD_BYTES_MAX))
}

/// Returns the assignments before the commands of a line, and those that are exported.
fn variables(line: &str) -> Vec<String> {
    let mut found = Vec::new();
    for one in split_commands(line) {
        let words = split_words(one.text);
        let is_setter = matches!(words.first(), Some(&("export" | "env")));
        let words = words.iter().skip(usize::from(is_setter));
        let assigned = words.take_while(|word| {
            let name = word.split_once('=').map_or("", |(name, _)| name);
            !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
        });
        found.extend(assigned.map(|word| bounded(word, WORD_BYTES_MAX)));
    }
    found.truncate(PARTS_MAX);
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn command_run_of_command_lines() {
        let run = CommandRun::parse(
            "cd assets && NODE_ENV=test npx vitest run test/a.test.js 2>&1 | tail -20",
        );
        let part = &run.parts[0];
        assert_eq!(part.family, "vitest run");
        assert_eq!(part.text, "npx vitest run test/a.test.js");
        assert_eq!(part.targets(), ["test/a.test.js"]);
        assert_eq!(run.folder.as_deref(), Some("assets"));
        assert_eq!(run.variables, ["NODE_ENV=test"]);
        assert_eq!(
            run.prefix,
            CommandRun::parse("npx vitest run test/a.test.js").prefix
        );
        for (line, family, targets) in [
            ("cargo test -p core --lib", "cargo test", vec!["core"]),
            ("go test ./...", "go test", vec!["./..."]),
            (
                "pytest tests/test_a.py -k adds",
                "pytest",
                vec!["tests/test_a.py", "adds"],
            ),
            ("npm run build", "npm run build", vec![]),
            ("node assets/build.js", "node build.js", vec![]),
            (
                "python manage.py test shop.tests",
                "python manage.py test",
                vec!["shop.tests"],
            ),
            ("docker compose up -d db", "docker compose up", vec![]),
            ("git push --set-upstream origin topic", "git push", vec![]),
            (
                "./gradlew :app:test --tests CartTest",
                "gradlew :app:test",
                vec!["CartTest"],
            ),
        ] {
            let run = CommandRun::parse(line);
            let part = &run.parts[0];
            let found = (part.family.as_str(), part.targets());
            assert_eq!(found, (family, targets), "{line}");
        }
        assert_eq!(
            CommandRun::parse("env CONFIG=/dev/null MODE=1 go test ./...").variables,
            ["CONFIG=/dev/null", "MODE=1"]
        );
        assert!(CommandRun::parse("python3 -c 'print(1)'").parts[0].is_inline_script());
        let commit = CommandRun::parse(
            "git add -A && git commit -m \"a long message: it says very much about the change, and on and on and on\"",
        );
        assert_eq!(commit.parts[1].text, "git commit -m …");
        assert_eq!(CommandRun::parse("").parts, []);
    }

    #[test]
    fn succeeded_parts_leave_out_what_failed() {
        let run = CommandRun::parse("make gen && make test");
        let states = [CommandState::Succeeded, CommandState::Failed];
        let succeeded = run.succeeded_parts(&states);
        assert_eq!(succeeded.parts.len(), 1);
        assert!(succeeded.prefix.is_empty());
        let all = run.succeeded_parts(&[CommandState::Succeeded; 2]);
        assert_eq!(all, run);
    }
}
