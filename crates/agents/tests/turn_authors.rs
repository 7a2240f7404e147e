//! Authors of the words in the role of the user, by the fields with which programs record them.
#![expect(
    clippy::unwrap_used,
    clippy::wildcard_enum_match_arm,
    reason = "a test fails by panicking, and looks at one kind of event"
)]

use heirloom_agents::AgentProgram;
use heirloom_agents::transcripts::{
    EventBody, HeaderReader, SupersededLineScan, ToolOutcome, TranscriptEvent, TurnAuthor,
};
use serde_json::{Value, json};

const RULE: &str = "From now on always use pnpm for this project, never use anything else.";

fn read(program: AgentProgram, lines: &[Value]) -> Vec<TranscriptEvent> {
    let texts: Vec<String> = lines.iter().map(Value::to_string).collect();
    let mut head = HeaderReader::new(program);
    let mut scan = SupersededLineScan::new(program);
    let mut reads_head = true;
    for (at, text) in texts.iter().enumerate() {
        reads_head = reads_head && head.read_line(text.as_bytes());
        scan.read_line(at as u64, text.as_bytes());
    }
    let author = head.finish().map_or(TurnAuthor::Person, |head| head.author);
    let mut reader = scan.into_reader();
    let mut events = Vec::new();
    for (at, text) in texts.iter().enumerate() {
        reader.read_line(at as u64, text.as_bytes(), &mut |event| events.push(event));
    }
    reader.finish(&mut |event| events.push(event));
    for event in &mut events {
        event.author = event.author.or(author);
    }
    events
}

/// Returns the prompts outside of blocks of code that a person is said to have typed.
fn person_prompts(program: AgentProgram, lines: &[Value]) -> Vec<String> {
    let events = read(program, lines).into_iter();
    let mut prompts: Vec<String> = events
        .filter(|event| event.author == TurnAuthor::Person && event.agent.is_none())
        .filter_map(|event| match event.body {
            EventBody::Prompt(words) | EventBody::AbandonedPrompt(words) => Some(words),
            _ => None,
        })
        .collect();
    prompts.retain(|words| !words.starts_with("```"));
    prompts
}

fn user_line(fields: &Value) -> Value {
    let mut line = json!({
        "type": "user", "uuid": "u1", "parentUuid": null, "sessionId": "s", "cwd": "/p",
        "isSidechain": false, "timestamp": "2026-11-01T10:00:00Z",
        "message": {"role": "user", "content": RULE},
    });
    for (name, value) in fields.as_object().unwrap() {
        line[name] = value.clone();
    }
    line
}

#[test]
fn lines_of_others_are_no_persons_words_in_claude_code() {
    let attachment = |fields: Value| {
        let mut inner = json!({"type": "queued_command", "prompt": RULE});
        for (name, value) in fields.as_object().unwrap() {
            inner[name] = value.clone();
        }
        json!({"type": "attachment", "uuid": "a", "sessionId": "s", "cwd": "/p", "attachment": inner})
    };
    let content = |text: String| user_line(&json!({"message": {"role": "user", "content": text}}));
    for line in [
        user_line(&json!({"origin": {"kind": "agent"}})),
        user_line(&json!({"origin": {"kind": "coordinator"}})),
        user_line(&json!({"origin": {"kind": "channel", "server": "telegram"}})),
        user_line(&json!({"origin": {"type": "peer"}})),
        user_line(&json!({"origin": "agent"})),
        user_line(&json!({"origin": {}})),
        user_line(&json!({"userType": "agent"})),
        user_line(&json!({"userType": "internal"})),
        user_line(&json!({"entrypoint": "sdk"})),
        user_line(&json!({"entrypoint": "sdk-cli"})),
        user_line(&json!({"entrypoint": "sdk-ts"})),
        user_line(&json!({"entrypoint": "sdk-py"})),
        user_line(&json!({"entrypoint": "mcp"})),
        user_line(&json!({"entrypoint": "claude-code-github-action"})),
        user_line(&json!({"isMeta": true})),
        user_line(&json!({"isSidechain": true})),
        user_line(&json!({"isCompactSummary": true})),
        user_line(&json!({"isVisibleInTranscriptOnly": true})),
        user_line(&json!({"toolUseResult": {"stdout": RULE}})),
        user_line(&json!({"toolUseResult": RULE})),
        user_line(&json!({"message": {"role": "assistant", "content": RULE}})),
        user_line(&json!({"message": {"role": "system", "content": RULE}})),
        user_line(&json!({"message": {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "t", "content": RULE},
            {"type": "text", "text": RULE}]}})),
        attachment(json!({"commandMode": "task-notification"})),
        attachment(json!({"commandMode": "bash"})),
        attachment(json!({"origin": {"kind": "agent"}})),
        attachment(json!({"origin": "agent"})),
        attachment(json!({"isMeta": true})),
        content(format!(
            "<channel source=\"telegram\" user=\"stranger\">{RULE}</channel>"
        )),
        content(format!("<channel source=\"x\">{RULE}</channel> please")).clone(),
        content(format!("<channel source=\"x\">\n{RULE}")),
        content(format!(
            "This session is being continued from a previous conversation that ran out of context.\n{RULE}"
        )),
        content(format!(
            "\nThis session is being continued from a previous conversation.\n{RULE}"
        )),
        content(format!("Stop hook feedback:\n- [check.sh]: {RULE}")),
        content(format!(
            "Contents of /p/CLAUDE.md (project instructions, checked into the codebase):\n\n{RULE}"
        )),
        content(format!("<system-reminder>{RULE}</system-reminder>")),
        content(format!(
            "<teammate-message teammate_id=\"b\">{RULE}</teammate-message>"
        )),
    ] {
        let prompts = person_prompts(AgentProgram::ClaudeCode, std::slice::from_ref(&line));
        let has_rule = prompts.iter().any(|words| {
            words
                .split("```")
                .step_by(2)
                .any(|part| part.contains(RULE))
        });
        assert!(!has_rule, "{line}\n{prompts:?}");
    }
}

#[test]
fn lines_of_a_person_are_theirs_in_claude_code() {
    for line in [
        user_line(&json!({})),
        user_line(&json!({"userType": "external"})),
        user_line(&json!({"userType": "external", "entrypoint": "cli"})),
        user_line(&json!({"entrypoint": "claude-vscode"})),
        user_line(&json!({"entrypoint": "claude-desktop"})),
        user_line(&json!({"origin": {"kind": "human"}})),
        user_line(&json!({"origin": null, "isMeta": false, "toolUseResult": null})),
        user_line(&json!({"message": {"content": RULE}})),
        json!({"type": "attachment", "uuid": "a", "sessionId": "s", "cwd": "/p", "attachment":
            {"type": "queued_command", "prompt": RULE, "commandMode": "prompt"}}),
    ] {
        let prompts = person_prompts(AgentProgram::ClaudeCode, std::slice::from_ref(&line));
        assert_eq!(prompts, [RULE], "{line}");
    }
}

/// A person's script is a request like any other: only its rules have less authority.
#[test]
fn turn_of_a_script_stays_a_turn() {
    let line = user_line(&json!({"entrypoint": "sdk-cli"}));
    let events = read(AgentProgram::ClaudeCode, &[line]);
    assert_eq!(events.len(), 1);
    assert_eq!(events[0].body, EventBody::Prompt(RULE.to_owned()));
    assert_eq!(events[0].author, TurnAuthor::Other);
}

#[test]
fn template_of_a_command_is_no_persons_word() {
    let command = |name: &str| {
        let text = format!(
            "<command-message>x</command-message>\n<command-name>{name}</command-name>\n<command-args>the parser</command-args>"
        );
        user_line(&json!({"message": {"role": "user", "content": text}}))
    };
    let template = user_line(&json!({"uuid": "u2", "parentUuid": "u1", "message":
        {"role": "user", "content": [{"type": "text", "text": RULE}]}}));
    let words = |lines: &[Value]| person_prompts(AgentProgram::ClaudeCode, lines);
    assert_eq!(
        words(&[command("/review"), template.clone()]),
        ["/review\n\nthe parser"]
    );
    // A command that sets up the program has no template.
    assert_eq!(words(&[command("/model"), template]), [RULE]);
}

#[test]
fn output_with_the_words_of_a_rejection_is_no_rejection() {
    let text =
        format!("The user doesn't want to proceed with this tool use. The user said:\n{RULE}");
    let result = |is_error: bool, own: Value| {
        let content = json!([{"type": "tool_result", "tool_use_id": "t", "content": text, "is_error": is_error}]);
        let mut line = user_line(&json!({"message": {"role": "user", "content": content}}));
        line["toolUseResult"] = own;
        let events = read(AgentProgram::ClaudeCode, &[line]);
        match &events[0].body {
            EventBody::Result { outcome, .. } => *outcome,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(
        result(true, json!("User rejected tool use")),
        ToolOutcome::Rejected
    );
    assert_eq!(result(true, Value::Null), ToolOutcome::Rejected);
    assert_eq!(result(false, Value::Null), ToolOutcome::Succeeded);
    let printed = json!({"stdout": text, "stderr": ""});
    assert_eq!(result(false, printed.clone()), ToolOutcome::Succeeded);
    assert_eq!(result(true, printed), ToolOutcome::Failed);
}

#[test]
fn lines_of_others_are_no_persons_words_in_other_programs() {
    let codex = |source: Value, originator: &str, kind: Value| {
        let meta = json!({"timestamp": "2026-08-01T10:00:00Z", "type": "session_meta", "payload":
            {"id": "c", "cwd": "/p", "originator": originator, "source": source,
             "timestamp": "2026-08-01T10:00:00Z"}});
        let prompt = json!({"timestamp": "2026-08-01T10:00:00Z", "type": "event_msg", "payload":
            {"type": "user_message", "message": RULE, "kind": kind}});
        person_prompts(AgentProgram::Codex, &[meta, prompt])
    };
    assert_eq!(codex(json!("cli"), "codex_cli_rs", json!("plain")), [RULE]);
    assert_eq!(codex(json!("vscode"), "codex_vscode", Value::Null), [RULE]);
    assert_eq!(codex(Value::Null, "codex_cli_rs", Value::Null), [RULE]);
    for (source, originator, kind) in [
        (json!("exec"), "codex_exec", json!("plain")),
        (json!("exec"), "codex_cli_rs", json!("plain")),
        (json!("mcp"), "codex_mcp", Value::Null),
        (json!({"custom": "x"}), "codex_cli_rs", Value::Null),
        (json!("cli"), "codex_sdk_ts", Value::Null),
        (json!("cli"), "codex_cli_rs", json!("user_instructions")),
        (json!("cli"), "codex_cli_rs", json!("environment_context")),
    ] {
        let found = codex(source.clone(), originator, kind.clone());
        assert!(found.is_empty(), "{source} {originator} {kind}");
    }

    let copilot = |source: Value| {
        let line =
            json!({"type": "user.message", "id": "e", "data": {"content": RULE, "source": source}});
        person_prompts(AgentProgram::Copilot, &[line])
    };
    assert_eq!(copilot(Value::Null), [RULE]);
    assert_eq!(copilot(json!("user")), [RULE]);
    assert!(copilot(json!("skill-pdf")).is_empty());

    let opencode = |part: Value| {
        let line = json!({"info": {"id": "s", "directory": "/p"}, "messages": [
            {"info": {"id": "m", "role": "user"}, "parts": [part]}]});
        person_prompts(AgentProgram::Opencode, &[line])
    };
    assert_eq!(opencode(json!({"type": "text", "text": RULE})), [RULE]);
    for name in ["synthetic", "ignored"] {
        let mut part = json!({"type": "text", "text": RULE});
        part[name] = json!(true);
        assert!(opencode(part).is_empty(), "{name}");
    }

    let gemini = |content: Value| {
        let line = json!({"id": "a", "timestamp": "2026-08-01T10:00:01Z", "type": "user", "content": content});
        person_prompts(AgentProgram::Gemini, &[line])
    };
    assert_eq!(gemini(json!([{"text": RULE}])), [RULE]);
    let result =
        json!([{"functionResponse": {"name": "x", "response": {"output": "y"}}}, {"text": RULE}]);
    assert!(gemini(result).is_empty());
}
