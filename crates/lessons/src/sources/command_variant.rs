//! Variants of commands: a command failed, and one that differs in its folder, options, quoting or program succeeded.

use crate::command_run::{CommandPart, CommandRun};
use crate::cues::FailureCues;

/// Greatest number of options in which two variants differ.
const OPTIONS_MAX: usize = 3;

/// Difference that made the second command succeed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum VariantKind {
    /// Another folder.
    Folder(String),
    /// Quotes around arguments.
    Quotes,
    /// Other options.
    Options,
    /// Variables that are set.
    Variables(Vec<String>),
    /// Another program, or the same one started in another way.
    Program,
    /// Another subcommand, or one that was missing.
    Subcommand,
}

/// A failed command and the variant that succeeded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CommandVariant {
    /// The difference.
    pub(crate) kind: VariantKind,
    /// The variant as a reader sees it.
    pub(crate) text: String,
}

impl CommandVariant {
    /// Returns true if the error is about what differs, so that other changes in between did not matter.
    pub(crate) fn is_named_by(&self, error: &str, is_of_command_line: bool) -> bool {
        match &self.kind {
            VariantKind::Folder(_)
            | VariantKind::Quotes
            | VariantKind::Program
            | VariantKind::Subcommand => true,
            VariantKind::Variables(assigned) => assigned.iter().any(|one| {
                let name = one.split('=').next().unwrap_or(one);
                !name.is_empty() && error.contains(name)
            }),
            VariantKind::Options => {
                is_of_command_line
                    || (self.text.split(' ').filter(|word| word.starts_with("--")))
                        .any(|option| error.contains(option.split('=').next().unwrap_or(option)))
            }
        }
    }
}

/// Compares a failed command with a command that succeeded; `error` is the failure's message.
pub(crate) fn find_variant(
    failed: &CommandRun,
    failed_part: &CommandPart,
    passed: &CommandRun,
    error: &str,
    cues: &FailureCues,
) -> Option<CommandVariant> {
    let error = error.to_lowercase();
    passed.parts.iter().find_map(|part| {
        let kind = folder_variant(failed, failed_part, passed, part, &error, cues)
            .or_else(|| quotes_variant(failed_part, part))
            .or_else(|| variables_variant(failed, failed_part, passed, part))
            .or_else(|| program_variant(failed_part, part, &error, cues))
            .or_else(|| subcommand_variant(failed_part, part, &error, cues))
            .or_else(|| options_variant(failed_part, part, &error, cues))?;
        let assigned = passed.variables.iter().map(|one| format!("{one} "));
        let command = format!("{}{}", assigned.collect::<String>(), part.text);
        let text = match &kind {
            VariantKind::Folder(folder) => format!("cd {folder} && {command}"),
            VariantKind::Variables(_)
            | VariantKind::Quotes
            | VariantKind::Options
            | VariantKind::Program
            | VariantKind::Subcommand => command,
        };
        Some(CommandVariant { kind, text })
    })
}

/// Recognises the same command in another folder, where a path may be shorter.
fn folder_variant(
    failed: &CommandRun,
    one: &CommandPart,
    passed: &CommandRun,
    other: &CommandPart,
    error: &str,
    cues: &FailureCues,
) -> Option<VariantKind> {
    let folder = passed.folder.as_deref()?;
    if failed.folder.as_deref() == Some(folder) || one.family != other.family {
        return None;
    }
    let last = folder
        .trim_end_matches('/')
        .rsplit('/')
        .next()
        .unwrap_or(folder);
    let is_same = |(long, short): (&String, &String)| {
        long == short
            || long
                .strip_suffix(short.as_str())
                .is_some_and(|head| head.trim_end_matches('/').ends_with(last))
    };
    let are_same =
        one.words.len() == other.words.len() && one.words.iter().zip(&other.words).all(is_same);
    let is_about_place = cues.place_faults.is_in(error);
    (are_same && is_about_place).then(|| VariantKind::Folder(short_folder(folder)))
}

/// Returns the last component of an absolute path; a relative path stays.
fn short_folder(folder: &str) -> String {
    match folder.starts_with(['/', '~']) {
        true => folder
            .trim_end_matches('/')
            .rsplit('/')
            .next()
            .unwrap_or(folder)
            .to_owned(),
        false => folder.to_owned(),
    }
}

/// Recognises the same words with quotes.
fn quotes_variant(one: &CommandPart, other: &CommandPart) -> Option<VariantKind> {
    let is_special = |word: &String| {
        word.contains([
            '(', ')', '[', ']', '{', '*', '?', '&', ';', '!', '$', '<', '>', '#', ' ', '^',
        ])
    };
    // `uv run python -c …` and `.venv/bin/python -c …` have the same words, and are two programs.
    let bare = |part: &CommandPart| part.text.replace(['"', '\'', '\\'], "");
    let is_same = one.words == other.words && one.text != other.text && bare(one) == bare(other);
    (is_same && other.has_quotes && one.words.iter().any(is_special)).then_some(VariantKind::Quotes)
}

/// Recognises the same command with variables.
fn variables_variant(
    failed: &CommandRun,
    one: &CommandPart,
    passed: &CommandRun,
    other: &CommandPart,
) -> Option<VariantKind> {
    let is_same = one.family == other.family && one.words == other.words;
    let new: Vec<String> = passed
        .variables
        .iter()
        .filter(|name| !failed.variables.contains(name))
        .cloned()
        .collect();
    (is_same && !new.is_empty()).then_some(VariantKind::Variables(new))
}

/// Recognises the same arguments for another program, if the first one is missing.
fn program_variant(
    one: &CommandPart,
    other: &CommandPart,
    error: &str,
    cues: &FailureCues,
) -> Option<VariantKind> {
    let program = one.family.split(' ').next().unwrap_or_default();
    let is_missing = cues.missing_programs.is_in(error) && error.contains(&program.to_lowercase());
    let is_same =
        one.words == other.words || !one.words.is_empty() && other.words.ends_with(&one.words);
    (is_missing && is_same && one.text != other.text).then_some(VariantKind::Program)
}

/// Recognises the same program with another subcommand, if the error is about it: `ty src` and `ty check src`.
fn subcommand_variant(
    one: &CommandPart,
    other: &CommandPart,
    error: &str,
    cues: &FailureCues,
) -> Option<VariantKind> {
    let program = |part: &CommandPart| part.family.split(' ').next().map(str::to_owned);
    let verb = other.words.iter().find(|word| !word.starts_with('-'))?;
    let is_verb = verb
        .bytes()
        .all(|byte| byte.is_ascii_lowercase() || byte == b'-');
    let is_new = is_verb && !one.words.contains(verb);
    let is_about_it = cues.subcommand_faults.is_in(error);
    (is_new && is_about_it && program(one) == program(other)).then_some(VariantKind::Subcommand)
}

/// Recognises the same command with other options.
fn options_variant(
    one: &CommandPart,
    other: &CommandPart,
    error: &str,
    cues: &FailureCues,
) -> Option<VariantKind> {
    if one.family != other.family || cues.test_faults.is_in(error) {
        return None;
    }
    let is_relevant = |option: &&str| {
        !cues
            .narrowing_options
            .contains(option.split('=').next().unwrap_or(option))
    };
    let options = |part: &'_ CommandPart, without: &CommandPart| -> Vec<String> {
        let others: Vec<&str> = without.options().collect();
        let mine = part.options().filter(|option| !others.contains(option));
        mine.filter(is_relevant).map(str::to_owned).collect()
    };
    let (removed, added) = (options(one, other), options(other, one));
    let changes = removed.len().max(added.len());
    if changes == 0 || changes > OPTIONS_MAX {
        return None;
    }
    let plain = |part: &CommandPart| -> Vec<String> {
        let words = part.words.iter().filter(|word| !word.starts_with('-'));
        words
            .filter(|word| !part.family.split(' ').any(|verb| verb == word.as_str()))
            .cloned()
            .collect()
    };
    let (failed, passed) = (plain(one), plain(other));
    // Other arguments are another command.
    let is_shared = failed.iter().all(|word| passed.contains(word));
    // An option that only disappears must be named by the error.
    let is_named = !added.is_empty()
        || removed.iter().any(|option| {
            error.contains(
                option
                    .trim_start_matches('-')
                    .split('=')
                    .next()
                    .unwrap_or(option),
            )
        });
    (is_shared && is_named).then_some(VariantKind::Options)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cues::Cues;

    /// Rows of a failed command, its error, a command that passed, and the variant that is found.
    const PAIRS: [(&str, &str, &str, Option<&str>); 23] = [
        (
            "node web/build.js",
            "Error: Could not resolve \"js/main.js\"",
            "cd /p/web && node build.js",
            Some("cd web && node build.js"),
        ),
        (
            "npm test",
            "npm error enoent: no such file or directory, package.json",
            "cd frontend && npm test",
            Some("cd frontend && npm test"),
        ),
        (
            "npm test",
            "expected 3 to equal 4",
            "cd frontend && npm test",
            None,
        ),
        (
            "git add dist/a.css",
            "The following paths are ignored by one of your .gitignore files: dist",
            "git add -f dist/a.css && git add b && git commit -m x",
            Some("git add -f dist/a.css"),
        ),
        (
            "git add dist/a.css",
            "The following paths are ignored",
            "git add src/b.rs",
            None,
        ),
        (
            "git push",
            "fatal: The current branch t has no upstream branch.",
            "git push --set-upstream origin t",
            Some("git push --set-upstream origin t"),
        ),
        ("git push", "rejected", "git pull --rebase", None),
        (
            "git push origin main",
            "error: failed to push some refs",
            "git push -u origin topic",
            None,
        ),
        (
            "sed -n 1,5p src/(app)/a.ts",
            "zsh:1: no matches found: src/(app)/a.ts",
            "sed -n 1,5p 'src/(app)/a.ts'",
            Some("sed -n 1,5p 'src/(app)/a.ts'"),
        ),
        (
            "python x.py",
            "bash: python: command not found",
            "python3 x.py",
            Some("python3 x.py"),
        ),
        (
            "vitest run",
            "sh: vitest: command not found",
            "npx vitest run",
            Some("npx vitest run"),
        ),
        (
            "pytest -q",
            "assert 3 == 4",
            "pytest -q --import-mode=importlib",
            None,
        ),
        (
            "pip install x",
            "error: externally-managed-environment",
            "pip install --break-system-packages x",
            Some("pip install --break-system-packages x"),
        ),
        (
            "cargo build",
            "error: failed to run custom build command for openssl-sys",
            "OPENSSL_DIR=/opt/ssl cargo build",
            Some("OPENSSL_DIR=/opt/ssl cargo build"),
        ),
        (
            "npm ci --foo",
            "Unknown option: --foo",
            "npm ci",
            Some("npm ci"),
        ),
        ("npm ci --foo", "network down", "npm ci", None),
        (
            "cargo test",
            "error: linking with `cc` failed",
            "cargo test --lib",
            None,
        ),
        ("make", "error", "ls", None),
        (
            "uv run ty src/",
            "error: unrecognized subcommand 'src/'",
            "uv run ty check src/",
            Some("uv run ty check src/"),
        ),
        (
            "uv run ty src/app.py",
            "error: unrecognized subcommand 'src/app.py'",
            "uv run ty check src/ 2>&1",
            Some("uv run ty check src/"),
        ),
        ("tool build x", "error: x is broken", "tool check x", None),
        (
            "uv run python -c 'import shop; print(shop)'",
            "failed to canonicalize path `.venv/bin/python3`: Permission denied",
            ".venv/bin/python -c \"import shop; print(shop)\"",
            None,
        ),
        // All variables of the command that works are needed.
        (
            "PYTHONPATH=src python3 -m unittest",
            "KeyError: 'DB_URL'",
            "DB_URL=x PYTHONPATH=src python3 -m unittest",
            Some("DB_URL=x PYTHONPATH=src python3 -m unittest"),
        ),
    ];

    #[test]
    fn find_variant_of_pairs() {
        for (failed, error, passed, expected) in PAIRS {
            let (one, other) = (CommandRun::parse(failed), CommandRun::parse(passed));
            let found = find_variant(&one, &one.parts[0], &other, error, &Cues::get().failures);
            assert_eq!(
                found.map(|one| one.text).as_deref(),
                expected,
                "{failed} | {passed}"
            );
        }
    }
}
