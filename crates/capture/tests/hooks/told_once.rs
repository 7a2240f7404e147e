//! Failures that are told: once in a session, and never to the session that found them.

use super::HookedProject;
use super::resolutions::COMMAND;
use heirloom_agents::AgentProgram;
use serde_json::json;

#[test]
fn failure_is_told_once_in_a_session_and_again_before_it_is_repeated() {
    let other = "npm test";
    let with_fix = |project: &HookedProject| {
        for command in [COMMAND, other] {
            project.command("one", command, Some("no such module: left-pad"));
            project.command("one", "npm install left-pad", None);
            project.command("one", command, None);
        }
    };
    let start = |project: &HookedProject| {
        let more = json!({"source": "startup"});
        project.send_in("two", AgentProgram::ClaudeCode, "SessionStart", more)
    };
    let prompt = |project: &HookedProject| {
        let prompt = "python3 tool.py fails: no such module: left-pad";
        let more = json!({"prompt": prompt});
        project.send_in("two", AgentProgram::ClaudeCode, "UserPromptSubmit", more)
    };
    let fail =
        |project: &HookedProject| project.command("two", COMMAND, Some("no such module: left-pad"));
    // Told at the start: not with a prompt and not after the failure.
    let project = HookedProject::new();
    with_fix(&project);
    let told = start(&project);
    assert!(
        told.contains(
            "- `python3 tool.py` failed: no such module: left-pad → ran `npm install left-pad`"
        ),
        "{told}"
    );
    assert!(!prompt(&project).contains("python3"), "told at the start");
    assert_eq!(fail(&project), "", "told at the start");
    assert_eq!(project.before("two", COMMAND), "", "it saw the failure");
    // Told at the start, and once more before the call that repeats it.
    let project = HookedProject::new();
    with_fix(&project);
    start(&project);
    let warning = project.before("two", COMMAND);
    assert!(
        warning.contains("Before you do this") && warning.contains("npm install left-pad"),
        "{warning}"
    );
    assert_eq!(project.before("two", COMMAND), "", "once a session");
    assert_eq!(fail(&project), "", "it was warned");
    assert_ne!(project.before("three", COMMAND), "");
    // Told after the failure when nothing was told before; then never again.
    let project = HookedProject::new();
    with_fix(&project);
    let told = fail(&project);
    assert!(
        told.contains("What helped: ran `npm install left-pad`"),
        "{told}"
    );
    assert_eq!(fail(&project), "");
    assert_eq!(project.before("two", COMMAND), "");
    assert!(
        !prompt(&project).contains("python3"),
        "told after the failure"
    );
    // A compaction takes all of it out of the conversation.
    assert_ne!(project.before("three", other), "");
    assert_eq!(project.before("three", other), "");
    let more = json!({"trigger": "auto"});
    project.send_in("three", AgentProgram::ClaudeCode, "PreCompact", more);
    assert_ne!(project.before("three", other), "");
}

#[test]
fn session_is_never_told_what_it_did_itself() {
    let project = HookedProject::new();
    project.command("one", COMMAND, Some("no such module: left-pad"));
    assert_eq!(project.before("one", COMMAND), "", "it saw the failure");
    project.command("one", "npm install left-pad", None);
    project.command("one", COMMAND, None);
    let again = project.command("one", COMMAND, Some("no such module: left-pad"));
    assert_eq!(again, "", "it found what helped");
    // Nor after a compaction, or in a conversation that continues under the same id.
    let more = json!({"trigger": "auto"});
    project.send_in("one", AgentProgram::ClaudeCode, "PreCompact", more);
    assert_eq!(project.before("one", COMMAND), "");
    for source in ["compact", "resume", "startup"] {
        let more = json!({"source": source});
        let start = project.send_in("one", AgentProgram::ClaudeCode, "SessionStart", more);
        assert!(!start.contains("left-pad` "), "{source}: {start}");
        assert!(!start.contains("pitfalls"), "{source}: {start}");
    }
}
