//! Sessions that are killed: what was said in them is known to the next one.

use super::HookedProject;
use heirloom_agents::AgentProgram;
use heirloom_agents::hooks::{HookEventKind, HookSpec};
use heirloom_fs::durable;
use heirloom_model::limits::HOOK_SESSION_IDLE_S;
use heirloom_model::{Kind, Record, Timestamp};
use heirloom_store::Filter;
use serde_json::json;
use std::time::Duration;

pub(super) const PROGRAMS: [AgentProgram; 5] = [
    AgentProgram::ClaudeCode,
    AgentProgram::Codex,
    AgentProgram::Gemini,
    AgentProgram::Copilot,
    AgentProgram::Opencode,
];

pub(super) fn recording() -> HookedProject {
    HookedProject {
        records: true,
        ..HookedProject::new()
    }
}

fn knowledge(project: &HookedProject) -> Vec<Record> {
    let filter = Filter::current(&[Kind::Knowledge], Timestamp::MAX);
    project.engine.records().find(&filter).unwrap()
}

#[test]
fn rule_in_a_prompt_is_stored_when_it_is_typed() {
    for host in PROGRAMS {
        let is_prompt = |spec: &&HookSpec| spec.kind == HookEventKind::Prompt;
        let event = host.hook_specs().iter().find(is_prompt).unwrap().event;
        let project = recording();
        let prompt =
            "Never push to main directly; always open a pull request. Now export the orders.";
        project.send_in("killed", host, event, json!({ "prompt": prompt }));
        let found = knowledge(&project);
        assert!(
            found
                .iter()
                .any(|rule| rule.text.contains("Never push to main") && rule.source == "user"),
            "{host}: {found:?}"
        );
        // It is stored once, however often it is typed.
        project.send_in("killed", host, event, json!({ "prompt": prompt }));
        assert_eq!(knowledge(&project).len(), found.len(), "{host}");
    }
}

#[test]
fn request_in_a_prompt_is_no_rule() {
    let project = recording();
    project.prompt("Please export the orders of March and commit the file.");
    assert!(knowledge(&project).is_empty());
}

#[test]
fn session_without_an_end_is_finished_at_a_later_start() {
    let project = recording();
    let path = project.memory().join("t.jsonl");
    let line = |uuid: &str, kind: &str, message: serde_json::Value| {
        let cwd = project.memory().parent().unwrap().to_owned();
        json!({"type": kind, "uuid": uuid, "sessionId": "killed", "cwd": cwd, "version": "2.1.0",
            "timestamp": "2026-11-01T10:00:00.000Z", "message": message})
        .to_string()
    };
    let lines = [
        line(
            "u1",
            "user",
            json!({"role": "user", "content": "Check the exporter."}),
        ),
        line(
            "u2",
            "assistant",
            json!({"role": "assistant", "content": [{"type": "text",
            "text": "The exporter fails because the locale of the container is C, not UTF-8."}]}),
        ),
    ];
    durable::write_atomic(&path, (lines.join("\n") + "\n").as_bytes()).unwrap();
    let start = json!({"source": "startup", "transcript_path": path});
    project.send_in("killed", AgentProgram::ClaudeCode, "SessionStart", start);
    let is_known = || {
        let turns = project.engine.sessions().get("killed", None).unwrap().1;
        !turns.is_empty()
    };
    let next = |session: &str| {
        project.send_in(
            session,
            AgentProgram::ClaudeCode,
            "SessionStart",
            json!({"source": "startup"}),
        );
    };
    // The session may still be running.
    next("second");
    assert!(!is_known());
    age(&project, HOOK_SESSION_IDLE_S - 20);
    next("third");
    assert!(!is_known());
    age(&project, HOOK_SESSION_IDLE_S + 1);
    next("fourth");
    assert!(is_known());
}

/// Makes the states of all sessions as old as this number of seconds.
fn age(project: &HookedProject, seconds: u64) {
    let config = project.memory().join("config.toml");
    durable::write_atomic(&config, b"").unwrap();
    let old = config.metadata().unwrap().modified().unwrap() - Duration::from_secs(seconds);
    for file in std::fs::read_dir(project.memory().join("hooks"))
        .unwrap()
        .flatten()
    {
        let file = std::fs::File::options()
            .write(true)
            .open(file.path())
            .unwrap();
        file.set_modified(old).unwrap();
    }
}
