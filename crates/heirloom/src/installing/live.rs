//! Whether hooks are live: where they are installed, and how their calls went.

use super::{Installed, installed, is_on_path};
use crate::commands::hook::{Calls, calls};
use crate::config::Environment;
use heirloom_engine::{Check, Level};
use serde_json::{Value, json};
use std::path::Path;

/// What is known of the hooks of a project.
pub(crate) struct Hooks {
    installed: Vec<Installed>,
    problems: Vec<String>,
    calls: Calls,
    is_on_path: bool,
}

impl Hooks {
    /// Those of whoever starts agents in `start`; the calls are those of the project whose memory is in `memory`.
    pub(crate) fn of(env: &Environment, start: &Path, memory: &Path) -> Self {
        let (installed, problems) = installed(env, start);
        Self {
            installed,
            problems,
            calls: calls(memory),
            is_on_path: is_on_path(env),
        }
    }

    /// On one line.
    pub(crate) fn shown(&self) -> String {
        if self.installed.is_empty() {
            return "not installed".to_owned();
        }
        let places: Vec<String> = (self.installed.iter())
            .map(|one| {
                let part = if one.is_whole { "" } else { ", in part" };
                format!("{} ({}{part})", one.host.as_str(), one.scope.as_str())
            })
            .collect();
        format!("{}; {}", places.join(", "), self.shown_calls())
    }

    fn shown_calls(&self) -> String {
        let calls = &self.calls;
        let Some((at, event)) = &calls.last else {
            return "never called here".to_owned();
        };
        format!(
            "last call {at} ({event}), {:.1} ms p50, {:.1} ms p99, {} failures of {} calls",
            calls.p50_ms, calls.p99_ms, calls.failures, calls.calls
        )
    }

    /// As `doctor` says it.
    pub(crate) fn check(&self) -> Check {
        let check = |level, message: String, hint: Option<&str>| Check {
            name: "hooks",
            level,
            message,
            hint: hint.map(str::to_owned),
        };
        if let Some(problem) = self.problems.first() {
            let hint = "mend the file, then `heirloom install AGENT` again";
            return check(Level::Warn, problem.clone(), Some(hint));
        }
        let shown = self.shown();
        if self.installed.is_empty() {
            return check(Level::Ok, shown, None);
        }
        let hint = if !self.is_on_path {
            "`heirloom` is in no folder of PATH: hooks call it by this name"
        } else if self.installed.iter().any(|one| !one.is_whole) {
            "`heirloom install AGENT` brings the hooks up to date"
        } else if self.calls.failures * 20 > self.calls.calls {
            ".heirloom/hooks.log says what went wrong"
        } else {
            return check(Level::Ok, shown, None);
        };
        check(Level::Warn, shown, Some(hint))
    }

    /// As JSON.
    pub(crate) fn value(&self) -> Value {
        let installed: Vec<Value> = (self.installed.iter())
            .map(|one| {
                json!({
                    "agent": one.host.as_str(),
                    "scope": one.scope.as_str(),
                    "file": one.file.display().to_string(),
                    "whole": one.is_whole,
                })
            })
            .collect();
        let last = self.calls.last.as_ref();
        json!({
            "installed": installed,
            "calls": self.calls.calls,
            "failures": self.calls.failures,
            "p50_ms": self.calls.p50_ms,
            "p99_ms": self.calls.p99_ms,
            "last": last.map(|(at, event)| json!({"at": at.to_string(), "event": event})),
        })
    }
}
