//! Known pitfalls at the start of a session: commands that failed in the last sessions, with the call that works.

use super::super::HookRequest;
use super::super::failure_warning::helpful_resolution;
use super::start_text::{StartItem, StartSection};
use crate::Hooks;
use crate::failures::last_occurrence;
use heirloom_agents::failures::CommandWords;
use heirloom_model::{Fault, Kind, Record, Session, limits, mark, text};
use heirloom_store::Filter;
use serde_json::Value;
use std::cmp::Reverse;

/// Characters of a failed command in a line.
const COMMAND_CHARS_MAX: usize = 60;
/// Characters of what helped in a line.
const FIX_CHARS_MAX: usize = 90;

/// Programs whose success as a step before says nothing about another session: they look, write a file, or depend on the
/// state of the work tree, such as `git stash pop`.
const STEPS_OF_ONE_SESSION: [&str; 14] = [
    "git", "gh", "echo", "printf", "cat", "tee", "rm", "cp", "mv", "touch", "sed", "kill", "pkill",
    "sleep",
];

/// Words of a fix that is an edit of files: it mended its own failure and helps with no other.
const EDITS: [&str; 6] = [
    "edited `",
    ": added `",
    ": changed `",
    ": removed `",
    "in place of `",
    "passed after changes to",
];

impl Hooks<'_> {
    /// Returns the failures that somebody met in the last sessions and that a call of a command solves, the most frequent
    /// first.
    pub(super) fn pitfall_items(
        &self,
        request: &HookRequest<'_>,
        last: &[Session],
    ) -> Result<Vec<StartItem>, Fault> {
        // With fewer sessions all failures are recent.
        let since = match last.len() < limits::HOOK_START_SESSIONS {
            true => None,
            false => last.iter().map(|session| session.started_at).min(),
        };
        let filter = Filter::current(&[Kind::Error], self.engine.now());
        let mut found = self
            .engine
            .records()
            .find(&filter.limit(limits::CONTEXT_LESSONS_MAX))?;
        found.retain(|error| {
            let is_recent = since.is_none_or(|since| last_occurrence(error) >= since);
            is_recent && !mark::is_muted(&error.attrs)
        });
        found.sort_by_key(|error| Reverse((repeats(error), last_occurrence(error))));
        Ok(found
            .iter()
            .filter_map(|error| {
                let line = pitfall_line(error)?;
                Some(self.start_item(request, error, StartSection::Pitfalls, &line))
            })
            .collect())
    }
}

fn repeats(error: &Record) -> u64 {
    let count = error.attrs.get("repeats").and_then(Value::as_u64);
    count.unwrap_or_default()
}

/// Formats a failure of a command with what helped; `None` if that is not known or is no call of a command.
fn pitfall_line(error: &Record) -> Option<String> {
    let fix = helpful_resolution(error)?;
    let fix = fix.strip_suffix(", then it passed").unwrap_or(&fix);
    let (command, cause) = error.text.strip_prefix('`')?.split_once("` failed")?;
    if !is_call(command, fix) {
        return None;
    }
    let command = text::excerpt_at_word(command, COMMAND_CHARS_MAX);
    let fix = text::excerpt_at_word(fix.trim_end_matches('.'), FIX_CHARS_MAX);
    let begin = format!("`{command}` failed{cause}");
    let frame = text::chars(&fix) + 3;
    let room = limits::HOOK_START_ITEM_CHARS_MAX.saturating_sub(frame);
    Some(format!("{} → {fix}", text::excerpt_at_word(&begin, room)))
}

/// Returns true for a fix that tells how to call the command, or which command to run before it.
fn is_call(command: &str, fix: &str) -> bool {
    if EDITS.iter().any(|edit| fix.contains(edit)) {
        return false;
    }
    let mut spans = fix.split('`').skip(1).step_by(2);
    let Some(first) = spans.next() else {
        return false;
    };
    let is_single = spans.next().is_none();
    let program = CommandWords::parse(first).program;
    let failed = CommandWords::parse(command).program;
    let is_variant = fix.contains("` works") && failed != "git";
    let is_step = is_single
        && !first.contains('>')
        && !STEPS_OF_ONE_SESSION.contains(&program)
        && !STEPS_OF_ONE_SESSION.contains(&failed);
    !program.is_empty() && (is_variant || is_step)
}
