//! Tells the story of the week to an engine, by a clock that goes as the story does.

use super::story::{BEFORE, Deed, FILES, OLDER, TASKS, Tale, WEEK};
use crate::open::{self, Session};
use heirloom_engine::{
    ContextRequest, Engine, HookCall, HookCalls, NewArtifact, NewEpisode, NewNote, NewRecord,
    NewTurn, TaskChange, WindowRequest, Workspace,
};
use heirloom_model::kinds::{ArtifactType, EpisodeAction, StepState, TaskState};
use heirloom_model::{Budget, Clock, Fault, Mark, Role, Scope, Timestamp, clock};
use heirloom_window::Policy;
use serde_json::{Value, json};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

const HOUR_S: i64 = 3_600;
const DAY_S: i64 = 24 * HOUR_S;

/// A clock that stands where the story is.
#[derive(Debug, Default)]
struct StoryClock(AtomicI64);

impl StoryClock {
    fn set(&self, at: i64) {
        self.0
            .fetch_max(at.saturating_mul(1_000_000), Ordering::Relaxed);
    }
}

impl Clock for StoryClock {
    fn now(&self) -> Timestamp {
        // Each look is a little later: nothing happens twice at once.
        clock::from_micros(self.0.fetch_add(1_000, Ordering::Relaxed))
    }
}

/// Fills the project of `session`, whose files lie in `root`.
pub(super) fn fill(session: &mut Session, root: &Path) -> Result<(), Fault> {
    let now = session.clock()?.now().as_second();
    for (path, text) in FILES {
        let path = root.join(path);
        if let Some(folder) = path.parent() {
            open::create_folder(folder)?;
        }
        open::write_file(&path, text.as_bytes())?;
    }
    let clock = Arc::new(StoryClock::default());
    let engine = session.story_engine(clock.clone())?;
    let story = Story {
        engine: &engine,
        clock: &clock,
        now,
    };
    story.before()?;
    for tale in WEEK {
        story.tell(tale)?;
    }
    story.afterwards(root)?;
    story.hooks(&root.join(".heirloom"))
}

struct Story<'a> {
    engine: &'a Engine,
    clock: &'a StoryClock,
    now: i64,
}

impl Story<'_> {
    fn days_ago(&self, days: i64) {
        self.clock.set(self.now - days * DAY_S);
    }

    /// What was known before the week, and what was tried, in the order of time.
    fn before(&self) -> Result<(), Fault> {
        let mut older = OLDER.iter().peekable();
        for (days, task, agent, approach, outcome, worked, minutes, thousands) in BEFORE {
            while let Some((said, source, category, key, text)) =
                older.next_if(|(said, ..)| said >= days)
            {
                self.days_ago(*said);
                self.learn(source, category, key, text, None, Scope::default())?;
            }
            self.days_ago(*days);
            let scope = Scope {
                agent: Some((*agent).to_owned()),
                ..Scope::of_task(task)
            };
            self.episode(scope, approach, outcome, *worked, *minutes, *thousands)?;
        }
        for (said, source, category, key, text) in older {
            self.days_ago(*said);
            self.learn(source, category, key, text, None, Scope::default())?;
        }
        self.days_ago(8);
        for (id, task_type, _, branch) in TASKS {
            let change = TaskChange {
                task_type: Some(task_type.to_owned()),
                branch: Some(branch.to_owned()),
                state: Some(TaskState::Open),
                ..TaskChange::default()
            };
            self.engine.set_task(id, &change, "orchestrator")?;
        }
        self.engine.init_workspace()?;
        let whose = Workspace::Project;
        self.engine
            .workspace_save_fact(whose, "Staging has the data of last night, without names.")?;
        self.engine
            .workspace_log_learning(whose, "Replays need the carrier sandbox awake.")?;
        Ok(())
    }

    /// One session: the context that it begins with, what is said and done, and its window.
    fn tell(&self, tale: &Tale) -> Result<(), Fault> {
        let began = self.now - tale.hours_ago * HOUR_S;
        self.clock.set(began);
        let session = format!(
            "{}-{:04x}",
            tale.agent,
            (tale.hours_ago * 2_654_435) & 0xffff
        );
        let task = TASKS.iter().find(|(id, ..)| *id == tale.task);
        self.turn(&session, tale, Role::User, tale.goal)?;
        let phase = task.map(|(_, _, phase, _)| (*phase).to_owned());
        self.engine.set_task(
            tale.task,
            &TaskChange {
                phase: phase.clone(),
                ..TaskChange::default()
            },
            tale.agent,
        )?;
        let request = ContextRequest {
            task: Some(tale.task.to_owned()),
            phase,
            budget: Some(Budget::Tokens(520)),
            agent: Some(tale.agent.to_owned()),
            session: Some(session.clone()),
            query: Some(tale.goal.to_owned()),
            group: Some("delivery".to_owned()),
            ..ContextRequest::default()
        };
        let context = self.engine.context(&request)?;
        self.engine.keep_receipt(&request, &context, None)?;
        let scope = Scope {
            session: Some(session.clone()),
            agent: Some(tale.agent.to_owned()),
            ..Scope::of_task(tale.task)
        };
        for (at, deed) in (1_i64..).zip(tale.deeds) {
            self.clock.set(began + at * 7 * 60);
            self.act(tale, deed, &scope)?;
        }
        self.windows(&session, tale)
    }

    fn act(&self, tale: &Tale, deed: &Deed, scope: &Scope) -> Result<(), Fault> {
        let engine = self.engine;
        let source = format!("agent:{}", tale.agent);
        let source = source.as_str();
        match deed {
            Deed::Learn(category, key, text) => {
                let scope = Scope {
                    task: None,
                    ..scope.clone()
                };
                self.learn(source, category, key, text, None, scope)
            }
            Deed::Decide(key, text, why) => {
                let scope = Scope {
                    task: None,
                    ..scope.clone()
                };
                self.learn(source, "decision", key, text, Some(why), scope)
            }
            Deed::Fail(what) => engine.log_error(what, scope.clone(), source).map(drop),
            Deed::Mend(what, how) => {
                let logged = engine.log_error(what, scope.clone(), source)?;
                engine
                    .resolve_error(&logged.applied.id.to_string(), how, source)
                    .map(drop)
            }
            Deed::Try(approach, outcome, worked, minutes, thousands) => self.episode(
                scope.clone(),
                approach,
                outcome,
                *worked,
                *minutes,
                *thousands,
            ),
            Deed::Done(words) => engine
                .step(tale.task, words, StepState::Done, source)
                .map(drop),
            Deed::ToDo(words) => engine
                .step(tale.task, words, StepState::Pending, source)
                .map(drop),
            Deed::File(path) => engine
                .add_artifact(&NewArtifact {
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
            Deed::Note(words) => engine
                .update_memory(&NewNote {
                    content: (*words).to_owned(),
                    section: Some("Habits".to_owned()),
                    agent: Some(tale.agent.to_owned()),
                    group: Some("delivery".to_owned()),
                })
                .map(drop),
        }
    }

    fn learn(
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
        self.engine.remember(new).map(drop)
    }

    fn episode(
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
            ..NewEpisode::of(&task, action)
        };
        self.engine.log_episode(new).map(drop)
    }

    fn turn(&self, session: &str, tale: &Tale, role: Role, text: &str) -> Result<(), Fault> {
        let turn = NewTurn {
            role,
            sender: None,
            task: Some(tale.task.to_owned()),
            agent: Some(tale.agent.to_owned()),
            text: text.to_owned(),
        };
        self.engine.add_turn(session, &turn).map(drop)
    }

    /// The conversation of a session, as a window keeps it: outputs that are too long are shortened.
    fn windows(&self, session: &str, tale: &Tale) -> Result<(), Fault> {
        let mut history = vec![json!({"role": "user", "content": tale.goal})];
        let rounds = if tale.hours_ago < 4 { 46 } else { 12 };
        for n in 0..rounds {
            history.extend(round(tale, n));
        }
        let policy = Policy::default().with_target(18_000);
        let last = history.len();
        for end in [last / 2, last] {
            let history = Value::Array(history.iter().take(end).cloned().collect()).to_string();
            self.engine.compact(&WindowRequest {
                history: &history,
                form: None,
                model: None,
                policy: &policy,
                session: Some(session),
                agent: Some(tale.agent),
                group: None,
            })?;
        }
        Ok(())
    }

    /// What people did behind the agents.
    fn afterwards(&self, root: &Path) -> Result<(), Fault> {
        let engine = self.engine;
        self.clock.set(self.now - 2 * HOUR_S);
        let (done, agent) = (TaskState::Done, Some("claude-code".to_owned()));
        for id in ["190", "214"] {
            let change = TaskChange {
                state: Some(done),
                ..TaskChange::default()
            };
            engine.set_task(id, &change, "user")?;
        }
        drop(agent);
        let blocked = TaskChange {
            blocked_reason: Some("waits for the carrier sandbox".to_owned()),
            ..TaskChange::default()
        };
        engine.set_task("207", &blocked, "user")?;
        for (key, mark) in [
            ("error-type", Mark::Pinned(true)),
            ("old-admin-ui", Mark::Muted(true)),
        ] {
            let filter = heirloom_engine::Filter::current(&[], engine.now()).key(key);
            for record in engine.find(&filter)? {
                engine.mark(record.id, mark)?;
            }
        }
        self.clock.set(self.now - 20 * 60);
        let text = "Labels are PDF/A-2b at 203 dpi; carriers refuse PNG.";
        self.learn("user", "fact", "label-format", text, None, Scope::default())?;
        // What the artifacts page finds: one file has changed, one is gone.
        open::write_file(
            &root.join("tests/redelivery.rs"),
            b"#[test]\nfn each_event_once() { assert!(true) }\n",
        )?;
        open::remove_file(&root.join("docs/replay-log.txt"))
    }

    /// Calls of hooks, so that their page has something to count.
    fn hooks(&self, memory: &Path) -> Result<(), Fault> {
        let calls = HookCalls::of(memory);
        let events = [
            "SessionStart",
            "UserPromptSubmit",
            "PostToolUse",
            "PostToolUse",
            "Stop",
        ];
        for n in 0..120_i64 {
            let event = events[usize::try_from(n).unwrap_or(0) % events.len()];
            calls.put(&HookCall {
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

/// A call of a tool with its answer, and what the model says of it.
fn round(tale: &Tale, n: usize) -> [Value; 3] {
    let id = format!("call_{n}");
    let command = [
        "cargo test",
        "rg rows_affected",
        "cat src/outbox/worker.rs",
        "git diff",
    ][n % 4];
    let lines = [210, 60, 40, 120][n % 4];
    let output: String = (0..lines)
        .map(|line| {
            format!(
                "test {}::case_{n}_{line} ... ok, {} us\n",
                tale.task,
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
        json!({"role": "assistant", "content": format!("Step {n}: {command} says that the cases hold; next I check the others of #{}", tale.task)}),
    ]
}
