//! Status of the hooks: installations, and statistics of their calls.

use super::hook_call_stats::{HookCallStats, hook_call_stats};
use super::{InstalledHooks, find_installed, is_on_path};
use crate::config::Environment;
use heirloom_engine::{CheckLevel, HealthCheck};
use heirloom_model::text::counted;
use serde_json::{Value, json};
use std::path::Path;

/// Status of a project's hooks.
pub(crate) struct HookStatus {
    installed: Vec<InstalledHooks>,
    problems: Vec<String>,
    calls: HookCallStats,
    is_on_path: bool,
}

impl HookStatus {
    /// Loads the status of the hooks for agents started in `start`; the calls are those of the memory folder
    /// `memory`.
    pub(crate) fn load(env: &Environment, start: &Path, memory: &Path) -> Self {
        let (installed, problems) = find_installed(env, start);
        Self {
            installed,
            problems,
            calls: hook_call_stats(memory),
            is_on_path: is_on_path(env),
        }
    }

    /// Formats the status on one line.
    pub(crate) fn summary(&self) -> String {
        if self.installed.is_empty() {
            return "not installed".to_owned();
        }
        let places: Vec<String> = (self.installed.iter())
            .map(|one| {
                let part = if one.is_complete { "" } else { ", in part" };
                format!("{} ({}{part})", one.program.as_str(), one.scope.as_str())
            })
            .collect();
        format!("{}; {}", places.join(", "), self.calls_summary())
    }

    fn calls_summary(&self) -> String {
        let calls = &self.calls;
        let Some((at, event)) = &calls.last else {
            return "never called here".to_owned();
        };
        format!(
            "last call {at} ({event}), {:.1} ms p50, {:.1} ms p99, {} of {}",
            calls.p50_ms,
            calls.p99_ms,
            counted(calls.failures, "failure", "failures"),
            counted(calls.calls, "call", "calls")
        )
    }

    /// Returns the status as a check of `doctor`.
    pub(crate) fn check(&self) -> HealthCheck {
        let check = |level, message: String, hint: Option<&str>| HealthCheck {
            name: "hooks",
            level,
            message,
            hint: hint.map(str::to_owned),
        };
        if let Some(problem) = self.problems.first() {
            let hint = "correct the file, then `heirloom install AGENT` again";
            return check(CheckLevel::Warn, problem.clone(), Some(hint));
        }
        let summary = self.summary();
        if self.installed.is_empty() {
            return check(CheckLevel::Ok, summary, None);
        }
        let hint = if !self.is_on_path {
            "`heirloom` is in no folder of PATH: hooks call it by this name"
        } else if self.installed.iter().any(|one| !one.is_complete) {
            "`heirloom install AGENT` updates the hooks"
        } else if self.calls.failures * 20 > self.calls.calls {
            ".heirloom/hooks.log has the errors"
        } else {
            return check(CheckLevel::Ok, summary, None);
        };
        check(CheckLevel::Warn, summary, Some(hint))
    }

    /// Returns the status as JSON.
    pub(crate) fn value(&self) -> Value {
        let installed: Vec<Value> = (self.installed.iter())
            .map(|one| {
                json!({
                    "agent": one.program.as_str(),
                    "scope": one.scope.as_str(),
                    "file": one.file.to_string_lossy().into_owned(),
                    "whole": one.is_complete,
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
