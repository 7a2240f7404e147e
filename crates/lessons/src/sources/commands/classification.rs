//! Classification of commands: purpose and barest form.

use super::command_form::{FormBuilder, base_name};
use crate::cues::CommandCues;
use crate::shell_line::SimpleCommand;

/// Wrappers before a program, with the number of words to skip after them.
const WRAPPERS: [(&[&str], usize); 9] = [
    (&["sudo"], 0),
    (&["time"], 0),
    (&["exec"], 0),
    (&["command"], 0),
    (&["nohup"], 0),
    (&["env"], 0),
    (&["timeout"], 1),
    (&["nice"], 0),
    (&["stdbuf"], 1),
];
/// Programs that run another one, which is part of the form, with the number of words to skip after them.
const RUNNERS: [(&[&str], usize); 27] = [
    (&["npx"], 0),
    (&["bunx"], 0),
    (&["pnpx"], 0),
    (&["pnpm", "exec"], 0),
    (&["pnpm", "dlx"], 0),
    (&["yarn", "exec"], 0),
    (&["yarn", "dlx"], 0),
    (&["npm", "exec"], 0),
    (&["bun", "x"], 0),
    (&["uv", "run"], 0),
    (&["uvx"], 0),
    (&["poetry", "run"], 0),
    (&["pipenv", "run"], 0),
    (&["pdm", "run"], 0),
    (&["rye", "run"], 0),
    (&["hatch", "run"], 0),
    (&["pixi", "run"], 0),
    (&["bundle", "exec"], 0),
    (&["python", "-m"], 0),
    (&["python3", "-m"], 0),
    (&["mise", "exec"], 0),
    (&["direnv", "exec"], 1),
    (&["docker", "compose", "exec"], 1),
    (&["docker", "compose", "run"], 1),
    (&["docker-compose", "exec"], 1),
    (&["docker", "exec"], 1),
    (&["php"], 0),
];
/// Interpreters of a script that follows.
const INTERPRETERS: [&str; 10] = [
    "bash", "sh", "zsh", "node", "python", "python3", "ruby", "php", "bun", "tsx",
];
/// Options with which a command does not do its work.
const NO_RUN_OPTIONS: [&str; 7] = [
    "--help",
    "--version",
    "--collect-only",
    "--co",
    "--no-run",
    "--listTests",
    "--list-tests",
];

/// A command with a known purpose.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ClassifiedCommand {
    /// Index of the purpose in the data.
    pub(super) purpose: usize,
    /// Barest form of the command, which identifies it.
    pub(super) form: String,
    /// The command as it was run; `None` for a long one.
    pub(super) line: Option<String>,
    /// True if the command was narrowed to a part, such as one file.
    pub(super) is_narrowed: bool,
}

/// Returns the purpose and barest form of a simple command.
pub(super) fn classify_command(
    command: &SimpleCommand,
    cues: &CommandCues,
) -> Option<ClassifiedCommand> {
    let words: Vec<&str> = command.words.iter().map(String::as_str).collect();
    let start = skip_wrappers(&words);
    let words = words.get(start..)?;
    if words.iter().any(|word| NO_RUN_OPTIONS.contains(word)) {
        return None;
    }
    let assignments = words.iter().take_while(|word| is_assignment(word)).count();
    let program_at = assignments + runner_length(words.get(assignments..)?);
    let program = words.get(program_at..)?;
    let interpreted = program
        .first()
        .is_some_and(|word| INTERPRETERS.contains(&base_name(word)));
    let (purpose, end) = match_patterns(program, cues)
        .map(|(purpose, length)| (purpose, program_at + length))
        .or_else(|| {
            let (purpose, length) =
                match_patterns(program.get(1..)?, cues).filter(|_| interpreted)?;
            Some((purpose, program_at + 1 + length))
        })
        .or_else(|| {
            let (purpose, length) = match_script(words.get(assignments..)?, cues)?;
            Some((purpose, assignments + length))
        })
        .or_else(|| {
            let (purpose, length) = match_script_path(program, cues)?;
            Some((purpose, program_at + length))
        })?;
    let known = cues.purpose.get(purpose)?;
    let mut form = FormBuilder::new(words.get(..end)?);
    form.add_rest(words.get(end..)?, known, cues);
    Some(ClassifiedCommand {
        purpose,
        is_narrowed: form.is_narrowed,
        form: form.finish()?,
        line: FormBuilder::line_of(words),
    })
}

/// Returns the number of words of wrappers such as `sudo` and `timeout 60`.
fn skip_wrappers(words: &[&str]) -> usize {
    let mut at = 0;
    while let Some(rest) = words.get(at..) {
        let Some((wrapper, skip)) = WRAPPERS
            .iter()
            .find(|(wrapper, _)| rest.starts_with(wrapper))
        else {
            break;
        };
        at += wrapper.len();
        while words.get(at).is_some_and(|word| word.starts_with('-')) {
            at += 1;
        }
        at += skip;
    }
    at.min(words.len())
}

/// Returns the number of words of a runner such as `npx` and `poetry run` with its options.
fn runner_length(words: &[&str]) -> usize {
    let Some((runner, skip)) = RUNNERS.iter().find(|(runner, _)| words.starts_with(runner)) else {
        return 0;
    };
    let mut at = runner.len();
    while words.get(at).is_some_and(|word| word.starts_with('-')) {
        at += 1;
    }
    at + skip
}

/// Returns the purpose of a known program and the number of words that name it.
fn match_patterns(words: &[&str], cues: &CommandCues) -> Option<(usize, usize)> {
    let program = base_name(words.first()?);
    for (index, purpose) in cues.purpose.iter().enumerate() {
        let mut patterns = purpose.patterns.iter();
        if let Some(length) =
            patterns.find_map(|pattern| match_pattern(program, words, pattern, cues))
        {
            return Some((index, length));
        }
    }
    None
}

/// Returns the number of words that a pattern covers.
fn match_pattern(
    program: &str,
    words: &[&str],
    pattern: &str,
    cues: &CommandCues,
) -> Option<usize> {
    let mut parts = pattern.split(' ');
    if !matches_word(program, parts.next()?) {
        return None;
    }
    let mut at = 1;
    for part in parts {
        loop {
            let word = words.get(at)?;
            at += 1;
            if matches_word(word, part) {
                break;
            }
            if !word.starts_with('-') {
                return None;
            }
            at += usize::from(cues.value_options.iter().any(|option| option == word));
        }
    }
    Some(at)
}

fn matches_word(word: &str, pattern: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(start) => word.starts_with(start),
        None => word == pattern,
    }
}

/// Returns the purpose of a named script, such as `npm run lint`, and the number of words that name it.
fn match_script(words: &[&str], cues: &CommandCues) -> Option<(usize, usize)> {
    let program = base_name(words.first()?);
    let runners = cues.scripts.runners.iter().filter(|runner| {
        let mut parts = runner.split(' ');
        parts.next() == Some(program)
            && parts
                .zip(words.iter().skip(1))
                .all(|(part, word)| part == *word)
            && runner.split(' ').count() <= words.len()
    });
    let runner = runners.max_by_key(|runner| runner.split(' ').count())?;
    let mut at = runner.split(' ').count();
    let is_make = matches!(program, "make" | "gmake");
    while let Some(word) = words.get(at) {
        if word.starts_with('-') {
            at += 1 + usize::from(cues.value_options.iter().any(|option| option == word));
            continue;
        }
        if is_assignment(word) {
            at += 1;
            continue;
        }
        if cues.scripts.not_scripts.iter().any(|other| other == word) && !runner.ends_with("run") {
            return None;
        }
        return Some((script_purpose(word, cues)?, at + 1));
    }
    // `make` alone builds.
    let build = cues
        .purpose
        .iter()
        .position(|purpose| purpose.name == "build")?;
    is_make.then_some((build, 1))
}

/// Returns the purpose of a script that is run by its path.
fn match_script_path(words: &[&str], cues: &CommandCues) -> Option<(usize, usize)> {
    let first = words.first()?;
    let at = usize::from(INTERPRETERS.contains(&base_name(first)));
    let path = words.get(at)?;
    let is_script = cues
        .scripts
        .script_paths
        .iter()
        .any(|start| path.starts_with(start.as_str()));
    if !is_script || path.contains("..") {
        return None;
    }
    let name = base_name(path);
    let name = name.split_once('.').map_or(name, |(name, _)| name);
    Some((script_purpose(name, cues)?, at + 1))
}

/// Returns the purpose that the name of a script shows.
fn script_purpose(name: &str, cues: &CommandCues) -> Option<usize> {
    let lower = name.to_lowercase();
    let has = |word: &str| match word.contains(['-', ':']) {
        true => lower.contains(word),
        false => lower
            .split(|c: char| !c.is_alphanumeric())
            .any(|part| part == word),
    };
    let (_, purpose) = cues.scripts.words.iter().find(|(word, _)| has(word))?;
    cues.purpose.iter().position(|known| known.name == *purpose)
}

fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cues::Cues;
    use crate::shell_line::read_shell_line;

    fn classify(line: &str) -> Option<(String, String)> {
        let cues = &Cues::get().commands;
        let commands = read_shell_line(line);
        let found = classify_command(commands.last()?, cues)?;
        Some((cues.purpose[found.purpose].name.clone(), found.form))
    }

    #[test]
    fn classify_command_finds_purpose_and_barest_form() {
        for (line, purpose, form) in [
            ("mix test test/a_test.exs 2>&1", "test", "mix test"),
            (
                "cargo test -p core name_of_test -- --nocapture",
                "test",
                "cargo test -p core",
            ),
            (
                "timeout 60 uv run pytest -x tests/test_a.py::test_b",
                "test",
                "uv run pytest",
            ),
            ("uv run pytest -xvs", "test", "uv run pytest"),
            ("npx vitest run", "test", "npx vitest run"),
            ("go test ./... -count=1", "test", "go test ./..."),
            ("go vet ./internal/cart/", "build", "go vet ./..."),
            ("gofmt -w a/b.go c.go", "format", "gofmt -w <files>"),
            ("go test -run TestCart ./cart", "test", "go test ./..."),
            ("dotnet test -v q --nologo", "test", "dotnet test --nologo"),
            (
                "MIX_ENV=test mix credo --strict",
                "lint",
                "MIX_ENV=test mix credo --strict",
            ),
            ("npm run lint:fix", "lint", "npm run lint:fix"),
            ("npm test", "test", "npm test"),
            (
                "pnpm --filter @a/b check-types",
                "typecheck",
                "pnpm --filter @a/b check-types",
            ),
            ("npx tsc --noEmit", "typecheck", "npx tsc --noEmit"),
            ("npx eslint src", "lint", "npx eslint src"),
            (
                "mix ash.codegen add_users --yes",
                "generate",
                "mix ash.codegen <name> --yes",
            ),
            (
                "npx prisma migrate dev --name init",
                "migrate",
                "npx prisma migrate dev --name <name>",
            ),
            ("make", "build", "make"),
            ("make -j4 check", "test", "make -j4 check"),
            ("./scripts/test.sh", "test", "./scripts/test.sh"),
            ("bash scripts/build.sh", "build", "bash scripts/build.sh"),
            ("./gradlew test", "test", "./gradlew test"),
            ("node build.js", "build", "node build.js"),
            (
                "docker compose exec web pytest tests/",
                "test",
                "docker compose exec web pytest",
            ),
            ("yarn dev", "run", "yarn dev"),
            (
                "python manage.py migrate",
                "migrate",
                "python manage.py migrate",
            ),
        ] {
            assert_eq!(
                classify(line),
                Some((purpose.to_owned(), form.to_owned())),
                "{line}"
            );
        }
    }

    #[test]
    fn classify_command_knows_no_purpose_of_other_commands() {
        for line in [
            "ls",
            "git status",
            "npm install",
            "npm ci",
            "cat a",
            "yarn",
            "cd x",
            "echo test",
            "python3 -c 'x'",
            "",
            "npx",
            "timeout",
            "sudo",
        ] {
            assert_eq!(classify(line), None, "{line}");
        }
    }
}
