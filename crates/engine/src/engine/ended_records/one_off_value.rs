//! One-off values: statements whose content is a hash, an id of a run, a count or a version of a moment.

/// Words of statements that hold for longer than the value in them.
const LASTING: [&str; 37] = [
    "minimum",
    "maximum",
    "at least",
    "at most",
    "or newer",
    "or later",
    "up to",
    "must",
    "should",
    "shall",
    "required",
    "requires",
    "require",
    "need",
    "needs",
    "always",
    "never",
    "use",
    "pin",
    "pinned",
    "per",
    "limit",
    "limited",
    "supported",
    "supports",
    "default",
    "defaults",
    "expects",
    "expected",
    "because",
    "due to",
    "caused",
    "causes",
    "unless",
    "whenever",
    "if",
    "when",
];
/// Words of a statement about a moment.
const MOMENT: [&str; 24] = [
    "newest",
    "latest",
    "current",
    "currently",
    "now",
    "today",
    "head",
    "tip",
    "as of",
    "most recent",
    "last",
    "installed",
    "released",
    "pushed",
    "merged",
    "passed",
    "passes",
    "failed",
    "fails",
    "green",
    "red",
    "succeeded",
    "finished",
    "running",
];
/// Things that are run and have an id each time.
const RUNS: [&str; 13] = [
    "run",
    "runs",
    "build",
    "job",
    "pipeline",
    "workflow",
    "deployment",
    "pid",
    "process",
    "execution",
    "attempt",
    "check",
    "session",
];
/// Things whose number changes with the work.
const COUNTED: [&str; 24] = [
    "test",
    "tests",
    "specs",
    "assertions",
    "checks",
    "suites",
    "cases",
    "warnings",
    "errors",
    "failures",
    "findings",
    "vulnerabilities",
    "commits",
    "files",
    "lines",
    "todos",
    "issues",
    "records",
    "packages",
    "crates",
    "scenarios",
    "coverage",
    "examples",
    "mutants",
];
/// Words with which a count is the state of the work.
const RESULTS: [&str; 26] = [
    "pass",
    "passes",
    "passed",
    "passing",
    "fail",
    "fails",
    "failed",
    "failing",
    "green",
    "red",
    "skipped",
    "ignored",
    "remain",
    "remaining",
    "left",
    "open",
    "total",
    "there are",
    "changed",
    "ahead",
    "behind",
    "currently",
    "now",
    "is at",
    "found",
    "reported",
];
/// Words from a number to the thing that it counts, or from a run to its id.
const NEAR_MAX: usize = 3;
/// Words of a statement that is only a value; a longer one explains something.
const WORDS_MAX: usize = 20;
/// Least number of digits of an id of a run; ports, years and status codes have fewer.
const ID_DIGITS_MIN: usize = 6;
/// Digits of an abbreviated and of a whole commit hash.
const HASH_DIGITS: std::ops::RangeInclusive<usize> = 7..=40;

/// Returns true for a statement that is only a value of a moment, such as "CI run 2048213 passed" or "24 tests pass", and
/// not for one that holds, such as "Port 8080" or "Python 3.14 is the minimum".
pub(super) fn is_one_off_value(text: &str) -> bool {
    let words = words_of(text);
    if words.is_empty() || words.len() > WORDS_MAX {
        return false;
    }
    let spaced = format!(" {} ", words.join(" "));
    let has = |phrases: &[&str]| {
        let mut phrases = phrases.iter();
        phrases.any(|phrase| spaced.contains(&format!(" {phrase} ")))
    };
    if has(&LASTING) {
        return false;
    }
    let is_moment = has(&MOMENT);
    let has_hash = words.iter().any(|word| is_hash(word));
    let has_version = words.iter().any(|word| is_version(word));
    let is_result = has(&RESULTS);
    let is_count = is_result && names_count(&words);
    is_moment && (has_hash || has_version) || names_run(&words, is_moment) || is_count
}

/// Returns the words in lower case, each without marks around it.
fn words_of(text: &str) -> Vec<String> {
    let is_mark = |c: char| !(c.is_alphanumeric() || matches!(c, '#' | '%'));
    text.split(|c: char| c.is_whitespace() || matches!(c, '/' | '(' | ')' | '=' | ':' | ','))
        .map(|word| word.trim_matches(is_mark).to_lowercase())
        .filter(|word| !word.is_empty())
        .collect()
}

fn is_hash(word: &str) -> bool {
    let has = |is_kind: fn(char) -> bool| word.chars().any(is_kind);
    HASH_DIGITS.contains(&word.len())
        && word.bytes().all(|byte| byte.is_ascii_hexdigit())
        && has(|c| c.is_ascii_digit())
        && has(|c| c.is_ascii_alphabetic())
}

/// Returns true for a version of at least two numbers, with or without a `v`.
fn is_version(word: &str) -> bool {
    let parts: Vec<&str> = word
        .strip_prefix('v')
        .unwrap_or(word)
        .split(['.', '-', '+'])
        .collect();
    let is_number =
        |part: &&str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    parts.len() > 1 && parts.iter().take(2).all(is_number)
}

/// Returns the digits of a number such as `24`, `#24`, `24%` or `1.200`.
fn number(word: &str) -> Option<&str> {
    let digits = word.trim_start_matches('#').trim_end_matches('%');
    let is_number = digits.starts_with(|c: char| c.is_ascii_digit())
        && digits.chars().all(|c| c.is_ascii_digit() || c == '.');
    is_number.then_some(digits)
}

/// Returns true if a run is named by its id: a long number, or any number of a run that ended.
fn names_run(words: &[String], is_moment: bool) -> bool {
    words.iter().enumerate().any(|(at, word)| {
        let is_run = RUNS.contains(&word.as_str());
        let next = words.iter().skip(at + 1).take(NEAR_MAX);
        let mut ids = next.filter_map(|word| number(word));
        is_run
            && ids.any(|digits| {
                let is_plain = !digits.contains('.');
                is_plain && (is_moment || word == "pid" || digits.len() >= ID_DIGITS_MIN)
            })
    })
}

/// Returns true if a number counts something that changes with the work: "24 tests", "3 of 5 checks", "coverage 83%".
fn names_count(words: &[String]) -> bool {
    let is_counted = |word: &String| COUNTED.contains(&word.as_str());
    words.iter().enumerate().any(|(at, word)| {
        let after = words.iter().skip(at + 1).take(NEAR_MAX);
        let before = words.iter().take(at).rev().take(NEAR_MAX);
        let is_share = word.ends_with('%');
        number(word).is_some()
            && (after.clone().any(is_counted) || is_share && before.clone().any(is_counted))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn value_of_a_moment_is_one_off() {
        for text in [
            "CI run 2048213 passed",
            "Run #2048213 of the pipeline is green.",
            "The workflow run id is 18273645546",
            "Build 512 failed",
            "The dev server has PID 4711.",
            "commit 3fa9c1d is the newest",
            "The newest commit is `3fa9c1d`.",
            "HEAD is at 3fa9c1d2b4",
            "main is now at 9b1deb4d3b7d4bad9bdd2b0d7b3dcb6d00000001",
            "The fix was merged as 3fa9c1d.",
            "24 tests pass",
            "All 24 unit tests pass.",
            "3 of 5 checks failed",
            "12 warnings remain",
            "There are 17 open issues",
            "Test coverage is at 83%",
            "1.204 tests passed, 3 skipped",
            "The current version is 0.4.2",
            "The latest release is v1.2.3.",
            "Node 20.11.1 is installed",
            "As of today the schema is at version 3.2.",
        ] {
            assert!(is_one_off_value(text), "{text}");
        }
    }

    #[test]
    fn lasting_statement_is_no_one_off_value() {
        for text in [
            "Port 8080",
            "The dev server listens on port 8080.",
            "Python 3.14 is the minimum",
            "Python 3.14 is currently the minimum.",
            "Requires Node 20.11.1 or newer",
            "Pin actions/checkout to commit 3fa9c1d, the latest audited one.",
            "Use the current version 0.4.2 of the plugin.",
            "Postgres 16.2",
            "The service runs on Postgres 16.2.",
            "At least 80% coverage is required now.",
            "The API allows 24 requests per minute.",
            "Tests run with 4 workers.",
            "A file has at most 400 lines.",
            "The cache keeps 1000 records.",
            "HTTP 404 means that the tenant is unknown.",
            "The build job takes 12 minutes.",
            "The run loop stops after 3 failures.",
            "12 tests fail on Windows because paths have backslashes.",
            "The last 3 backups are kept.",
            "Money is stored as integer cents.",
            "The 2026 report has 3 files.",
            "",
        ] {
            assert!(!is_one_off_value(text), "{text}");
        }
        let long = "CI run 2048213 passed".to_owned() + &" and more".repeat(WORDS_MAX);
        assert!(!is_one_off_value(&long));
    }
}
