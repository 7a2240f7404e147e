//! Use of an issue tracker: the subcommands that recur.

use crate::cues::TrackerCues;
use crate::event_place::EventPlace;
use crate::shell_line::SimpleCommand;
use serde::{Deserialize, Serialize};

/// Greatest number of subcommands that are kept.
const SUBCOMMANDS_MAX: usize = 16;
/// Greatest number of subcommands in a record.
const SHOWN_MAX: usize = 6;
/// Number of uses from which on a subcommand recurs.
const USES_MIN: u32 = 2;
/// Greatest number of issues that are kept.
const ISSUES_MAX: usize = 16;
/// Greatest number of characters of an issue's id.
const ISSUE_CHARS_MAX: usize = 40;

/// A subcommand with its options.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
struct Subcommand {
    program: String,
    verb: String,
    form: String,
    uses: u32,
}

/// Use of trackers in a session.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct TrackerUse {
    subcommands: Vec<Subcommand>,
    /// Last issues that were named.
    issues: Vec<String>,
    /// Number of commits whose message names an issue.
    named_in_commits: u32,
    /// Place of the last use.
    pub(super) place: EventPlace,
}

impl TrackerUse {
    /// Adds a command if it is one of a tracker.
    pub(super) fn add(
        &mut self,
        command: &SimpleCommand,
        place: &EventPlace,
        cues: &TrackerCues,
    ) -> bool {
        let Some((program, length)) = find_program(command, cues) else {
            return false;
        };
        let verb = command.word(length);
        let is_verb = verb.starts_with(|c: char| c.is_ascii_lowercase())
            && verb.bytes().all(|b| b.is_ascii_lowercase() || b == b'-');
        if !is_verb {
            return false;
        }
        let rest = command.words.get(length + 1..).unwrap_or_default();
        let mut form = format!("{program} {verb}");
        let mut is_value_of_dropped = false;
        let mut words = rest.iter().peekable();
        while let Some(word) = words.next() {
            if let Some((name, value)) = word.split_once('=').filter(|_| word.starts_with('-')) {
                if cues.options.iter().any(|option| option == name) && is_plain_value(value) {
                    form = format!("{form} {name} {value}");
                }
                is_value_of_dropped = false;
            } else if word.starts_with('-') {
                let is_workflow = cues.options.iter().any(|option| option == word);
                let value = words.peek().filter(|next| !next.starts_with('-'));
                if is_workflow && value.is_none_or(|value| is_plain_value(value)) {
                    form = format!("{form} {word}");
                    if let Some(value) = words.next_if(|next| !next.starts_with('-')) {
                        form = format!("{form} {value}");
                    }
                }
                is_value_of_dropped =
                    !is_workflow || words.peek().is_some_and(|next| !is_plain_value(next));
            } else if !std::mem::take(&mut is_value_of_dropped) && is_issue(word) {
                self.add_issue(word);
                if !form.contains("<id>") {
                    form = format!("{form} <id>");
                }
            }
        }
        self.count(&program, verb, form);
        self.place = place.clone();
        true
    }

    fn count(&mut self, program: &str, verb: &str, form: String) {
        let is_same = |known: &&mut Subcommand| known.form == form;
        if let Some(known) = self.subcommands.iter_mut().find(is_same) {
            known.uses += 1;
        } else if self.subcommands.len() < SUBCOMMANDS_MAX {
            self.subcommands.push(Subcommand {
                program: program.to_owned(),
                verb: verb.to_owned(),
                form,
                uses: 1,
            });
        }
    }

    fn add_issue(&mut self, issue: &str) {
        if self.issues.iter().any(|known| known == issue) {
            return;
        }
        if self.issues.len() >= ISSUES_MAX {
            self.issues.remove(0);
        }
        self.issues.push(issue.to_owned());
    }

    /// Adds a commit whose first line is `subject`.
    pub(super) fn add_commit(&mut self, subject: &str) {
        if self
            .issues
            .iter()
            .any(|issue| subject.contains(issue.as_str()))
        {
            self.named_in_commits += 1;
        }
    }

    /// Returns the record's text if subcommands recur.
    pub(super) fn text(&self) -> Option<String> {
        let program = &self
            .subcommands
            .iter()
            .max_by_key(|known| known.uses)?
            .program;
        let mut shown: Vec<&Subcommand> = Vec::new();
        for known in self
            .subcommands
            .iter()
            .filter(|known| known.program == *program)
        {
            let verb_uses: u32 = self
                .subcommands
                .iter()
                .filter(|other| other.verb == known.verb && other.program == *program)
                .map(|other| other.uses)
                .sum();
            if verb_uses < USES_MIN {
                continue;
            }
            match shown.iter_mut().find(|other| other.verb == known.verb) {
                Some(other) if other.uses < known.uses => *other = known,
                Some(_) => {}
                None => shown.push(known),
            }
        }
        shown.truncate(SHOWN_MAX);
        if shown.len() < 2 {
            return None;
        }
        let forms: Vec<String> = shown
            .iter()
            .map(|known| format!("`{}`", known.form))
            .collect();
        let commits = match self.named_in_commits {
            0 | 1 => "",
            _ => " Commit messages name the issue.",
        };
        Some(format!(
            "Work is tracked with `{program}`: {}.{commits}",
            forms.join(", ")
        ))
    }
}

/// Returns the tracker of a command and the number of words that name it.
fn find_program(command: &SimpleCommand, cues: &TrackerCues) -> Option<(String, usize)> {
    cues.programs.iter().find_map(|program| {
        let mut length = 0;
        for part in program.split(' ') {
            if command.word(length) != part {
                return None;
            }
            length += 1;
        }
        Some((program.clone(), length))
    })
}

/// Returns true for a value that does not differ between issues.
fn is_plain_value(value: &str) -> bool {
    !value.is_empty()
        && value.len() <= 24
        && value
            .bytes()
            .all(|b| b.is_ascii_alphabetic() || b == b'_' || b == b'-')
}

/// Returns true for the id of an issue, such as `app-12`, `#3`, `x1a.4`.
fn is_issue(word: &str) -> bool {
    let is_id = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '#' | '_');
    word.len() >= 2
        && word.len() <= ISSUE_CHARS_MAX
        && word.chars().all(is_id)
        && (word.contains(['-', '.', '#']) || word.bytes().any(|b| b.is_ascii_digit()))
}

/// Returns true for a command that makes a commit.
pub(super) fn is_commit(command: &SimpleCommand) -> bool {
    let verb = command
        .words
        .iter()
        .skip(1)
        .find(|word| !word.starts_with('-'));
    matches!(command.word(0), "git" | "jj" | "hg" | "sl")
        && verb.is_some_and(|verb| verb == "commit")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cues::Cues;
    use crate::shell_line::read_shell_line;

    fn tracker(lines: &[&str]) -> TrackerUse {
        let mut tracker = TrackerUse::default();
        for line in lines {
            for command in read_shell_line(line) {
                tracker.add(
                    &command,
                    &EventPlace::default(),
                    &Cues::get().commands.tracker,
                );
            }
        }
        tracker
    }

    #[test]
    fn text_lists_recurring_subcommands() {
        let mut used = tracker(&[
            "bd ready",
            "bd show app-1",
            "bd update app-1 --status in_progress",
            "bd close app-1 --reason=\"It works now\"",
            "bd show app-2; bd update app-2 --status=in_progress && bd close app-2 app-3",
        ]);
        used.add_commit("feat: one (app-1)");
        used.add_commit("feat: two (app-2)");
        used.add_commit("other");
        assert_eq!(
            used.text().as_deref(),
            Some(
                "Work is tracked with `bd`: `bd show <id>`, `bd update <id> --status in_progress`, `bd close <id>`. Commit messages name the issue."
            )
        );
    }

    #[test]
    fn text_needs_recurring_subcommands() {
        assert_eq!(
            tracker(&["gh issue view 3", "gh issue view 4"]).text(),
            None
        );
        assert_eq!(
            tracker(&["ls", "bd", "bd --help", "gh pr view 3"]).text(),
            None
        );
        assert!(
            tracker(&[
                "gh issue view 3",
                "gh issue view 4",
                "gh issue close 3",
                "gh issue close 4"
            ])
            .text()
            .is_some()
        );
    }
}
