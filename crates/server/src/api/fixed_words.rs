//! Fixed words in the OpenAPI description, from the lists of the program.
//!
//! Answers may contain words of later versions, so the clients accept others when they read.

use heirloom_engine::{ArtifactStatus, Verdict};
use heirloom_model::audit::Action;
use heirloom_model::kinds::{ArtifactType, EpisodeAction, ErrorRecord, StepState, TaskState};
use heirloom_model::{AccessRole, Kind, Role};
use heirloom_search::relevance::Grade;
use serde_json::{Map, Value, json};

/// Outcome of revoking a token, next to the verdicts of the store.
pub(super) const REVOKED: &str = "revoked";
/// Kinds of archived content: a shortened output, or omitted messages.
pub(super) const CONTENT_KINDS: [&str; 2] = ["output", "messages"];
/// Kind of a conversation turn, next to the kinds of records.
pub(super) const TURN_KIND: &str = "message";

/// Words of the fields of answers: schema, field and words.
fn field_words() -> Vec<(&'static str, &'static str, Vec<&'static str>)> {
    let kinds = record_kinds();
    let outcomes = Verdict::ALL.map(Verdict::as_str).into_iter();
    let states = TaskState::ALL.map(TaskState::as_str).to_vec();
    vec![
        ("AnyRecord", "kind", kinds.clone()),
        ("EventEntry", "kind", kinds.clone()),
        (
            "EventEntry",
            "action",
            Action::ALL.map(Action::as_str).to_vec(),
        ),
        (
            "RecallHit",
            "kind",
            kinds.into_iter().chain([TURN_KIND]).collect(),
        ),
        ("RecallHit", "grade", Grade::ALL.map(Grade::as_str).to_vec()),
        (
            "WriteOutcome",
            "outcome",
            outcomes.chain([REVOKED]).collect(),
        ),
        (
            "Artifact",
            "type",
            ArtifactType::ALL.map(ArtifactType::as_str).to_vec(),
        ),
        (
            "Artifact",
            "status",
            ArtifactStatus::ALL.map(ArtifactStatus::as_str).to_vec(),
        ),
        (
            "Episode",
            "action",
            EpisodeAction::ALL.map(EpisodeAction::as_str).to_vec(),
        ),
        ("ExpandedContent", "kind", CONTENT_KINDS.to_vec()),
        ("MessageInfo", "role", Role::ALL.map(Role::as_str).to_vec()),
        ("Task", "state", states.clone()),
        ("EndTaskResponse", "state", states),
        (
            "Token",
            "role",
            AccessRole::ALL.map(AccessRole::as_str).to_vec(),
        ),
    ]
}

/// Words of query parameters: path, parameter and words.
fn parameter_words() -> Vec<(&'static str, &'static str, Vec<&'static str>)> {
    let errors = [ErrorRecord::OPEN, ErrorRecord::RESOLVED];
    let mut states = errors.to_vec();
    states.extend(StepState::ALL.map(StepState::as_str));
    states.extend(TaskState::ALL.map(TaskState::as_str));
    let mut distinct: Vec<&str> = Vec::new();
    for state in states {
        if !distinct.contains(&state) {
            distinct.push(state);
        }
    }
    vec![
        ("/api/records", "kind", record_kinds()),
        ("/api/records", "state", distinct),
    ]
}

/// Returns the kinds of records.
pub(super) fn record_kinds() -> Vec<&'static str> {
    Kind::ALL.map(Kind::as_str).to_vec()
}

/// Adds the lists of words to fields and parameters.
pub(super) fn add_enums(document: &mut Value) {
    for (schema, field, words) in field_words() {
        let Some(target) = document["components"]["schemas"].get_mut(schema) else {
            continue;
        };
        let parts: Vec<&mut Value> = match target.get("allOf").is_some() {
            true => target["allOf"]
                .as_array_mut()
                .into_iter()
                .flatten()
                .collect(),
            false => vec![target],
        };
        for part in parts {
            let properties = part.get_mut("properties");
            let schema = properties.and_then(|properties| properties.get_mut(field));
            if let Some(schema) = schema.and_then(Value::as_object_mut) {
                add_enum(schema, &words);
            }
        }
    }
    for (path, name, words) in parameter_words() {
        let parameters = document["paths"][path]["get"]["parameters"].as_array_mut();
        for parameter in parameters.into_iter().flatten() {
            if parameter["name"] == name
                && let Some(schema) = parameter["schema"].as_object_mut()
            {
                add_enum(schema, &words);
            }
        }
    }
}

fn add_enum(schema: &mut Map<String, Value>, words: &[&str]) {
    let mut values: Vec<Value> = words.iter().map(|word| json!(word)).collect();
    let types = schema.get("type").and_then(Value::as_array);
    if types.is_some_and(|types| types.contains(&json!("null"))) {
        values.push(Value::Null);
    }
    schema.insert("enum".to_owned(), Value::Array(values));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_listed_field_and_parameter_has_its_words() {
        let (_, document) = crate::api::routes_with_description("0.0.0");
        for (schema, field, words) in field_words() {
            let schema = &document["components"]["schemas"][schema];
            let parts = schema["allOf"].as_array().into_iter().flatten();
            let found = parts
                .chain([schema])
                .find_map(|part| part["properties"][field]["enum"].as_array());
            let found = found.unwrap_or_else(|| panic!("{field} of {schema}"));
            let listed: Vec<&str> = found.iter().filter_map(Value::as_str).collect();
            assert_eq!(listed, words);
        }
        for (path, name, words) in parameter_words() {
            let parameters = document["paths"][path]["get"]["parameters"].as_array();
            let parameter = parameters.and_then(|all| all.iter().find(|one| one["name"] == name));
            let found = parameter.and_then(|one| one["schema"]["enum"].as_array());
            assert_eq!(found.map(Vec::len), Some(words.len()), "{path} {name}");
        }
    }
}
