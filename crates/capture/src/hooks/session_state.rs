//! State of one session between two hook calls: a small file that may be lost.

mod goal;
mod session_summary;
mod state_file;

use crate::failures::RecentChanges;
use heirloom_agents::AgentProgram;
use heirloom_lessons::WorkingTree;
use heirloom_model::{RecordId, Timestamp, limits, text};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Mark in the injected text at which a compaction removed what is before it from the conversation.
const FORGOTTEN: char = '\u{c}';

/// Failure that is not resolved yet.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct OpenFailure {
    /// Key of the failure.
    #[serde(rename = "key")]
    pub(super) key: String,
    /// Changes since the failure.
    #[serde(rename = "since")]
    pub(super) since: Vec<String>,
    /// Variables that the command set for itself.
    #[serde(rename = "variables", default)]
    pub(super) variables: Vec<String>,
    /// Folder of the command, relative to the project's root.
    #[serde(rename = "folder", default)]
    pub(super) folder: Option<String>,
    /// Tree in which it failed; see [`WorkingTree::label`].
    #[serde(rename = "tree", default)]
    pub(super) tree: String,
}

/// Text that a conversation got at its start, or when it was continued.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct ToldStart {
    /// Time of the start: what was learned later is new to the conversation.
    #[serde(rename = "at")]
    pub(super) at: Timestamp,
    /// Hash of the standing instructions.
    #[serde(rename = "rules")]
    pub(super) rules: String,
}

/// Hook state of one session.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct HookSessionState {
    #[serde(skip)]
    path: Option<PathBuf>,
    /// First prompt.
    #[serde(rename = "goal")]
    pub(super) goal: Option<String>,
    /// Newest prompt.
    #[serde(rename = "prompt")]
    prompt: Option<String>,
    #[serde(rename = "prompts")]
    prompts: u32,
    /// Ids of records that were injected, oldest first.
    #[serde(rename = "told")]
    delivered: Vec<String>,
    /// Injected text, newest last.
    #[serde(rename = "echo")]
    pub(super) injected_text: String,
    /// Text that the conversation got at its start.
    #[serde(rename = "start")]
    pub(super) start: Option<ToldStart>,
    /// Files that the session changed.
    #[serde(rename = "files")]
    files: Vec<String>,
    /// Open failures.
    #[serde(rename = "failures")]
    pub(super) failures: Vec<OpenFailure>,
    #[serde(rename = "failed")]
    failed: u32,
    /// Failures that are recorded in a case already.
    #[serde(rename = "failures_told")]
    recorded_failures: u32,
    /// Path of the transcript, and the offset up to which it was read.
    #[serde(rename = "transcript")]
    pub(super) transcript: Option<(String, u64)>,
    /// True if the transcript is read from its beginning.
    #[serde(rename = "from_beginning")]
    pub(super) from_beginning: bool,
    /// Hashes of signal lines that were processed.
    #[serde(rename = "heard")]
    pub(super) seen_signals: Vec<String>,
    /// Subagents that ended: id, type and transcript of each.
    #[serde(rename = "subagents")]
    pub(super) subagents: Vec<(String, Option<String>, String)>,
    /// Newest prompt that states a goal.
    #[serde(rename = "current_goal")]
    current_goal: Option<String>,
    /// Tool calls since the last anchor.
    #[serde(rename = "calls")]
    calls: u32,
    /// Keys of the subjects of which the session was warned or knows the failure itself.
    #[serde(rename = "warned")]
    warned: Vec<String>,
    /// Newest changes.
    #[serde(rename = "changes")]
    changes: RecentChanges,
    /// Tree that is checked out.
    #[serde(rename = "tree")]
    pub(super) tree: WorkingTree,
    /// True if the agent left a lesson by a tool.
    #[serde(rename = "lesson_left")]
    is_lesson_left: bool,
    /// True if a lesson was requested from the agent.
    #[serde(rename = "lesson_asked")]
    is_lesson_asked: bool,
    /// The agent program.
    program: String,
    /// True if the transcript was imported at the end of the session, or at the start of a later one.
    #[serde(rename = "finished")]
    pub(super) is_finished: bool,
}

/// Appends `one` without duplicates and drops the oldest entries beyond `most`.
fn put<T: PartialEq>(list: &mut Vec<T>, one: T, most: usize) {
    list.retain(|other| *other != one);
    list.push(one);
    if list.len() > most {
        list.drain(..list.len() - most);
    }
}

impl HookSessionState {
    /// Resets the state at the start of a session, unless the session continues.
    pub(super) fn begin(&mut self, transcript: Option<&str>, source: Option<&str>) {
        match source {
            Some("resume" | "fork") => {}
            // The goal and the changed files stay, because they are injected again.
            Some("compact") => {
                self.forget_delivered();
                self.injected_text.clear();
                self.calls = 0;
            }
            _ => {
                *self = Self {
                    path: self.path.take(),
                    program: std::mem::take(&mut self.program),
                    from_beginning: true,
                    ..Self::default()
                };
            }
        }
        if let (Some(path), None) = (transcript, &self.transcript) {
            self.transcript = Some((path.to_owned(), self.first_offset(path)));
        }
    }

    /// Notes that the session is alive.
    pub(super) fn note_activity(&mut self, host: AgentProgram, transcript: Option<&str>) {
        host.as_str().clone_into(&mut self.program);
        self.is_finished = false;
        if let (Some(path), None) = (transcript, &self.transcript) {
            self.transcript = Some((path.to_owned(), self.first_offset(path)));
        }
    }

    /// Forgets which records were injected, because a compaction removes them from the conversation.
    pub(super) fn forget_delivered(&mut self) {
        self.delivered.clear();
        self.injected_text.push(FORGOTTEN);
        self.warned.clear();
        self.start = None;
    }

    /// Returns the offset from which a new transcript is read: lines from before the hooks were installed are
    /// skipped.
    pub(super) fn first_offset(&self, path: &str) -> u64 {
        if self.from_beginning {
            return 0;
        }
        std::fs::metadata(path).map_or(0, |found| found.len())
    }

    /// Counts a tool call; returns the number of calls since the last anchor.
    pub(super) fn count_call(&mut self) -> u32 {
        self.calls = self.calls.saturating_add(1);
        self.calls
    }

    /// Starts the count of tool calls again.
    pub(super) fn restart_call_count(&mut self) {
        self.calls = 0;
    }

    pub(super) fn is_delivered(&self, id: RecordId) -> bool {
        self.delivered.contains(&id.to_string())
    }

    pub(super) fn mark_delivered(&mut self, ids: impl IntoIterator<Item = RecordId>) {
        for id in ids {
            put(
                &mut self.delivered,
                id.to_string(),
                limits::HOOK_DELIVERED_MAX,
            );
        }
    }

    /// Remembers injected text to recognise an agent that repeats it.
    pub(super) fn add_injected_text(&mut self, text: &str) {
        self.injected_text.push_str(text);
        self.injected_text.push('\n');
        let files_left = text::clip_start(&self.injected_text, limits::HOOK_ECHO_CHARS_MAX);
        if files_left.len() < self.injected_text.len() {
            self.injected_text = files_left.to_owned();
        }
    }

    /// Returns true if the conversation has a line of injected text since its last compaction.
    pub(super) fn has_injected(&self, line: &str) -> bool {
        let (_, since) = self
            .injected_text
            .rsplit_once(FORGOTTEN)
            .unwrap_or(("", &self.injected_text));
        since.contains(line)
    }

    /// Adds a subagent that ended, with the path of its transcript.
    pub(super) fn add_subagent(&mut self, id: &str, kind: Option<&str>, transcript: &str) {
        let word = |text: &str| text::excerpt(text, limits::NAME_BYTES_MAX);
        if transcript.len() <= limits::PATH_BYTES_MAX {
            let one = (word(id), kind.map(word), transcript.to_owned());
            put(&mut self.subagents, one, limits::HOOK_SESSION_ITEMS_MAX);
        }
    }

    pub(super) fn has_file(&self, file: &str) -> bool {
        self.files.iter().any(|known| known == file)
    }

    pub(super) fn add_file(&mut self, file: &str) {
        put(
            &mut self.files,
            file.to_owned(),
            limits::HOOK_SESSION_ITEMS_MAX,
        );
    }

    pub(super) fn mark_signal_seen(&mut self, line: String) {
        put(&mut self.seen_signals, line, limits::HOOK_DELIVERED_MAX);
    }

    /// Marks a subject as warned of; returns false if it was before.
    pub(super) fn mark_warned(&mut self, key: &str) -> bool {
        let is_new = !self.warned.iter().any(|known| known == key);
        put(&mut self.warned, key.to_owned(), limits::HOOK_DELIVERED_MAX);
        is_new
    }

    /// Adds a failure; following changes may resolve it.
    pub(super) fn add_failure(&mut self, failure: OpenFailure) {
        self.failures.retain(|one| one.key != failure.key);
        put(&mut self.failures, failure, limits::HOOK_SESSION_ITEMS_MAX);
        self.failed = self.failed.saturating_add(1);
    }

    /// Returns true unless a failure of this session occurred in another tree.
    pub(super) fn has_failed_in(&self, key: Option<&str>, tree: &str) -> bool {
        let known = self
            .failures
            .iter()
            .find(|one| Some(one.key.as_str()) == key);
        known.is_none_or(|known| known.tree == tree)
    }

    /// Adds a change, also to all open failures.
    pub(super) fn add_change(&mut self, what: &str, at: Timestamp) {
        const CHANGES: usize = 5;
        self.changes.add(what, at);
        for failure in &mut self.failures {
            put(&mut failure.since, what.to_owned(), CHANGES);
        }
    }

    /// Returns the newest changes of the session.
    pub(super) fn changes(&self) -> &RecentChanges {
        &self.changes
    }

    /// Removes a failure that is resolved, and returns it.
    pub(super) fn resolve_failure(&mut self, key: &str) -> Option<OpenFailure> {
        let place = self.failures.iter().position(|one| one.key == key)?;
        Some(self.failures.remove(place))
    }

    /// Notes that the agent left a lesson by a tool.
    pub(super) fn mark_lesson_left(&mut self) {
        self.is_lesson_left = true;
    }

    /// Returns true if the agent should be asked for a lesson: once, after work without any.
    pub(super) fn lacks_lesson(&self) -> bool {
        let has_worked = !self.files.is_empty() || !self.changes.is_empty() || self.failed > 0;
        let has_left = self.is_lesson_left || !self.seen_signals.is_empty();
        has_worked && !has_left && !self.is_lesson_asked
    }

    /// Notes that a lesson was requested from the agent.
    pub(super) fn mark_lesson_asked(&mut self) {
        self.is_lesson_asked = true;
    }

    /// Merges failures that only the transcript has: their number, and the open ones.
    pub(super) fn merge_transcript_failures(&mut self, failed: u32, open: Vec<String>) {
        self.failed = self
            .failed
            .max(failed.saturating_sub(self.recorded_failures));
        let known: Vec<String> = self.failures.iter().map(|one| one.key.clone()).collect();
        for key in open.into_iter().filter(|key| !known.contains(key)) {
            let failure = OpenFailure {
                key,
                ..OpenFailure::default()
            };
            put(&mut self.failures, failure, limits::HOOK_SESSION_ITEMS_MAX);
        }
    }

    pub(super) fn has_activity(&self) -> bool {
        self.prompts > 0 && (self.failed > 0 || !self.files.is_empty())
    }

    /// Resets the counters after the end of a session; a continuation is another case.
    pub(super) fn reset(&mut self) {
        self.prompts = 0;
        self.recorded_failures = self.recorded_failures.saturating_add(self.failed);
        self.failed = 0;
        self.files.clear();
        self.subagents.clear();
        self.goal = None;
        self.current_goal = None;
        self.calls = 0;
    }
}

#[cfg(test)]
mod stored_form_tests;

#[cfg(test)]
mod tests;
