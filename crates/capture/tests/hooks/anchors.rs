//! Anchors: reminders of the goal and the open steps after tool calls.

use super::{HookedProject, event_of, hosts_taking_text};
use heirloom_agents::AgentProgram;
use heirloom_agents::hooks::HookEventKind;
use heirloom_engine::TASK_MAIN;
use heirloom_model::kinds::StepState;
use heirloom_model::{limits, text};
use serde_json::json;

const CLAUDE: AgentProgram = AgentProgram::ClaudeCode;
const GOAL: &str = "make the export of large tables faster without using more memory";

impl HookedProject {
    /// Reports a successful tool call of Claude Code.
    fn call_tool(&self, anchor_every: u32) -> String {
        let more = json!({"tool_name": "Read", "tool_input": {"file_path": "x"}, "tool_response": {"file": "y"}});
        self.send_with(CLAUDE, "PostToolUse", more, anchor_every)
    }

    fn add_step(&self, words: &str, state: StepState) {
        let tasks = self.engine.tasks();
        tasks.step(TASK_MAIN, words, state, "claude-code").unwrap();
    }
}

#[test]
fn anchor_after_every_fifth_call_and_off_at_0() {
    let project = HookedProject::new();
    project.prompt(GOAL);
    project.add_step("measure the export", StepState::Done);
    project.add_step("stream the rows", StepState::Pending);
    project.add_step("test with a million rows", StepState::Pending);
    let anchor = format!(
        "<heirloom-memory>\nGoal: {GOAL}\nOpen steps: stream the rows; test with a million rows\n</heirloom-memory>"
    );
    let answers: Vec<String> = (0..20).map(|_| project.call_tool(5)).collect();
    for (at, answer) in answers.iter().enumerate() {
        let expected = if at % 5 == 4 { anchor.as_str() } else { "" };
        assert_eq!(answer, expected, "call {}", at + 1);
    }
    let project = HookedProject::new();
    project.prompt(GOAL);
    assert!((0..20).all(|_| project.call_tool(0).is_empty()));
    let most = limits::HOOK_ANCHOR_EVERY_MAX;
    let told: Vec<u32> = (1..=most)
        .filter(|_| !project.call_tool(most).is_empty())
        .collect();
    assert_eq!(told, [most]);
}

#[test]
fn anchor_without_goal_and_steps_is_left_out() {
    let project = HookedProject::new();
    assert!((0..10).all(|_| project.call_tool(5).is_empty()));
    project.add_step("stream the rows", StepState::Pending);
    let told: Vec<String> = (0..5).map(|_| project.call_tool(5)).collect();
    assert_eq!(
        told.concat(),
        "<heirloom-memory>\nOpen steps: stream the rows\n</heirloom-memory>"
    );
}

#[test]
fn anchor_is_at_most_sixty_tokens_of_any_goal_and_steps() {
    let project = HookedProject::new();
    project.prompt(&format!(
        "{GOAL}, {}",
        "and mind every part of it ".repeat(60)
    ));
    for n in 0..30 {
        project.add_step(&format!("measure and improve part {n}"), StepState::Pending);
    }
    let anchor: String = (0..5).map(|_| project.call_tool(5)).collect();
    let tokens = text::tokens(&anchor);
    assert!(
        (50..=limits::HOOK_ANCHOR_TOKENS_MAX).contains(&tokens),
        "{anchor}"
    );
    assert!(anchor.contains(" more\n</heirloom-memory>"), "{anchor}");
}

#[test]
fn anchor_has_newest_prompt_that_states_a_goal() {
    let project = HookedProject::new();
    project.prompt("hello");
    project.prompt(GOAL);
    project.prompt("yes, go on");
    let anchor: String = (0..5).map(|_| project.call_tool(5)).collect();
    assert!(anchor.contains(&format!("Goal: {GOAL}\n")), "{anchor}");
    project.prompt("now write the documentation of the new export format for users");
    let anchor: String = (0..5).map(|_| project.call_tool(5)).collect();
    assert!(
        anchor.contains("Goal: now write the documentation"),
        "{anchor}"
    );
}

#[test]
fn anchor_follows_other_text_after_a_failed_call() {
    let project = HookedProject::new();
    project.prompt(GOAL);
    let fail = |session: &str| {
        let more = json!({"tool_name": "Bash", "tool_input": {"command": "make"}, "error": "Exit code 2\nno rule"});
        project.send_in(session, CLAUDE, "PostToolUseFailure", more)
    };
    fail("earlier");
    let error = project.engine.errors().open(None).unwrap().remove(0);
    let id = error.id.to_string();
    project
        .engine
        .errors()
        .resolve(&id, "run configure first", "user")
        .unwrap();
    (0..4).for_each(|_| assert_eq!(project.call_tool(5), ""));
    let answer = fail("s");
    let (help, anchor) = answer.split_once("\n\n").unwrap();
    assert!(
        help.contains("What helped: run configure first"),
        "{answer}"
    );
    assert!(help.ends_with("</heirloom-memory>"), "{answer}");
    assert!(anchor.starts_with("<heirloom-memory>\nGoal: "), "{answer}");
}

#[test]
fn anchor_is_for_events_that_take_text_and_for_the_main_agent() {
    for host in hosts_taking_text(HookEventKind::AfterTool) {
        let project = HookedProject::new();
        let prompt = json!({"prompt": GOAL});
        project.send(host, event_of(host, HookEventKind::Prompt), prompt);
        let after = event_of(host, HookEventKind::AfterTool);
        let call = |agent: Option<&str>| {
            let mut more = json!({"tool_name": "read", "tool_input": {}, "tool_response": {}});
            if let Some(agent) = agent {
                more["agent_id"] = json!(agent);
            }
            project.send(host, after, more)
        };
        assert!((0..10).all(|_| call(Some("a1")).is_empty()), "{host:?}");
        let told: Vec<String> = (0..5).map(|_| call(None)).collect();
        assert!(host.hook_spec(after).unwrap().can_inject, "{host:?}");
        assert!(told.concat().contains(GOAL), "{host:?}");
    }
    // The failure event of opencode takes no text, so the next event has the anchor.
    let project = HookedProject::new();
    let host = AgentProgram::Opencode;
    project.send(host, "chat.message", json!({"prompt": GOAL}));
    let call =
        |name: &str| project.send(host, name, json!({"tool_name": "read", "error": "no file"}));
    assert!((0..6).all(|_| call("tool.execute.error").is_empty()));
    let more = json!({"tool_name": "read", "tool_input": {}, "tool_response": {"output": "x"}});
    assert!(
        project
            .send(host, "tool.execute.after", more)
            .contains(GOAL)
    );
}

#[test]
fn anchor_after_compaction_counts_from_its_start() {
    let project = HookedProject::new();
    project.prompt(GOAL);
    (0..4).for_each(|_| assert_eq!(project.call_tool(5), ""));
    project.start("compact");
    (0..4).for_each(|_| assert_eq!(project.call_tool(5), "", "the goal was restated"));
    assert!(project.call_tool(5).contains(GOAL));
}
