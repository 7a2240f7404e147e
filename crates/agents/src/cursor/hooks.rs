//! Hooks of Cursor.
//!
//! `preToolUse` and `stop` are not subscribed: the former only permits or denies a tool, and the message of the agent
//! arrives with `afterAgentResponse`.

use crate::hooks::HookEventKind::{
    AfterTool, BeforeCompaction, Prompt, SessionEnd, SessionStart, ToolFailed, TurnEnd,
};
use crate::hooks::json_members::{JsonMembers, rename_members};
use crate::hooks::protocol::{HookProtocol, HookSpec, spec};
use serde_json::json;
use serde_json::value::RawValue;

/// Hook events and answers. Messages arrive with events; the form of transcripts is not documented.
pub(crate) const HOOKS: HookProtocol = HookProtocol {
    prepare_members: Some(prepare_members),
    set_context: Some(|text, answer| answer.set("additional_context", json!(text))),
    has_json_output: true,
    ..HookProtocol::new(SPECS)
};

const SPECS: &[HookSpec] = &[
    spec("sessionStart", SessionStart, true, 10),
    spec("beforeSubmitPrompt", Prompt, false, 10),
    spec("postToolUse", AfterTool, true, 10),
    spec("postToolUseFailure", ToolFailed, false, 10),
    spec("preCompact", BeforeCompaction, false, 10),
    spec("afterAgentResponse", TurnEnd, false, 10),
    spec("sessionEnd", SessionEnd, false, 10),
];

/// Names of fields with the usual ones.
const NAMES: [(&str, &str); 4] = [
    ("conversation_id", "session_id"),
    ("tool_output", "tool_response"),
    ("error_message", "error"),
    ("text", "last_assistant_message"),
];

/// Renames fields. An event without a working folder gets the first folder of the workspace.
fn prepare_members(members: &mut JsonMembers<'_>) {
    rename_members(members, &NAMES);
    if !members.contains_key("cwd")
        && let Some(roots) = members.get("workspace_roots")
        && let Ok(roots) = serde_json::from_str::<Vec<&RawValue>>(roots.get())
        && let Some(root) = roots.first()
    {
        members.insert("cwd".to_owned(), root);
    }
}

#[cfg(test)]
mod tests {
    use crate::AgentProgram;
    use crate::hooks::{HookAnswer, read_event, render_answer};
    use serde_json::{Value, json};

    const CURSOR: AgentProgram = AgentProgram::Cursor;

    #[test]
    fn fields_of_events_are_read() {
        let event = json!({
            "conversation_id": "c", "generation_id": "g", "workspace_roots": ["/p", "/q"],
            "hook_event_name": "postToolUse", "tool_name": "Shell",
            "tool_input": {"command": "cargo test"},
            "tool_output": "{\"exitCode\":101,\"stdout\":\"test failed\"}",
        });
        let event = read_event(CURSOR, event.to_string().as_bytes());
        assert_eq!(event.session.as_deref(), Some("c"));
        assert_eq!(event.cwd.as_deref(), Some("/p"));
        let tool = event.tool.unwrap();
        assert_eq!(tool.command.as_deref(), Some("cargo test"));
        assert_eq!(tool.failure.as_deref(), Some("test failed"));
        let failed = json!({
            "conversation_id": "c", "tool_name": "Shell", "tool_input": {"command": "cargo test"},
            "error_message": "it broke", "failure_type": "error", "is_interrupt": false,
        });
        let event = read_event(CURSOR, failed.to_string().as_bytes());
        assert_eq!(event.tool.unwrap().failure.as_deref(), Some("it broke"));
        let said = br#"{"conversation_id":"c","text":"Done.","workspace_roots":[]}"#;
        let event = read_event(CURSOR, said);
        assert_eq!(event.last_message.as_deref(), Some("Done."));
        assert_eq!(event.cwd, None);
    }

    #[test]
    fn answer_is_flat_and_only_where_documented() {
        let answer = HookAnswer {
            context: "x".to_owned(),
            ..HookAnswer::default()
        };
        for (event, expected) in [
            ("sessionStart", json!({"additional_context": "x"})),
            ("postToolUse", json!({"additional_context": "x"})),
            ("beforeSubmitPrompt", Value::Null),
            ("postToolUseFailure", Value::Null),
            ("sessionEnd", Value::Null),
        ] {
            let rendered = render_answer(CURSOR, CURSOR.hook_spec(event).unwrap(), &answer);
            let rendered = match rendered.as_str() {
                "" => Value::Null,
                text => serde_json::from_str(text).unwrap(),
            };
            assert_eq!(rendered, expected, "{event}");
        }
    }
}
