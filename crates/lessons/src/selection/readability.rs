//! Readability of a record without the session.

use crate::cues::SelectionCues;
use crate::{Candidate, LessonContent, Speaker};

/// Nouns after `this` that name the project.
const PROJECT_NOUNS: [&str; 12] = [
    "this project",
    "this repo",
    "this repository",
    "this codebase",
    "this package",
    "this app",
    "this monorepo",
    "this session",
    "this crate",
    "this service",
    "these projects",
    "this workspace",
];
/// Smallest number of characters of a record.
const CHARS_MIN: usize = 12;

/// Returns true if the candidate's text does not refer to something outside of it.
pub(super) fn is_readable_alone(candidate: &Candidate, cues: &SelectionCues) -> bool {
    let text = match &candidate.content {
        LessonContent::Knowledge { text, .. } => text,
        LessonContent::Error {
            text, resolution, ..
        } => {
            let is_open_end = |text: &String| text.trim_end().ends_with([':', '：']);
            return !text.trim().is_empty() && !resolution.as_ref().is_some_and(is_open_end);
        }
        LessonContent::Attempt { approach, .. } => return !approach.trim().is_empty(),
        LessonContent::Case { case, .. } => return !case.asked.trim().is_empty(),
        LessonContent::Steps(_) => return true,
    };
    let text = text.trim();
    if text.chars().count() < CHARS_MIN
        || text.ends_with([':', '：', ',', '('])
        || text.matches("```").count() % 2 == 1
    {
        return false;
    }
    let lower = text.to_lowercase();
    let names_project = PROJECT_NOUNS.iter().any(|noun| lower.starts_with(noun));
    let refers = cues
        .phrases
        .references
        .iter()
        .any(|start| lower.starts_with(start.as_str()));
    if refers && !names_project && candidate.speaker != Speaker::Person {
        return false;
    }
    !cues.phrases.inner_references.is_in(&lower) || candidate.speaker == Speaker::Person
}
