//! Titles of issues that requests name by their id, and issues that the session filed.

use crate::cues::TrackerCues;
use crate::shell_line::SimpleCommand;
use heirloom_model::text;
use serde::{Deserialize, Serialize};

/// Greatest number of issues.
const ISSUES_MAX: usize = 4;
/// Greatest number of characters of a title.
const TITLE_CHARS_MAX: usize = 120;
/// Number of lines of an output that are searched for a title.
const LINES_MAX: usize = 60;

/// Types of issues.
const TYPES: [&str; 6] = ["task", "bug", "feature", "epic", "chore", "decision"];

/// Issues that requests name.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct IssueTitles(Vec<(String, Option<String>)>);

impl IssueTitles {
    /// Adds the ids that a request names.
    pub(super) fn add_request(&mut self, request: &str) {
        let is_sign = |c: char| !(c.is_alphanumeric() || matches!(c, '-' | '_' | '.'));
        for word in request.split_whitespace().take(80) {
            let word = word.trim_matches(is_sign).trim_end_matches('.');
            let is_id = word.len() >= 3
                && word.len() <= 40
                && (word.contains('-') || word.bytes().any(|b| b.is_ascii_digit()))
                && word.chars().any(|c| c.is_ascii_alphabetic())
                && !word.contains(is_sign);
            if is_id && self.0.len() < ISSUES_MAX && !self.0.iter().any(|(known, _)| known == word)
            {
                self.0.push((word.to_owned(), None));
            }
        }
    }

    /// Reads the output of a tracker, whose lines may have titles.
    pub(super) fn read_output(&mut self, output: &str) {
        for (id, title) in &mut self.0 {
            if title.is_none() {
                *title = output
                    .lines()
                    .take(LINES_MAX)
                    .find_map(|line| line_title(line, id));
            }
        }
    }

    /// Returns a request with the titles of the issues in it.
    pub(super) fn name_issues(&self, request: &str) -> String {
        let mut named = request.to_owned();
        for (id, title) in &self.0 {
            if let Some(title) = title
                && let Some(at) = find_id(&named, id)
                && !named.contains(title.as_str())
            {
                named.insert_str(at + id.len(), &format!(" ({title})"));
            }
        }
        named
    }
}

/// Returns the title after an id in a line, such as `○ app-1 [EPIC] · Title   [P2]`.
fn line_title(line: &str, id: &str) -> Option<String> {
    let at = find_id(line, id).filter(|at| {
        line.get(..*at)
            .is_some_and(|head| head.chars().count() <= 24)
    })?;
    let mut rest = line.get(at + id.len()..)?.trim_start();
    while let Some(after) = rest
        .strip_prefix('[')
        .and_then(|inner| inner.split_once(']'))
    {
        rest = after.1.trim_start();
    }
    let rest = rest.trim_start_matches([':', '·', '-', '–', '—', ' ', '\t', '|']);
    let title = rest.split("  ").next()?.trim().trim_end_matches(['[', ' ']);
    let is_title = title.split_whitespace().count() >= 2
        && title.chars().count() <= TITLE_CHARS_MAX
        && !title.contains(['`', '\t']);
    is_title.then(|| title.to_owned())
}

/// Returns the offset of an id that is not a part of a longer one.
fn find_id(text: &str, id: &str) -> Option<usize> {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_');
    text.match_indices(id).map(|(at, _)| at).find(|at| {
        let before = text.get(..*at).and_then(|head| head.chars().next_back());
        let after = text.get(at + id.len()..).unwrap_or_default();
        let mut next = after.chars();
        let is_continued = match next.next() {
            Some('.') => next.next().is_some_and(char::is_alphanumeric),
            Some(c) => is_part(c),
            None => false,
        };
        !before.is_some_and(is_part) && !is_continued
    })
}

/// Returns true for a command of a tracker.
pub(super) fn is_tracker(command: &SimpleCommand, cues: &TrackerCues) -> bool {
    tracker_length(command, cues).is_some()
}

fn tracker_length(command: &SimpleCommand, cues: &TrackerCues) -> Option<usize> {
    cues.programs.iter().find_map(|program| {
        let is_same = program
            .split(' ')
            .enumerate()
            .all(|(at, part)| command.word(at) == part);
        is_same.then(|| program.split(' ').count())
    })
}

/// Returns the title of the issue that a command files.
pub(super) fn created_issue(command: &SimpleCommand, cues: &TrackerCues) -> Option<String> {
    let length = tracker_length(command, cues)?;
    let mut verbs = command
        .words
        .iter()
        .skip(length)
        .map(String::as_str)
        .filter(|word| !word.starts_with('-'));
    let mut verb = verbs.next()?;
    if verb == "issue" {
        verb = verbs.next()?;
    }
    if !matches!(verb, "create" | "new" | "add" | "open") {
        return None;
    }
    // Some trackers give the type of an issue with `-t`.
    let named = command
        .option_values(&["--title", "-t", "--summary", "-s"])
        .find(|value| !TYPES.contains(value));
    let title = named.or_else(|| {
        let mut titles = verbs.filter(|word| !TYPES.contains(word));
        titles.next().filter(|word| word.contains(' '))
    })?;
    (!title.trim().is_empty()).then(|| text::excerpt(title.trim(), TITLE_CHARS_MAX))
}

/// Returns the id of the issue that an output reports as created.
pub(super) fn created_id<'o>(output: &'o str) -> Option<&'o str> {
    let after = |line: &'o str| {
        [
            "/issues/",
            "Created issue: ",
            "created issue: ",
            "Created issue ",
            "Created: ",
        ]
        .iter()
        .find_map(|mark| Some(line.split_once(mark)?.1))
    };
    let rest = output.lines().take(20).find_map(after)?;
    let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '#')));
    let word = rest.get(..end.unwrap_or(rest.len()))?.trim_end_matches('.');
    let is_id = word.len() <= 40 && word.bytes().any(|b| b.is_ascii_digit() || b == b'-');
    is_id.then_some(word)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cues::Cues;
    use crate::shell_line::read_shell_line;

    #[test]
    fn name_issues_adds_titles_from_trackers() {
        let mut issues = IssueTitles::default();
        issues.add_request("Implement app-x7. Do it today.");
        issues.read_output("Ready:\n○ app-x7.1 · Another one   [P2]\n○ app-x7 [EPIC] · Orders with invoices   [● P2 · OPEN]\n");
        assert_eq!(
            issues.name_issues("Implement app-x7. Do it today."),
            "Implement app-x7 (Orders with invoices). Do it today."
        );
        assert_eq!(issues.name_issues("Other"), "Other");
    }

    #[test]
    fn created_issue_finds_title_and_id() {
        let cues = &Cues::get().commands.tracker;
        let title = |line: &str| created_issue(&read_shell_line(line)[0], cues);
        assert_eq!(
            title("bd create --title=\"Fix the parser\" --type=bug").as_deref(),
            Some("Fix the parser")
        );
        assert_eq!(
            title("gh issue create --title 'A bug' --body x").as_deref(),
            Some("A bug")
        );
        assert_eq!(title("bd create \"A bug\" -p 1").as_deref(), Some("A bug"));
        assert_eq!(
            title("bd create -t task 'Fix the writer'").as_deref(),
            Some("Fix the writer")
        );
        assert_eq!(title("bd show x-1"), None);
        assert_eq!(title("npm create x"), None);
        assert_eq!(
            created_id("✓ Created issue: app-x7.5\n  Title: y"),
            Some("app-x7.5")
        );
        assert_eq!(created_id("https://example.org/a/b/issues/12"), Some("12"));
        assert_eq!(
            created_id("✓ Created issue: app-x7 — A tool-call"),
            Some("app-x7")
        );
        assert_eq!(created_id("created a tool-call for 58"), None);
    }
}
