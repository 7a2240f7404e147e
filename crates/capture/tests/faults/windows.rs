//! Fault table of windows of conversations.

use crate::table::Again::Nothing;
use crate::table::Leaves::{AllOrNothing, Steps};
use crate::table::{Operation, fill_outputs_and_history, row};
use crate::world::World;
use heirloom_engine::WindowRequest;
use heirloom_model::Fault;
use heirloom_window::Policy;

/// Operations on windows of conversations.
pub(crate) fn windows() -> Vec<Operation> {
    vec![
        row(
            "compact",
            fill_outputs_and_history,
            |w| compact_conversation(w).map(drop),
            Steps("the turns of a conversation are written first, then their position"),
            Nothing,
        ),
        row(
            "compact with a summary",
            fill_outputs_and_history,
            create_summarised_window,
            Steps(
                "the record of a summary and its line in the log come before the turns, each once",
            ),
            Nothing,
        ),
        row(
            "session_window",
            create_summarised_window,
            |w| w.engine.window().session("talk").map(drop),
            AllOrNothing,
            Nothing,
        ),
        row(
            "expand",
            |w| compact_conversation(w).map(drop),
            |w| {
                let id = heirloom_model::text::hash16(&"line\n".repeat(2_000));
                w.engine.window().expand(&id, Some("talk")).map(drop)
            },
            AllOrNothing,
            Nothing,
        ),
    ]
}

/// Creates a summarised conversation of a group.
fn create_summarised_window(w: &World) -> Result<(), Fault> {
    let mut long = vec![
        serde_json::json!({"role": "user", "content": "find out why the deploy fails on every second Monday"}),
    ];
    for n in 0..30 {
        let id = format!("c{n}");
        long.push(
            serde_json::json!({"role": "assistant", "content": null, "tool_calls": [
                {"id": id, "type": "function", "function": {"name": "bash", "arguments": "{}"}}
            ]}),
        );
        let text = format!("line {n} of the log\n").repeat(100);
        long.push(serde_json::json!({"role": "tool", "tool_call_id": id, "content": text}));
    }
    let made = w.engine.window().compact(&WindowRequest {
        history: &serde_json::Value::Array(long).to_string(),
        form: None,
        model: None,
        policy: &Policy::default().with_target(6_000),
        session: Some("talk"),
        agent: Some("coder"),
        group: Some("mine"),
    })?;
    assert!(made.report.summary.is_some());
    Ok(())
}

/// Creates a conversation with an output that is too long for a window.
fn compact_conversation(w: &World) -> Result<(), Fault> {
    let long = serde_json::json!([
        {"role": "user", "content": "find out why the deploy fails on every second Monday"},
        {"role": "assistant", "content": null, "tool_calls": [
            {"id": "c1", "type": "function", "function": {"name": "bash", "arguments": "{}"}}
        ]},
        {"role": "tool", "tool_call_id": "c1", "content": "line\n".repeat(2_000)},
    ]);
    let made = w.engine.window().compact(&WindowRequest {
        history: &long.to_string(),
        form: None,
        model: None,
        policy: &Policy::default(),
        session: Some("talk"),
        agent: None,
        group: None,
    })?;
    assert_eq!(made.report.shortened.len(), 1);
    Ok(())
}
