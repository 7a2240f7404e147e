//! Tool `workspace`: reads and extends the Markdown files that people and agents edit.

use super::model_instructions::DATA_NOTICE;
use super::schema::ToolArgument;
use super::tool::{Effect, Tool, ToolAnswer, ToolCall, data_schema, nullable_string};
use super::write_answer::redacted_schema;
use crate::access::user_workspace_fault;
use heirloom_engine::{ChangeAuthor, Engine, EntryReport, Workspace, WorkspaceEntry};
use heirloom_model::text::EscapedPath;
use heirloom_model::{Fault, limits};
use rmcp::model::JsonObject;
use serde_json::{Value, json};

const ACTIONS: &[&str] = &["show", "fact", "learning", "error", "daily", "feature"];

pub(super) const TOOL: Tool = Tool {
    name: "workspace",
    title: "Workspace",
    about: "The project's Markdown files that people read and edit. show prints them; fact, learning, error, daily and \
            feature add an entry. Use it when the user asks for these files, otherwise remember.",
    fields: &[
        ToolArgument::choice("action", "", ACTIONS).required(),
        ToolArgument::text("text", "", limits::WORKSPACE_ENTRY_BYTES_MAX),
        ToolArgument::text("solution", "For error", limits::WORKSPACE_ENTRY_BYTES_MAX),
        ToolArgument::flag("user", "In the user's own workspace"),
    ],
    output,
    effect: Effect::AddsOnce,
    call,
};

/// Names of the actions in one agent program, each with the arguments that have the text; accepted but not listed.
const ALIASES: [(&str, &str, &[&str]); 5] = [
    ("workspace_save_fact", "fact", &["fact"]),
    (
        "workspace_log_learning",
        "learning",
        &["learning", "lesson", "insight"],
    ),
    (
        "workspace_log_error",
        "error",
        &["error", "pattern", "error_pattern", "message"],
    ),
    (
        "workspace_daily_log",
        "daily",
        &["entry", "log", "line", "message"],
    ),
    (
        "workspace_feature_request",
        "feature",
        &["feature", "request", "description"],
    ),
];

/// Sets the action of a call by an alias, and renames its text; returns false for another name. An argument with our
/// name has precedence.
pub(super) fn rename_alias_fields(name: &str, arguments: &mut Option<JsonObject>) -> bool {
    let Some((_, action, texts)) = ALIASES.into_iter().find(|(alias, ..)| *alias == name) else {
        return false;
    };
    let arguments = arguments.get_or_insert_default();
    drop(arguments.insert("action".to_owned(), json!(action)));
    if !["text", "content", "value"]
        .iter()
        .any(|ours| arguments.contains_key(*ours))
        && let Some(text) = texts.iter().find_map(|theirs| arguments.remove(*theirs))
    {
        arguments.insert("text".to_owned(), text);
    }
    true
}

fn output() -> Value {
    json!({
        "type": "object",
        "properties": {
            "about": data_schema(),
            "text": {"type": "string", "description": "For show: the content of the files"},
            "notes": {"type": "array", "items": {"type": "string"}},
            "outcome": {"type": "string", "enum": ["shown", "added", "unchanged"]},
            "path": {"type": "string", "description": "The file that has the entry"},
            "archived": nullable_string(),
            "undo": nullable_string(),
            "redacted": redacted_schema(),
        },
        "required": ["outcome"],
    })
}

fn call(call: &ToolCall<'_>) -> Result<ToolAnswer, Fault> {
    let (args, engine) = (&call.args, call.engine);
    let argument = |name: &str| args.require(name);
    let text = |entry: fn(String) -> WorkspaceEntry| Ok::<_, Fault>(entry(argument("text")?));
    let entry = match args.require("action")?.as_str() {
        "fact" => text(WorkspaceEntry::Fact)?,
        "learning" => text(WorkspaceEntry::Learning)?,
        "error" => WorkspaceEntry::Error {
            pattern: argument("text")?,
            solution: args.text("solution"),
        },
        "daily" => text(WorkspaceEntry::Daily)?,
        "feature" => text(WorkspaceEntry::Feature)?,
        _ => {
            engine.require_files()?;
            return Ok(show_files(engine));
        }
    };
    let owner = match (args.flag("user"), call.project) {
        (false, _) => Workspace::Project,
        (true, None) => Workspace::User,
        (true, Some(project)) => return Err(user_workspace_fault(project)),
    };
    let author = ChangeAuthor {
        source: call.client,
        holder: call.holder,
    };
    let written = engine.workspace().add(owner, &entry, author)?;
    Ok(write_outcome(&written))
}

fn write_outcome(written: &EntryReport) -> ToolAnswer {
    let path = written.path.to_escaped();
    let outcome = if written.added { "added" } else { "unchanged" };
    let archived = written.archived.as_ref().map(|path| path.to_escaped());
    ToolAnswer {
        text: format!("{outcome}: {path}"),
        value: json!({
            "outcome": outcome,
            "path": path,
            "archived": archived,
            "redacted": written.redacted,
            "undo": written.change.map(|id| id.to_string()),
        }),
    }
}

fn show_files(engine: &Engine) -> ToolAnswer {
    let section = engine.workspace().section();
    let texts: Vec<_> = section
        .offers
        .iter()
        .map(|offer| offer.text.as_str())
        .collect();
    let text = texts.join("\n");
    let envelope = engine.contexts().render_envelope(&text);
    ToolAnswer {
        text: match envelope.is_empty() {
            true => "The workspace is empty.".to_owned(),
            false => envelope,
        },
        value: json!({"about": DATA_NOTICE, "outcome": "shown", "text": text, "notes": section.notes}),
    }
}
