//! What hooks of agent programs do to the store.

use crate::table::Again::{More, Nothing};
use crate::table::Leaves::AllOrNothing;
use crate::table::{COUNTED, Operation, filled, row};
use crate::world::World;
use heirloom_engine::HookRequest;
use heirloom_engine::hooks::{Host, read_event, render};
use heirloom_model::Fault;

/// What hooks of agent programs do.
pub(crate) fn hooks() -> Vec<Operation> {
    vec![
        row(
            "hook: a session starts",
            filled,
            |w| hooked(w, "SessionStart", r#""source":"startup""#),
            AllOrNothing,
            More("each context has its receipt"),
        ),
        row(
            "hook: a prompt",
            filled,
            |w| hooked(w, "UserPromptSubmit", r#""prompt":"what is old?""#),
            AllOrNothing,
            Nothing,
        ),
        row(
            "hook: something fails",
            filled,
            failing,
            AllOrNothing,
            COUNTED,
        ),
        row(
            "hook: it fails otherwise",
            failing,
            |w| {
                hooked(
                    w,
                    "PostToolUseFailure",
                    r#""tool_name":"Bash","tool_input":{"command":"make"},"error":"another thing""#,
                )
            },
            AllOrNothing,
            COUNTED,
        ),
        row(
            "hook: it works again",
            failing,
            |w| {
                hooked(
                    w,
                    "PostToolUse",
                    r#""tool_name":"Bash","tool_input":{"command":"make"},"tool_response":{}"#,
                )
            },
            AllOrNothing,
            Nothing,
        ),
        row(
            "hook: before it is done again",
            failing,
            |w| {
                hooked(
                    w,
                    "PreToolUse",
                    r#""tool_name":"Bash","tool_input":{"command":"make"}"#,
                )
            },
            AllOrNothing,
            Nothing,
        ),
    ]
}

/// The rest of what hooks of agent programs do.
pub(crate) fn more_hooks() -> Vec<Operation> {
    vec![
        row(
            "hook: a file is changed",
            filled,
            |w| {
                hooked(
                    w,
                    "PostToolUse",
                    r#""tool_name":"Write","tool_input":{"file_path":"a.rs"},"tool_response":{}"#,
                )
            },
            AllOrNothing,
            Nothing,
        ),
        row(
            "hook: a turn ends",
            filled,
            |w| {
                hooked(
                    w,
                    "Stop",
                    r#""last_assistant_message":"HEIRLOOM_MEMORY: KEY_FACT new""#,
                )
            },
            AllOrNothing,
            More("a hook that failed does not know what it wrote"),
        ),
        row(
            "hook: a session ends",
            |w| {
                hooked(w, "UserPromptSubmit", r#""prompt":"mend it""#)?;
                failing(w)
            },
            |w| hooked(w, "SessionEnd", r#""reason":"other""#),
            AllOrNothing,
            More("a hook that failed does not know what it wrote"),
        ),
        row(
            "relevant",
            filled,
            |w| w.engine.relevant("old").map(drop),
            AllOrNothing,
            Nothing,
        ),
        row(
            "nearest",
            filled,
            |w| w.engine.nearest("old").map(drop),
            AllOrNothing,
            Nothing,
        ),
    ]
}

fn failing(w: &World) -> Result<(), Fault> {
    let more = r#""tool_name":"Bash","tool_input":{"command":"make"},"error":"no rule""#;
    hooked(w, "PostToolUseFailure", more)
}

/// Claude Code calls its hook in the session `s`.
fn hooked(w: &World, name: &str, more: &str) -> Result<(), Fault> {
    let host = Host::ClaudeCode;
    let event = read_event(host, format!(r#"{{"session_id":"s",{more}}}"#).as_bytes());
    let answer = w.engine.hook(&HookRequest {
        host,
        wanted: host.event(name).unwrap(),
        event: &event,
        shorten: None,
    })?;
    drop(render(host, host.event(name).unwrap(), &answer));
    Ok(())
}
