//! `recall`: what memory has for a question.

use super::shape::Field;
use super::tool::{Answer, Call, DATA, Effect, Tool, data_schema};
use heirloom_engine::recall::ask::is_turn;
use heirloom_engine::recall::{Item, Ranked};
use heirloom_engine::{RecallRequest, Whose};
use heirloom_model::kinds::Knowledge;
use heirloom_model::{Fault, Kind, KindData, Scope, limits, text};
use serde_json::{Map, Value, json};

const KINDS: &[&str] = &[
    "knowledge",
    "task",
    "step",
    "error",
    "episode",
    "artifact",
    "output",
    "note",
    "summary",
    "message",
];

pub(super) const TOOL: Tool = Tool {
    name: "recall",
    title: "Recall",
    about: "Ask the project's memory: facts, decisions, conventions, errors with their fixes, what was tried, and \
            conversations, best first. Ask before you decide, and when something fails. In the query, \"two words\" \
            stand next to each other, and kind:error or task:42 narrow.",
    fields: &[
        Field::text(
            "query",
            "The question, in words",
            limits::RECALL_QUERY_BYTES_MAX,
        )
        .required(),
        Field::count(
            "k",
            "At most so many hits; 10",
            1,
            limits::RECALL_HITS_MAX as u64,
        ),
        Field::count(
            "budget_tokens",
            "At most so many tokens of text",
            1,
            limits::RECALL_BUDGET_TOKENS_MAX as u64,
        ),
        Field::choices(
            "kinds",
            "Only these kinds; message for turns of conversations",
            KINDS,
        ),
        Field::name("task", "Only of this task"),
        Field::name("near_task", "Rank what belongs to this task higher"),
        Field::time("as_of", "What was current at this time"),
    ],
    output,
    effect: Effect::Reads,
    call,
};

fn output() -> Value {
    let hit = json!({
        "type": "object",
        "properties": {
            "id": {"type": "string"},
            "kind": {"type": "string"},
            "text": {"type": "string"},
            "score": {"type": "number"},
            "source": {"type": "string", "description": "Who said it"},
            "recorded_at": {"type": "string"},
            "scope": {"type": "object", "description": "task, agent, plan, group, session, phase, iteration"},
            "category": {"type": "string"},
            "key": {"type": "string"},
            "proposal": {"type": "boolean", "description": "An agent said it, and nobody has looked at it"},
            "disputed": {"type": "boolean"},
            "from": {"type": "string", "description": "user: from the person's own memory"},
        },
        "required": ["id", "kind", "text", "score", "source", "recorded_at", "scope"],
    });
    json!({
        "type": "object",
        "properties": {
            "about": data_schema(),
            "hits": {"type": "array", "items": hit},
            "notes": {"type": "array", "items": {"type": "string"}},
            "took_us": {"type": "integer"},
        },
        "required": ["about", "hits", "notes", "took_us"],
    })
}

fn call(call: &Call<'_>) -> Result<Answer, Fault> {
    let args = &call.args;
    let scope = |task: Option<String>| Scope {
        task,
        ..Scope::default()
    };
    let kinds = args.words("kinds");
    let request = RecallRequest {
        question: args.needed("query")?,
        k: args.size("k"),
        budget_tokens: args.size("budget_tokens"),
        kinds: kinds
            .iter()
            .filter_map(|kind| kind.parse::<Kind>().ok())
            .collect(),
        turns: kinds.iter().any(|kind| is_turn(kind)),
        scope: scope(args.text("task")),
        near: scope(args.text("near_task")),
        as_of: args.time("as_of"),
        ..RecallRequest::default()
    };
    let (recalled, whose) = call.engine.recall_all(&request)?;
    let mut lines: Vec<_> = recalled.hits.iter().map(line).collect();
    lines.extend(
        recalled
            .notes
            .iter()
            .map(|note| format!("({})", text::one_line(note))),
    );
    let hits = recalled.hits.iter().zip(whose);
    let hits: Vec<_> = hits.map(|(hit, whose)| hit_value(hit, whose)).collect();
    let mut told = call.engine.told(&lines.join("\n"));
    if hits.is_empty() {
        told = format!(
            "Nothing is known about it.{}{told}",
            if told.is_empty() { "" } else { "\n" }
        );
    }
    Ok(Answer {
        text: told,
        value: json!({
            "about": DATA,
            "hits": hits,
            "notes": recalled.notes,
            "took_us": recalled.took_us,
        }),
    })
}

/// A hit as a model reads it: what it is, who said it, and its id, by which it can be forgotten.
fn line(hit: &Ranked) -> String {
    let what = match &hit.item {
        Item::Record(record) => match record.category() {
            Some(category) => format!("{} ({category})", record.kind.as_str()),
            None => record.kind.as_str().to_owned(),
        },
        Item::Turn { session, .. } => format!("message of session {session}"),
    };
    let day: String = hit
        .item
        .recorded_at()
        .to_string()
        .chars()
        .take(10)
        .collect();
    format!(
        "- [{what}, {}, {day}, id {}] {}",
        text::one_line(hit.item.source()),
        hit.item.id(),
        hit.item.text().trim_end().replace('\n', "\n  ")
    )
}

fn hit_value(hit: &Ranked, whose: Whose) -> Value {
    let (kind, scope) = match &hit.item {
        Item::Record(record) => (record.kind.as_str(), scope_value(&record.scope)),
        Item::Turn { session, .. } => ("message", json!({ "session": session })),
    };
    let mut value = json!({
        "id": hit.item.id().to_string(),
        "kind": kind,
        "text": hit.item.text(),
        "score": (hit.parts.total * 1e4).round() / 1e4,
        "scope": scope,
        "source": hit.item.source(),
        "recorded_at": hit.item.recorded_at().to_string(),
    });
    if let Item::Record(record) = &hit.item {
        let named = [
            ("key", record.key.as_deref()),
            ("category", record.category()),
        ];
        for (name, said) in named {
            if let Some(said) = said {
                value[name] = json!(said);
            }
        }
        if let Ok(knowledge) = Knowledge::of(record) {
            let flags = [
                ("proposal", knowledge.proposal),
                ("disputed", knowledge.disputed),
            ];
            for (name, is) in flags {
                if is {
                    value[name] = json!(true);
                }
            }
        }
    }
    if whose == Whose::User {
        value["from"] = json!("user");
    }
    value
}

fn scope_value(scope: &Scope) -> Value {
    let names = scope.names().into_iter();
    let mut set: Map<String, Value> = names
        .filter_map(|(name, value)| Some((name.to_owned(), json!(value?))))
        .collect();
    if let Some(iteration) = scope.iteration {
        set.insert("iteration".to_owned(), json!(iteration));
    }
    Value::Object(set)
}
