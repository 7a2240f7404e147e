//! Hooks of Cascade, the agent of Windsurf. None can add text to the context, and none reports the outcome of a command.

use crate::hooks::HookEventKind::{AfterTool, Prompt, TurnEnd};
use crate::hooks::json_members::{JsonMembers, object_members, rename_members};
use crate::hooks::protocol::{HookProtocol, HookSpec, spec};
use serde_json::value::RawValue;

/// Hook events and answers. Messages arrive with events.
pub(crate) const HOOKS: HookProtocol = HookProtocol {
    prepare_members: Some(prepare_members),
    ..HookProtocol::new(SPECS)
};

/// Windsurf has no timeout of hooks.
const SPECS: &[HookSpec] = &[
    spec("pre_user_prompt", Prompt, false, 0),
    spec("post_write_code", AfterTool, false, 0),
    spec("post_cascade_response", TurnEnd, false, 0),
];

/// Names of fields with the usual ones; those of `tool_info` are moved to the event.
const NAMES: [(&str, &str); 3] = [
    ("trajectory_id", "session_id"),
    ("user_prompt", "prompt"),
    ("response", "last_assistant_message"),
];

/// Name of the tool that changes files, which events do not mention, as JSON.
const EDIT_TOOL: &str = "\"edit\"";

fn prepare_members(members: &mut JsonMembers<'_>) {
    if let Some(info) = members.get("tool_info").copied() {
        let info_members = object_members(info);
        if info_members.contains_key("file_path")
            && let Ok(tool) = serde_json::from_str::<&'static RawValue>(EDIT_TOOL)
        {
            members.insert("tool_input".to_owned(), info);
            members.insert("tool_name".to_owned(), tool);
        }
        members.extend(info_members);
    }
    rename_members(members, &NAMES);
}

#[cfg(test)]
mod tests {
    use crate::AgentProgram;
    use crate::hooks::read_event;
    use serde_json::json;

    #[test]
    fn fields_of_events_are_read() {
        let read = |name: &str, info: serde_json::Value| {
            let event = json!({
                "agent_action_name": name, "trajectory_id": "t", "execution_id": "e",
                "timestamp": "2026-01-01T00:00:00Z", "tool_info": info,
            });
            read_event(AgentProgram::Windsurf, event.to_string().as_bytes())
        };
        let event = read("pre_user_prompt", json!({"user_prompt": "fix it"}));
        assert_eq!(event.session.as_deref(), Some("t"));
        assert_eq!(event.prompt.as_deref(), Some("fix it"));
        assert!(event.tool.is_none());
        let event = read("post_cascade_response", json!({"response": "Done."}));
        assert_eq!(event.last_message.as_deref(), Some("Done."));
        let edits = json!([{"old_string": "a", "new_string": "b"}]);
        let event = read(
            "post_write_code",
            json!({"file_path": "/p/a.rs", "edits": edits}),
        );
        assert_eq!(event.tool.unwrap().files, ["/p/a.rs"]);
    }
}
