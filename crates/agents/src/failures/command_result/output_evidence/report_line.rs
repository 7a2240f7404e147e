//! Lines in which test programs, compilers, linters and other tools report how their work ended.

use super::super::ShapePart;
use crate::failures::cause::reports_failure;

/// Beginnings or parts of lines, in lower case, and the words of a command one of which it must have.
const REPORTERS: [(&str, &[&str]); 36] = [
    ("error[e", &["cargo", "rustc", "clippy"]),
    ("could not compile", &["cargo"]),
    ("could not find `cargo.toml`", &["cargo"]),
    ("error: test failed", &["cargo"]),
    (
        "cannot find module",
        &["node", "npm", "npx", "tsx", "ts-node"],
    ),
    (
        "error ts",
        &[
            "tsc",
            "build",
            "typecheck",
            "type-check",
            "check",
            "lint",
            "compile",
        ],
    ),
    ("npm error", &["npm", "npx"]),
    ("npm err!", &["npm", "npx"]),
    ("elifecycle", &["pnpm", "yarn"]),
    ("err_pnpm_", &["pnpm"]),
    ("missing script", &["npm", "pnpm", "yarn", "bun"]),
    (
        "traceback (most recent",
        &[
            "python",
            "python3",
            "pytest",
            "manage.py",
            "flask",
            "alembic",
        ],
    ),
    (
        "modulenotfounderror",
        &["python", "python3", "pytest", "flask"],
    ),
    ("node:internal", &["node", "npm", "npx", "tsx"]),
    ("cmake error", &["cmake"]),
    ("error response from daemon", &["docker", "docker-compose"]),
    ("no such container", &["docker"]),
    (
        "connect to the docker daemon",
        &["docker", "docker-compose"],
    ),
    ("no such service", &["docker", "docker-compose"]),
    (
        "connect to host",
        &["ssh", "scp", "rsync", "push", "pull", "fetch", "clone"],
    ),
    (
        "permission denied (publickey",
        &["ssh", "scp", "rsync", "push", "pull", "fetch", "clone"],
    ),
    (
        "could not resolve hostname",
        &["ssh", "scp", "rsync", "push", "pull", "fetch", "clone"],
    ),
    ("error from server", &["kubectl"]),
    ("nothing to commit", &["commit"]),
    ("no changes added to commit", &["commit"]),
    ("are ignored by one of your", &["add"]),
    ("did not match any file", &["add", "checkout", "restore"]),
    ("[rejected]", &["push", "fetch"]),
    ("failed to push", &["push"]),
    ("no upstream branch", &["push"]),
    (
        "conflict (",
        &["merge", "rebase", "pull", "cherry-pick", "stash"],
    ),
    (
        "build failed",
        &["gradle", "gradlew", "mvn", "build", "xcodebuild", "ant"],
    ),
    ("compilation error", &["mix", "elixir", "iex"]),
    ("would reformat", &["black", "ruff", "format", "fmt"]),
    ("panicked at", &["cargo", "rustc"]),
    (".go:", &["go", "golangci-lint", "staticcheck"]),
];

/// Words of commands that run tests.
const TEST_WORDS: [&str; 26] = [
    "test",
    "tests",
    "pytest",
    "py.test",
    "tox",
    "nox",
    "nextest",
    "unittest",
    "jest",
    "vitest",
    "mocha",
    "ava",
    "rspec",
    "minitest",
    "phpunit",
    "pest",
    "ctest",
    "gotestsum",
    "playwright",
    "cypress",
    "check",
    "verify",
    "spec",
    "karma",
    "behave",
    "cucumber",
];
/// Words of commands that check types or style.
const LINT_WORDS: [&str; 24] = [
    "lint",
    "eslint",
    "ruff",
    "mypy",
    "pyright",
    "ty",
    "flake8",
    "pylint",
    "clippy",
    "rubocop",
    "credo",
    "dialyzer",
    "biome",
    "oxlint",
    "shellcheck",
    "golangci-lint",
    "vet",
    "stylelint",
    "typecheck",
    "type-check",
    "tsc",
    "check",
    "standard",
    "yamllint",
];
/// Lines that only a successful run prints, in lower case, and the words of the command.
const SUCCESSES: [(&str, &[&str]); 14] = [
    ("all checks passed", &["ruff", "check", "lint", "ty"]),
    ("success: no issues found", &["mypy"]),
    (
        "0 errors, 0 warnings",
        &["pyright", "eslint", "lint", "check", "svelte-check"],
    ),
    ("build successful", &["gradle", "gradlew", "ant"]),
    ("build success", &["mvn", "mvnw"]),
    ("build succeeded", &["dotnet", "xcodebuild"]),
    ("no offenses detected", &["rubocop"]),
    ("found no issues", &["credo", "mix"]),
    ("no vulnerabilities found", &["govulncheck"]),
    ("found 0 vulnerabilities", &["audit"]),
    ("successfully installed", &["pip", "pip3", "uv"]),
    ("everything up-to-date", &["push"]),
    ("compiled successfully", &["build", "webpack", "next", "ng"]),
    ("everything is ok", &["fsck", "7z"]),
];

/// Returns true for a line that reports a failure.
pub(super) fn is_failure_report(line: &str) -> bool {
    let lower = line.to_lowercase();
    reports_failure(line)
        || counts_problems(&lower)
        || is_located_error(&lower)
        || is_lint_line(&lower)
        || is_test_failure(&lower)
        || REPORTERS
            .iter()
            .any(|(phrase, _)| !WEAK.contains(phrase) && lower.contains(phrase))
}

/// Phrases of [`REPORTERS`] that a successful run prints as well.
const WEAK: [&str; 3] = [".go:", "panicked at", "node:internal"];

/// Returns true for a line that may report a failure of a command line that failed.
pub(super) fn may_report_failure(line: &str) -> bool {
    const WORDS: [&str; 9] = [
        "error",
        "fail",
        "cannot",
        "can't",
        "unable",
        "denied",
        "not found",
        "no such",
        "refused",
    ];
    let lower = line.to_lowercase();
    WORDS.iter().any(|word| lower.contains(word))
}

/// Returns the number of words of a command that a line names, without its options and short words.
pub(super) fn words_in(line: &str, part: &ShapePart) -> usize {
    // The other lines of a command are those of a message or a script.
    let text = part.text.lines().next().unwrap_or_default();
    let words = text.split(|c: char| c.is_whitespace() || matches!(c, '"' | '\''));
    let is_end = |c: Option<char>| !c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    let is_in = |word: &str| {
        line.match_indices(word).any(|(at, _)| {
            let before = line.get(..at).unwrap_or_default().chars().next_back();
            let after = line
                .get(at + word.len()..)
                .unwrap_or_default()
                .chars()
                .next();
            is_end(before) && is_end(after)
        })
    };
    let named = words.filter(|word| word.len() >= 4 && !word.starts_with('-') && is_in(word));
    let whole = part.text.len() >= 5 && line.contains(&part.text);
    named.count() + usize::from(whole) * 10
}

/// Returns true for a line that only a successful step prints.
pub(super) fn is_success(line: &str) -> bool {
    const STARTS: [&str; 5] = ["test result: ok", "ok ", "finished ", "success", "built "];
    let lower = line.trim().to_lowercase();
    STARTS.iter().any(|start| lower.starts_with(start))
        || lower.contains(" passed in ")
        || SUCCESSES.iter().any(|(phrase, _)| lower.contains(phrase))
}

/// Returns true if a line is a report of the kind of tool that a part runs.
pub(super) fn reporters_of(line: &str, part: &ShapePart) -> bool {
    let lower = line.to_lowercase();
    let known = REPORTERS
        .iter()
        .any(|(phrase, words)| lower.contains(phrase) && has_word(part, words));
    known
        || runs_tests(part) && is_test_failure(&lower)
        || has_word(part, &LINT_WORDS) && (counts_problems(&lower) || is_lint_line(&lower))
}

/// Returns true if a part runs tests.
pub(super) fn runs_tests(part: &ShapePart) -> bool {
    has_word(part, &TEST_WORDS)
}

/// Returns true if lines show that the tool of a part succeeded.
pub(super) fn has_success_report(lines: &[String], part: &ShapePart) -> bool {
    lines.iter().any(|line| {
        let lower = line.to_lowercase();
        SUCCESSES
            .iter()
            .any(|(phrase, words)| lower.contains(phrase) && has_word(part, words))
            || has_word(part, &LINT_WORDS) && counts_no_problem(&lower)
            || has_word(part, &INSTALLERS) && is_install_report(&lower)
    })
}

/// Programs that install packages.
const INSTALLERS: [&str; 5] = ["npm", "pnpm", "bun", "uv", "pip"];

/// Returns true for `added 12 packages in 3s`, and for ` + ruff==0.14.9`, which uv prints when all is installed.
fn is_install_report(lower: &str) -> bool {
    const STARTS: [&str; 4] = ["added ", "installed ", "audited ", "up to date"];
    STARTS.iter().any(|start| lower.starts_with(start)) && lower.contains(" package")
        || lower.starts_with(" + ") && lower.contains("==")
}

/// Returns true for a line that counts no problem, such as `0 errors, 2 warnings`.
fn counts_no_problem(lower: &str) -> bool {
    let words: Vec<&str> = lower
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .collect();
    let is_zero =
        |pair: &[&str]| matches!(pair, ["0", "errors" | "problems" | "issues" | "offenses"]);
    words.windows(2).any(is_zero) && !counts_problems(lower)
}

/// Returns true if a command has one of some words, also as the end of `lint:css` or `npm-test`.
fn has_word(part: &ShapePart, words: &[&str]) -> bool {
    let all = part
        .text
        .split(|c: char| c.is_whitespace() || matches!(c, '/' | ':' | '"' | '\''));
    all.take(12).any(|word| words.contains(&word))
}

/// Returns true for a line about failing tests.
fn is_test_failure(lower: &str) -> bool {
    let words: Vec<&str> = lower
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .collect();
    let is_count = |word: &str| word.parse::<u64>().is_ok_and(|count| count > 0);
    words.windows(2).any(|pair| match pair {
        [one, two] => {
            is_count(one) && two.starts_with("fail")
                || one.starts_with("fail") && is_count(two) && lower.contains(':')
        }
        _ => false,
    }) || lower.starts_with("test result: failed")
        || lower.starts_with("--- fail")
        || lower.starts_with("fail ")
        || lower.trim() == "fail"
}

/// Returns true for a line that counts the problems of a linter or compiler: `Found 3 errors`.
fn counts_problems(lower: &str) -> bool {
    let words: Vec<&str> = lower
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .collect();
    let is_problem = |word: &str| {
        [
            "error",
            "problem",
            "issue",
            "offense",
            "diagnostic",
            "violation",
        ]
        .iter()
        .any(|name| word.starts_with(name))
    };
    words.windows(2).any(|pair| match pair {
        [count, word] => count.parse::<u64>().is_ok_and(|count| count > 0) && is_problem(word),
        _ => false,
    }) && !lower.contains("fixed")
}

/// Returns true for `src/a.ts(4,7): error TS2322: …` and `a.c:3:1: error: …`.
fn is_located_error(lower: &str) -> bool {
    let Some((place, _)) = lower.split_once(": error") else {
        return false;
    };
    !place.contains(' ') && place.contains(|c: char| c.is_ascii_digit())
}

/// Returns true for a line of eslint: `  1:1  error  …`.
fn is_lint_line(lower: &str) -> bool {
    let mut words = lower.split_whitespace();
    let place = words.next().unwrap_or_default();
    let is_place = place.contains(':') && place.bytes().all(|b| b.is_ascii_digit() || b == b':');
    is_place && words.next() == Some("error")
}
