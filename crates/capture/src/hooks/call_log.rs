//! Log of hook calls and their errors: two files with a size cap.

use heirloom_engine::HookStateFolder;
use heirloom_fs::durable;
use heirloom_fs::project_fs::read_bounded;
use heirloom_model::{Fault, Timestamp, limits, text};
use heirloom_redact::Redactor;
use std::path::{Path, PathBuf};

/// Log of calls, in the folder of hooks.
const CALLS: &str = "calls";
/// Log of errors, in the memory's folder.
const LOG: &str = "hooks.log";

/// Maximum characters that are read of an argument.
const ARGUMENT_CHARS_MAX: usize = 1_000;

/// One call of a hook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HookCall {
    /// End of the call.
    pub at: Timestamp,
    /// The agent program.
    pub host: String,
    /// The event.
    pub event: String,
    /// Duration in microseconds, from the start of the program.
    pub took_us: u64,
    /// True if the call failed.
    pub failed: bool,
}

/// Log of the hook calls of one project.
#[derive(Debug, Clone)]
pub struct HookCallLog {
    memory: PathBuf,
}

impl HookCallLog {
    /// Returns the log of the project whose memory is in `memory`.
    pub fn in_folder(memory: &Path) -> Self {
        Self {
            memory: memory.to_owned(),
        }
    }

    /// Appends a call without syncing the file.
    pub fn append(&self, call: &HookCall) -> Result<(), Fault> {
        let folder = HookStateFolder::in_memory(&self.memory);
        folder.create()?;
        // Arguments are untrusted: redact before truncating, because a cut secret no longer matches its pattern.
        let redactor = Redactor::default();
        let word = |given: &str| {
            let clean = redactor.redact(text::clip(given, ARGUMENT_CHARS_MAX));
            text::excerpt(&clean, 60).replace(char::is_whitespace, "_")
        };
        let line = format!(
            "{} {} {} {} {}\n",
            call.at,
            word(&call.host),
            word(&call.event),
            call.took_us,
            if call.failed { "failed" } else { "ok" }
        );
        let path = folder.path().join(CALLS);
        Ok(durable::append_capped(
            &path,
            &line,
            limits::HOOK_LOG_BYTES_MAX,
        )?)
    }

    /// Appends an error message as one line.
    pub fn append_error(&self, at: Timestamp, what: &str) -> Result<(), Fault> {
        let redactor = Redactor::default();
        let what = redactor.redact(text::clip(what, 4 * limits::HOOK_LOG_CHARS_MAX));
        let line = format!(
            "{at} {}\n",
            text::excerpt(&what, limits::HOOK_LOG_CHARS_MAX)
        );
        let path = self.memory.join(LOG);
        Ok(durable::append_capped(
            &path,
            &line,
            limits::HOOK_LOG_BYTES_MAX,
        )?)
    }

    /// Reads the error messages with their times, oldest first.
    pub fn errors(&self) -> Vec<(Timestamp, String)> {
        let path = self.memory.join(LOG);
        // The older file has the same name with a number after it.
        let older = self.memory.join(format!("{LOG}.1"));
        let mut errors = Vec::new();
        for path in [older, path] {
            let Ok(text) = read_bounded(&path, 2 * limits::HOOK_LOG_BYTES_MAX) else {
                continue;
            };
            let text = String::from_utf8_lossy(&text);
            errors.extend(text.lines().filter_map(|line| {
                let (at, message) = line.split_once(' ')?;
                Some((at.parse().ok()?, message.to_owned()))
            }));
        }
        errors
    }

    /// Reads the calls, oldest first. The size cap keeps some thousands.
    pub fn read(&self) -> Vec<HookCall> {
        let folder = HookStateFolder::in_memory(&self.memory);
        let path = folder.path().join(CALLS);
        let mut calls = Vec::new();
        if folder.path().is_symlink() {
            return calls;
        }
        for path in [path.with_extension("1"), path] {
            let most = 2 * limits::HOOK_LOG_BYTES_MAX;
            let Ok(text) = read_bounded(&path, most) else {
                continue;
            };
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
mod stored_form_tests;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logged_calls_are_read_back_and_files_stay_capped() {
        let memory = tempfile::tempdir().unwrap();
        let calls = HookCallLog::in_folder(memory.path());
        assert!(calls.read().is_empty());
        let one = HookCall {
            at: "2026-05-01T10:00:00.5Z".parse().unwrap(),
            host: "codex".to_owned(),
            event: "Stop".to_owned(),
            took_us: 4_200,
            failed: true,
        };
        for _ in 0..4_000 {
            calls.append(&one).unwrap();
            calls.append_error(one.at, &"no\n".repeat(1_000)).unwrap();
        }
        let read = calls.read();
        assert!(read.len() > 1_000);
        let errors = calls.errors();
        assert!(errors.len() > 10, "both files are read");
        assert!(errors.iter().all(|(at, _)| *at == one.at));
        assert!(errors[0].1.starts_with("no | no"), "{}", errors[0].1);
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
    #[test]
    fn secret_in_an_argument_is_not_logged() {
        let memory = tempfile::tempdir().unwrap();
        let calls = HookCallLog::in_folder(memory.path());
        let token = ["gh", "p_", "q7Zr2Kx9Lm4Tn8Vb3Wc6Yd1Fe5Gh0Js2Ku4Pa"].concat();
        let at = "2026-05-01T10:00:00.5Z".parse().unwrap();
        let call = HookCall {
            at,
            host: format!("{}{token}", "-".repeat(40)),
            event: format!("API_TOKEN={token}"),
            took_us: 1,
            failed: false,
        };
        calls.append(&call).unwrap();
        calls
            .append_error(at, &format!("no event {token}"))
            .unwrap();
        for name in ["hooks/calls", "hooks.log"] {
            let logged = std::fs::read_to_string(memory.path().join(name)).unwrap();
            assert!(logged.contains("[redacted:"), "{logged}");
            assert!(!logged.contains(&token[..12]), "{logged}");
        }
        let read = calls.read();
        assert_eq!(read.len(), 1);
        assert_eq!(read[0].event, "API_TOKEN=[redacted:github-token]");
    }
}
