//! Fields of a case's record, made from the progress of a request.

use super::case_progress::CaseProgress;
use super::issue_title::IssueTitles;
use super::request_text::without_politeness;
use crate::code_tokens::{TokenKind, code_tokens};
use crate::cues::OutcomeCues;
use crate::project_paths::ProjectPaths;
use crate::sentences::{capitalize, sentences, shorten_to_sentences};
use crate::sources::commits::plain_subject;
use crate::{Candidate, Evidence, LessonContent};
use heirloom_model::case::EDITED;
use heirloom_model::{Case, limits, text};

/// Greatest number of characters of the labels of all fields.
const LABELS_CHARS: usize = 32;
/// Greatest number of characters of the request.
const ASKED_CHARS_MAX: usize = 230;
/// Greatest number of characters of a request's title.
const TITLE_CHARS_MAX: usize = 150;
/// Number of characters of a title up to which the next sentence belongs to it.
const SHORT_TITLE_CHARS: usize = 60;
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
/// Number of words below which a request cannot be understood without the session.
const CLEAR_WORDS_MIN: usize = 4;
/// Greatest number of identifiers and paths of the rest of a request.
const TERMS_MAX: usize = 6;
/// Greatest number of characters of one of them.
const TERM_CHARS_MAX: usize = 60;
/// Number of files that the work names.
const FILES_SHOWN: usize = 4;
/// Number of checks that the work names.
const CHECKS_SHOWN: usize = 2;
/// Greatest number of characters of a check.
const CHECK_CHARS_MAX: usize = 64;
/// Number of commits that the work names.
const COMMITS_SHOWN: usize = 2;
/// Greatest number of names in an attribute.
const ATTRIBUTE_NAMES_MAX: usize = 12;
/// Worth of a failure below which a case does not name it: a slip that was put right at once.
const FAILURE_WORTH_MIN: f32 = 0.45;

/// A failure on the way, with what resolved it.
pub(super) struct NamedFailure<'f> {
    worth: f32,
    text: &'f str,
    resolution: &'f str,
}

/// Returns the failures that occurred between two positions, the most useful first.
pub(super) fn failures_within(
    candidates: &[Candidate],
    from: u64,
    until: u64,
) -> Vec<NamedFailure<'_>> {
    let mut found: Vec<NamedFailure<'_>> = Vec::new();
    for candidate in candidates {
        let LessonContent::Error {
            text, resolution, ..
        } = &candidate.content
        else {
            continue;
        };
        let position = candidate.evidence.first().map(|evidence| evidence.position);
        if position.is_some_and(|at| (from..until).contains(&at))
            && candidate.worth >= FAILURE_WORTH_MIN
        {
            found.push(NamedFailure {
                worth: candidate.worth,
                text,
                resolution: resolution.as_deref().unwrap_or_default(),
            });
        }
    }
    found.sort_by(|one, other| other.worth.total_cmp(&one.worth));
    found
}

/// Facts from which the fields of a case are made.
pub(super) struct CaseFacts<'c> {
    /// Progress of the request.
    pub(super) progress: &'c CaseProgress,
    /// Failures on the way, the most useful first.
    pub(super) failures: Vec<NamedFailure<'c>>,
    /// Titles of issues.
    pub(super) issues: &'c IssueTitles,
    /// Paths of the project.
    pub(super) paths: &'c ProjectPaths,
    /// Data.
    pub(super) cues: &'c OutcomeCues,
}

impl CaseFacts<'_> {
    /// Returns the fields; `None` if nothing is worth finding again.
    pub(super) fn case(&self) -> Option<Case> {
        let title = self.title()?;
        let failed = self.failed();
        let result = self.result();
        if !self.progress.has_work() && failed.is_empty() && result.is_empty() {
            return None;
        }
        let asked = self.asked(&title);
        let used: usize = [&asked, &failed, &result]
            .map(|field| text::chars(field))
            .iter()
            .sum();
        let room = limits::CASE_CHARS_MAX.saturating_sub(used + LABELS_CHARS);
        Some(Case {
            did: self.did(room),
            files: self.files(),
            symbols: self.symbols(),
            title,
            asked,
            failed,
            result,
        })
    }

    /// Returns the evidence of the result.
    pub(super) fn message_evidence(&self) -> Option<Evidence> {
        self.progress.outcome(self.cues).1
    }

    fn files(&self) -> Vec<String> {
        let mut shown: Vec<String> = Vec::new();
        for path in self.progress.files() {
            let path = self.paths.display(path);
            if !path.is_empty() && !shown.contains(&path) {
                shown.push(path);
            }
        }
        shown
    }

    /// Returns the title; `None` for a request without content that left no file.
    fn title(&self) -> Option<String> {
        let progress = self.progress;
        let request = self.issues.name_issues(&progress.request);
        let title = request_title(&self.paths.without_folder(&request), self.cues);
        if !self.is_unclear(&title) {
            return Some(title);
        }
        let turns = progress
            .follow_ups
            .iter()
            .map(|turn| request_title(turn, self.cues));
        let clear = turns.filter(|turn| !self.is_unclear(turn));
        if let Some(turn) = clear.max_by_key(|turn| text::chars(turn)) {
            return Some(turn);
        }
        let is_told = title.chars().filter(|c| c.is_alphabetic()).count() >= 2;
        if let Some((_, subject)) = progress.commits.first() {
            let subject = text::excerpt(plain_subject(subject), TITLE_CHARS_MAX / 2);
            return Some(match is_told {
                true => format!("{}: {subject}", title.trim_end_matches(['.', ':'])),
                false => capitalize(&subject),
            });
        }
        (is_told && !progress.files().is_empty()).then_some(title)
    }

    /// Returns true for a title that was taken from the request, not from a later turn.
    fn is_of_request(&self, title: &str) -> bool {
        let request = self.issues.name_issues(&self.progress.request);
        request_title(&self.paths.without_folder(&request), self.cues) == title
    }

    /// Returns true for a title that cannot be understood without the session.
    fn is_unclear(&self, title: &str) -> bool {
        let lower = title.to_lowercase();
        let is_short = title.split_whitespace().count() < CLEAR_WORDS_MIN
            && !title.contains(['-', '#', '/', '`', '_']);
        let is_about_before = self.cues.phrases.continuations.begins(&lower);
        is_short || is_about_before || self.cues.phrases.chores.begins(&lower)
    }

    /// Returns the title with the identifiers, paths and error lines of the rest, and the turns that continue it.
    fn asked(&self, title: &str) -> String {
        let progress = self.progress;
        let mut asked = title.to_owned();
        let request = self.paths.without_folder(&progress.request);
        let add = |asked: &mut String, before: &str, more: &str| {
            let more = text::one_line(more);
            let is_new = !more.is_empty() && !asked.contains(&more);
            if is_new
                && text::chars(asked) + text::chars(before) + text::chars(&more) <= ASKED_CHARS_MAX
            {
                asked.push_str(before);
                asked.push_str(&more);
            }
        };
        let rest = [request.as_str()]
            .into_iter()
            .chain(progress.follow_ups.iter().map(String::as_str));
        let mut terms: Vec<&str> = Vec::new();
        for part in rest {
            for token in code_tokens(part) {
                let is_term =
                    token.kind == TokenKind::Code && text::chars(token.text) <= TERM_CHARS_MAX;
                if is_term && !title.contains(token.text) && !terms.contains(&token.text) {
                    terms.push(token.text);
                }
            }
        }
        let mut before = " · ";
        for term in terms.into_iter().take(TERMS_MAX) {
            add(&mut asked, before, term);
            before = ", ";
        }
        add(&mut asked, " · ", &progress.error);
        let lower = title.to_lowercase();
        let is_title = |words: &str| {
            lower.starts_with(&words.to_lowercase()) || words.to_lowercase().starts_with(&lower)
        };
        // A title from a later turn leaves the words of the request to say.
        let first = request.lines().next().unwrap_or_default();
        let turns = std::iter::once(first).chain(progress.follow_ups.iter().map(String::as_str));
        for (number, turn) in turns.enumerate() {
            let plain = request_title(turn, self.cues);
            let is_chore = self.cues.phrases.chores.begins(&plain.to_lowercase());
            let is_said = number == 0 && self.is_of_request(title);
            if !(is_chore || is_said || plain.is_empty() || is_title(&plain)) {
                let before = if number == 0 {
                    " · first: "
                } else {
                    " · then: "
                };
                add(&mut asked, before, plain.trim_end_matches('.'));
            }
        }
        asked
    }

    fn did(&self, chars_max: usize) -> String {
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

    fn failed(&self) -> String {
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

    fn result(&self) -> String {
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

    fn symbols(&self) -> Vec<String> {
        let mut symbols: Vec<String> = Vec::new();
        let named = code_tokens(&self.progress.request)
            .into_iter()
            .filter(|token| token.kind == TokenKind::Code)
            .map(|token| token.text.trim_end_matches("()"))
            .filter(|word| is_identifier(word));
        let edited = self.progress.symbols.iter().rev().map(String::as_str);
        for symbol in named.chain(edited) {
            if symbols.len() < ATTRIBUTE_NAMES_MAX && !symbols.iter().any(|known| known == symbol) {
                symbols.push(symbol.to_owned());
            }
        }
        symbols
    }
}

fn is_identifier(word: &str) -> bool {
    word.len() >= 3
        && word.len() <= TERM_CHARS_MAX
        && word
            .chars()
            .all(|c| c.is_alphanumeric() || matches!(c, '_' | '.' | ':'))
        && !crate::code_tokens::is_file_name(word)
}

/// Returns the first sentence of a request with its subject.
fn request_title(request: &str, cues: &OutcomeCues) -> String {
    let lines = request
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty());
    let mut all = lines.flat_map(sentences).map(str::trim).peekable();
    let mut title = String::new();
    while let Some(sentence) = all.next() {
        let has_more = all.peek().is_some();
        // `Implement the following plan:` is an announcement; the heading after it is the request.
        if has_more && (sentence.ends_with(':') || sentence.split_whitespace().count() < 2) {
            continue;
        }
        let sentence = sentence
            .trim_start_matches(['#', ' '])
            .trim_start_matches("Plan: ");
        match title.is_empty() {
            true => title = capitalize(without_politeness(sentence, cues)),
            false => {
                title.push(' ');
                title.push_str(sentence);
            }
        }
        if text::chars(&title) >= SHORT_TITLE_CHARS {
            break;
        }
    }
    if title.is_empty() {
        title = request.lines().next().unwrap_or_default().to_owned();
    }
    text::excerpt(title.trim_end_matches([':', ' ']), TITLE_CHARS_MAX)
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
