//! Open failures: failed commands whose success has not been seen yet.

use super::run_place::RunPlace;
use crate::bounded_text::{bounded, bounded_excerpt};
use crate::code_tokens::{content_words, is_file_name};
use crate::command_run::{CommandPart, CommandRun};
use crate::cues::FailureCues;
use crate::event_place::EventPlace;
use crate::project_paths::ProjectPaths;
use heirloom_agents::failures::{Failure, test_of_error};
use heirloom_model::{Timestamp, text};
use serde::{Deserialize, Serialize};

/// Bytes of an error.
const ERROR_BYTES_MAX: usize = 320;
/// Words of an error that are kept.
const WORDS_MAX: usize = 18;
/// Bytes of a word.
const WORD_BYTES_MAX: usize = 24;
/// Files of an output that are kept.
const FILES_MAX: usize = 4;
/// Bytes of a file's path.
const FILE_BYTES_MAX: usize = 80;
/// Bytes of the error by which it is found in another output.
const PROBE_BYTES_MAX: usize = 60;
/// Words of an output in which files are searched.
const FILE_WORDS_MAX: usize = 4_000;

/// Progress of a command before it failed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum FailureStage {
    /// The command line is wrong, or the program is missing.
    Start,
    /// Compilation, configuration or dependencies.
    Build,
    /// While it ran.
    #[default]
    Run,
    /// A test's comparison did not hold.
    Test,
}

/// A failed command whose success has not been seen yet.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct OpenFailure {
    /// Record key.
    pub(super) key: String,
    /// Place of the first failure.
    pub(super) first: EventPlace,
    /// Position of the last failure with this error.
    pub(super) last: u64,
    /// Time of the last failure with this error.
    pub(super) last_at: Option<Timestamp>,
    /// Number of calls before the last failure with this error.
    pub(super) last_call: u64,
    /// Number of failures with this error.
    pub(super) attempts: u32,
    /// The command.
    pub(super) run: CommandRun,
    /// Folder and tree in which it ran.
    pub(super) ran_at: RunPlace,
    /// Number of the part of the run that failed.
    pub(super) part: usize,
    /// The line that names the fault.
    pub(super) error: String,
    /// Progress of the command.
    pub(super) stage: FailureStage,
    /// Words of the error, in lower case.
    pub(super) words: Vec<String>,
    /// Files that the output names, in lower case.
    pub(super) files: Vec<String>,
    /// True if the agent expected the failure.
    pub(super) is_expected: bool,
    /// True if the failing file was written in this session and never worked.
    pub(super) is_new_code: bool,
    /// True if the output can list further errors: those of tests, and those at places in files.
    pub(super) is_listed: bool,
    /// True if the error only states that the command failed.
    #[serde(skip)]
    is_bare_summary: bool,
}

impl OpenFailure {
    /// Creates the failure of a run, whose last part failed, with an output.
    pub(super) fn new(
        place: EventPlace,
        run: CommandRun,
        failure: &Failure,
        output: &str,
        cues: &FailureCues,
    ) -> Self {
        let lower = failure.error.to_lowercase();
        let mut words = content_words(&failure.error);
        words.dedup();
        words.truncate(WORDS_MAX);
        Self {
            key: failure.key(),
            last: place.position,
            last_at: place.at,
            first: place,
            attempts: 1,
            part: run.parts.len().saturating_sub(1),
            error: bounded(&failure.error, ERROR_BYTES_MAX),
            stage: stage_of(&lower, cues),
            words: words
                .iter()
                .map(|word| bounded(word, WORD_BYTES_MAX))
                .collect(),
            files: files_in(output),
            is_listed: test_of_error(&failure.error).is_some() || has_place(output),
            is_bare_summary: cues.bare_summaries.is_in(&lower) || is_count(&lower),
            run,
            ..Self::default()
        }
    }

    /// Returns false for lookups and scripts on the command line, unless the command line itself is wrong.
    pub(super) fn is_worth_tracking(&self, is_lookup: bool) -> bool {
        let Some(part) = self.failed_part() else {
            return false;
        };
        // A script in a temporary folder is gone with the session.
        let is_temporary = part.words.iter().take(4).any(|word| {
            let folders = ["/tmp/", "/private/tmp/", "/var/folders/", "$TMPDIR"];
            folders.iter().any(|folder| word.starts_with(folder))
        });
        let program = part.family.split(' ').next().unwrap_or_default();
        if TIDYING_PROGRAMS.contains(&program) {
            return false;
        }
        if self.is_bare_summary || is_temporary && part.is_script() {
            return false;
        }
        let is_shell_fault = self.stage == FailureStage::Start
            && !self.error.to_lowercase().contains("no such file");
        match is_lookup {
            true => is_shell_fault,
            false => !part.is_inline_script() || self.stage == FailureStage::Start,
        }
    }

    /// Returns the part of the run that failed.
    pub(super) fn failed_part(&self) -> Option<&CommandPart> {
        self.run.parts.get(self.part)
    }

    /// Returns true if the error is reported in an output, given on one line.
    pub(super) fn is_in(&self, output_line: &str) -> bool {
        let message = match self.test_name() {
            Some(test) if !output_line.contains(test.trim_end_matches('…')) => return false,
            Some(test) => self
                .error
                .get(..self.error.len() - test.len() - 3)
                .unwrap_or_default(),
            None => self.error.as_str(),
        };
        let mut parts = message.split("; ").map(|part| {
            let part = part
                .get(..part.floor_char_boundary(PROBE_BYTES_MAX))
                .unwrap_or_default();
            part.trim_end_matches('…').trim()
        });
        parts.all(|part| !part.is_empty() && output_line.contains(part))
    }

    /// Returns the name of the failing test, which the error has in parentheses at its end.
    pub(super) fn test_name(&self) -> Option<&str> {
        test_of_error(&self.error)
    }

    /// Returns true if the program began its work: it is there, and the command line is right.
    pub(super) fn has_started(&self, cues: &FailureCues) -> bool {
        self.stage > FailureStage::Start && !cues.missing_programs.is_in(&self.error.to_lowercase())
    }

    /// Returns true if a run of the same test fails in a comparison as before: other compared values are the same failure.
    pub(super) fn is_same_test(&self, other: &Self) -> bool {
        let compares = |one: &Self| one.stage == FailureStage::Test;
        let test = self.test_name();
        test.is_some() && test == other.test_name() && compares(self) && compares(other)
    }

    /// Returns true if a success of this run shows that the failure is resolved.
    pub(super) fn is_resolved_by(&self, run: &CommandRun, ran_at: &RunPlace) -> bool {
        if !self.ran_at.is_same(ran_at) {
            return false;
        }
        let Some(failed) = self.failed_part() else {
            return run.prefix == self.run.prefix;
        };
        run.prefix == self.run.prefix
            || run
                .parts
                .iter()
                .any(|part| self.is_covered_by(failed, part))
    }

    /// Returns true if a command runs at least what failed.
    fn is_covered_by(&self, failed: &CommandPart, part: &CommandPart) -> bool {
        if failed.family != part.family
            || part
                .options()
                .any(|option| NO_RUN_OPTIONS.contains(&option))
            || leaves_more_out(failed, part)
        {
            return false;
        }
        let chosen = failed.selections();
        let is_new = |value: &&str| !chosen.contains(value);
        let mut selections = part.selections().into_iter().filter(is_new);
        if !selections.all(|value| self.is_selected_by(value)) {
            return false;
        }
        let (wanted, run) = (failed.targets(), part.targets());
        run.is_empty()
            || wanted.iter().all(|target| run.contains(target)) && !wanted.is_empty()
            || run.iter().any(|target| self.is_selected_by(target))
    }

    /// Returns true if a target selects the failing test, or a file that the output names.
    fn is_selected_by(&self, target: &str) -> bool {
        let test = self.test_name().unwrap_or_default();
        let file = target
            .split([':', '#'])
            .next()
            .unwrap_or(target)
            .trim_start_matches("./")
            .to_lowercase();
        let mut files = self.files.iter();
        let is_file = !file.is_empty()
            && files.any(|known| known.ends_with(&file) || file.ends_with(known.as_str()));
        let name = target.rsplit("::").next().unwrap_or(target);
        is_file || name.len() >= 4 && test.contains(name)
    }

    /// Returns true if the run of a later failure would have shown this error.
    pub(super) fn is_shown_by(
        &self,
        run: &CommandRun,
        ran_at: &RunPlace,
        stage: FailureStage,
    ) -> bool {
        stage >= self.stage && self.is_resolved_by(run, ran_at)
    }

    /// Returns the failure as a reader sees it, without the resolution, in about `chars_max` characters.
    pub(super) fn text(&self, paths: &ProjectPaths, chars_max: usize) -> String {
        let command = self
            .failed_part()
            .map_or("", |part| part.text.as_str())
            .replace('`', "'");
        let left = chars_max.saturating_sub(text::chars(&command) + 12);
        let error = bounded_excerpt(
            &paths.without_folder(&self.error),
            left.clamp(ERROR_CHARS_MIN, ERROR_SHOWN_CHARS),
        );
        match error.is_empty() {
            true => format!("`{command}` failed"),
            false => format!("`{command}` failed: {error}"),
        }
    }
}

/// Characters of an error in a record, at most.
const ERROR_SHOWN_CHARS: usize = 170;
/// Characters of an error in a record, at least.
const ERROR_CHARS_MIN: usize = 40;

/// Returns true for an error that only counts: `Found 5 errors.`.
fn is_count(lower: &str) -> bool {
    let words: Vec<&str> = lower.trim_end_matches(['.', '!', ':']).split(' ').collect();
    let is_number = |word: &str| word.bytes().all(|byte| byte.is_ascii_digit());
    match words.as_slice() {
        [
            "found",
            count,
            "error" | "errors" | "diagnostics" | "issues" | "problems",
            ..,
        ] => is_number(count) && words.len() <= 6,
        _ => false,
    }
}

/// Programs whose failures are slips of a moment.
const TIDYING_PROGRAMS: [&str; 14] = [
    "rm", "mv", "cp", "mkdir", "rmdir", "touch", "ls", "cat", "head", "tail", "kill", "pkill",
    "killall", "which",
];

/// Options with which a command does not do its work.
const NO_RUN_OPTIONS: [&str; 9] = [
    "--help",
    "--version",
    "--list",
    "--no-run",
    "--collect-only",
    "--dry-run",
    "-h",
    "--listTests",
    "--co",
];

/// Options that leave tests or rules out.
const EXCLUDING_OPTIONS: [&str; 12] = [
    "--ignore",
    "--ignore-glob",
    "--deselect",
    "--exclude",
    "--extend-exclude",
    "--skip",
    "--extend-ignore",
    "--disable",
    "--ignore-pattern",
    "--testPathIgnorePatterns",
    "--exit-zero",
    "-skip",
];

/// Returns true if a command leaves out something that the failed one did not.
fn leaves_more_out(failed: &CommandPart, part: &CommandPart) -> bool {
    let is_excluding = |option: &&str| {
        let name = option.split('=').next().unwrap_or(option);
        EXCLUDING_OPTIONS.contains(&name)
    };
    let before: Vec<&str> = failed.options().filter(is_excluding).collect();
    let count = part.options().filter(is_excluding).count();
    count > before.len()
        || part
            .options()
            .filter(is_excluding)
            .any(|option| !before.contains(&option))
}

/// Returns how far a command came, by its error.
pub(super) fn stage_of(lower: &str, cues: &FailureCues) -> FailureStage {
    if cues.start_faults.is_in(lower) {
        FailureStage::Start
    } else if cues.build_faults.is_in(lower) {
        FailureStage::Build
    } else if cues.test_faults.is_in(lower) {
        FailureStage::Test
    } else {
        FailureStage::Run
    }
}

/// Returns true if an output names a line of a file, as in `src/a.ts(3,1)` and `a.py:3`.
fn has_place(output: &str) -> bool {
    let mut words = output.split_whitespace().take(FILE_WORDS_MAX);
    words.any(|word| {
        word.match_indices([':', '(']).any(|(at, _)| {
            let (path, line) = word.split_at(at);
            let digit = line.as_bytes().get(1);
            let is_line = digit.is_some_and(u8::is_ascii_digit);
            is_line && is_file_name(path.trim_start_matches(['(', '"', '\'']))
        })
    })
}

/// Returns the files of the project that an output names, in lower case.
fn files_in(output: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let words = output.split(|c: char| {
        c.is_whitespace() || matches!(c, '(' | ')' | '"' | '\'' | '`' | ',' | '<' | '>')
    });
    for word in words.take(FILE_WORDS_MAX) {
        let path = word
            .split(':')
            .next()
            .unwrap_or_default()
            .trim_start_matches("./");
        let is_outside = OUTSIDE.iter().any(|part| word.contains(part));
        if is_outside || path.len() > FILE_BYTES_MAX * 2 || !is_file_name(path) {
            continue;
        }
        // The end of a long path identifies the file.
        let start = path.len().saturating_sub(FILE_BYTES_MAX);
        let path = bounded(
            path.get(path.ceil_char_boundary(start)..)
                .unwrap_or_default(),
            FILE_BYTES_MAX,
        )
        .to_lowercase();
        if !found.contains(&path) {
            found.push(path);
        }
        if found.len() == FILES_MAX {
            break;
        }
    }
    found
}

/// Parts of paths outside of the project.
const OUTSIDE: [&str; 8] = [
    "node_modules",
    "site-packages",
    "/deps/",
    ".cargo/",
    "/usr/",
    "vendor/",
    "://",
    "rustc/",
];

/// Returns an output on one line, for [`OpenFailure::is_in`].
pub(super) fn output_line(output: &str) -> String {
    text::one_line(&text::strip_ansi(output))
}
