//! `workspace`: the Markdown files that people and agents both edit.

use super::shape::Field;
use super::tool::{Answer, Call, DATA, Effect, Tool, data_schema, maybe, redacted_schema};
use heirloom_engine::{Engine, Workspace, Written};
use heirloom_model::{Fault, limits};
use serde_json::{Value, json};

const ACTIONS: &[&str] = &["show", "fact", "learning", "error", "daily", "feature"];

pub(super) const TOOL: Tool = Tool {
    name: "workspace",
    title: "Workspace",
    about: "The project's Markdown files of memory, which people read and edit. show: what they say. fact, learning, \
            error (with a solution), daily and feature add an entry to MEMORY.md, LEARNINGS.md, ERRORS.md, today's \
            log and FEATURE_REQUESTS.md.",
    fields: &[
        Field::choice("action", "What to do", ACTIONS).required(),
        Field::text(
            "text",
            "The entry; for error what goes wrong",
            limits::WORKSPACE_ENTRY_BYTES_MAX,
        ),
        Field::text(
            "solution",
            "For error: what helps",
            limits::WORKSPACE_ENTRY_BYTES_MAX,
        ),
    ],
    output,
    effect: Effect::AddsOnce,
    call,
};

fn output() -> Value {
    json!({
        "type": "object",
        "properties": {
            "about": data_schema(),
            "text": {"type": "string", "description": "For show: what the files say"},
            "notes": {"type": "array", "items": {"type": "string"}},
            "outcome": {"type": "string", "enum": ["shown", "added", "unchanged"]},
            "path": {"type": "string", "description": "The file that has the entry"},
            "archived": maybe(),
            "redacted": redacted_schema(),
        },
        "required": ["outcome"],
    })
}

fn call(call: &Call<'_>) -> Result<Answer, Fault> {
    let (args, engine) = (&call.args, call.engine);
    let said = |name: &str| args.needed(name);
    let mine = Workspace::Project;
    let written = match args.needed("action")?.as_str() {
        "fact" => engine.workspace_save_fact(mine, &said("text")?)?,
        "learning" => engine.workspace_log_learning(mine, &said("text")?)?,
        "error" => {
            let solution = args.text("solution");
            engine.workspace_log_error(mine, &said("text")?, solution.as_deref())?
        }
        "daily" => engine.workspace_daily_log(mine, &said("text")?)?,
        "feature" => engine.workspace_feature_request(mine, &said("text")?)?,
        _ => return Ok(show(engine)),
    };
    Ok(tell(&written))
}

fn tell(written: &Written) -> Answer {
    let path = written.path.display().to_string();
    let outcome = if written.added { "added" } else { "unchanged" };
    let archived = written
        .archived
        .as_ref()
        .map(|path| path.display().to_string());
    Answer {
        text: format!("{outcome}: {path}"),
        value: json!({
            "outcome": outcome,
            "path": path,
            "archived": archived,
            "redacted": written.redacted,
        }),
    }
}

fn show(engine: &Engine) -> Answer {
    let section = engine.workspace_section();
    let texts: Vec<_> = section
        .offers
        .iter()
        .map(|offer| offer.text.as_str())
        .collect();
    let text = texts.join("\n");
    let told = engine.told(&text);
    Answer {
        text: match told.is_empty() {
            true => "The workspace says nothing yet.".to_owned(),
            false => told,
        },
        value: json!({"about": DATA, "outcome": "shown", "text": text, "notes": section.notes}),
    }
}
