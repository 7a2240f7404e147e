//! `context`: what is known for the next prompt, inside a budget.

use super::shape::Field;
use super::tool::{Answer, Call, DATA, Effect, Tool, data_schema};
use heirloom_engine::ContextRequest;
use heirloom_model::{Budget, Fault, limits, text};
use serde_json::{Value, json};

pub(super) const TOOL: Tool = Tool {
    name: "context",
    title: "Context",
    about: "What memory has for the work at hand, as one text inside a budget: the task, its steps, open errors, \
            decisions, facts, what was tried. Ask at the beginning of a session or of a task.",
    fields: &[
        Field::name("task", "The current task"),
        Field::name("phase", "The current phase"),
        Field::name("agent", "The agent that is asked"),
        Field::name("plan", "The plan: PLAN or STAGE/PLAN"),
        Field::name("group", "The group of agents"),
        Field::name("session", "The session that goes on"),
        Field::text(
            "query",
            "Words to ask memory with besides",
            limits::RECALL_QUERY_BYTES_MAX,
        ),
        Field::count(
            "budget_chars",
            "At most so many characters; else the configured number",
            1,
            limits::CONTEXT_BUDGET_CHARS_MAX as u64,
        ),
        Field::count(
            "budget_tokens",
            "At most so many tokens, at four characters each",
            1,
            limits::CONTEXT_BUDGET_TOKENS_MAX as u64,
        ),
    ],
    output,
    effect: Effect::Reads,
    call,
};

fn output() -> Value {
    let section = json!({
        "type": "object",
        "properties": {
            "name": {"type": "string"},
            "chars": {"type": "integer"},
            "included": {"type": "integer"},
            "left_out": {"type": "integer"},
        },
        "required": ["name", "chars", "included", "left_out"],
    });
    json!({
        "type": "object",
        "properties": {
            "about": data_schema(),
            "text": {"type": "string"},
            "chars": {"type": "integer"},
            "tokens": {"type": "integer"},
            "sections": {"type": "array", "items": section},
            "notes": {"type": "array", "items": {"type": "string"}},
            "receipt": {"type": "string", "description": "The id of its receipt, if one was kept"},
        },
        "required": ["about", "text", "chars", "tokens", "sections", "notes"],
    })
}

fn call(call: &Call<'_>) -> Result<Answer, Fault> {
    let args = &call.args;
    let budget = match (args.size("budget_chars"), args.size("budget_tokens")) {
        (Some(_), Some(_)) => {
            return Err(Fault::usage(
                "give `budget_chars` or `budget_tokens`, not both",
            ));
        }
        (Some(chars), None) => Some(Budget::Chars(chars)),
        (None, tokens) => tokens.map(Budget::Tokens),
    };
    let request = ContextRequest {
        task: args.text("task"),
        phase: args.text("phase"),
        budget,
        agent: args.text("agent"),
        plan: args.text("plan"),
        group: args.text("group"),
        session: args.text("session"),
        query: args.text("query"),
        invocation: None,
    };
    let context = call.engine.context(&request)?;
    let sections = context.sections.iter().map(|section| {
        let included = section.items.iter().filter(|item| item.included()).count();
        json!({
            "name": section.name,
            "chars": section.chars,
            "included": included,
            "left_out": section.items.len() - included,
        })
    });
    let mut value = json!({
        "about": DATA,
        "text": context.text,
        "chars": text::chars(&context.text),
        "tokens": text::tokens(&context.text),
        "sections": sections.collect::<Vec<_>>(),
        "notes": context.notes,
    });
    // A context without its receipt is still a context: memory may be read-only.
    if let Ok(Some(id)) = call.engine.keep_receipt(&request, &context, None) {
        value["receipt"] = json!(id.to_string());
    }
    let told = call.engine.told(&context.text);
    let text = match told.is_empty() {
        true => "Memory has nothing for it yet.".to_owned(),
        false => told,
    };
    Ok(Answer { text, value })
}
