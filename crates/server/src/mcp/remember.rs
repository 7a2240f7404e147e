//! `remember`: something worth knowing, as a proposal.

use super::shape::Field;
use super::tool::{Answer, Call, Effect, Tool, applied, redacted_schema, written, written_schema};
use heirloom_engine::{Applied, NewRecord};
use heirloom_model::conflict::may_arbitrate;
use heirloom_model::{Fault, limits};
use serde_json::{Value, json};

pub(super) const TOOL: Tool = Tool {
    name: "remember",
    title: "Remember",
    about: "Keep something worth knowing in later sessions: a fact, decision, convention, preference or learning, one \
            sentence each. It counts at once and is marked as proposed by you. With a key, a later value takes the \
            place of an earlier one. Do not keep what the code says by itself, nor secrets.",
    fields: &[
        Field::text(
            "text",
            "What is to be remembered",
            limits::RECORD_TEXT_BYTES_MAX,
        )
        .required(),
        Field::name(
            "category",
            "fact (the default), decision, convention, learning, or any other word",
        ),
        Field::text(
            "key",
            "A later value for the same key takes its place",
            limits::KEY_BYTES_MAX,
        ),
        Field::share("confidence", "How sure you are, 0 to 1; 0.8"),
        Field::name(
            "source",
            "Who says so: an agent's id; you, if it is not said",
        ),
        Field::text(
            "rationale",
            "Why, for a decision",
            limits::RECORD_TEXT_BYTES_MAX,
        ),
        Field::name("task", "The task that it belongs to"),
        Field::name("plan", "The plan"),
        Field::name("group", "The group of agents"),
        Field::name("session", "The session"),
        Field::name("agent", "The agent"),
        Field::name("phase", "The phase of the task"),
        Field::count(
            "iteration",
            "The iteration of a run, from 1",
            1,
            u32::MAX as u64,
        ),
        Field::time("true_from", "From when on it holds"),
        Field::time("true_to", "Until when it holds"),
    ],
    output,
    effect: Effect::AddsOnce,
    call,
};

fn output() -> Value {
    written_schema(json!({
        "proposal": {"type": "boolean", "description": "It waits for somebody to accept it, and counts until then"},
        "redacted": redacted_schema(),
    }))
}

fn call(call: &Call<'_>) -> Result<Answer, Fault> {
    let args = &call.args;
    let source = call.source()?;
    let proposal = !may_arbitrate(&source);
    let remembered = call.engine.remember(NewRecord {
        text: args.needed("text")?,
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
    let mut value = applied(&Applied {
        id: remembered.id,
        verdict: remembered.verdict,
        other: remembered.winner,
    });
    value["proposal"] = json!(proposal);
    value["redacted"] = json!(remembered.redacted);
    Ok(written(value))
}
