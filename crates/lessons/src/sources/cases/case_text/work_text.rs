//! Fields of a case about the work: what was done, what failed, and the result.

use super::CaseFacts;
use crate::sentences::shorten_to_sentences;
use crate::sources::cases::case_progress::CaseProgress;
use crate::sources::commits::plain_subject;
use heirloom_model::case::EDITED;
use heirloom_model::text;

/// Greatest number of characters of the failures.
const FAILED_CHARS_MAX: usize = 150;
/// Greatest number of characters of the command that failed.
const FAILED_COMMAND_CHARS_MAX: usize = 40;
/// Greatest number of characters of the list of edited files.
const FILES_CHARS_MAX: usize = 120;
/// Smallest number of words of a result.
const RESULT_WORDS_MIN: usize = 3;
/// Greatest number of characters of the result.
const RESULT_CHARS_MAX: usize = 120;
/// Greatest number of characters of a commit's subject.
const SUBJECT_CHARS_MAX: usize = 60;
/// Number of files that the work names.
const FILES_SHOWN: usize = 4;
/// Number of checks that the work names.
const CHECKS_SHOWN: usize = 2;
/// Greatest number of characters of a check.
const CHECK_CHARS_MAX: usize = 64;
/// Number of commits that the work names.
const COMMITS_SHOWN: usize = 2;

impl CaseFacts<'_> {
    pub(super) fn did(&self, chars_max: usize) -> String {
        let progress = self.progress;
        let mut parts: Vec<String> = Vec::new();
        let files = self.files();
        if !files.is_empty() {
            parts.push(format!("{EDITED}{}", files_text(&files)));
        }
        let checks: Vec<String> = progress
            .passed_checks()
            .filter(|check| !check.command.is_empty())
            .take(CHECKS_SHOWN)
            .map(|check| format!("`{}`", text::excerpt(&check.command, CHECK_CHARS_MAX)))
            .collect();
        if !checks.is_empty() && progress.has_changes() {
            parts.push(format!("verified by {}", checks.join(", ")));
        }
        if !progress.commits.is_empty() {
            parts.push(commits_text(progress));
        }
        parts.extend(progress.filed.last().cloned());
        let mut did = String::new();
        for part in parts {
            let gap = if did.is_empty() { "" } else { "; " };
            let room = chars_max.saturating_sub(text::chars(&did) + gap.len());
            if text::chars(&part) <= room || did.is_empty() {
                did.push_str(gap);
                did.push_str(&text::excerpt(&part, room));
            }
        }
        did
    }

    pub(super) fn failed(&self) -> String {
        if let Some(check) = self.progress.failing_check() {
            let command = match check.command.is_empty() {
                true => "tests".to_owned(),
                false => format!("`{}`", text::excerpt(&check.command, CHECK_CHARS_MAX)),
            };
            let error = match check.error.is_empty() {
                true => String::new(),
                false => format!(": {}", self.paths.without_folder(&check.error)),
            };
            return text::excerpt(
                &format!("{command} fails at the end{error}"),
                FAILED_CHARS_MAX,
            );
        }
        (self.failures.first()).map_or_else(String::new, |failure| {
            failure_text(failure.text, failure.resolution)
        })
    }

    pub(super) fn result(&self) -> String {
        let progress = self.progress;
        if let Some(words) = progress.dissent() {
            return text::excerpt(
                &format!("not solved: the person said \"{words}\""),
                RESULT_CHARS_MAX,
            );
        }
        if progress.is_reverted() {
            return "the changes were reverted".to_owned();
        }
        let (reported, _) = progress.outcome(self.cues);
        let reported = text::one_line(&reported);
        let result = match shorten_to_sentences(&reported, RESULT_CHARS_MAX) {
            short if short.is_empty() => text::excerpt(&reported, RESULT_CHARS_MAX),
            short => short,
        };
        match result.split_whitespace().count() < RESULT_WORDS_MIN {
            true => String::new(),
            false => result,
        }
    }
}

/// Returns a failure with what resolved it. The error is worth more than the end of a long command, and the change more
/// than the folder of the changed file.
fn failure_text(failure: &str, resolution: &str) -> String {
    let (command, error) = match failure
        .strip_prefix('`')
        .and_then(|rest| rest.split_once("` failed"))
    {
        Some((command, error)) => (
            format!(
                "`{}` failed",
                text::excerpt(command, FAILED_COMMAND_CHARS_MAX)
            ),
            error,
        ),
        None => (String::new(), failure),
    };
    let resolution = resolution.trim_end_matches('.');
    let resolution = match resolution.split_once(": ") {
        Some((path, change)) if path.contains('/') && !path.contains(' ') => {
            format!("{}: {change}", path.rsplit('/').next().unwrap_or(path))
        }
        _ => resolution.to_owned(),
    };
    let room = FAILED_CHARS_MAX.saturating_sub(text::chars(&command));
    let resolution = match resolution.is_empty() {
        true => String::new(),
        false => format!(" → {}", text::excerpt(&resolution, room / 2)),
    };
    let error = text::excerpt(error, room.saturating_sub(text::chars(&resolution)));
    format!("{command}{error}{resolution}")
}

/// Lists files: the first one with its folder, each after one in the same folder by its name.
fn files_text(files: &[String]) -> String {
    let mut out = String::new();
    let mut folder = "";
    let mut shown = 0;
    for path in files.iter().take(FILES_SHOWN) {
        let (parent, name) = path.rsplit_once('/').unwrap_or(("", path));
        let room = FILES_CHARS_MAX.saturating_sub(text::chars(&out) + 2);
        let fits = text::chars(path) <= room;
        let word = match parent == folder && shown > 0 || !fits {
            true => name,
            false => path,
        };
        if shown > 0 && text::chars(word) > room {
            break;
        }
        if shown > 0 {
            out.push_str(", ");
        }
        out.push_str(word);
        folder = if fits { parent } else { folder };
        shown += 1;
    }
    match files.len().saturating_sub(shown) {
        0 => out,
        more => format!("{out} and {more} more"),
    }
}

fn commits_text(progress: &CaseProgress) -> String {
    let shown: Vec<String> = (progress.commits.iter().rev())
        .take(COMMITS_SHOWN)
        .map(|(id, subject)| {
            let subject = text::excerpt(plain_subject(subject), SUBJECT_CHARS_MAX);
            match id.is_empty() {
                true => subject,
                false => format!("{id} {subject}"),
            }
        })
        .collect();
    let all = usize::try_from(progress.commit_count).unwrap_or(usize::MAX);
    let more = match all.saturating_sub(shown.len()) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let word = if all == 1 { "commit" } else { "commits" };
    format!("{word} {}{more}", shown.join(", "))
}
