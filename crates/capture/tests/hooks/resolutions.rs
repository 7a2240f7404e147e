//! Failures of tools: what closes them, what is stored as the resolution, and what later sessions are told.

use super::HookedProject;
use heirloom_agents::AgentProgram;
use heirloom_engine::EpisodeFilter;
use heirloom_model::kinds::ErrorRecord;
use heirloom_model::{Kind, Record, Scope};
use heirloom_store::Filter;
use serde_json::{Value, json};

pub(super) const COMMAND: &str = "python3 tool.py";

impl HookedProject {
    /// Reports a command that ended; `error` is the output of one that failed.
    pub(super) fn command(&self, session: &str, command: &str, error: Option<&str>) -> String {
        let output = error.unwrap_or("ok");
        self.command_with(session, command, error, &json!({"stdout": output}))
    }

    fn command_with(
        &self,
        session: &str,
        command: &str,
        error: Option<&str>,
        response: &Value,
    ) -> String {
        let mut event = json!({
            "tool_name": "Bash",
            "tool_input": {"command": command},
            "tool_response": response,
            "cwd": self.memory().parent().unwrap(),
        });
        let name = match error {
            Some(error) => {
                event["error"] = json!(format!("Exit code 2\n{error}"));
                "PostToolUseFailure"
            }
            None => "PostToolUse",
        };
        self.send_in(session, AgentProgram::ClaudeCode, name, event)
    }

    pub(super) fn edit(&self, session: &str, file: &str) {
        let event =
            json!({"tool_name": "Edit", "tool_input": {"file_path": file}, "tool_response": {}});
        self.send_in(session, AgentProgram::ClaudeCode, "PostToolUse", event);
    }

    pub(super) fn before(&self, session: &str, command: &str) -> String {
        let event = json!({"tool_name": "Bash", "tool_input": {"command": command}});
        self.send_in(session, AgentProgram::ClaudeCode, "PreToolUse", event)
    }

    pub(super) fn errors(&self) -> Vec<Record> {
        let filter = Filter::current(&[Kind::Error], self.engine.now());
        self.engine.records().find(&filter).unwrap()
    }

    /// Returns the only error.
    #[track_caller]
    pub(super) fn error(&self) -> Record {
        let mut errors = self.errors();
        assert_eq!(errors.len(), 1, "{errors:?}");
        errors.remove(0)
    }

    pub(super) fn open(&self) -> Vec<String> {
        let mut errors = self.errors();
        errors.retain(|error| error.state() == Some(ErrorRecord::OPEN));
        let mut texts: Vec<String> = errors.into_iter().map(|error| error.text).collect();
        texts.sort();
        texts
    }
}

#[test]
fn resolution_names_the_change_between_failure_and_success() {
    for (between, resolution) in [
        (
            "sed -i s/80/81/ config.toml",
            "ran `sed -i s/80/81/ config.toml`, then it passed",
        ),
        (
            "echo DB=1 >> .env",
            "ran `echo DB=1 >> .env`, then it passed",
        ),
        ("cat a | tee b.json", "ran `tee b.json`, then it passed"),
        ("mv a.py tool.py", "ran `mv a.py tool.py`, then it passed"),
        (
            "pip install left-pad",
            "ran `pip install left-pad`, then it passed",
        ),
        (
            "docker compose up -d db",
            "ran `docker compose up -d db`, then it passed",
        ),
        (
            "redis-server --port 7000 &",
            "started `redis-server --port 7000`, then it passed",
        ),
        ("export DB=1", "set `DB=1`, then it passed"),
    ] {
        let project = HookedProject::new();
        project.command("s", COMMAND, Some("no such file"));
        project.command("s", between, None);
        project.command("s", COMMAND, None);
        let error = project.error();
        assert_eq!(error.state(), Some(ErrorRecord::RESOLVED), "{between}");
        assert_eq!(error.attr_str("resolution"), Some(resolution), "{between}");
        let warning = project.before("later", COMMAND);
        assert!(
            warning.contains(&format!("What helped: {resolution}")),
            "{warning}"
        );
    }
}

#[test]
fn failure_that_passes_without_a_change_is_flaky_and_no_lesson() {
    for between in [
        None,
        Some("cat tool.py"),
        Some("ls > /dev/null"),
        Some("git status"),
        Some("cargo test > out.log"),
        Some("sleep 5"),
    ] {
        let project = HookedProject::new();
        project.command("s", COMMAND, Some("connection reset"));
        if let Some(between) = between {
            project.command("s", between, None);
        }
        project.command("s", COMMAND, None);
        let error = project.error();
        assert_eq!(error.state(), Some(ErrorRecord::RESOLVED), "{between:?}");
        assert_eq!(error.attr_str("resolution"), None, "{between:?}");
        assert_eq!(project.before("later", COMMAND), "");
        let again = project.command("later", COMMAND, Some("connection reset"));
        assert!(again.contains("not known what helped"), "{again}");
        assert!(!again.contains("What helped"), "{again}");
        project.command("later", COMMAND, None);
        let prompt = project.prompt("python3 tool.py fails with connection reset again");
        assert!(!prompt.contains("fixed by"), "{prompt}");
    }
}

#[test]
fn failure_of_an_earlier_session_that_passes_later_is_no_lesson() {
    let project = HookedProject::new();
    project.command("one", COMMAND, Some("no such file"));
    project.edit("two", "README.md");
    project.command("two", COMMAND, None);
    let error = project.error();
    assert_eq!(error.state(), Some(ErrorRecord::RESOLVED));
    assert_eq!(error.attr_str("resolution"), None);
}

#[test]
fn variable_of_the_passing_command_is_the_change() {
    let project = HookedProject::new();
    project.command("s", "CI=1 make test", Some("no rule"));
    project.command("s", "CI=0 make test", None);
    assert_eq!(
        project.error().attr_str("resolution"),
        Some("set `CI=0`, then it passed")
    );
}

#[test]
fn success_that_is_no_evidence_closes_nothing() {
    let failed = "error: 1 test failed";
    for (command, response) in [
        // The exit code is that of another command.
        (
            "cargo test 2>&1 | tail -5",
            json!({"stdout": "test result: FAILED. 3 passed; 1 failed"}),
        ),
        ("cargo test || true", json!({"stdout": failed})),
        ("cargo test; echo done", json!({"stdout": "error: x\ndone"})),
        ("cargo test > log 2>&1; tail -3 log", json!({"stdout": ""})),
        // Other commands.
        ("cargo test -p other", json!({"stdout": "ok"})),
        ("cargo build", json!({"stdout": "ok"})),
        ("cat log", json!({"stdout": "ok"})),
    ] {
        let project = HookedProject::new();
        project.command("s", "cargo test", Some(failed));
        project.edit("s", "src/a.rs");
        project.command_with("s", command, None, &response);
        assert_eq!(project.open().len(), 1, "{command}");
    }
    let project = HookedProject::new();
    project.command("s", "cargo test", Some(failed));
    project.edit("s", "src/a.rs");
    let good = json!({"stdout": "test result: ok. 4 passed; 0 failed"});
    project.command_with("s", "cargo test 2>&1 | tail -5", None, &good);
    assert_eq!(project.open(), Vec::<String>::new());
}

#[test]
fn command_in_the_background_neither_passes_nor_fails() {
    let project = HookedProject::new();
    project.command("s", "npm run dev", Some("port 3000 is in use"));
    project.edit("s", "vite.config.js");
    let event = json!({
        "tool_name": "Bash",
        "tool_input": {"command": "npm run dev", "run_in_background": true},
        "tool_response": {"stdout": "", "backgroundTaskId": "b1"},
    });
    project.send_in("s", AgentProgram::ClaudeCode, "PostToolUse", event);
    assert_eq!(project.open().len(), 1);
    // But it is a change: another command may need the service.
    project.command("s", "npm test", Some("connection refused"));
    let event = json!({
        "tool_name": "Bash",
        "tool_input": {"command": "npm run dev", "run_in_background": true},
        "tool_response": {"stdout": "", "backgroundTaskId": "b2"},
    });
    project.send_in("s", AgentProgram::ClaudeCode, "PostToolUse", event);
    project.command("s", "npm test", None);
    let errors = project.errors();
    let tests = errors.iter().find(|error| error.text.contains("npm test"));
    assert_eq!(
        tests.unwrap().attr_str("resolution"),
        Some("started `npm run dev`, then it passed")
    );
}

#[test]
fn same_command_in_another_folder_is_another_command() {
    let project = HookedProject::new();
    for folder in ["web", "api", "web/deep"] {
        std::fs::create_dir_all(project.memory().parent().unwrap().join(folder)).unwrap();
    }
    project.command("s", "cd web && npm test", Some("1 failing"));
    project.edit("s", "web/a.js");
    project.command("s", "cd api && npm test", None);
    assert_eq!(project.open().len(), 1);
    project.command("s", "cd web && npm test", None);
    assert_eq!(project.open().len(), 0);
    assert_eq!(
        project.error().attr_str("resolution"),
        None,
        "an edit of unknown lines is no fix"
    );
}

#[test]
fn errors_of_signals_are_closed_by_their_test_or_command() {
    let report = |project: &HookedProject, error: &str| {
        let last = format!("HEIRLOOM_MEMORY: ERROR {error}");
        let more = json!({"last_assistant_message": last});
        project.send(AgentProgram::ClaudeCode, "Stop", more);
    };
    let output = json!({"stdout": "test cart::test_1 ... ok\ntest cart::test_2 ... FAILED"});
    let project = HookedProject::new();
    report(&project, "test_1 failed: connection refused");
    report(&project, "test_2 failed: connection refused");
    report(&project, "`make lint` fails: unused import");
    assert_eq!(project.open().len(), 3);
    project.edit("s", "src/cart.rs");
    project.command_with("s", "cargo test || true", None, &output);
    assert_eq!(
        project.open(),
        [
            "`make lint` fails: unused import",
            "test_2 failed: connection refused"
        ]
    );
    project.command("s", "make lint", None);
    assert_eq!(project.open(), ["test_2 failed: connection refused"]);
    let mut closed = project.errors();
    closed.retain(|error| error.state() == Some(ErrorRecord::RESOLVED));
    for error in closed {
        assert_eq!(error.attr_str("resolution"), None, "{}", error.text);
    }
}

#[test]
fn reported_error_is_closed_with_the_failure_of_its_test() {
    let project = HookedProject::new();
    let output = "--- FAIL: TestTokenExpiry (0.00s)\n    auth_test.go:12: expected ErrExpired, got nil\nFAIL\nFAIL\tshop/auth\t0.01s";
    project.command("s", "go test ./auth/...", Some(output));
    let other = "TestRefresh: expected 1 call, got 2";
    for error in ["TestTokenExpiry: expected ErrExpired, got nil", other] {
        let last = format!("HEIRLOOM_MEMORY: ERROR {error}");
        let more = json!({"last_assistant_message": last});
        project.send(AgentProgram::ClaudeCode, "Stop", more);
    }
    assert_eq!(project.open().len(), 3);
    project.edit("s", "auth/token.go");
    project.command("s", "go test ./auth/...", None);
    assert_eq!(project.open(), [other]);
}

#[test]
fn errors_of_another_task_are_not_closed_by_a_session() {
    let project = HookedProject::new();
    let error = "`make lint` fails: unused import";
    for task in ["T1", "main"] {
        let scope = Scope::of_task(task);
        project.engine.errors().log(error, scope, "user").unwrap();
    }
    project.command("s", "make lint", None);
    let mut errors = project.errors();
    errors.retain(|error| error.state() == Some(ErrorRecord::OPEN));
    assert_eq!(errors.len(), 1);
    assert_eq!(errors[0].scope.task.as_deref(), Some("T1"));
}

#[test]
fn session_without_a_task_keeps_its_case_and_makes_no_task() {
    let project = HookedProject::new();
    let prompt = json!({"prompt": "Make the retry of webhooks configurable"});
    project.send_in("s", AgentProgram::ClaudeCode, "UserPromptSubmit", prompt);
    project.edit("s", "src/retry.rs");
    project.command("s", COMMAND, Some("no such option --retries"));
    project.send_in("s", AgentProgram::ClaudeCode, "SessionEnd", json!({}));
    let tasks = project.engine.tasks();
    assert_eq!(tasks.list().unwrap(), []);
    let cases = tasks.episodes(&EpisodeFilter::default()).unwrap();
    assert_eq!(cases.len(), 1);
    assert!(cases[0].text.contains("retry of webhooks"), "{cases:?}");
    assert_eq!(cases[0].attr_str("action"), Some("attempted"));
}

#[test]
fn tests_in_a_log_are_no_evidence() {
    let project = HookedProject::new();
    let scope = Scope::default();
    let error = "test_1 failed: refused";
    project.engine.errors().log(error, scope, "user").unwrap();
    let output = json!({"stdout": "test cart::test_1 ... ok"});
    for command in [
        "cat old.log",
        "grep ok old.log",
        "tail -50 test.log",
        "gh run view 12 --log",
        "git show HEAD:log.txt",
    ] {
        project.command_with("s", command, None, &output);
        assert_eq!(project.open(), [error], "{command}");
    }
    project.command_with("s", "cargo test", None, &output);
    assert_eq!(project.open(), Vec::<String>::new());
}

#[test]
fn texts_never_begin_with_a_wrapper_or_a_fence() {
    for (output, text) in [
        (
            "<tool_use_error>no such file</tool_use_error>",
            "`python3 tool.py` failed: no such file",
        ),
        (
            "```\nno such file\n```",
            "`python3 tool.py` failed: no such file",
        ),
        (
            "<untrusted_context>\nOutput: no such file\n</untrusted_context>",
            "`python3 tool.py` failed: no such file",
        ),
        ("", "`python3 tool.py` failed"),
    ] {
        let project = HookedProject::new();
        project.command("s", COMMAND, Some(output));
        assert_eq!(project.error().text, text, "{output}");
    }
    // Gemini CLI names the error in a field of its own.
    let project = HookedProject::new();
    let event = json!({
        "tool_name": "run_shell_command",
        "tool_input": {"command": COMMAND},
        "error": "<untrusted_context>\nOutput: no such file\nProcess Group PGID: 4\n</untrusted_context>",
    });
    project.send_in("s", AgentProgram::Gemini, "AfterTool", event);
    assert_eq!(
        project.error().text,
        "`python3 tool.py` failed: no such file"
    );
}

#[test]
fn test_that_the_shown_end_of_a_log_does_not_name_stays_open() {
    const SUM: &str = "FAILED tests/test_cart.py::test_sum - assert 3 == 4\n1 failed, 8 passed";
    const NAME: &str = "FAILED tests/test_user.py::test_name - KeyError: 'full_name'";
    for (command, count, is_open) in [
        ("pytest -q > log 2>&1 || { tail -2 log; exit 1; }", 2, true),
        ("set -o pipefail; pytest -q 2>&1 | tail -2", 2, true),
        ("set -o pipefail; pytest -q 2>&1 | tail -2", 1, false),
        ("pytest -q", 1, false),
    ] {
        let project = HookedProject::new();
        project.command("s", "pytest -q", Some(SUM));
        project.edit("s", "src/cart.py");
        let shown = format!("{NAME}\n{count} failed, 7 passed");
        project.command("s", command, Some(&shown));
        let open = project.open();
        let is_sum_open = open.iter().any(|text| text.contains("test_sum"));
        assert_eq!(is_sum_open, is_open, "{command}, {count}: {open:?}");
    }
}
