//! Known pitfalls at the start of a session: commands that failed in the last sessions, with the call that works.

use super::super::failure_warning::helpful_resolution;
use super::SessionStart;
use super::start_text::{StartItem, StartSection};
use heirloom_agents::failures::CommandWords;
use heirloom_model::kinds::ErrorRecord;
use heirloom_model::{Fault, Kind, Record, Session, limits, mark, text};
use heirloom_store::Filter;
use serde_json::Value;
use std::cmp::Reverse;
use std::collections::BTreeSet;

/// Characters of a failed command in a line.
const COMMAND_CHARS_MAX: usize = 60;
/// Characters of what helped in a line.
const FIX_CHARS_MAX: usize = 90;

/// Characters of a cause by which failures of one program are the same.
const CAUSE_CHARS: usize = 24;

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

impl SessionStart<'_> {
    /// Returns the failures of the last sessions that a call of a command solves, the most frequent
    /// first.
    pub(super) fn pitfall_items(&self, last: &[Session]) -> Result<Vec<StartItem>, Fault> {
        // With fewer sessions all failures are recent.
        let since = match last.len() < limits::HOOK_START_SESSIONS {
            true => None,
            false => last.iter().map(|session| session.started_at).min(),
        };
        let filter = Filter::current(&[Kind::Error], self.hooks.engine.now());
        let mut found = self
            .hooks
            .engine
            .records()
            .find(&filter.limit(limits::CONTEXT_LESSONS_MAX))?;
        found.retain(|error| {
            let is_recent = since.is_none_or(|since| ErrorRecord::last_failed_at(error) >= since);
            is_recent && !mark::is_muted(&error.attrs)
        });
        found.sort_by_key(|error| Reverse((repeats(error), ErrorRecord::last_failed_at(error))));
        let mut seen = BTreeSet::new();
        found.retain(|error| seen.insert(identity(error)) || identity(error).is_none());
        Ok(found
            .iter()
            .filter_map(|error| {
                let line = pitfall_line(error)?;
                Some(self.start_item(error, StartSection::Pitfalls, &line))
            })
            .collect())
    }
}

/// Returns program and beginning of the cause: one call that fails with other arguments is one pitfall.
fn identity(error: &Record) -> Option<(String, String)> {
    let (command, cause) = error.text.strip_prefix('`')?.split_once("` failed")?;
    pitfall_line(error)?;
    let program = CommandWords::parse(command).program.to_owned();
    Some((program, text::clip(cause, CAUSE_CHARS).to_owned()))
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

/// Returns true for a fix that names how to call the command, or which command to run before it.
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

#[cfg(test)]
mod tests {
    use super::*;

    fn line(command: &str, cause: &str, fix: &str) -> Option<String> {
        let text = format!("`{command}` failed{cause}");
        let mut error = crate::hooks::prompt_records::tests::record(&text);
        error.kind = Kind::Error;
        for (name, value) in [("state", "resolved"), ("resolution", fix)] {
            error.attrs.insert(name.to_owned(), value.into());
        }
        pitfall_line(&error)
    }

    #[test]
    fn pitfall_is_a_failure_that_a_call_solves() {
        for (command, fix, told) in [
            ("docker ps", "`/usr/local/bin/docker ps` works.", true),
            ("tool.py", "set the variable: `DB=1 tool.py` works.", true),
            ("npm test", "run it inside `web`: `npm test` works.", true),
            ("npm test", "ran `npm install`, then it passed", true),
            (
                "npm run web",
                "Ran `npm run core` first, then it passed.",
                true,
            ),
            ("npm test", "edited `src/a.ts`, then it passed", false),
            ("npm test", "src/a.ts: added `import x`.", false),
            ("npm test", "passed after changes to src/a.ts", false),
            ("npm test", "ran `cat > a.txt`.", false),
            ("npm test", "ran `git checkout a.ts`.", false),
            ("npm test", "ran `npm ci`; ran `npm run core`.", false),
            ("npm test", "restarted the machine", false),
            ("git push", "ran `git pull --rebase`.", false),
            ("git checkout -b x", "`git checkout x` works.", false),
            ("npm test", "succeeded", false),
        ] {
            assert_eq!(
                line(command, ": no", fix).is_some(),
                told,
                "{command}: {fix}"
            );
        }
        let mut edit = crate::hooks::prompt_records::tests::record("editing `a.rs` failed: no");
        edit.kind = Kind::Error;
        assert_eq!(pitfall_line(&edit), None);
    }

    #[test]
    fn long_pitfall_keeps_its_fix() {
        let long = line(
            &format!("npm test {}", "--option ".repeat(40)),
            &format!(": {}", "a cause of many words ".repeat(20)),
            &format!("`npm test {}` works.", "--other ".repeat(40)),
        )
        .unwrap();
        assert!(
            text::chars(&long) <= limits::HOOK_START_ITEM_CHARS_MAX,
            "{long}"
        );
        assert!(
            long.starts_with("`npm test --option") && long.contains("` failed: a"),
            "{long}"
        );
        assert!(long.contains(" → `npm test --other"), "{long}");
    }
}
