//! Tool `context`: assembles a context within a budget.

use super::model_instructions::DATA_NOTICE;
use super::schema::ToolArgument;
use super::tool::{Effect, Tool, ToolAnswer, ToolCall, data_schema};
use heirloom_engine::ContextRequest;
use heirloom_model::{Budget, Fault, limits, text};
use serde_json::{Value, json};

pub(super) const TOOL: Tool = Tool {
    name: "context",
    title: "Context",
    about: "What matters for the current work in one text: task, steps, open errors, decisions, facts, past attempts. Call \
            it when you begin.",
    fields: &[
        ToolArgument::name("task", ""),
        ToolArgument::text(
            "query",
            "Also search for these words",
            limits::RECALL_QUERY_BYTES_MAX,
        ),
        ToolArgument::count(
            "budget_tokens",
            "",
            1,
            limits::CONTEXT_BUDGET_TOKENS_MAX as u64,
        ),
        ToolArgument::count(
            "budget_chars",
            "",
            1,
            limits::CONTEXT_BUDGET_CHARS_MAX as u64,
        )
        .unlisted(),
        ToolArgument::name("phase", "").unlisted(),
        ToolArgument::name("agent", "").unlisted(),
        ToolArgument::name("plan", "PLAN or STAGE/PLAN").unlisted(),
        ToolArgument::name("group", "").unlisted(),
        ToolArgument::name("session", "").unlisted(),
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
            "receipt": {"type": "string", "description": "The id of its receipt, if one was stored"},
        },
        "required": ["about", "text", "chars", "tokens", "sections", "notes"],
    })
}

fn call(call: &ToolCall<'_>) -> Result<ToolAnswer, Fault> {
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
        prompt: None,
        invocation: None,
        separate_rules: false,
    };
    let context = call.engine.contexts().build(&request)?;
    let sections = context.sections.iter().map(|section| {
        let included = section
            .items
            .iter()
            .filter(|item| item.is_included())
            .count();
        json!({
            "name": section.name,
            "chars": section.chars,
            "included": included,
            "left_out": section.items.len() - included,
        })
    });
    let mut value = json!({
        "about": DATA_NOTICE,
        "text": context.text,
        "chars": text::chars(&context.text),
        "tokens": text::tokens(&context.text),
        "sections": sections.collect::<Vec<_>>(),
        "notes": context.notes,
    });
    // The context is useful without a receipt, which cannot be stored in read-only memory.
    if let Ok(Some(id)) = call
        .engine
        .contexts()
        .store_receipt(&request, &context, None)
    {
        value["receipt"] = json!(id.to_string());
    }
    let envelope = call.engine.contexts().render_envelope(&context.text);
    let text = match envelope.is_empty() {
        true => "Memory has no context for this yet.".to_owned(),
        false => envelope,
    };
    Ok(ToolAnswer { text, value })
}
