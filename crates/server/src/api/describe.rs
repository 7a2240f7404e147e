//! What holds for every route, laid over the description that the routes give of themselves.

use heirloom_model::limits;
use serde::Serialize;
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;
use utoipa::ToSchema;
use utoipa::openapi::path::Operation;
use utoipa::openapi::security::{Http, HttpAuthScheme, SecurityRequirement, SecurityScheme};
use utoipa::openapi::{Components, Content, OpenApi, PathItem, Ref, RefOr, ResponseBuilder};
use utoipa::{PartialSchema, openapi};

/// An error as RFC 9457 has it.
#[derive(Debug, Serialize, ToSchema)]
struct ProblemDocument {
    /// Always `about:blank`: the status says what sort it is.
    r#type: String,
    title: String,
    status: u16,
    /// What went wrong, and where.
    detail: String,
    /// What to do next.
    hint: Option<String>,
}

/// Adds what every operation may answer, and how clients say who they are.
pub(super) fn complete(document: &mut OpenApi, version: &str) {
    document.info = openapi::Info::new("Heirloom", version);
    document.info.description =
        Some("What one session learns, the next inherits: memory for coding agents.".to_owned());
    let components = document.components.get_or_insert_with(Components::new);
    components
        .schemas
        .insert("ProblemDocument".to_owned(), ProblemDocument::schema());
    components.add_security_scheme(
        "token",
        SecurityScheme::Http(Http::new(HttpAuthScheme::Bearer)),
    );
    let none: [&str; 0] = [];
    document.security = Some(vec![SecurityRequirement::new("token", none)]);
    for item in document.paths.paths.values_mut() {
        operations(item).for_each(answer_with_problems);
    }
}

fn operations(item: &mut PathItem) -> impl Iterator<Item = &mut Operation> {
    let all = [
        &mut item.get,
        &mut item.post,
        &mut item.put,
        &mut item.patch,
        &mut item.delete,
    ];
    all.into_iter().filter_map(Option::as_mut)
}

fn answer_with_problems(operation: &mut Operation) {
    let schema = Ref::from_schema_name("ProblemDocument");
    let content = Content::new(Some(RefOr::Ref(schema)));
    let problem = ResponseBuilder::new()
        .description("What went wrong, and what to do next")
        .content("application/problem+json", content)
        .build();
    for status in [
        "400", "401", "403", "404", "405", "408", "409", "412", "413", "415", "422", "500", "503",
        "507",
    ] {
        let responses = &mut operation.responses.responses;
        responses
            .entry(status.to_owned())
            .or_insert_with(|| problem.clone().into());
    }
    for response in operation.responses.responses.values_mut() {
        if let RefOr::T(response) = response
            && response.description.is_empty()
        {
            response.description = "Done".to_owned();
        }
    }
}

/// An agent, plain or in quotes, and how much of its last output: the part of invocations that needs no files.
const INVOCATION: &str = concat!(
    "^[ \\t\\r\\n]*(",
    "[^\\s\";\\[\\]\\u0000-\\u001f\\u007f-\\u009f][^;\\[\\]\\u0000-\\u001f\\u007f-\\u009f]*",
    "|\"[^\\s\"\\\\\\u0000-\\u001f\\u007f-\\u009f][^\"\\\\\\u0000-\\u001f\\u007f-\\u009f]*\"",
    ")(\\[tail:[1-9][0-9]?\\])?[ \\t\\r\\n]*$"
);
/// Fields that are names: of a task, an agent, a project.
pub(super) const NAMES: [&str; 13] = [
    "project",
    "category",
    "source",
    "task_id",
    "agent_id",
    "plan",
    "group",
    "session_id",
    "phase",
    "near_task",
    "section",
    "sender",
    "session",
];
/// A name: something to see, and nothing that steers a terminal.
const NAME: &str = "^[^\\u0000-\\u001f\\u007f-\\u009f]*[^\\s\\u0000-\\u001f\\u007f-\\u009f][^\\u0000-\\u001f\\u007f-\\u009f]*$";
/// Characters of a name; of other scripts than this one fewer fit.
const NAME_CHARS: usize = limits::NAME_BYTES_MAX;
/// An id of a record, which is what a list goes on behind.
const ID: &str = "^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$";
/// The kinds of records.
const KINDS: &str = "knowledge|task|step|error|episode|artifact|output|note|summary";
/// A time in RFC 3339.
const TIME: &str =
    "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\\.[0-9]+)?(Z|[+-][0-9]{2}:[0-9]{2})$";

/// Says of what is asked for which values are taken, wherever a field has the same name.
pub(super) fn bounds(document: &mut Value) {
    let mut asked = BTreeSet::new();
    let paths = document.get_mut("paths").and_then(Value::as_object_mut);
    for (path, item) in paths.into_iter().flatten() {
        for operation in item
            .as_object_mut()
            .into_iter()
            .flatten()
            .map(|(_, one)| one)
        {
            references(&operation["requestBody"], &mut asked);
            let parameters = operation
                .get_mut("parameters")
                .and_then(Value::as_array_mut);
            for parameter in parameters.into_iter().flatten() {
                let name = parameter["name"].as_str().unwrap_or("").to_owned();
                let is_in_path = parameter["in"] == "path";
                if let Some(schema) = parameter.get_mut("schema").and_then(Value::as_object_mut) {
                    match is_in_path {
                        true => bound_in_path(path, schema),
                        false => bound(&name, schema),
                    }
                }
            }
        }
    }
    let Some(schemas) = document["components"]["schemas"].as_object_mut() else {
        return;
    };
    // What a body is made of, level by level.
    loop {
        let before = asked.len();
        for name in asked.clone() {
            references(schemas.get(&name).unwrap_or(&Value::Null), &mut asked);
        }
        if asked.len() == before {
            break;
        }
    }
    for name in asked {
        if let Some(schema) = schemas.get_mut(&name) {
            bound_within(schema);
        }
    }
}

/// The components that are named in a part of the description.
fn references(part: &Value, found: &mut BTreeSet<String>) {
    match part {
        Value::Object(map) => {
            if let Some(name) = map.get("$ref").and_then(Value::as_str) {
                found.extend(name.rsplit('/').next().map(str::to_owned));
            }
            map.values().for_each(|value| references(value, found));
        }
        Value::Array(items) => items.iter().for_each(|item| references(item, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn bound_within(schema: &mut Value) {
    let Some(map) = schema.as_object_mut() else {
        return;
    };
    if let Some(properties) = map.get_mut("properties").and_then(Value::as_object_mut) {
        // Of a body an approach may be empty: then it says none.
        for (name, schema) in properties
            .iter_mut()
            .filter(|(name, _)| *name != "approach")
        {
            if let Some(schema) = schema.as_object_mut() {
                bound(name, schema);
            }
        }
    }
    for parts in ["allOf", "oneOf", "anyOf"] {
        let parts = map.get_mut(parts).and_then(Value::as_array_mut);
        parts.into_iter().flatten().for_each(bound_within);
    }
}

/// What a field of this name takes.
fn bound(name: &str, schema: &mut Map<String, Value>) {
    let is_text = match schema.get("type") {
        Some(Value::String(sort)) => sort == "string",
        Some(Value::Array(sorts)) => sorts.contains(&json!("string")),
        _ => false,
    };
    let mut put = |name: &str, value: Value| schema.insert(name.to_owned(), value);
    match name {
        name if is_text && NAMES.contains(&name) => {
            put("minLength", json!(1));
            put("maxLength", json!(NAME_CHARS));
            put("pattern", json!(NAME));
        }
        "cursor" | "keep" if is_text => {
            put("pattern", json!(ID));
        }
        "since" | "until" | "true_from" | "true_to" | "as_of" => {
            put("pattern", json!(TIME));
        }
        "query" | "approach" | "text" | "value" if is_text => {
            put("minLength", json!(1));
            put("pattern", json!("\\S"));
        }
        "first" | "second" => {
            put("pattern", json!("^[0-9a-f]{8}[0-9a-f-]{0,28}$"));
        }
        "budget_chars" => {
            put("minimum", json!(1));
            put("maximum", json!(limits::CONTEXT_BUDGET_CHARS_MAX));
        }
        "budget_tokens" => {
            put("minimum", json!(1));
            put("maximum", json!(limits::RECALL_BUDGET_TOKENS_MAX));
        }
        "kind" => {
            put("pattern", json!(format!("^({KINDS})$")));
        }
        "kinds" => {
            put(
                "pattern",
                json!(format!("^({KINDS}|message)(,({KINDS}|message))*$")),
            );
        }
        "invocation" => {
            put("pattern", json!(INVOCATION));
            put("maxLength", json!(NAME_CHARS));
        }
        "task_context" => {
            put(
                "propertyNames",
                json!({"minLength": 1, "maxLength": NAME_CHARS, "pattern": NAME}),
            );
        }
        _ => {}
    }
}

/// What stands in a path.
fn bound_in_path(path: &str, schema: &mut Map<String, Value>) {
    let named = ["/sessions/", "/tasks/", "/groups/"]
        .iter()
        .any(|part| path.contains(part));
    if named {
        schema.insert("maxLength".to_owned(), json!(NAME_CHARS));
    }
    let pattern = match path {
        _ if named => NAME,
        _ => "^[0-9a-f]{8}[0-9a-f-]{0,28}$",
    };
    schema.insert("pattern".to_owned(), json!(pattern));
    schema.insert("minLength".to_owned(), json!(1));
}
