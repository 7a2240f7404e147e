//! The calls of hooks and what went wrong in them: two small files that never grow beyond their caps.

use super::state::FOLDER;
use heirloom_model::{Fault, Timestamp, limits, text};
use heirloom_store::durable;
use std::path::{Path, PathBuf};

/// The list of calls, in the folder of hooks.
const CALLS: &str = "calls";
/// The log, in the folder of the memory.
const LOG: &str = "hooks.log";

/// One call of a hook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HookCall {
    /// When it ended.
    pub at: Timestamp,
    /// The agent program.
    pub host: String,
    /// The event.
    pub event: String,
    /// How long it took, from the start of the program.
    pub took_us: u64,
    /// Whether something went wrong.
    pub failed: bool,
}

/// The calls of hooks of one project.
#[derive(Debug, Clone)]
pub struct HookCalls {
    memory: PathBuf,
}

impl HookCalls {
    /// Those of the project whose memory is in `memory`.
    pub fn of(memory: &Path) -> Self {
        Self {
            memory: memory.to_owned(),
        }
    }

    /// Puts a call down; does not wait for the disk.
    pub fn put(&self, call: &HookCall) -> Result<(), Fault> {
        let folder = self.memory.join(FOLDER);
        if !folder.is_dir() {
            durable::create_dir_private(&folder)?;
        }
        let word = |said: &str| text::excerpt(said, 60).replace(char::is_whitespace, "_");
        let line = format!(
            "{} {} {} {} {}\n",
            call.at,
            word(&call.host),
            word(&call.event),
            call.took_us,
            if call.failed { "failed" } else { "ok" }
        );
        let path = folder.join(CALLS);
        Ok(durable::append_capped(
            &path,
            &line,
            limits::HOOK_LOG_BYTES_MAX,
        )?)
    }

    /// Puts down what went wrong, on one line.
    pub fn log(&self, at: Timestamp, what: &str) -> Result<(), Fault> {
        let line = format!("{at} {}\n", text::excerpt(what, limits::HOOK_LOG_CHARS_MAX));
        let path = self.memory.join(LOG);
        Ok(durable::append_capped(
            &path,
            &line,
            limits::HOOK_LOG_BYTES_MAX,
        )?)
    }

    /// The calls that are known, oldest first: some thousands.
    pub fn read(&self) -> Vec<HookCall> {
        let path = self.memory.join(FOLDER).join(CALLS);
        let mut calls = Vec::new();
        for path in [path.with_extension("1"), path] {
            let found = path.symlink_metadata();
            let most = 2 * limits::HOOK_LOG_BYTES_MAX;
            if !found.is_ok_and(|found| found.is_file() && found.len() <= most) {
                continue;
            }
            let text = std::fs::read(&path).unwrap_or_default();
            let text = String::from_utf8_lossy(&text);
            calls.extend(text.lines().filter_map(call));
        }
        calls
    }
}

fn call(line: &str) -> Option<HookCall> {
    let words: Vec<&str> = line.split(' ').collect();
    let [at, host, event, took_us, outcome] = words.as_slice() else {
        return None;
    };
    Some(HookCall {
        at: at.parse().ok()?,
        host: (*host).to_owned(),
        event: (*event).to_owned(),
        took_us: took_us.parse().ok()?,
        failed: *outcome != "ok",
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_read_again_and_their_files_do_not_grow() {
        let memory = tempfile::tempdir().unwrap();
        let calls = HookCalls::of(memory.path());
        assert!(calls.read().is_empty());
        let one = HookCall {
            at: "2026-05-01T10:00:00.5Z".parse().unwrap(),
            host: "codex".to_owned(),
            event: "Stop".to_owned(),
            took_us: 4_200,
            failed: true,
        };
        for _ in 0..4_000 {
            calls.put(&one).unwrap();
            calls.log(one.at, &"no\n".repeat(1_000)).unwrap();
        }
        let read = calls.read();
        assert!(read.len() > 1_000);
        assert!(read.iter().all(|read| *read == one));
        for name in ["hooks/calls", "hooks/calls.1", "hooks.log", "hooks.log.1"] {
            let size = memory.path().join(name).metadata().unwrap().len();
            let most = limits::HOOK_LOG_BYTES_MAX + 2 * limits::HOOK_LOG_CHARS_MAX as u64;
            assert!(size <= most, "{name} {size}");
        }
        let log = std::fs::read_to_string(memory.path().join("hooks.log")).unwrap();
        let longest = log.lines().map(text::chars).max().unwrap();
        assert!(longest <= limits::HOOK_LOG_CHARS_MAX + 40, "{longest}");
        durable::write_atomic(
            &memory.path().join("hooks/calls"),
            b"x\n\x1b y\n1 2 3 4 5\n",
        )
        .unwrap();
        assert!(calls.read().len() < read.len());
    }
}
