//! State of one session between two hook calls: a small file that may be lost.

use crate::failures::{RecentChanges, without_wrapping};
use heirloom_agents::AgentProgram;
use heirloom_engine::HookStateFolder;
use heirloom_fs::durable;
use heirloom_fs::project_fs::read_bounded;
use heirloom_model::{RecordId, Timestamp, limits, text};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// Failure that is not resolved yet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct OpenFailure {
    /// Key of the failure's subject.
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
    /// Hash of the injected context.
    #[serde(rename = "context")]
    pub(super) context: Option<String>,
    /// Files that the session changed.
    #[serde(rename = "files")]
    files: Vec<String>,
    /// Open failures.
    #[serde(rename = "failures")]
    pub(super) failures: Vec<OpenFailure>,
    #[serde(rename = "failed")]
    failed: u32,
    /// Failures that are recorded in an episode already.
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
    /// True if the agent left a lesson by a tool.
    #[serde(rename = "lesson_left")]
    is_lesson_left: bool,
    /// True if a lesson was requested from the agent.
    #[serde(rename = "lesson_asked")]
    is_lesson_asked: bool,
}

/// Minimum length of a prompt that changes the goal, characters.
const GOAL_CHARS_MIN: usize = 40;

/// Appends `one` without duplicates and drops the oldest entries beyond `most`.
fn put<T: PartialEq>(list: &mut Vec<T>, one: T, most: usize) {
    list.retain(|other| *other != one);
    list.push(one);
    if list.len() > most {
        list.drain(..list.len() - most);
    }
}

impl HookSessionState {
    /// Loads the state of a session and locks it. A session without an id has an empty state that is not saved.
    ///
    /// If the lock takes too long, the state is used without it; some text may then be injected twice.
    pub(super) fn load(
        memory: &Path,
        host: AgentProgram,
        session: Option<&str>,
    ) -> (Self, Option<durable::Lock>) {
        let Some(session) = session else {
            return (Self::default(), None);
        };
        let folder = HookStateFolder::in_memory(memory);
        if folder.create().is_err() {
            return (Self::default(), None);
        }
        let name = text::hash_parts(&[host.as_str(), session]);
        let lock = folder.path().join(format!("{name}.lock"));
        let is_new = !lock.exists();
        let lock = durable::lock(&lock, limits::HOOK_WAIT_MS);
        if is_new {
            forget_oldest(&folder);
        }
        let path = folder.path().join(format!("{name}.json"));
        let mut state = read(&path).unwrap_or_default();
        state.path = Some(path);
        (state, lock.ok())
    }

    /// Saves the state, best effort.
    pub(super) fn save(&self) {
        let Some(path) = &self.path else { return };
        if let Ok(bytes) = serde_json::to_vec(self) {
            drop(durable::write_unsynced(path, &bytes));
        }
    }

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
                    from_beginning: true,
                    ..Self::default()
                };
            }
        }
        if let (Some(path), None) = (transcript, &self.transcript) {
            self.transcript = Some((path.to_owned(), self.first_offset(path)));
        }
    }

    /// Forgets which records were injected, because a compaction removes them from the conversation.
    pub(super) fn forget_delivered(&mut self) {
        self.delivered.clear();
        self.warned.clear();
        self.context = None;
    }

    /// Returns the offset from which a new transcript is read: lines from before the hooks were installed are
    /// skipped.
    pub(super) fn first_offset(&self, path: &str) -> u64 {
        if self.from_beginning {
            return 0;
        }
        std::fs::metadata(path).map_or(0, |found| found.len())
    }

    pub(super) fn add_prompt(&mut self, prompt: &str) {
        const PROMPT_CHARS: usize = 600;
        let plain = without_wrapping(prompt);
        let prompt = if plain.is_empty() { prompt } else { plain };
        let short = text::excerpt(prompt, PROMPT_CHARS);
        self.goal.get_or_insert_with(|| short.clone());
        // Short prompts answer a question or say to go on.
        if self.current_goal.is_none() || text::chars(prompt.trim()) >= GOAL_CHARS_MIN {
            self.current_goal = Some(short.clone());
        }
        self.prompt = Some(short);
        self.prompts = self.prompts.saturating_add(1);
    }

    /// Returns the newest prompt that states a goal.
    pub(super) fn current_goal(&self) -> Option<&str> {
        self.current_goal.as_deref()
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
    pub(super) fn add_failure(&mut self, key: &str, variables: &[String], folder: Option<String>) {
        self.failures.retain(|one| one.key != key);
        let failure = OpenFailure {
            key: key.to_owned(),
            since: Vec::new(),
            variables: variables.to_vec(),
            folder,
        };
        put(&mut self.failures, failure, limits::HOOK_SESSION_ITEMS_MAX);
        self.failed = self.failed.saturating_add(1);
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
        for key in open {
            let failure = OpenFailure {
                key,
                since: Vec::new(),
                variables: Vec::new(),
                folder: None,
            };
            put(&mut self.failures, failure, limits::HOOK_SESSION_ITEMS_MAX);
        }
    }

    pub(super) fn has_activity(&self) -> bool {
        self.prompts > 0 && (self.failed > 0 || !self.files.is_empty())
    }

    /// Summarises the session on one line.
    pub(super) fn summary(&self) -> String {
        let counted = |count: u32, one: &str| match count {
            1 => format!("1 {one}"),
            _ => format!("{count} {one}s"),
        };
        let mut text = counted(self.prompts, "prompt");
        if !self.files.is_empty() {
            text.push_str(&format!(", changed {}", shown(&self.files)));
        }
        if self.failed > 0 {
            let failures = counted(self.failed, "failure");
            let open = u32::try_from(self.failures.len()).unwrap_or(u32::MAX);
            let state = match open.min(self.failed) {
                0 => "mended".to_owned(),
                open if open == self.failed => "not mended".to_owned(),
                open => format!("{open} of them not mended"),
            };
            text.push_str(&format!(", {failures}, {state}"));
        }
        text
    }

    /// Resets the counters after the end of a session; a continuation is another episode.
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

    /// Returns what a compacted conversation has to know again.
    pub(super) fn compaction_text(&self) -> String {
        let mut lines = Vec::new();
        if let Some(goal) = &self.goal {
            lines.push(format!("- The session began with: {goal}"));
        }
        if let Some(prompt) = self
            .prompt
            .as_ref()
            .filter(|prompt| self.goal.as_ref() != Some(prompt))
        {
            lines.push(format!("- Asked last: {prompt}"));
        }
        if !self.files.is_empty() {
            lines.push(format!("- Files changed so far: {}", shown(&self.files)));
        }
        if lines.is_empty() {
            return String::new();
        }
        format!("## This Session\n{}\n\n", lines.join("\n"))
    }
}

/// Lists the newest files.
fn shown(files: &[String]) -> String {
    const FILES: usize = 12;
    let newest: Vec<&str> = (files.iter().rev())
        .take(FILES)
        .map(String::as_str)
        .collect();
    let more = files.len().saturating_sub(FILES);
    let more = if more > 0 {
        format!(" and {more} more")
    } else {
        String::new()
    };
    format!("{}{more}", newest.join(", "))
}

/// Reads a stored state; `None` if it is missing or invalid.
fn read(path: &Path) -> Option<HookSessionState> {
    let bytes = read_bounded(path, limits::HOOK_SESSION_BYTES_MAX).ok()?;
    serde_json::from_slice(&bytes).ok()
}

/// Deletes the oldest states when there are too many; a tenth at once, so that few calls need to scan the folder.
fn forget_oldest(folder: &HookStateFolder) {
    const AT_ONCE: usize = limits::HOOK_SESSIONS_MAX / 10;
    // Each state has a lock file.
    let most = 2 * limits::HOOK_SESSIONS_MAX;
    if folder.paths().len() <= most {
        return;
    }
    let mut files = folder.files();
    files.sort();
    let least = most - 2 * AT_ONCE;
    let surplus = files.len().saturating_sub(least);
    for file in files.iter().take(surplus) {
        drop(durable::remove_if_exists(&file.path));
    }
}

#[cfg(test)]
mod stored_form_tests;

#[cfg(test)]
mod tests;
