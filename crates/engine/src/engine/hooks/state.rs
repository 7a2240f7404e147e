//! What the hooks of one session keep in mind between two calls: a small file, which may be lost.

use crate::hooks::Host;
use heirloom_model::{RecordId, limits, text};
use heirloom_store::durable;
use serde::{Deserialize, Serialize};
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The folder, in that of the memory.
pub(in crate::engine) const FOLDER: &str = "hooks";

/// A failure that nothing has mended yet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Failure {
    /// The key of what failed.
    pub(super) key: String,
    /// What was done since.
    pub(super) since: Vec<String>,
}

/// A session, as its hooks remember it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct State {
    #[serde(skip)]
    path: Option<PathBuf>,
    /// The first prompt.
    pub(super) goal: Option<String>,
    /// The newest prompt.
    prompt: Option<String>,
    prompts: u32,
    /// The records that it was told of, oldest first.
    told: Vec<String>,
    /// What it was told, the newest last.
    pub(super) echo: String,
    /// The context that it was told.
    pub(super) context: Option<String>,
    /// The files that it changed.
    files: Vec<String>,
    /// What failed in it.
    pub(super) failures: Vec<Failure>,
    failed: u32,
    /// The transcript, and how far it was read.
    pub(super) transcript: Option<(String, u64)>,
    /// Whether its transcript is read from its beginning.
    pub(super) from_beginning: bool,
    /// Lines with signals that were taken.
    pub(super) heard: Vec<String>,
    /// Its subagents that ended: the id and the sort of each, and the file with its conversation.
    pub(super) subagents: Vec<(String, Option<String>, String)>,
}

/// `list` with `one` at its end, and never longer than `most`.
fn put<T: PartialEq>(list: &mut Vec<T>, one: T, most: usize) {
    list.retain(|other| *other != one);
    list.push(one);
    if list.len() > most {
        list.drain(..list.len() - most);
    }
}

impl State {
    /// What is known of a session, and what keeps its other hooks waiting. Of a session without a name nothing is kept.
    ///
    /// Who waits too long goes on without: then a session may be told something twice.
    pub(super) fn taken(
        memory: &Path,
        host: Host,
        session: Option<&str>,
    ) -> (Self, Option<durable::Lock>) {
        let Some(session) = session else {
            return (Self::default(), None);
        };
        let folder = memory.join(FOLDER);
        if !folder.is_dir() && durable::create_dir_private(&folder).is_err() {
            return (Self::default(), None);
        }
        if folder.is_symlink() {
            return (Self::default(), None);
        }
        let name = text::hash_parts(&[host.as_str(), session]);
        let lock = folder.join(format!("{name}.lock"));
        let is_new = !lock.exists();
        let lock = durable::lock(&lock, limits::HOOK_WAIT_MS);
        if is_new {
            forget_oldest(&folder);
        }
        let path = folder.join(format!("{name}.json"));
        let mut state = read(&path).unwrap_or_default();
        state.path = Some(path);
        (state, lock.ok())
    }

    /// Writes it; if that fails, it is lost.
    pub(super) fn keep(&self) {
        let Some(path) = &self.path else { return };
        if let Ok(bytes) = serde_json::to_vec(self) {
            drop(durable::write_unsynced(path, &bytes));
        }
    }

    /// A session begins: what it had before it is gone, unless it goes on.
    pub(super) fn begin(&mut self, transcript: Option<&str>, source: Option<&str>) {
        match source {
            Some("resume" | "fork") => {}
            // The goal and what was done stay: they are said again.
            Some("compact") => {
                self.told.clear();
                self.echo.clear();
                self.context = None;
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

    /// From where a transcript is read that was not read before: what was said before hooks were there is not theirs.
    pub(super) fn first_offset(&self, path: &str) -> u64 {
        if self.from_beginning {
            return 0;
        }
        std::fs::metadata(path).map_or(0, |found| found.len())
    }

    pub(super) fn asked(&mut self, prompt: &str) {
        const PROMPT_CHARS: usize = 600;
        let short = text::excerpt(prompt, PROMPT_CHARS);
        self.goal.get_or_insert_with(|| short.clone());
        self.prompt = Some(short);
        self.prompts = self.prompts.saturating_add(1);
    }

    pub(super) fn knows(&self, id: RecordId) -> bool {
        self.told.contains(&id.to_string())
    }

    pub(super) fn told(&mut self, ids: impl IntoIterator<Item = RecordId>) {
        for id in ids {
            put(&mut self.told, id.to_string(), limits::HOOK_TOLD_MAX);
        }
    }

    /// Keeps what was said, to know it again.
    pub(super) fn echo(&mut self, said: &str) {
        self.echo.push_str(said);
        self.echo.push('\n');
        let kept = text::clip_start(&self.echo, limits::HOOK_ECHO_CHARS_MAX);
        if kept.len() < self.echo.len() {
            self.echo = kept.to_owned();
        }
    }

    /// A subagent ended, whose conversation is in a file.
    pub(super) fn subagent(&mut self, id: &str, kind: Option<&str>, transcript: &str) {
        let word = |said: &str| text::excerpt(said, limits::NAME_BYTES_MAX);
        if transcript.len() <= limits::PATH_BYTES_MAX {
            let one = (word(id), kind.map(word), transcript.to_owned());
            put(&mut self.subagents, one, limits::HOOK_SESSION_ITEMS_MAX);
        }
    }

    pub(super) fn has_file(&self, file: &str) -> bool {
        self.files.iter().any(|known| known == file)
    }

    pub(super) fn changed(&mut self, file: &str) {
        put(
            &mut self.files,
            file.to_owned(),
            limits::HOOK_SESSION_ITEMS_MAX,
        );
    }

    pub(super) fn heard(&mut self, line: String) {
        put(&mut self.heard, line, limits::HOOK_TOLD_MAX);
    }

    /// Something failed: what is done from now on may mend it.
    pub(super) fn failed(&mut self, key: &str) {
        self.failures.retain(|one| one.key != key);
        let failure = Failure {
            key: key.to_owned(),
            since: Vec::new(),
        };
        put(&mut self.failures, failure, limits::HOOK_SESSION_ITEMS_MAX);
        self.failed = self.failed.saturating_add(1);
    }

    /// Something was done that worked.
    pub(super) fn did(&mut self, what: &str) {
        const STEPS: usize = 5;
        for failure in &mut self.failures {
            put(&mut failure.since, what.to_owned(), STEPS);
        }
    }

    /// What was done since this failed, if it did; it is mended now.
    pub(super) fn mended(&mut self, key: &str) -> Option<Vec<String>> {
        let place = self.failures.iter().position(|one| one.key == key)?;
        Some(self.failures.remove(place).since)
    }

    pub(super) fn did_something(&self) -> bool {
        self.prompts > 0 && (self.failed > 0 || !self.files.is_empty())
    }

    /// What was done, on one line.
    pub(super) fn summary(&self) -> String {
        let mut said = format!("{} prompts", self.prompts);
        if !self.files.is_empty() {
            said.push_str(&format!(", changed {}", shown(&self.files)));
        }
        if self.failed > 0 {
            let open = self.failures.len();
            said.push_str(&format!(
                ", {} failures of which {open} are open",
                self.failed
            ));
        }
        said
    }

    /// The session is over; if it goes on, it is another one.
    pub(super) fn ended(&mut self) {
        self.prompts = 0;
        self.failed = 0;
        self.files.clear();
        self.subagents.clear();
        self.goal = None;
    }

    /// What a conversation that was compacted has to know again.
    pub(super) fn anchor(&self) -> String {
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

/// The newest files, by name.
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

/// A state that is kept; none if there is none that can be used.
fn read(path: &Path) -> Option<State> {
    let is_small =
        |found: &Metadata| found.is_file() && found.len() <= limits::HOOK_SESSION_BYTES_MAX;
    path.symlink_metadata().ok().filter(is_small)?;
    serde_json::from_slice(&std::fs::read(path).ok()?).ok()
}

/// Removes the sessions that were not seen for longest, when there are too many: some at once, so that few calls look at
/// each file.
fn forget_oldest(folder: &Path) {
    const AT_ONCE: usize = limits::HOOK_SESSIONS_MAX / 10;
    let kept = names(folder);
    // Each has a lock beside it.
    let most = 2 * limits::HOOK_SESSIONS_MAX;
    if kept.len() <= most {
        return;
    }
    let mut kept = with_times(kept);
    kept.sort();
    let least = most - 2 * AT_ONCE;
    for (.., path) in kept.iter().take(kept.len().saturating_sub(least)) {
        drop(durable::remove_if_there(path));
    }
}

/// The paths of what may be files of sessions.
fn names(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let paths = entries.map(|entry| entry.path());
    // What is half written stays when its writer is killed.
    let is_ours = |path: &PathBuf| {
        let ending = path.extension().and_then(|ending| ending.to_str());
        matches!(ending, Some("json" | "lock" | "tmp"))
    };
    paths.filter(is_ours).collect()
}

/// Those that are files, with when each was written.
fn with_times(paths: Vec<PathBuf>) -> Vec<(i64, i64, PathBuf)> {
    let kept = paths.into_iter().filter_map(|path| {
        let found = path.symlink_metadata().ok()?;
        found
            .is_file()
            .then_some((found.mtime(), found.mtime_nsec(), path))
    });
    kept.collect()
}

/// The files of sessions, with when each was written.
fn files(folder: &Path) -> Vec<(i64, i64, PathBuf)> {
    with_times(names(folder))
}

/// Forgets every session: what hooks kept may say what was deleted.
pub(in crate::engine) fn forget_all(memory: &Path) {
    let folder = memory.join(FOLDER);
    if folder.is_symlink() {
        return;
    }
    for (.., path) in files(&folder) {
        drop(durable::remove_if_there(&path));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(n: u128) -> RecordId {
        RecordId::from_bytes(n.to_be_bytes())
    }

    #[test]
    fn a_state_has_a_size() {
        let mut state = State::default();
        state.told((0..=limits::HOOK_TOLD_MAX as u128).map(id));
        assert_eq!(state.told.len(), limits::HOOK_TOLD_MAX);
        assert!(!state.knows(id(0)) && state.knows(id(1)));
        for n in 0..=limits::HOOK_SESSION_ITEMS_MAX {
            state.changed(&n.to_string());
            state.failed(&n.to_string());
            state.subagent(&n.to_string(), Some("x"), "/t");
        }
        assert_eq!(state.files.len(), limits::HOOK_SESSION_ITEMS_MAX);
        assert_eq!(state.subagents.len(), limits::HOOK_SESSION_ITEMS_MAX);
        assert_eq!(state.failures.len(), limits::HOOK_SESSION_ITEMS_MAX);
        for _ in 0..3 {
            state.echo(&"é".repeat(limits::HOOK_ECHO_CHARS_MAX));
        }
        assert_eq!(text::chars(&state.echo), limits::HOOK_ECHO_CHARS_MAX);
        for n in 0..=limits::HOOK_TOLD_MAX {
            state.heard(text::hash16(&n.to_string()));
        }
        let size = serde_json::to_vec(&state).unwrap().len() as u64;
        assert!(size < limits::HOOK_SESSION_BYTES_MAX, "{size}");
    }

    #[test]
    fn a_state_that_is_too_large_or_no_state_is_none() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.json");
        for (bytes, is_there) in [
            (b"{}".to_vec(), true),
            (b"{\"new\":1,\"prompts\":3}".to_vec(), true),
            (b"{\"prompts\":\"x\"}".to_vec(), false),
            (b"\xff".to_vec(), false),
            (
                [
                    b"{}".to_vec(),
                    vec![b' '; limits::HOOK_SESSION_BYTES_MAX as usize - 2],
                ]
                .concat(),
                true,
            ),
            (
                [
                    b"{}".to_vec(),
                    vec![b' '; limits::HOOK_SESSION_BYTES_MAX as usize],
                ]
                .concat(),
                false,
            ),
        ] {
            durable::write_atomic(&path, &bytes).unwrap();
            assert_eq!(read(&path).is_some(), is_there, "{}", bytes.len());
        }
    }

    #[test]
    fn the_oldest_sessions_are_forgotten() {
        let memory = tempfile::tempdir().unwrap();
        for n in 0..limits::HOOK_SESSIONS_MAX + 20 {
            let (state, lock) = State::taken(memory.path(), Host::Codex, Some(&n.to_string()));
            state.keep();
            // A writer was killed.
            durable::write_atomic(&memory.path().join(format!("hooks/.{n}.tmp")), b"x").unwrap();
            drop(lock);
        }
        let folder = memory.path().join(FOLDER);
        let kept = files(&folder).len();
        let most = 2 * limits::HOOK_SESSIONS_MAX;
        // Some are forgotten at once.
        assert!((most * 9 / 10 - 2..=most + 2).contains(&kept), "{kept}");
        forget_all(memory.path());
        assert!(files(&folder).is_empty());
    }

    #[test]
    fn what_was_done_since_a_failure_may_have_mended_it() {
        let mut state = State::default();
        state.failed("a");
        state.did("edited x");
        state.failed("b");
        state.did("ran y");
        assert_eq!(state.mended("a").unwrap(), ["edited x", "ran y"]);
        assert_eq!(state.mended("b").unwrap(), ["ran y"]);
        assert_eq!(state.mended("b"), None);
    }

    #[test]
    fn who_waits_too_long_goes_on_without() {
        let memory = tempfile::tempdir().unwrap();
        let (_, first) = State::taken(memory.path(), Host::Codex, Some("s"));
        assert!(first.is_some());
        // Longer than this nobody waits: else the test hangs.
        let (_, second) = State::taken(memory.path(), Host::Codex, Some("s"));
        assert!(second.is_none() && limits::HOOK_WAIT_MS < limits::HOOK_DEADLINE_MS);
    }
}
