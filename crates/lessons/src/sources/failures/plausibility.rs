//! Plausibility of changes: which ones can have resolved a failure at all.

use super::change::Change;
use super::open_failure::OpenFailure;
use crate::command_run::CommandRun;
use crate::cues::FailureCues;

/// Returns false for a command that only formats, records or tidies, unless it names a file that the error names, and
/// for an edit after a failure of Git itself, unless it is one of Git's own files.
pub(super) fn is_plausible(change: &Change, open: &OpenFailure, cues: &FailureCues) -> bool {
    let family = open.failed_part().map_or("", |part| part.family.as_str());
    if change.path.is_empty() {
        // The same command again is no reason; a variant of it is described as such.
        return !is_again(change, open)
            && !is_formatter(change, open, cues)
            && (!change.is_housekeeping || names_same_file(change, open));
    }
    // A commit runs hooks, whose findings an edit resolves; Git's own errors it does not.
    let error = open.error.to_lowercase();
    let is_own_error = error.starts_with("fatal:") || error.contains("pathspec");
    let is_git = family.starts_with("git") && (family != "git commit" || is_own_error);
    let lower = change.path.to_lowercase();
    let name = lower.rsplit('/').next().unwrap_or_default();
    let is_text = [".md", ".rst", ".adoc", ".txt"]
        .iter()
        .any(|end| name.ends_with(end));
    let is_text = is_text && !name.starts_with("requirements") && name != "cmakelists.txt";
    let is_named = open.files.iter().any(|file| lower.ends_with(file.as_str()));
    match name.starts_with(".git") {
        true => family.starts_with("git"),
        false => !is_git && (!is_text || is_named),
    }
}

/// Returns true if a command is the failed one again, with the same words in any order, or another try of a commit.
fn is_again(change: &Change, open: &OpenFailure) -> bool {
    let Some(failed) = open.failed_part() else {
        return false;
    };
    let sorted = |words: &[String]| {
        let mut words = words.to_vec();
        words.sort();
        words
    };
    let parts = CommandRun::parse(&change.command).parts;
    parts.iter().any(|part| {
        part.family == failed.family
            && (part.family == "git commit" || sorted(&part.words) == sorted(&failed.words))
    })
}

/// Returns true for an edit that switches the failing check off, such as `# noqa`, `@pytest.mark.skip` or `#[ignore]`.
pub(super) fn is_check_switched_off(
    change: &Change,
    open: &OpenFailure,
    cues: &FailureCues,
) -> bool {
    let count = |lines: &[String]| {
        let lines = lines.iter().map(|line| line.to_lowercase());
        lines.filter(|line| cues.switch_offs.is_in(line)).count()
    };
    // The rule's code in a list of the settings: `"TRY004",`.
    let lists_code = |line: &String| {
        let is_item = line.starts_with(['"', '\'', '-']) || line.contains("ignore");
        is_item && rule_code(&open.error).is_some_and(|code| line.contains(code))
    };
    let is_settings = cues.settings_files.is_in(&change.path.to_lowercase());
    if is_settings && change.added.iter().any(lists_code) {
        return true;
    }
    // A file that is deleted fails no check.
    let is_deleted = change.command.starts_with("rm ") && names_same_file(change, open);
    is_deleted || count(&change.added) > count(&change.removed)
}

/// Returns the code of the rule that an error is about: `TRY004`, or `invalid-await` of `error[invalid-await]`.
fn rule_code(error: &str) -> Option<&str> {
    let in_brackets = error
        .strip_prefix("error[")
        .and_then(|rest| rest.split(']').next());
    let is_code = |word: &&str| {
        let letters = word.bytes().take_while(u8::is_ascii_uppercase).count();
        let digits = word.bytes().skip(letters);
        letters > 0
            && word.len() > letters + 1
            && digits.into_iter().all(|byte| byte.is_ascii_digit())
    };
    let mut words = error.split(|c: char| !c.is_ascii_alphanumeric());
    in_brackets.or_else(|| words.find(is_code))
}

/// Returns true for an edit that removes the failing test.
pub(super) fn is_test_removed(change: &Change, open: &OpenFailure) -> bool {
    let Some(test) = open.test_name() else {
        return false;
    };
    let name = test
        .rsplit([':', '.', '#', '>'])
        .next()
        .unwrap_or(test)
        .trim();
    let defines = |line: &String| line.contains(name) && line.contains(['(', '"', '\'']);
    name.len() >= 4 && change.removed.iter().any(defines) && !change.added.iter().any(defines)
}

/// Returns true if a command names a file that the error names.
fn names_same_file(change: &Change, open: &OpenFailure) -> bool {
    let names = |text: &str| -> Vec<String> {
        text.split([' ', ':', '\'', '"', ','])
            .map(|word| word.trim_end_matches(['.', ')']).to_lowercase())
            .filter(|word| word.len() >= 4 && word.contains(['/', '.']))
            .collect()
    };
    let named = names(&open.error);
    names(&change.command).iter().any(|argument| {
        named
            .iter()
            .any(|name| argument.contains(name) || name.contains(argument))
    })
}

/// Returns true for a formatter, unless the failure is about the format.
fn is_formatter(change: &Change, open: &OpenFailure, cues: &FailureCues) -> bool {
    let is_about_format = || {
        let failed = open.failed_part().map_or("", |part| part.text.as_str());
        let all = format!("{} {failed}", open.error).to_lowercase();
        ["format", "fmt", "lint", "prettier", "whitespace", "black"]
            .iter()
            .any(|word| all.contains(word))
    };
    !change.command.is_empty()
        && cues.formatters.begins(&change.command.to_lowercase())
        && !is_about_format()
}
