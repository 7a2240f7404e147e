//! Tests of hook answers: what a prompt, the start of a session and a tool call are told.
#![expect(clippy::unwrap_used, reason = "a helper of a test may fail it")]

#[path = "hooks/anchors.rs"]
mod anchors;
#[path = "hooks/changed_rules.rs"]
mod changed_rules;
#[path = "hooks/ended_failures.rs"]
mod ended_failures;
#[path = "hooks/failure_causes.rs"]
mod failure_causes;
#[path = "hooks/killed_sessions.rs"]
mod killed_sessions;
#[path = "hooks/prompts.rs"]
mod prompts;
#[path = "hooks/resolutions.rs"]
mod resolutions;
#[path = "hooks/rewound_sessions.rs"]
mod rewound_sessions;
#[path = "hooks/session_starts.rs"]
mod session_starts;
#[path = "hooks/start_forms.rs"]
mod start_forms;
#[path = "hooks/teaching.rs"]
mod teaching;
#[path = "hooks/told_once.rs"]
mod told_once;

use heirloom_agents::AgentProgram;
use heirloom_agents::hooks::{HookAnswer, HookEventKind, read_event};
use heirloom_capture::{HookRequest, Hooks};
use heirloom_engine::{Engine, NewRecord};
use heirloom_fs::durable;
use heirloom_fs::project_fs::ProjectPaths;
use heirloom_model::{ProjectName, Settings, SystemClock};
use heirloom_store::SqliteStore;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// A project with a memory.
struct HookedProject {
    folder: TempDir,
    engine: Engine,
    /// True if sessions are taught to leave lessons.
    teach: bool,
    /// True if hooks request lessons from agents.
    ask: bool,
    /// True if hooks also do their work after the answer.
    records: bool,
}

impl HookedProject {
    fn new() -> Self {
        Self::with_settings(Settings::default())
    }

    fn with_settings(settings: Settings) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let memory = root.join(".heirloom");
        durable::create_dir_private(&memory).unwrap();
        durable::write_atomic(&memory.join("config.toml"), b"").unwrap();
        let place = ProjectPaths {
            config: memory.join("config.toml"),
            folder: memory,
            root,
        };
        let engine = Engine::new(
            Arc::new(SqliteStore::memory().unwrap()),
            ProjectName::new("p").unwrap(),
            place,
            settings,
            Arc::new(SystemClock),
        )
        .unwrap();
        Self {
            folder,
            engine,
            teach: false,
            ask: false,
            records: false,
        }
    }

    fn remember(&self, text: &str) {
        self.engine.records().remember(fact(text)).unwrap();
    }

    /// Writes a file of the project's workspace.
    fn write_workspace(&self, name: &str, content: &str) {
        let folder = self.memory().join("workspace");
        durable::create_dir_private(&folder).unwrap();
        durable::write_atomic(&folder.join(name), content.as_bytes()).unwrap();
    }

    fn memory(&self) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(".heirloom")
    }

    /// Sends an event of the session `s`; returns the text for the model.
    fn send(&self, host: AgentProgram, name: &str, more: Value) -> String {
        self.send_with(host, name, more, 5)
    }

    /// Sends an event of another session.
    fn send_in(&self, session: &str, host: AgentProgram, name: &str, more: Value) -> String {
        self.answer(session, host, name, more, 5).context
    }

    fn send_with(&self, host: AgentProgram, name: &str, more: Value, anchor_every: u32) -> String {
        self.answer("s", host, name, more, anchor_every).context
    }

    fn answer(
        &self,
        session: &str,
        host: AgentProgram,
        name: &str,
        mut more: Value,
        anchor_every: u32,
    ) -> HookAnswer {
        more["session_id"] = json!(session);
        let event = read_event(host, more.to_string().as_bytes());
        let request = HookRequest {
            host,
            spec: host.hook_spec(name).unwrap(),
            event: &event,
            shorten: None,
            anchor_every,
            teach: self.teach,
            ask: self.ask,
            deadline: Instant::now() + Duration::from_secs(600),
        };
        let hooks = Hooks::new(&self.engine);
        let answer = hooks.handle(&request).unwrap();
        if self.records {
            hooks.record_after_answer(&request).unwrap();
        }
        answer
    }

    /// Starts a session of Claude Code.
    fn start(&self, source: &str) -> String {
        let more = json!({"source": source});
        self.send(AgentProgram::ClaudeCode, "SessionStart", more)
    }

    /// Sends a prompt to Claude Code.
    fn prompt(&self, prompt: &str) -> String {
        let more = json!({"prompt": prompt});
        self.send(AgentProgram::ClaudeCode, "UserPromptSubmit", more)
    }
}

/// Returns a new fact.
fn fact(text: &str) -> NewRecord {
    NewRecord {
        text: text.to_owned(),
        ..NewRecord::default()
    }
}

/// Returns the programs that take text for the model after an event of this kind.
fn hosts_taking_text(kind: HookEventKind) -> Vec<AgentProgram> {
    let takes_text = |host: &AgentProgram| {
        let mut specs = host.hook_specs().iter();
        specs.any(|spec| spec.kind == kind && spec.can_inject)
    };
    let hosts: Vec<AgentProgram> = AgentProgram::with_hooks().filter(takes_text).collect();
    assert!(hosts.len() > 3, "{kind:?}: {hosts:?}");
    hosts
}

/// Returns the event of a program for a kind.
fn event_of(host: AgentProgram, kind: HookEventKind) -> &'static str {
    let mut specs = host.hook_specs().iter();
    specs.find(|spec| spec.kind == kind).unwrap().event
}
