//! Changes between a failure and a success: edited lines and commands with effects, reduced to what may explain it.

use crate::bounded_text::bounded;
use crate::cues::FailureCues;
use crate::event_place::EventPlace;
use crate::sources::working_tree::LineSteps;
use heirloom_agents::failures::{
    CommandWords, essential_commands, has_side_effects, split_words, unquote,
};
use heirloom_agents::transcripts::FileEdit;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// Changed lines of one edit that are kept, of each kind.
const LINES_MAX: usize = 10;
/// Bytes of the lines of one edit, of each kind.
const LINES_BYTES_MAX: usize = 420;
/// Bytes of a line.
const LINE_BYTES_MAX: usize = 120;
/// Bytes of a line that decide about it.
const SCORED_BYTES_MAX: usize = 240;
/// Bytes of an edit that are read, of each kind.
const EDIT_BYTES_MAX: usize = 16 << 10;
/// Bytes of a path or command.
const NAME_BYTES_MAX: usize = 110;

/// Something that changed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Change {
    /// Place of the change.
    pub(super) place: EventPlace,
    /// Changed file, or empty for a command.
    pub(super) path: String,
    /// Command, or empty for an edit.
    pub(super) command: String,
    /// Added lines.
    pub(super) added: Vec<String>,
    /// Removed lines.
    pub(super) removed: Vec<String>,
    /// True if lines were left out.
    pub(super) is_shortened: bool,
    /// True for a command that only builds.
    pub(super) is_build: bool,
    /// True for a command that records or tidies, and rarely explains a success.
    pub(super) is_housekeeping: bool,
    /// True if it may be part of a commit.
    pub(super) is_committed: bool,
    /// True if later edits took all of it back.
    #[serde(skip)]
    pub(super) is_reversed: bool,
}

impl Change {
    /// Returns the changed text in lower case, for comparisons.
    pub(super) fn lower_text(&self) -> String {
        let lines = self.added.iter().chain(&self.removed);
        let all = [&self.path, &self.command].into_iter().chain(lines);
        let all: Vec<&str> = all.map(String::as_str).collect();
        all.join("\n").to_lowercase()
    }

    /// Returns true for an edit without lines.
    pub(super) fn has_no_lines(&self) -> bool {
        self.command.is_empty() && self.added.is_empty() && self.removed.is_empty()
    }

    /// Creates the change of a file, with the lines most relevant to `words`.
    pub(super) fn of_edit(
        place: EventPlace,
        edit: &FileEdit,
        words: &[String],
        cues: &FailureCues,
    ) -> Self {
        let head = |text: &str| text.floor_char_boundary(EDIT_BYTES_MAX);
        let old = edit.removed.get(..head(&edit.removed)).unwrap_or_default();
        let new = edit.added.get(..head(&edit.added)).unwrap_or_default();
        let (removed, added) = changed_lines(old, new);
        let counts = (removed.len(), added.len());
        let removed = best_lines(&removed, words, cues);
        let added = best_lines(&added, words, cues);
        Self {
            place,
            path: bounded(&edit.path, NAME_BYTES_MAX * 2),
            is_shortened: counts != (removed.len(), added.len()),
            added,
            removed,
            ..Self::default()
        }
    }

    /// Creates the change by a command line, if it has effects.
    pub(super) fn of_command(place: EventPlace, line: &str, cues: &FailureCues) -> Option<Self> {
        let line = line
            .get(..line.floor_char_boundary(LINE_MAX))
            .unwrap_or_default();
        let mut commands = essential_commands(line);
        let all = commands.len();
        commands.retain(|one| !LineSteps::read(one).has_undo());
        if commands.is_empty() && all > 0 {
            return None;
        }
        let effects = || commands.iter().filter(|one| has_effect(one, cues));
        let effect = effects().next();
        let build = commands
            .iter()
            .find(|one| matches_command(one, &cues.builds));
        let (command, is_build) = match (effect, build) {
            (Some(_), _) => {
                let all: Vec<&str> = effects().take(2).copied().collect();
                (all.join(" && "), false)
            }
            (None, _) if has_side_effects(line) => (line.to_owned(), false),
            (None, Some(build)) => ((*build).to_owned(), true),
            (None, None) => return exported_variable(place, line),
        };
        let first = command.lines().next().unwrap_or_default();
        let is_housekeeping = commands
            .iter()
            .filter(|one| has_effect(one, cues))
            .all(|one| matches_command(one, &cues.housekeeping));
        Some(Self {
            place,
            command: command_text(first),
            is_build,
            is_housekeeping: is_housekeeping && !is_build && effect.is_some(),
            ..Self::default()
        })
    }
}

/// Returns a command on one line, without redirections of its messages.
fn command_text(command: &str) -> String {
    let words = command
        .split_whitespace()
        .filter(|word| !matches!(*word, "2>&1" | "2>/dev/null" | ">/dev/null"));
    bounded(&words.collect::<Vec<_>>().join(" "), NAME_BYTES_MAX)
}

/// Bytes of a command line that are read.
const LINE_MAX: usize = 16 << 10;

fn exported_variable(place: EventPlace, line: &str) -> Option<Change> {
    let export = line
        .split(['\n', ';', '&'])
        .map(str::trim)
        .find(|part| part.starts_with("export "))?;
    Some(Change {
        place,
        command: bounded(export, NAME_BYTES_MAX),
        ..Change::default()
    })
}

/// Returns true for a command that changes more than what is built.
fn has_effect(command: &str, cues: &FailureCues) -> bool {
    matches_command(command, &cues.effects) || has_side_effects(command)
}

/// Returns true if a list has the program with its verb. Options in between are skipped.
fn matches_command(command: &str, list: &crate::phrases::Phrases) -> bool {
    let words = CommandWords::parse_simple(command);
    let mut plain = words.program.to_lowercase();
    for word in words.arguments.iter().take(4) {
        plain.push(' ');
        plain.push_str(&unquote(word).to_lowercase());
    }
    let folder = words
        .arguments
        .iter()
        .position(|word| *word == "-C")
        .map(|at| at + 1);
    let is_verb = |(at, word): &(usize, &&str)| !word.starts_with('-') && Some(*at) != folder;
    let verbs = words
        .arguments
        .iter()
        .enumerate()
        .filter(is_verb)
        .map(|(_, word)| *word);
    let verbs: Vec<&str> = verbs.take(3).collect();
    let bare = format!("{} {}", words.program, verbs.join(" ")).to_lowercase();
    // A program may be named by its module, as in `python -m venv`.
    let first = split_words(command).first().copied().unwrap_or_default();
    list.begins(&plain)
        || list.begins(bare.trim())
        || list.begins(&format!("{} {bare}", first.to_lowercase()))
}

/// Returns the lines that only one of two texts has, without blanks at their ends.
fn changed_lines<'t>(removed: &'t str, added: &'t str) -> (Vec<&'t str>, Vec<&'t str>) {
    let lines = |text: &'t str| text.lines().map(str::trim).filter(|line| !line.is_empty());
    let mut counts: HashMap<&str, i64> = HashMap::new();
    for line in lines(added) {
        *counts.entry(line).or_default() += 1;
    }
    for line in lines(removed) {
        *counts.entry(line).or_default() -= 1;
    }
    let mut take = |text: &'t str, sign: i64| -> Vec<&'t str> {
        let mut found = Vec::new();
        for line in lines(text) {
            if let Some(count) = counts.get_mut(line).filter(|count| **count * sign > 0) {
                *count -= sign;
                found.push(line);
            }
        }
        found
    };
    let new = take(added, 1);
    (take(removed, -1), new)
}

/// Returns the most relevant lines, in their order.
fn best_lines(lines: &[&str], words: &[String], cues: &FailureCues) -> Vec<String> {
    let mut ranked: Vec<(i32, usize)> = lines
        .iter()
        .enumerate()
        .map(|(number, line)| (line_score(line, words, cues), number))
        .filter(|(score, _)| *score > i32::MIN)
        .collect();
    ranked.sort_by_key(|(score, number)| (-score, *number));
    ranked.truncate(LINES_MAX);
    let mut chosen = Vec::new();
    let mut used = 0;
    for (_, number) in ranked {
        let line = bounded(
            lines.get(number).copied().unwrap_or_default(),
            LINE_BYTES_MAX,
        );
        used += line.len();
        if used > LINES_BYTES_MAX {
            break;
        }
        chosen.push((number, line));
    }
    chosen.sort_by_key(|(number, _)| *number);
    chosen.into_iter().map(|(_, line)| line).collect()
}

/// Scores a changed line by its relation to a fault with these words; `i32::MIN` for a line without content.
pub(super) fn line_score(line: &str, words: &[String], cues: &FailureCues) -> i32 {
    let line = line
        .get(..line.floor_char_boundary(SCORED_BYTES_MAX))
        .unwrap_or_default();
    let lower = line.to_lowercase();
    let letters = lower
        .chars()
        .filter(|c| c.is_alphanumeric())
        .take(3)
        .count();
    if letters < 2
        || matches!(
            lower.as_str(),
            "end" | "else" | "do" | "begin" | "then" | "fi" | "done" | "return" | "pass"
        )
    {
        return i32::MIN;
    }
    let hits = words
        .iter()
        .filter(|word| lower.contains(word.as_str()))
        .count();
    let mut score = 3 * i32::try_from(hits.min(4)).unwrap_or_default();
    if is_comment(&lower) {
        score -= 4;
    }
    if cues.imports.begins(&lower) {
        score += 2;
    }
    if lower.contains(": ") || lower.contains('=') || lower.contains("--") {
        score += 1;
    }
    score
}

/// Returns true for a line that is only a comment.
pub(super) fn is_comment(line: &str) -> bool {
    let starts = [
        "//", "# ", "--  ", "-- ", "/*", "* ", "<!--", "%", "\"\"\"", "'''", "##",
    ];
    starts.iter().any(|start| line.starts_with(start)) || line == "#"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cues::Cues;

    fn command(line: &str) -> Option<String> {
        Change::of_command(EventPlace::default(), line, &Cues::get().failures)
            .map(|change| change.command)
    }

    #[test]
    fn of_command_recognises_effects() {
        for line in [
            "mix deps.get",
            "npm install x",
            "npm i",
            "sed -i s/a/b/ f",
            "git add -f x",
            "docker compose up -d db",
            "python3 -m venv .venv",
            "pip install -r requirements.txt",
            "bundle config set x",
            "chmod +x run.sh",
            "echo A=1 >> .env",
            "export A=1",
            "git -C sub pull",
            "uv pip install x",
            "go mod tidy",
            "terraform init",
            "MIX_ENV=test mix ecto.create",
        ] {
            assert!(command(line).is_some(), "{line}");
        }
        for line in [
            "ls",
            "cargo test",
            "git status",
            "git diff",
            "grep -r x .",
            "cat f | head",
            "npm test",
            "docker ps",
            "go vet",
        ] {
            assert_eq!(command(line), None, "{line}");
        }
        assert_eq!(
            command("cd a && mix deps.get 2>&1 | tail -3").as_deref(),
            Some("mix deps.get")
        );
    }

    #[test]
    fn of_edit_keeps_changed_lines() {
        let edit = FileEdit {
            path: "a.toml".to_owned(),
            removed: "[x]\nport = 80\n".to_owned(),
            added: "[x]\nport = 81\n}\n\nhost = 1\n".to_owned(),
        };
        let change = Change::of_edit(EventPlace::default(), &edit, &[], &Cues::get().failures);
        assert_eq!(
            (change.added, change.removed),
            (
                vec!["port = 81".to_owned(), "host = 1".to_owned()],
                vec!["port = 80".to_owned()]
            )
        );
    }
}
