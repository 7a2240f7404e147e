//! Operations of hooks.

use crate::table::Again::{More, Nothing};
use crate::table::Leaves::{AllOrNothing, Steps};
use crate::table::{COUNTED, Operation, REVERTED, create_transcript, filled, row};
use crate::world::World;
use heirloom_agents::AgentProgram;
use heirloom_agents::hooks::{read_event, render_answer};
use heirloom_capture::HookRequest;
use heirloom_capture::Hooks;
use heirloom_model::Fault;

/// Operations of hooks, first part.
pub(crate) fn hooks() -> Vec<Operation> {
    vec![
        row(
            "hook: a session starts",
            filled,
            |w| send_hook_event(w, "SessionStart", r#""source":"startup""#),
            AllOrNothing,
            More("each context has its receipt"),
        ),
        row(
            "hook: a prompt",
            filled,
            |w| send_hook_event(w, "UserPromptSubmit", r#""prompt":"what is old?""#),
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
                send_hook_event(
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
                send_hook_event(
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
                send_hook_event(
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

/// Operations of hooks, second part.
pub(crate) fn more_hooks() -> Vec<Operation> {
    vec![
        row(
            "hook: a file is changed",
            filled,
            |w| {
                send_hook_event(
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
                send_hook_event(
                    w,
                    "Stop",
                    r#""last_assistant_message":"HEIRLOOM_MEMORY: KEY_FACT new""#,
                )
            },
            AllOrNothing,
            More("a failed hook does not know its writes"),
        ),
        row(
            "hook: a session ends",
            |w| {
                send_hook_event(w, "UserPromptSubmit", r#""prompt":"mend it""#)?;
                failing(w)
            },
            |w| send_hook_event(w, "SessionEnd", r#""reason":"other""#),
            Steps("the outcome, then the end time"),
            More("a failed hook does not know its writes"),
        ),
        row(
            "hook: a session has begun",
            filled,
            |w| {
                in_hook(w, "SessionStart", r#""source":"startup""#, |w, request| {
                    Hooks::new(&w.engine).record_after_answer(request).map(drop)
                })
            },
            AllOrNothing,
            Nothing,
        ),
        row(
            "hook: a session is archived",
            create_transcript,
            |w| {
                let path = w.root().join("talk.jsonl");
                send_hook_event(
                    w,
                    "SessionEnd",
                    &format!(r#""transcript_path":"{}""#, path.display()),
                )
            },
            Steps(REVERTED),
            More("a session may end repeatedly"),
        ),
        row(
            "nearest",
            filled,
            |w| Hooks::new(&w.engine).relevant_hits("old").map(drop),
            AllOrNothing,
            Nothing,
        ),
    ]
}

fn failing(w: &World) -> Result<(), Fault> {
    let more = r#""tool_name":"Bash","tool_input":{"command":"make"},"error":"no rule""#;
    send_hook_event(w, "PostToolUseFailure", more)
}

/// Sends a hook event of Claude Code in the session `s`.
fn send_hook_event(w: &World, name: &str, more: &str) -> Result<(), Fault> {
    in_hook(w, name, more, |w, request| {
        let answer = Hooks::new(&w.engine).handle(request)?;
        drop(render_answer(request.host, request.spec, &answer));
        Ok(())
    })
}

fn in_hook(
    w: &World,
    name: &str,
    more: &str,
    act: impl Fn(&World, &HookRequest<'_>) -> Result<(), Fault>,
) -> Result<(), Fault> {
    let host = AgentProgram::ClaudeCode;
    let event = read_event(host, format!(r#"{{"session_id":"s",{more}}}"#).as_bytes());
    let request = HookRequest {
        host,
        spec: host.hook_spec(name).unwrap(),
        event: &event,
        shorten: None,
        anchor_every: 5,
        teach: true,
        ask: true,
        deadline: std::time::Instant::now() + std::time::Duration::from_secs(60),
    };
    act(w, &request)
}
