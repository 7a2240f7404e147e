//! Ended failures: what later sessions are told of a failure without a fix, and of one whose command succeeds again.

use super::HookedProject;
use heirloom_model::{EndReason, limits};

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
