//! Ended failures: what later sessions are told of a failure without a fix, and of one whose command succeeds again.

use super::HookedProject;
use heirloom_agents::AgentProgram;
use heirloom_capture::{ImportScope, Transcripts, TranscriptsRequest};
use heirloom_fs::durable;
use heirloom_model::{EndReason, limits};
use serde_json::json;

const COMMAND: &str = "python3 zeppelin_report.py";
const ERROR: &str = "KeyError: 'zeppelin_hangar'";
const QUESTION: &str = "why does python3 zeppelin_report.py fail with KeyError zeppelin_hangar?";

impl HookedProject {
    /// Starts a session, and returns what a prompt in it is told.
    fn asked(&self, session: &str) -> String {
        use heirloom_agents::AgentProgram::ClaudeCode;
        let source = serde_json::json!({"source": "startup"});
        self.send_in(session, ClaudeCode, "SessionStart", source);
        let prompt = serde_json::json!({"prompt": QUESTION});
        self.send_in(session, ClaudeCode, "UserPromptSubmit", prompt)
    }
}

/// Returns a project whose first session had the failure.
fn project_with_failure() -> HookedProject {
    let mut project = HookedProject::new();
    project.records = true;
    project.asked("first");
    project.command("first", COMMAND, Some(ERROR));
    project
}

#[test]
fn open_failure_is_told_to_later_prompts_and_then_before_its_command_only() {
    let project = project_with_failure();
    for later in 0..limits::OPEN_FAILURE_SESSIONS_MAX {
        let told = project.asked(&format!("later {later}"));
        assert!(told.contains("zeppelin_hangar"), "{later}: {told}");
    }
    assert_eq!(project.asked("fourth"), "");
    let before = project.before("fourth", COMMAND);
    assert!(before.contains("is not known to work since"), "{before}");
}

#[test]
fn failure_without_a_fix_ends_when_its_command_succeeded_five_times() {
    let project = project_with_failure();
    for success in 1..limits::FAILURE_SUCCESSES_MAX {
        project.command("first", COMMAND, None);
        let session = format!("after {success}");
        let told = project.asked(&session);
        if usize::try_from(success).unwrap() <= limits::OPEN_FAILURE_SESSIONS_MAX {
            assert!(told.contains("passed later"), "{success}: {told}");
        }
        // It does not help with the call.
        assert_eq!(project.before(&session, COMMAND), "");
    }
    // Another command proves nothing.
    project.command("first", "python3 other.py", None);
    let reason = || {
        let ended = heirloom_engine::EndedRecords::new(&project.engine, None).unwrap();
        ended.reason(&project.error()).unwrap()
    };
    assert_ne!(reason(), Some(EndReason::Contradicted));
    project.command("second", COMMAND, None);
    assert_eq!(project.asked("asking"), "");
    assert_eq!(reason(), Some(EndReason::Contradicted));
    // It fails again.
    project.command("third", COMMAND, Some(ERROR));
    let before = project.before("fourth", COMMAND);
    assert!(before.contains("is not known to work since"), "{before}");
}

impl HookedProject {
    /// Imports a session that ran without hooks: a command that is reported as passed.
    fn import_success(&self, name: &str, command: &str) {
        let path = self.memory().join(format!("{name}.jsonl"));
        let root = self.memory().parent().unwrap().to_owned();
        let line = |uuid: &str, parent: Option<&str>, kind: &str, content: serde_json::Value| {
            json!({"type": kind, "uuid": format!("{name}-{uuid}"), "parentUuid": parent.map(|parent| format!("{name}-{parent}")),
                "sessionId": name, "cwd": root, "timestamp": "2099-01-01T10:00:00.000Z",
                "message": {"id": format!("m-{name}-{uuid}"), "content": content}})
        };
        let call = format!("call-{name}");
        let lines = [
            line("1", None, "user", json!("write the report")),
            line(
                "2",
                Some("1"),
                "assistant",
                json!([{"type": "tool_use", "id": call, "name": "Bash", "input": {"command": command}}]),
            ),
            line(
                "3",
                Some("2"),
                "user",
                json!([{"type": "tool_result", "tool_use_id": call, "content": "wrote report.txt"}]),
            ),
        ];
        let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
        durable::write_atomic(&path, text.as_bytes()).unwrap();
        let request = TranscriptsRequest {
            agent: AgentProgram::ClaudeCode,
            files: vec![path],
            scope: ImportScope::Root,
            former_root: None,
            seen_roots: Vec::new(),
            is_explicit: true,
            dry_run: false,
        };
        Transcripts::new(&self.engine)
            .import_all(&request, "test", &mut |_| {})
            .unwrap();
    }
}

#[test]
fn successes_of_imported_sessions_count_once_each() {
    let project = project_with_failure();
    project.command("first", COMMAND, None);
    let reason = || {
        let ended = heirloom_engine::EndedRecords::new(&project.engine, None).unwrap();
        ended.reason(&project.error()).unwrap()
    };
    for success in 2..limits::FAILURE_SUCCESSES_MAX {
        let name = format!("imported {success}");
        project.import_success(&name, COMMAND);
        // The same file again is no further success, and neither is a masked status.
        project.import_success(&name, COMMAND);
        project.import_success(&format!("masked {success}"), &format!("{COMMAND} || true"));
        assert_ne!(reason(), Some(EndReason::Contradicted), "{success}");
    }
    project.import_success("last", COMMAND);
    assert_eq!(reason(), Some(EndReason::Contradicted));
}
