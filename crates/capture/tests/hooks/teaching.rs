//! Teaching of agents: the paragraph at the start of a session, and the question at the end of a turn.

use super::HookedProject;
use heirloom_agents::AgentProgram;
use heirloom_agents::hooks::{HookAnswer, without_envelopes};
use heirloom_fs::durable;
use heirloom_model::{limits, text};
use serde_json::{Value, json};

const FACT: &str = "The nightly export writes CSV with semicolons";

fn taught() -> HookedProject {
    HookedProject {
        teach: true,
        ..HookedProject::new()
    }
}

/// Returns the last paragraph of a context.
fn last_paragraph(context: &str) -> &str {
    context.rsplit("\n\n").next().unwrap()
}

#[test]
fn first_context_of_a_session_ends_with_how_a_lesson_is_left() {
    let kind = heirloom_agents::hooks::HookEventKind::SessionStart;
    for host in super::hosts_taking_text(kind) {
        let project = taught();
        project.rule(FACT);
        let event = super::event_of(host, kind);
        let start = project.send(host, event, json!({"source": "startup"}));
        let paragraph = last_paragraph(&start);
        assert!(start.contains(FACT), "{start}");
        assert!(
            paragraph.starts_with("<heirloom-guide>\n")
                && paragraph.ends_with("\n</heirloom-guide>"),
            "{start}"
        );
        assert!(
            paragraph.contains("HEIRLOOM_MEMORY: LEARNING"),
            "{paragraph}"
        );
        assert!(paragraph.contains("a person's rule"), "{paragraph}");
        assert!(text::tokens(paragraph) <= limits::HOOK_TEACHING_TOKENS_MAX);
        assert!(text::chars(&start) <= limits::HOOK_START_CHARS_MAX);
        // Nothing of it is learned.
        assert_eq!(without_envelopes(&start).trim(), "");
        // A resumed session has it already.
        assert_eq!(project.send(host, event, json!({"source": "resume"})), "");
        project.rule("The importer is written in Go");
        let changed = project.send(host, event, json!({"source": "resume"}));
        assert!(
            changed.contains("importer") && !changed.contains("heirloom-guide"),
            "{changed}"
        );
        let cleared = project.send(host, event, json!({"source": "clear"}));
        assert!(cleared.ends_with("</heirloom-guide>"), "{cleared}");
    }
}

#[test]
fn empty_memory_and_full_memory_are_taught_too() {
    let project = taught();
    let start = project.start("startup");
    assert!(start.starts_with("<heirloom-guide>"), "{start}");
    assert_eq!(project.start("resume"), "");
    for n in 0..300 {
        project.rule(&format!(
            "The part {n} of the warehouse has {} shelves",
            n * 7
        ));
    }
    let start = project.start("startup");
    assert!(start.ends_with("</heirloom-guide>"), "{start}");
    assert!(start.contains("shelves"), "{start}");
    assert!(text::chars(&start) <= limits::HOOK_START_CHARS_MAX);
    let off = HookedProject::new();
    assert_eq!(off.start("startup"), "");
    let more = json!({"agent_id": "a1", "agent_type": "explore"});
    let subagent = project.send(AgentProgram::ClaudeCode, "SubagentStart", more);
    assert!(!subagent.contains("heirloom-guide"), "{subagent}");
}

#[test]
fn mcp_server_of_the_project_is_the_way_to_leave_a_lesson() {
    let project = taught();
    let settings = json!({"mcpServers": {"memory": {"command": "heirloom", "args": ["mcp"]}}});
    let path = project.memory().parent().unwrap().join(".mcp.json");
    durable::write_atomic(&path, settings.to_string().as_bytes()).unwrap();
    let start = project.start("startup");
    assert!(
        start.contains("tool `remember` of the MCP server `memory`") && !start.contains("LEARNING"),
        "{start}"
    );
}

/// Ends a turn; returns the answer.
fn stop(project: &HookedProject, host: AgentProgram, name: &str, more: Value) -> HookAnswer {
    project.answer("s", host, name, more, 0)
}

fn asking() -> HookedProject {
    let project = HookedProject {
        ask: true,
        ..HookedProject::new()
    };
    project.start("startup");
    project
}

fn edit(project: &HookedProject, host: AgentProgram, name: &str) {
    let tool = if host == AgentProgram::Gemini {
        "replace"
    } else {
        "Edit"
    };
    let event =
        json!({"tool_name": tool, "tool_input": {"file_path": "src/a.rs"}, "tool_response": {}});
    project.send(host, name, event);
}

#[test]
fn agent_is_asked_once_after_work_without_a_lesson() {
    for (host, after, end) in [
        (AgentProgram::ClaudeCode, "PostToolUse", "Stop"),
        (AgentProgram::Codex, "PostToolUse", "Stop"),
    ] {
        let project = asking();
        let none = stop(&project, host, end, json!({}));
        assert_eq!(none, HookAnswer::default(), "nothing was done");
        edit(&project, host, after);
        let active = stop(&project, host, end, json!({"stop_hook_active": true}));
        assert_eq!(active, HookAnswer::default(), "the turn goes on already");
        let asked = stop(&project, host, end, json!({}));
        let request = asked.request.unwrap();
        assert!(request.contains("HEIRLOOM_MEMORY: LEARNING"), "{request}");
        assert_eq!(asked.context, "");
        let again = stop(&project, host, end, json!({}));
        assert_eq!(again, HookAnswer::default(), "once");
    }
}

#[test]
fn agent_is_not_asked_where_it_left_a_lesson_or_cannot_be_asked() {
    // A signal.
    let project = asking();
    edit(&project, AgentProgram::ClaudeCode, "PostToolUse");
    let more = json!({"last_assistant_message": "HEIRLOOM_MEMORY: LEARNING ports clash"});
    let answer = stop(&project, AgentProgram::ClaudeCode, "Stop", more);
    assert_eq!(answer, HookAnswer::default());
    // The MCP tool.
    let project = asking();
    edit(&project, AgentProgram::ClaudeCode, "PostToolUse");
    let event = json!({"tool_name": "mcp__heirloom__remember", "tool_input": {"text": "x"}, "tool_response": {}});
    project.send(AgentProgram::ClaudeCode, "PostToolUse", event);
    let answer = stop(&project, AgentProgram::ClaudeCode, "Stop", json!({}));
    assert_eq!(answer, HookAnswer::default());
    // Switched off, which is the default.
    let project = HookedProject::new();
    edit(&project, AgentProgram::ClaudeCode, "PostToolUse");
    let answer = stop(&project, AgentProgram::ClaudeCode, "Stop", json!({}));
    assert_eq!(answer, HookAnswer::default());
    // No way to ask without a loop.
    for (host, after, end) in [
        (AgentProgram::Gemini, "AfterTool", "AfterAgent"),
        (AgentProgram::Opencode, "tool.execute.after", "session.idle"),
    ] {
        let project = asking();
        edit(&project, host, after);
        let answer = stop(&project, host, end, json!({}));
        assert_eq!(answer, HookAnswer::default(), "{host}");
    }
}
