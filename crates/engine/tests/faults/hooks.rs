//! What hooks of agent programs do to the store.

use crate::table::Again::{More, Nothing};
use crate::table::Leaves::{AllOrNothing, Steps};
use crate::table::{COUNTED, Operation, TAKEN_BACK, filled, row, transcript_there};
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
            Steps("how it went, then when it ended"),
            More("a hook that failed does not know what it wrote"),
        ),
        row(
            "hook: a session has begun",
            filled,
            |w| {
                in_hook(w, "SessionStart", r#""source":"startup""#, |w, request| {
                    w.engine.hook_answered(request)
                })
            },
            AllOrNothing,
            Nothing,
        ),
        row(
            "hook: a session is archived",
            transcript_there,
            |w| {
                let path = w.root().join("talk.jsonl");
                hooked(
                    w,
                    "SessionEnd",
                    &format!(r#""transcript_path":"{}""#, path.display()),
                )
            },
            Steps(TAKEN_BACK),
            More("a session ends whenever its program says so"),
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
    in_hook(w, name, more, |w, request| {
        let answer = w.engine.hook(request)?;
        drop(render(request.host, request.wanted, &answer));
        Ok(())
    })
}

fn in_hook(
    w: &World,
    name: &str,
    more: &str,
    act: impl Fn(&World, &HookRequest<'_>) -> Result<(), Fault>,
) -> Result<(), Fault> {
    let host = Host::ClaudeCode;
    let event = read_event(host, format!(r#"{{"session_id":"s",{more}}}"#).as_bytes());
    let request = HookRequest {
        host,
        wanted: host.event(name).unwrap(),
        event: &event,
        shorten: None,
        until: std::time::Instant::now() + std::time::Duration::from_secs(60),
    };
    act(w, &request)
}
