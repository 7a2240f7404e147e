//! Records the example week in a store, with a clock that follows the example's times.

use super::example_week::{
    EARLIER_ATTEMPTS, EARLIER_KNOWLEDGE, ExampleAction, ExampleSession, FILES, SESSIONS, TASKS,
};
use crate::store_access::{self, CliSession};
use heirloom_capture::{HookCall, HookCallLog};
use heirloom_engine::{
    ContextRequest, Engine, NewArtifact, NewEpisode, NewNote, NewRecord, NewTurn, TaskChange,
    WindowRequest, Workspace,
};
use heirloom_model::kinds::{ArtifactType, EpisodeAction, StepState, TaskState};
use heirloom_model::{Clock, Fault, Mark, Role, Scope, Timestamp, clock};
use heirloom_window::Policy;
use serde_json::{Value, json};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

/// Agent whose sessions get no context: its hooks are not installed.
const AGENT_WITHOUT_HOOKS: &str = "gemini-cli";
const HOUR_S: i64 = 3_600;
const DAY_S: i64 = 24 * HOUR_S;

/// Clock that returns the current time of the example.
#[derive(Debug, Default)]
pub(super) struct ScriptedClock(AtomicI64);

impl ScriptedClock {
    pub(super) fn set(&self, at: i64) {
        self.0
            .fetch_max(at.saturating_mul(1_000_000), Ordering::Relaxed);
    }
}

impl Clock for ScriptedClock {
    fn now(&self) -> Timestamp {
        // Every reading is a little later, so that no two events have the same time.
        clock::from_micros(self.0.fetch_add(1_000, Ordering::Relaxed))
    }
}

/// Fills the project of `session`, whose files are in `root`.
pub(super) fn fill(session: &mut CliSession, root: &Path) -> Result<(), Fault> {
    let now = session.clock()?.now().as_second();
    for (path, text) in FILES {
        let path = root.join(path);
        if let Some(folder) = path.parent() {
            store_access::create_folder(folder)?;
        }
        store_access::write_file(&path, text.as_bytes())?;
    }
    let clock = Arc::new(ScriptedClock::default());
    let engine = session.engine_with_clock(clock.clone())?;
    let recorder = ExampleRecorder {
        engine: &engine,
        clock: &clock,
        now,
    };
    recorder.record_earlier()?;
    for example in SESSIONS {
        recorder.record_session(example)?;
    }
    recorder.record_follow_up(root)?;
    recorder.record_hook_calls(&root.join(".heirloom"))
}

struct ExampleRecorder<'a> {
    engine: &'a Engine,
    clock: &'a ScriptedClock,
    now: i64,
}

impl ExampleRecorder<'_> {
    fn set_days_ago(&self, days: i64) {
        self.clock.set(self.now - days * DAY_S);
    }

    /// Records the knowledge and the attempts from before the week, in chronological order.
    fn record_earlier(&self) -> Result<(), Fault> {
        let mut older = EARLIER_KNOWLEDGE.iter().peekable();
        for (days, task, agent, approach, outcome, worked, minutes, thousands) in EARLIER_ATTEMPTS {
            while let Some((age_days, source, category, key, text)) =
                older.next_if(|(age_days, ..)| age_days >= days)
            {
                self.set_days_ago(*age_days);
                self.record_knowledge(source, category, key, text, None, Scope::default())?;
            }
            self.set_days_ago(*days);
            let scope = Scope {
                agent: Some((*agent).to_owned()),
                ..Scope::of_task(task)
            };
            self.record_episode(scope, approach, outcome, *worked, *minutes, *thousands)?;
        }
        for (age_days, source, category, key, text) in older {
            self.set_days_ago(*age_days);
            self.record_knowledge(source, category, key, text, None, Scope::default())?;
        }
        self.set_days_ago(8);
        for task in TASKS {
            let change = TaskChange {
                title: Some(task.title.to_owned()),
                task_type: Some(task.task_type.to_owned()),
                branch: Some(task.branch.to_owned()),
                state: Some(TaskState::Open),
                ..TaskChange::default()
            };
            self.engine.tasks().set(task.id, &change, "orchestrator")?;
        }
        self.engine.workspace().init()?;
        let workspace = Workspace::Project;
        self.engine.workspace().save_fact(
            workspace,
            "Staging has the data of last night, without names.",
        )?;
        self.engine
            .workspace()
            .log_learning(workspace, "Replays need the carrier sandbox awake.")?;
        Ok(())
    }

    /// Records one session: its context, its actions, its conversation, and its end, which only hooks report.
    fn record_session(&self, example: &ExampleSession) -> Result<(), Fault> {
        let began = self.now - example.hours_ago * HOUR_S;
        self.clock.set(began);
        let session = format!(
            "{}-{:04x}",
            example.agent,
            (example.hours_ago * 2_654_435) & 0xffff
        );
        let task = TASKS.iter().find(|task| task.id == example.task);
        self.record_turn(&session, example, Role::User, example.goal)?;
        let phase = task.map(|task| task.phase.to_owned());
        self.engine.tasks().set(
            example.task,
            &TaskChange {
                phase: phase.clone(),
                ..TaskChange::default()
            },
            example.agent,
        )?;
        let request = ContextRequest {
            task: Some(example.task.to_owned()),
            phase,
            agent: Some(example.agent.to_owned()),
            session: Some(session.clone()),
            query: Some(example.goal.to_owned()),
            group: Some("delivery".to_owned()),
            ..ContextRequest::default()
        };
        if example.agent != AGENT_WITHOUT_HOOKS {
            let context = self.engine.contexts().build(&request)?;
            self.engine
                .contexts()
                .store_receipt(&request, &context, None)?;
        }
        let scope = Scope {
            session: Some(session.clone()),
            agent: Some(example.agent.to_owned()),
            ..Scope::of_task(example.task)
        };
        for (at, action) in (1_i64..).zip(example.actions) {
            self.clock.set(began + at * 7 * 60);
            self.record_action(example, action, &scope)?;
        }
        self.compact_conversation(&session, example)?;
        let stored = self.engine.sessions().find(&session)?;
        match stored.filter(|_| example.agent != AGENT_WITHOUT_HOOKS) {
            Some(mut ended) => {
                ended.ended_at = Some(self.engine.now());
                self.engine.sessions().put_session(&ended)
            }
            None => Ok(()),
        }
    }

    fn record_action(
        &self,
        example: &ExampleSession,
        action: &ExampleAction,
        scope: &Scope,
    ) -> Result<(), Fault> {
        let engine = self.engine;
        let source = format!("agent:{}", example.agent);
        let source = source.as_str();
        match action {
            ExampleAction::Learn(category, key, text) => {
                let scope = Scope {
                    task: None,
                    ..scope.clone()
                };
                self.record_knowledge(source, category, key, text, None, scope)
            }
            ExampleAction::Decide(key, text, why) => {
                let scope = Scope {
                    task: None,
                    ..scope.clone()
                };
                self.record_knowledge(source, "decision", key, text, Some(why), scope)
            }
            ExampleAction::Fail(what) => engine.errors().log(what, scope.clone(), source).map(drop),
            ExampleAction::Mend(what, how) => {
                let logged = engine.errors().log(what, scope.clone(), source)?;
                engine
                    .errors()
                    .resolve(&logged.applied.id.to_string(), how, source)
                    .map(drop)
            }
            ExampleAction::Try(approach, outcome, worked, minutes, thousands) => self
                .record_episode(
                    scope.clone(),
                    approach,
                    outcome,
                    *worked,
                    *minutes,
                    *thousands,
                ),
            ExampleAction::Done(words) => engine
                .tasks()
                .step(example.task, words, StepState::Done, source)
                .map(drop),
            ExampleAction::ToDo(words) => engine
                .tasks()
                .step(example.task, words, StepState::Pending, source)
                .map(drop),
            ExampleAction::File(path) => engine
                .artifacts()
                .add(&NewArtifact {
                    path: (*path).to_owned(),
                    scope: scope.clone(),
                    artifact_type: match () {
                        () if path.starts_with("tests/") => ArtifactType::Test,
                        () if path.starts_with("docs/") => ArtifactType::Document,
                        () => ArtifactType::File,
                    },
                    description: None,
                    digest: None,
                })
                .map(drop),
            ExampleAction::Note(words) => engine
                .groups()
                .add_note(&NewNote {
                    content: (*words).to_owned(),
                    section: Some("Habits".to_owned()),
                    agent: Some(example.agent.to_owned()),
                    group: Some("delivery".to_owned()),
                })
                .map(drop),
        }
    }

    fn record_knowledge(
        &self,
        source: &str,
        category: &str,
        key: &str,
        text: &str,
        why: Option<&str>,
        scope: Scope,
    ) -> Result<(), Fault> {
        let new = NewRecord {
            text: text.to_owned(),
            category: Some(category.to_owned()),
            key: Some(key.to_owned()),
            source: Some(source.to_owned()),
            rationale: why.map(str::to_owned),
            scope,
            ..NewRecord::default()
        };
        self.engine.records().remember(new).map(drop)
    }

    fn record_episode(
        &self,
        scope: Scope,
        approach: &str,
        outcome: &str,
        worked: bool,
        minutes: u64,
        thousands: u64,
    ) -> Result<(), Fault> {
        let action = match worked {
            true => EpisodeAction::Completed,
            false => EpisodeAction::Failed,
        };
        let task = scope.task.clone().unwrap_or_default();
        let new = NewEpisode {
            scope,
            approach: Some(approach.to_owned()),
            outcome: (!outcome.is_empty()).then(|| outcome.to_owned()),
            duration_ms: Some(minutes * 60_000),
            tokens_in: Some(thousands * 1_000),
            tokens_out: Some(thousands * 70),
            ..NewEpisode::new(&task, action)
        };
        self.engine.tasks().log_episode(new).map(drop)
    }

    fn record_turn(
        &self,
        session: &str,
        example: &ExampleSession,
        role: Role,
        text: &str,
    ) -> Result<(), Fault> {
        let turn = NewTurn {
            machine: false,
            role,
            sender: None,
            task: Some(example.task.to_owned()),
            agent: Some(example.agent.to_owned()),
            text: text.to_owned(),
        };
        self.engine.sessions().add_turn(session, &turn).map(drop)
    }

    /// Compacts the conversation of a session, in which long outputs are shortened.
    fn compact_conversation(&self, session: &str, example: &ExampleSession) -> Result<(), Fault> {
        let mut history = vec![json!({"role": "user", "content": example.goal})];
        let rounds = if example.hours_ago < 4 { 80 } else { 12 };
        for n in 0..rounds {
            history.extend(tool_call_round(example, n));
        }
        let policy = Policy::default().with_target(18_000);
        // The agent asks for a window after every fourth round.
        for end in (1..=history.len()).filter(|end| end % 12 == 1) {
            let history = Value::Array(history.iter().take(end).cloned().collect()).to_string();
            self.engine.window().compact(&WindowRequest {
                history: &history,
                form: None,
                model: None,
                policy: &policy,
                session: Some(session),
                agent: Some(example.agent),
                group: None,
            })?;
        }
        Ok(())
    }

    /// Records what people did after the agents.
    fn record_follow_up(&self, root: &Path) -> Result<(), Fault> {
        let engine = self.engine;
        self.clock.set(self.now - 2 * HOUR_S);
        for id in ["190", "214", "225"] {
            let change = TaskChange {
                state: Some(TaskState::Done),
                ..TaskChange::default()
            };
            engine.tasks().set(id, &change, "user")?;
        }
        let blocked = TaskChange {
            blocked_reason: Some("waits for the carrier sandbox".to_owned()),
            ..TaskChange::default()
        };
        engine.tasks().set("207", &blocked, "user")?;
        for (key, mark) in [
            ("error-type", Mark::Pinned(true)),
            ("old-admin-ui", Mark::Muted(true)),
        ] {
            let filter = heirloom_engine::Filter::current(&[], engine.now()).key(key);
            for record in engine.records().find(&filter)? {
                engine.records().mark(record.id, mark)?;
            }
        }
        self.clock.set(self.now - 20 * 60);
        let text = "Labels are PDF/A-2b at 203 dpi; carriers refuse PNG.";
        self.record_knowledge("user", "fact", "label-format", text, None, Scope::default())?;
        // The artifacts page then shows one changed file and one missing file.
        store_access::write_file(
            &root.join("tests/redelivery.rs"),
            b"#[test]\nfn each_event_once() { assert!(true) }\n",
        )?;
        store_access::remove_file(&root.join("docs/replay-log.txt"))
    }

    /// Records hook calls, so that their page has data.
    fn record_hook_calls(&self, memory: &Path) -> Result<(), Fault> {
        let calls = HookCallLog::in_folder(memory);
        let events = [
            "SessionStart",
            "UserPromptSubmit",
            "PostToolUse",
            "PostToolUse",
            "Stop",
        ];
        for n in 0..120_i64 {
            let event = events[usize::try_from(n).unwrap_or(0) % events.len()];
            calls.append(&HookCall {
                at: clock::from_micros((self.now - (120 - n) * 900) * 1_000_000),
                host: "claude-code".to_owned(),
                event: event.to_owned(),
                took_us: 3_100 + u64::try_from(n * n % 61).unwrap_or(0) * 120,
                failed: n == 77,
            })?;
        }
        Ok(())
    }
}

/// Builds a tool call with its result, and the model's comment on it.
fn tool_call_round(example: &ExampleSession, n: usize) -> [Value; 3] {
    let id = format!("call_{n}");
    let command = [
        "cargo test",
        "rg rows_affected",
        "cat src/outbox/worker.rs",
        "git diff",
    ][n % 4];
    let lines = [420, 120, 80, 240][n % 4];
    let output: String = (0..lines)
        .map(|line| {
            format!(
                "test {}::case_{n}_{line} ... ok, {} us\n",
                example.task,
                (line * 37 + n * 11) % 900
            )
        })
        .collect();
    [
        json!({"role": "assistant", "content": format!("Looking at it with {command}."), "tool_calls": [{
            "id": id, "type": "function",
            "function": {"name": "bash", "arguments": json!({"command": command}).to_string()},
        }]}),
        json!({"role": "tool", "tool_call_id": id, "content": output}),
        json!({"role": "assistant", "content": format!("Step {n}: {command} says that the cases hold; next I check the others of #{}", example.task)}),
    ]
}
