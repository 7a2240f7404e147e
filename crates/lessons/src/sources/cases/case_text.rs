//! Fields of a case's record, made from the progress of a request.

mod work_text;

use super::case_progress::CaseProgress;
use super::issue_title::IssueTitles;
use super::request_text::without_politeness;
use crate::code_tokens::{TokenKind, code_tokens};
use crate::cues::OutcomeCues;
use crate::project_paths::ProjectPaths;
use crate::sentences::{capitalize, sentences};
use crate::sources::commits::plain_subject;
use crate::{Candidate, Evidence, LessonContent};
use heirloom_model::{Case, limits, text};

/// Greatest number of characters of the labels of all fields.
const LABELS_CHARS: usize = 32;
/// Greatest number of characters of the request.
const ASKED_CHARS_MAX: usize = 230;
/// Greatest number of characters of a request's title.
const TITLE_CHARS_MAX: usize = 150;
/// Number of characters of a title up to which the next sentence belongs to it.
const SHORT_TITLE_CHARS: usize = 60;
/// Number of words below which a request cannot be understood without the session.
const CLEAR_WORDS_MIN: usize = 4;
/// Greatest number of identifiers and paths of the rest of a request.
const TERMS_MAX: usize = 6;
/// Greatest number of characters of one of them.
const TERM_CHARS_MAX: usize = 60;
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
