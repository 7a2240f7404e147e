//! Endings of iterations, and whether each one is evidence about an open error. Tests and the benchmark use the table.
#![expect(clippy::unwrap_used, reason = "the events of the table are valid")]

use heirloom_agents::{AgentProgram, StreamFormat};
use heirloom_capture::Runs;
use heirloom_engine::Engine;
use heirloom_fs::durable;
use heirloom_fs::project_fs::ProjectPaths;
use heirloom_model::kinds::ErrorRecord;
use heirloom_model::{
    AgentStatus, IterationOutcome, Kind, LaunchOutcome, ProjectName, Record, Scope, Settings,
    SystemClock,
};
use heirloom_store::{Filter, SqliteStore};
use serde_json::json;
use std::sync::Arc;
use tempfile::TempDir;

pub(crate) const TASK: &str = "T1";

/// An ending of the table, and the state in which it leaves the error.
pub(crate) struct PlayedEnding {
    /// Words for the ending.
    pub(crate) name: &'static str,
    /// True if the ending is evidence about the error.
    pub(crate) is_evidence: bool,
    /// True if the error is closed.
    pub(crate) is_closed: bool,
    /// Attributes of the error.
    pub(crate) attributes: String,
}

/// One event after the error was reported in iteration 1 of the task.
enum After {
    /// An iteration of the task ends with this status, reported by another program.
    Outcome(AgentStatus),
    /// As `Outcome`, with an error of its own.
    OutcomeError(AgentStatus, &'static str),
    /// A run of this command line ends: true if it passed, false if it failed, `None` if its end says neither.
    Launch(&'static str, Option<bool>),
    /// As `Launch`, in another phase.
    LaunchInPhase(&'static str, Option<bool>),
    /// The agent prints this line.
    Says(&'static str),
    /// The agent runs a command that ends with exit code 0, with this output.
    Runs(&'static str, &'static str),
    /// The agent runs a command that fails, with this output.
    Fails(&'static str, &'static str),
    /// The same events for another task.
    InTask(&'static str, &'static [After]),
    /// A person resolves the error.
    Person(&'static str),
}

use After::{
    Fails, InTask, Launch, LaunchInPhase, Outcome, OutcomeError, Person, Runs as Ran, Says,
};
use AgentStatus::{Blocked, Complete, Failed, Partial};

/// Report of the error.
#[derive(Clone, Copy)]
pub(crate) enum Reported {
    /// By a signal of the agent, in an iteration that ends with this status.
    Signal(&'static str, AgentStatus),
    /// By the end of the command of a run.
    Launch(&'static str, &'static str),
    /// By another program.
    Outcome(&'static str),
}

use Reported::Signal;

const PASSED: &str = "test cart::test_1 ... ok\ntest cart::test_2 ... ok\n";
const SECOND_PASSED: &str = "test cart::test_1 ... FAILED\ntest cart::test_2 ... ok\n";
const TEST_1: Reported = Signal("test_1 failed: connection refused", Complete);
pub(crate) const LINT: Reported = Signal("`make lint` fails: unused import", Partial);
const CRASH: Reported = Reported::Launch("claude -p work", "exit code 1: API error 529");
const EXTERNAL: Reported = Reported::Outcome("panic at line 12");

/// Endings that are no evidence: the error stays open.
const OPEN: &[(&str, Reported, &[After])] = &[
    ("the iteration that reported it exits 0", TEST_1, &[]),
    (
        "the iteration that reported it is partial",
        Signal("test_1 failed", Partial),
        &[],
    ),
    (
        "the iteration that reported it failed",
        Signal("test_1 failed", Failed),
        &[],
    ),
    (
        "the iteration that reported it is blocked",
        Signal("test_1 failed", Blocked),
        &[],
    ),
    (
        "the next iteration is complete",
        TEST_1,
        &[Outcome(Complete)],
    ),
    ("the next iteration is partial", TEST_1, &[Outcome(Partial)]),
    ("the next iteration failed", TEST_1, &[Outcome(Failed)]),
    ("the next iteration is blocked", TEST_1, &[Outcome(Blocked)]),
    (
        "three complete iterations",
        TEST_1,
        &[Outcome(Complete), Outcome(Complete), Outcome(Complete)],
    ),
    (
        "failed, then complete",
        TEST_1,
        &[OutcomeError(Failed, "boom"), Outcome(Complete)],
    ),
    (
        "another program reports success",
        EXTERNAL,
        &[Outcome(Complete)],
    ),
    (
        "another program reports a part",
        EXTERNAL,
        &[Outcome(Partial)],
    ),
    (
        "another program reports another error",
        EXTERNAL,
        &[OutcomeError(Failed, "boom")],
    ),
    (
        "a run passes",
        TEST_1,
        &[Launch("claude -p work", Some(true))],
    ),
    (
        "a run of a command passes",
        EXTERNAL,
        &[Launch("./check.sh", Some(true))],
    ),
    (
        "the run fails again",
        CRASH,
        &[Launch("claude -p work", Some(false))],
    ),
    (
        "the run ends, but its agent is not done",
        CRASH,
        &[Launch("claude -p work", None)],
    ),
    (
        "another run passes",
        CRASH,
        &[Launch("claude -p other", Some(true))],
    ),
    (
        "the run passes in another phase",
        CRASH,
        &[LaunchInPhase("claude -p work", Some(true))],
    ),
    (
        "the run passes in another task",
        CRASH,
        &[InTask("T2", &[Launch("claude -p work", Some(true))])],
    ),
    (
        "another program reports success of the run's task",
        CRASH,
        &[Outcome(Complete)],
    ),
    (
        "the agent says that it is complete",
        TEST_1,
        &[Says("HEIRLOOM_STATUS: COMPLETE")],
    ),
    (
        "the agent says in prose that it passes",
        TEST_1,
        &[Says("test_1 passes now")],
    ),
    (
        "a step about it is done",
        TEST_1,
        &[Says("HEIRLOOM_MEMORY: STEP_DONE mend test_1")],
    ),
    (
        "a fact about it",
        TEST_1,
        &[Says("HEIRLOOM_MEMORY: KEY_FACT test_1 needs redis")],
    ),
    (
        "another error is resolved",
        TEST_1,
        &[Says("HEIRLOOM_MEMORY: ERROR_RESOLVED test_10")],
    ),
    (
        "the error of another test is resolved",
        TEST_1,
        &[Says("HEIRLOOM_MEMORY: ERROR_RESOLVED test_2 failed")],
    ),
    (
        "the same command in another task",
        LINT,
        &[InTask("T2", &[Ran("make lint", "ok")])],
    ),
    (
        "the same test in another task",
        TEST_1,
        &[InTask("T2", &[Ran("cargo test", PASSED)])],
    ),
    (
        "the error is resolved in another task",
        TEST_1,
        &[InTask(
            "T2",
            &[Says("HEIRLOOM_MEMORY: ERROR_RESOLVED test_1 failed")],
        )],
    ),
    (
        "another test passes",
        TEST_1,
        &[Ran("cargo test test_2", "test cart::test_2 ... ok")],
    ),
    (
        "a test of a longer name passes",
        TEST_1,
        &[Ran("cargo test", "test cart::test_10 ... ok")],
    ),
    (
        "the test fails again",
        TEST_1,
        &[Fails("cargo test", SECOND_PASSED)],
    ),
    (
        "the test fails in one of two runs",
        TEST_1,
        &[Ran(
            "cargo test",
            "test test_1 ... ok\ntest test_1 ... FAILED",
        )],
    ),
    (
        "other commands pass",
        TEST_1,
        &[Ran("cargo build", ""), Ran("make lint", "ok")],
    ),
    (
        "all tests pass without their names",
        TEST_1,
        &[Ran("cargo test -q", "test result: ok. 5 passed; 0 failed")],
    ),
    (
        "an old log shows that it passed",
        TEST_1,
        &[Ran("cat test.log", PASSED)],
    ),
    (
        "a search shows that it passed",
        TEST_1,
        &[Ran("grep ok test.log", PASSED)],
    ),
    (
        "the command fails again",
        LINT,
        &[Fails("make lint", "unused import")],
    ),
    (
        "the command with other arguments passes",
        LINT,
        &[Ran("make lint-fix", "ok")],
    ),
    ("a part of the command passes", LINT, &[Ran("make", "ok")]),
    (
        "the command passes in front of a pipe",
        LINT,
        &[Ran("make lint | tail -3", "error: unused import")],
    ),
    (
        "the command is forced to pass",
        LINT,
        &[Ran("make lint || true", "unused import: error")],
    ),
    (
        "a command that the error mentions as a cause passes",
        Signal("`make test` fails because `make gen` was not run", Complete),
        &[Ran("make gen", "ok")],
    ),
    (
        "files were changed",
        TEST_1,
        &[Ran("sed -i s/a/b/ src/cart.rs", "")],
    ),
];

/// Endings that are evidence: the error is closed.
const CLOSED: &[(&str, Reported, &[After])] = &[
    (
        "the test passes in the next iteration",
        TEST_1,
        &[Ran("cargo test", PASSED)],
    ),
    (
        "the test passes while another one fails",
        Signal("test_2 failed: refused", Complete),
        &[Fails("cargo test", SECOND_PASSED)],
    ),
    (
        "the test alone passes",
        TEST_1,
        &[Ran("cargo test test_1", "test cart::test_1 ... ok")],
    ),
    (
        "the test passes behind a pipe",
        TEST_1,
        &[Ran("cargo test 2>&1 | tail -20", PASSED)],
    ),
    (
        "a pytest passes",
        Signal(
            "FAILED tests/test_a.py::test_login - assert 1 == 2",
            Partial,
        ),
        &[Ran(
            "pytest -v",
            "tests/test_a.py::test_login PASSED [ 50%]",
        )],
    ),
    (
        "a Go test passes",
        Signal("TestTokenExpiry: got nil", Partial),
        &[Ran("go test -v ./...", "--- PASS: TestTokenExpiry (0.00s)")],
    ),
    (
        "a named test passes",
        Signal("'adds two numbers' fails", Partial),
        &[Ran("npm test", "  ✓ adds two numbers (5 ms)")],
    ),
    ("the command passes", LINT, &[Ran("make lint", "ok")]),
    (
        "the command passes after a failure",
        LINT,
        &[Fails("make lint", "x"), Ran("make lint", "")],
    ),
    (
        "the command passes in its folder",
        LINT,
        &[Ran("cd . && make lint 2>&1", "ok")],
    ),
    (
        "the command passes behind a pipe without errors",
        LINT,
        &[Ran("make lint | tail -3", "0 errors")],
    ),
    (
        "the run passes",
        CRASH,
        &[Launch("claude -p work", Some(true))],
    ),
    (
        "the run passes after another failure",
        CRASH,
        &[
            Launch("claude -p work", Some(false)),
            Launch("claude -p work", Some(true)),
        ],
    ),
    (
        "the agent resolves it",
        TEST_1,
        &[Says(
            "HEIRLOOM_MEMORY: ERROR_RESOLVED test_1 failed: connection refused -- started redis",
        )],
    ),
    (
        "the agent resolves it by a part",
        TEST_1,
        &[Says("HEIRLOOM_MEMORY: ERROR_RESOLVED test_1")],
    ),
    (
        "the agent resolves an error of another program",
        EXTERNAL,
        &[Says(
            "HEIRLOOM_MEMORY: ERROR_RESOLVED panic at line 12 -- bounds check",
        )],
    ),
    ("a person resolves it", TEST_1, &[Person("started redis")]),
    (
        "a person resolves an error of a run",
        CRASH,
        &[Person("paid the bill")],
    ),
];

/// Project with one task, in memory.
pub(crate) struct TaskMemory {
    _folder: TempDir,
    pub(crate) engine: Engine,
}

impl TaskMemory {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let memory = root.join(".heirloom");
        durable::create_dir_private(&memory).unwrap();
        let place = ProjectPaths {
            config: memory.join("config.toml"),
            folder: memory,
            root,
        };
        let engine = Engine::new(
            Arc::new(SqliteStore::memory().unwrap()),
            ProjectName::new("p").unwrap(),
            place,
            Settings::default(),
            Arc::new(SystemClock),
        )
        .unwrap();
        Self {
            _folder: folder,
            engine,
        }
    }

    fn outcome(&self, scope: &Scope, status: AgentStatus, error: Option<&str>) {
        let mut outcome = IterationOutcome::with_status(status);
        outcome.error = error.map(str::to_owned);
        let tasks = self.engine.tasks();
        tasks
            .record_outcome(scope, &outcome, "orchestrator")
            .unwrap();
    }

    fn launch(&self, scope: &Scope, id: &str, has_passed: Option<bool>, error: Option<&str>) {
        let status = if has_passed == Some(true) {
            Complete
        } else {
            Failed
        };
        let mut outcome = IterationOutcome::with_status(status);
        outcome.error = error.map(str::to_owned);
        outcome.launch = Some(LaunchOutcome {
            id: id.to_owned(),
            has_passed,
        });
        let tasks = self.engine.tasks();
        tasks
            .record_outcome(scope, &outcome, "claude-code")
            .unwrap();
    }

    /// Observes the output of an agent in the format of Claude Code.
    pub(crate) fn observe(&self, scope: &Scope, lines: &[serde_json::Value]) {
        let format = StreamFormat::Events(AgentProgram::ClaudeCode);
        let runs = Runs::new(&self.engine);
        let mut observer = runs.observer(scope.clone(), format, false).unwrap();
        for line in lines {
            let line = format!("{line}\n");
            observer.push(line.as_bytes(), &mut |_| {}).unwrap();
        }
        observer.finish(&mut |_| {}).unwrap();
        let diagnostics = observer.into_observation().diagnostics;
        assert!(
            diagnostics
                .iter()
                .all(|one| one.message.contains("ERROR_RESOLVED")),
            "{diagnostics:?}"
        );
    }

    pub(crate) fn report(&self, reported: Reported) -> String {
        let scope = scope_of(TASK, 1);
        match reported {
            Signal(error, status) => {
                self.observe(&scope, &[says(&format!("HEIRLOOM_MEMORY: ERROR {error}"))]);
                self.outcome(&scope, status, None);
                error.to_owned()
            }
            Reported::Launch(command, error) => {
                self.launch(&scope, command, Some(false), Some(error));
                error.to_owned()
            }
            Reported::Outcome(error) => {
                self.outcome(&scope, Failed, Some(error));
                error.to_owned()
            }
        }
    }

    fn apply(&self, task: &str, events: &[After], error: &str) {
        for (n, event) in events.iter().enumerate() {
            let scope = scope_of(task, u32::try_from(n).unwrap() + 2);
            match event {
                Outcome(status) => self.outcome(&scope, *status, None),
                OutcomeError(status, error) => self.outcome(&scope, *status, Some(error)),
                Launch(command, passed) => self.launch(&scope, command, *passed, None),
                LaunchInPhase(command, passed) => {
                    let scope = Scope {
                        phase: Some("OTHER".to_owned()),
                        ..scope
                    };
                    self.launch(&scope, command, *passed, None);
                }
                Says(line) => self.observe(&scope, &[says(line)]),
                Ran(command, output) => self.observe(&scope, &runs(command, output, false)),
                Fails(command, output) => self.observe(&scope, &runs(command, output, true)),
                InTask(task, events) => self.apply(task, events, error),
                Person(how) => drop(self.engine.errors().resolve(error, how, "user").unwrap()),
            }
        }
    }

    pub(crate) fn error(&self, text: &str) -> Record {
        let filter = Filter::current(&[Kind::Error], self.engine.now());
        let found = self.engine.records().find(&filter).unwrap();
        let mut found = found
            .into_iter()
            .filter(|error| error.text == text && error.scope.task.as_deref() == Some(TASK));
        found.next().unwrap()
    }
}

pub(crate) fn scope_of(task: &str, iteration: u32) -> Scope {
    Scope {
        iteration: Some(iteration),
        ..Scope::of_task(task)
    }
}

pub(crate) fn says(text: &str) -> serde_json::Value {
    json!({"type": "assistant", "message": {"id": text, "content": [{"type": "text", "text": text}]}})
}

pub(crate) fn runs(command: &str, output: &str, failed: bool) -> Vec<serde_json::Value> {
    let used =
        json!({"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": command}});
    let result =
        json!({"type": "tool_result", "tool_use_id": "t1", "content": output, "is_error": failed});
    vec![
        json!({"type": "assistant", "message": {"id": "m", "content": [used]}}),
        json!({"type": "user", "message": {"content": [result]}}),
    ]
}

/// Plays every ending of the table in a project of its own.
pub(crate) fn play_endings() -> Vec<PlayedEnding> {
    let mut played = Vec::new();
    for (rows, is_evidence) in [(OPEN, false), (CLOSED, true)] {
        for (name, reported, events) in rows {
            let memory = TaskMemory::new();
            let text = memory.report(*reported);
            let state = memory.error(&text).state().map(str::to_owned);
            assert_eq!(state.as_deref(), Some(ErrorRecord::OPEN), "{name}");
            memory.apply(TASK, events, &text);
            let error = memory.error(&text);
            played.push(PlayedEnding {
                name,
                is_evidence,
                is_closed: error.state() == Some(ErrorRecord::RESOLVED),
                attributes: format!("{:?}", error.attrs),
            });
        }
    }
    played
}
