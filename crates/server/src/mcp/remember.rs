//! Tool `remember`: stores knowledge as a proposal.

use super::schema::ToolArgument;
use super::tool::{
    Effect, Tool, ToolAnswer, ToolCall, redacted_schema, write_answer, write_schema, write_value,
};
use heirloom_engine::{AppliedChange, NewRecord};
use heirloom_model::conflict::can_arbitrate;
use heirloom_model::{Fault, limits};
use serde_json::{Value, json};

pub(super) const TOOL: Tool = Tool {
    name: "remember",
    title: "Remember",
    about: "Store something worth knowing in later sessions: a fact, decision, convention, preference or learning, one \
            sentence each. It is used at once and marked as proposed by you. With a key, a later value replaces \
            an earlier one. Do not store what the code shows, nor secrets.",
    fields: &[
        ToolArgument::text(
            "text",
            "The text to remember",
            limits::RECORD_TEXT_BYTES_MAX,
        )
        .required(),
        ToolArgument::name(
            "category",
            "fact (the default), decision, convention, learning, or any other word",
        ),
        ToolArgument::text(
            "key",
            "A later value for the same key replaces it",
            limits::KEY_BYTES_MAX,
        ),
        ToolArgument::share("confidence", "How sure you are, 0 to 1; 0.8"),
        ToolArgument::name("source", "Source: an agent's id; you by default"),
        ToolArgument::text(
            "rationale",
            "Why, for a decision",
            limits::RECORD_TEXT_BYTES_MAX,
        ),
        ToolArgument::name("task", "The task that it belongs to"),
        ToolArgument::name("plan", "The plan"),
        ToolArgument::name("group", "The group of agents"),
        ToolArgument::name("session", "The session"),
        ToolArgument::name("agent", "The agent"),
        ToolArgument::name("phase", "The phase of the task"),
        ToolArgument::count(
            "iteration",
            "The iteration of a run, from 1",
            1,
            u32::MAX as u64,
        ),
        ToolArgument::time("true_from", "From when on it holds"),
        ToolArgument::time("true_to", "Until when it holds"),
    ],
    output,
    effect: Effect::AddsOnce,
    call,
};

fn output() -> Value {
    write_schema(json!({
        "proposal": {"type": "boolean", "description": "True if a user has not accepted it yet; it is used until then"},
        "redacted": redacted_schema(),
    }))
}

fn call(call: &ToolCall<'_>) -> Result<ToolAnswer, Fault> {
    let args = &call.args;
    let source = call.source()?;
    let proposal = !can_arbitrate(&source);
    let remembered = call.engine.records().remember(NewRecord {
        text: args.require("text")?,
        kind: None,
        category: args.text("category"),
        key: args.text("key"),
        confidence: args.share("confidence"),
        source: Some(source),
        rationale: args.text("rationale"),
        scope: call.scope(),
        true_from: args.time("true_from"),
        true_to: args.time("true_to"),
    })?;
    let mut value = write_value(&AppliedChange {
        id: remembered.id,
        verdict: remembered.verdict,
        other: remembered.winner,
    });
    value["proposal"] = json!(proposal);
    value["redacted"] = json!(remembered.redacted);
    Ok(write_answer(value))
}
