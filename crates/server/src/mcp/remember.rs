//! Tool `remember`: stores knowledge as a proposal.

use super::schema::ToolArgument;
use super::tool::{Effect, Tool, ToolAnswer, ToolCall};
use super::write_answer::{redacted_schema, write_answer, write_schema, write_value};
use heirloom_engine::{AppliedChange, NewRecord};
use heirloom_model::conflict::can_arbitrate;
use heirloom_model::{Fault, limits};
use serde_json::{Value, json};

pub(super) const TOOL: Tool = Tool {
    name: "remember",
    title: "Remember",
    about: "Keep one sentence that later sessions of this project need: a fact, decision, convention or learning. This is \
            the usual tool for that. A later value of the same key replaces the earlier one. Nothing that the code \
            shows, no secrets.",
    fields: &[
        ToolArgument::text("text", "", limits::RECORD_TEXT_BYTES_MAX).required(),
        ToolArgument::name(
            "category",
            "fact (default), decision, convention, learning or another word",
        ),
        ToolArgument::text("key", "", limits::KEY_BYTES_MAX),
        ToolArgument::text(
            "rationale",
            "Reason of a decision",
            limits::RECORD_TEXT_BYTES_MAX,
        ),
        ToolArgument::share("confidence", "").unlisted(),
        ToolArgument::name("source", "").unlisted(),
        ToolArgument::name("task", ""),
        ToolArgument::name("plan", "").unlisted(),
        ToolArgument::name("group", "").unlisted(),
        ToolArgument::name("session", "").unlisted(),
        ToolArgument::name("agent", "").unlisted(),
        ToolArgument::name("phase", "").unlisted(),
        ToolArgument::count("iteration", "", 1, u32::MAX as u64).unlisted(),
        ToolArgument::time("true_from", "").unlisted(),
        ToolArgument::time("true_to", "").unlisted(),
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
        machine: false,
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
