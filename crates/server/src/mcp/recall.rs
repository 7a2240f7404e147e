//! Tool `recall`: searches the memory.

use super::model_instructions::DATA_NOTICE;
use super::schema::ToolArgument;
use super::tool::{Effect, Tool, ToolAnswer, ToolCall, data_schema};
use heirloom_engine::{ConversationHits, MemoryOwner, RecallRequest};
use heirloom_model::kinds::Knowledge;
use heirloom_model::prompt_safety::neutralize_markup;
use heirloom_model::record_meaning::record_meaning;
use heirloom_model::{Fault, Kind, KindData, Scope, limits, text};
use heirloom_search::recall::query::is_turn_kind;
use heirloom_search::recall::{Ranked, RecallItem};
use serde_json::{Map, Value, json};
use std::borrow::Cow;

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
    about: "Search what earlier sessions learned: facts, decisions and their reasons, errors and their fixes, attempts, \
            conversations. Ask before you decide, and when something fails. \"two words\" match adjacent words; \
            kind:error and task:42 filter.",
    fields: &[
        ToolArgument::text("query", "", limits::RECALL_QUERY_BYTES_MAX).required(),
        ToolArgument::count("k", "Hits at most; 10", 1, limits::RECALL_HITS_MAX as u64),
        ToolArgument::choices("kinds", "", KINDS),
        ToolArgument::name("task", "Only of this task"),
        ToolArgument::count(
            "budget_tokens",
            "",
            1,
            limits::RECALL_BUDGET_TOKENS_MAX as u64,
        )
        .unlisted(),
        ToolArgument::name("near_task", "Records of this task rank higher").unlisted(),
        ToolArgument::time("as_of", "Search memory as of this time (RFC 3339)"),
        ToolArgument::share("min_relevance", "0 also returns weak hits"),
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
            "meaning": {"type": "string", "description": "The text with the fix of an error, the reason of a decision or the outcome of an episode"},
            "score": {"type": "number"},
            "relevance": {"type": "number", "description": "Chance that it is about the query, 0 to 1"},
            "grade": {"type": "string", "enum": ["strong", "likely", "possible", "weak"]},
            "source": {"type": "string", "description": "The source"},
            "recorded_at": {"type": "string"},
            "scope": {"type": "object", "description": "task, agent, plan, group, session, phase, iteration"},
            "category": {"type": "string"},
            "key": {"type": "string"},
            "proposal": {"type": "boolean", "description": "Proposed by an agent and not confirmed"},
            "disputed": {"type": "boolean"},
            "from": {"type": "string", "description": "user: from the person's own memory"},
        },
        "required": ["id", "kind", "text", "score", "source", "recorded_at", "scope"],
    });
    json!({
        "type": "object",
        "properties": {
            "about": data_schema(),
            "hits": {"type": "array", "items": hit, "description": "Records, best first"},
            "conversations": {"type": "array", "items": hit, "description": "Turns of conversations, best first"},
            "weak": {"type": "integer", "description": "Number of hits that were left out because their relevance is too low"},
            "notes": {"type": "array", "items": {"type": "string"}},
            "took_us": {"type": "integer"},
        },
        "required": ["about", "hits", "conversations", "weak", "notes", "took_us"],
    })
}

fn call(call: &ToolCall<'_>) -> Result<ToolAnswer, Fault> {
    let args = &call.args;
    let scope = |task: Option<String>| Scope {
        task,
        ..Scope::default()
    };
    let kinds = args.words("kinds");
    let request = RecallRequest {
        question: args.require("query")?,
        k: args.size("k"),
        budget_tokens: args.size("budget_tokens"),
        kinds: kinds
            .iter()
            .filter_map(|kind| kind.parse::<Kind>().ok())
            .collect(),
        turns: kinds.iter().any(|kind| is_turn_kind(kind)),
        conversations: match kinds.is_empty() {
            true => ConversationHits::Best,
            false => ConversationHits::Nothing,
        },
        scope: scope(args.text("task")),
        near: scope(args.text("near_task")),
        as_of: args.time("as_of"),
        min_relevance: args.share("min_relevance"),
        ..RecallRequest::default()
    };
    let (recalled, owner) = call.engine.recall().search_all(&request)?;
    let mut lines: Vec<_> = recalled.hits.iter().map(hit_line).collect();
    if !recalled.conversations.is_empty() {
        lines.push("In conversations:".to_owned());
        lines.extend(recalled.conversations.iter().map(hit_line));
    }
    lines.extend(
        recalled
            .notes
            .iter()
            .map(|note| format!("({})", text::one_line(note))),
    );
    let hits = recalled.hits.iter().zip(owner);
    let hits: Vec<_> = hits.map(|(hit, owner)| hit_value(hit, owner)).collect();
    let turns = recalled.conversations.iter();
    let turns: Vec<_> = turns
        .map(|hit| hit_value(hit, MemoryOwner::Project))
        .collect();
    let mut envelope = call.engine.contexts().render_envelope(&lines.join("\n"));
    if hits.is_empty() && turns.is_empty() {
        let weak = match recalled.weak {
            0 => String::new(),
            1 => " 1 weak hit was left out; `min_relevance` 0 returns it.".to_owned(),
            n => format!(" {n} weak hits were left out; `min_relevance` 0 returns them."),
        };
        envelope = format!(
            "Nothing is known about it.{weak}{}{envelope}",
            if envelope.is_empty() { "" } else { "\n" }
        );
    }
    Ok(ToolAnswer {
        text: envelope,
        value: json!({
            "about": DATA_NOTICE,
            "hits": hits,
            "conversations": turns,
            "weak": recalled.weak,
            "notes": recalled.notes,
            "took_us": recalled.took_us,
        }),
    })
}

/// Formats a hit for a model: kind, source, date, relevance, and the id with which it can be forgotten.
fn hit_line(hit: &Ranked) -> String {
    let what = match &hit.item {
        RecallItem::Record(record) => match record.category() {
            Some(category) => format!("{} ({category})", record.kind.as_str()),
            None => record.kind.as_str().to_owned(),
        },
        RecallItem::Turn { session, .. } => format!("message of session {session}"),
    };
    let day: String = hit
        .item
        .recorded_at()
        .to_string()
        .chars()
        .take(10)
        .collect();
    let relevance = hit
        .grade()
        .map_or_else(String::new, |grade| format!("{}, ", grade.as_str()));
    let meaning = match &hit.item {
        RecallItem::Record(record) => record_meaning(record),
        RecallItem::Turn { message, .. } => Cow::Borrowed(message.text.as_str()),
    };
    format!(
        "- [{what}, {}, {day}, {relevance}id {}] {}",
        text::one_line(hit.item.source()),
        hit.item.id(),
        neutralize_markup(meaning.trim_end()).replace('\n', "\n  ")
    )
}

fn hit_value(hit: &Ranked, owner: MemoryOwner) -> Value {
    let (kind, scope) = match &hit.item {
        RecallItem::Record(record) => (record.kind.as_str(), scope_value(&record.scope)),
        RecallItem::Turn { session, .. } => ("message", json!({ "session": session })),
    };
    let mut value = json!({
        "id": hit.item.id().to_string(),
        "kind": kind,
        "text": hit.item.text(),
        "score": (hit.breakdown.total * 1e4).round() / 1e4,
        "scope": scope,
        "source": hit.item.source(),
        "recorded_at": hit.item.recorded_at().to_string(),
    });
    if let (Some(relevance), Some(grade)) = (hit.relevance, hit.grade()) {
        value["relevance"] = json!((relevance * 1e4).round() / 1e4);
        value["grade"] = json!(grade.as_str());
    }
    if let RecallItem::Record(record) = &hit.item {
        let meaning = record_meaning(record);
        if meaning != record.text {
            value["meaning"] = json!(meaning);
        }
        let named = [
            ("key", record.key.as_deref()),
            ("category", record.category()),
        ];
        for (name, attribute) in named {
            if let Some(attribute) = attribute {
                value[name] = json!(attribute);
            }
        }
        if let Ok(knowledge) = Knowledge::from_record(record) {
            let flags = [
                ("proposal", record.is_proposal()),
                ("disputed", knowledge.disputed),
            ];
            for (name, is) in flags {
                if is {
                    value[name] = json!(true);
                }
            }
        }
    }
    if owner == MemoryOwner::User {
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
