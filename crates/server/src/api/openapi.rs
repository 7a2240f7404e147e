//! Parts of the OpenAPI description that are common to all routes.

use super::fixed_words::{TURN_KIND, record_kinds};
use heirloom_model::limits;
use serde::Serialize;
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;
use utoipa::ToSchema;
use utoipa::openapi::path::Operation;
use utoipa::openapi::security::{Http, HttpAuthScheme, SecurityRequirement, SecurityScheme};
use utoipa::openapi::{Components, Content, OpenApi, PathItem, Ref, RefOr, ResponseBuilder};
use utoipa::{PartialSchema, openapi};

/// Problem document (RFC 9457).
#[derive(Debug, Serialize, ToSchema)]
struct ProblemDocument {
    /// Always `about:blank`; the status is the type.
    r#type: String,
    title: String,
    status: u16,
    /// Cause and location.
    detail: String,
    /// Next step.
    hint: Option<String>,
}

/// Description of the API.
const DESCRIPTION: &str = "Memory and context for coding agents. Answers of later versions may have more fields, and \
                           more words than an `enum` of an answer lists: accept both.";

/// Adds the error responses of every operation, and the authentication scheme.
pub(super) fn add_common_parts(document: &mut OpenApi, version: &str) {
    document.info = openapi::Info::new("Heirloom", version);
    document.info.description = Some(DESCRIPTION.to_owned());
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
        operations_mut(item).for_each(add_problem_responses);
    }
}

fn operations_mut(item: &mut PathItem) -> impl Iterator<Item = &mut Operation> {
    let all = [
        &mut item.get,
        &mut item.post,
        &mut item.put,
        &mut item.patch,
        &mut item.delete,
    ];
    all.into_iter().filter_map(Option::as_mut)
}

fn add_problem_responses(operation: &mut Operation) {
    let schema = Ref::from_schema_name("ProblemDocument");
    let content = Content::new(Some(RefOr::Ref(schema)));
    let problem = ResponseBuilder::new()
        .description("Problem document with cause and next step")
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

/// Pattern of an agent, plain or quoted, with an optional `[tail:N]`: the part of invocations that needs no files.
const INVOCATION: &str = concat!(
    "^[ \\t\\r\\n]*(",
    "[^\\s\";\\[\\]\\u0000-\\u001f\\u007f-\\u009f][^;\\[\\]\\u0000-\\u001f\\u007f-\\u009f]*",
    "|\"[^\\s\"\\\\\\u0000-\\u001f\\u007f-\\u009f][^\"\\\\\\u0000-\\u001f\\u007f-\\u009f]*\"",
    ")(\\[tail:[1-9][0-9]?\\])?[ \\t\\r\\n]*$"
);
/// Fields with a name of a task, agent, project or other scope.
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
/// Pattern of a name: at least one visible character, no control characters.
const NAME: &str = "^[^\\u0000-\\u001f\\u007f-\\u009f]*[^\\s\\u0000-\\u001f\\u007f-\\u009f][^\\u0000-\\u001f\\u007f-\\u009f]*$";
/// Maximum number of characters in a name; with multi-byte scripts fewer fit.
const NAME_CHARS: usize = limits::NAME_BYTES_MAX;
/// Pattern of a record id, which is also a cursor.
const ID: &str = "^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$";
/// Pattern of a time in RFC 3339.
const TIME: &str =
    "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\\.[0-9]+)?(Z|[+-][0-9]{2}:[0-9]{2})$";

/// Adds patterns and limits to request fields and parameters, by field name.
pub(super) fn constrain_inputs(document: &mut Value) {
    let mut referenced = BTreeSet::new();
    let paths = document.get_mut("paths").and_then(Value::as_object_mut);
    for (path, item) in paths.into_iter().flatten() {
        for operation in item
            .as_object_mut()
            .into_iter()
            .flatten()
            .map(|(_, one)| one)
        {
            collect_references(&operation["requestBody"], &mut referenced);
            let parameters = operation
                .get_mut("parameters")
                .and_then(Value::as_array_mut);
            for parameter in parameters.into_iter().flatten() {
                let name = parameter["name"].as_str().unwrap_or("").to_owned();
                let is_in_path = parameter["in"] == "path";
                if let Some(schema) = parameter.get_mut("schema").and_then(Value::as_object_mut) {
                    match is_in_path {
                        true => constrain_path_parameter(path, schema),
                        false => constrain_field(&name, schema),
                    }
                }
            }
        }
    }
    let Some(schemas) = document["components"]["schemas"].as_object_mut() else {
        return;
    };
    // Collects nested schemas, level by level.
    loop {
        let before = referenced.len();
        for name in referenced.clone() {
            collect_references(schemas.get(&name).unwrap_or(&Value::Null), &mut referenced);
        }
        if referenced.len() == before {
            break;
        }
    }
    for name in referenced {
        if let Some(schema) = schemas.get_mut(&name) {
            constrain_fields(schema);
        }
    }
}

/// Collects the names of the schemas that a part references.
fn collect_references(part: &Value, found: &mut BTreeSet<String>) {
    match part {
        Value::Object(map) => {
            if let Some(name) = map.get("$ref").and_then(Value::as_str) {
                found.extend(name.rsplit('/').next().map(str::to_owned));
            }
            map.values()
                .for_each(|value| collect_references(value, found));
        }
        Value::Array(items) => items
            .iter()
            .for_each(|item| collect_references(item, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn constrain_fields(schema: &mut Value) {
    let Some(map) = schema.as_object_mut() else {
        return;
    };
    if let Some(properties) = map.get_mut("properties").and_then(Value::as_object_mut) {
        // An empty approach is allowed in a body: it means none.
        for (name, schema) in properties
            .iter_mut()
            .filter(|(name, _)| *name != "approach")
        {
            if let Some(schema) = schema.as_object_mut() {
                constrain_field(name, schema);
                if name == "kinds" {
                    allow_kind_list(schema);
                }
            }
        }
    }
    for parts in ["allOf", "oneOf", "anyOf"] {
        let parts = map.get_mut(parts).and_then(Value::as_array_mut);
        parts.into_iter().flatten().for_each(constrain_fields);
    }
}

/// Adds the limits of a field with this name.
fn constrain_field(name: &str, schema: &mut Map<String, Value>) {
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
        "kinds" => {
            put("pattern", json!(kinds_pattern()));
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

/// Returns the pattern of kinds that are separated by commas.
fn kinds_pattern() -> String {
    let kinds = format!("{}|{TURN_KIND}", record_kinds().join("|"));
    format!("^({kinds})(,({kinds}))*$")
}

/// Lets a body have kinds as a list, too.
fn allow_kind_list(schema: &mut Map<String, Value>) {
    schema.remove("type");
    schema.remove("pattern");
    let mut kinds = record_kinds();
    kinds.push(TURN_KIND);
    let choices = json!([
        { "type": "null" },
        { "type": "string", "pattern": kinds_pattern() },
        { "type": "array", "items": { "type": "string", "enum": kinds } },
    ]);
    schema.insert("oneOf".to_owned(), choices);
}

/// Adds the field `warnings` to the answers of requests with a body.
pub(super) fn add_warnings(document: &mut Value) {
    let mut answers = BTreeSet::new();
    let paths = document["paths"].as_object().into_iter().flatten();
    let operations = paths.filter_map(|(_, item)| item.as_object()).flatten();
    for (_, operation) in operations.filter(|(_, operation)| operation["requestBody"].is_object()) {
        let responses = operation["responses"].as_object().into_iter().flatten();
        for (_, response) in responses.filter(|(status, _)| status.starts_with('2')) {
            let schema = &response["content"]["application/json"]["schema"]["$ref"];
            let name = schema.as_str().and_then(|target| target.rsplit('/').next());
            answers.extend(name.map(str::to_owned));
        }
    }
    let warnings = json!({
        "type": "array",
        "items": { "type": "string" },
        "description": "Unknown fields of the request, which were ignored.",
    });
    let schemas = &mut document["components"]["schemas"];
    for name in answers {
        let Some(schema) = schemas.get_mut(name) else {
            continue;
        };
        let object = match schema.get("allOf").is_some() {
            true => {
                let mut parts = schema["allOf"].as_array_mut().into_iter().flatten();
                parts.find(|part| part.get("properties").is_some())
            }
            false => Some(schema),
        };
        let properties = object.and_then(|object| object.get_mut("properties"));
        if let Some(properties) = properties.and_then(Value::as_object_mut) {
            properties.insert("warnings".to_owned(), warnings.clone());
        }
    }
}

/// Adds the limits of a path parameter.
fn constrain_path_parameter(path: &str, schema: &mut Map<String, Value>) {
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
