//! Schemas of the OpenAPI description in the form that client generators understand: one plain object for each
//! command of the memory tool, a readable name for each list, and a reference to its items.

use serde_json::{Map, Value, json};

/// Schema of the memory tool's input, and the schema of its commands.
const TOOL_CALL: &str = "ToolCall";
const TOOL_COMMAND: &str = "ToolCommand";
const REFERENCE_PREFIX: &str = "#/components/schemas/";

/// Replaces composed schemas by plain ones.
pub(super) fn simplify_schemas(document: &mut Value) {
    if let Some(schemas) = document["components"]["schemas"].as_object_mut() {
        split_tool_call(schemas);
        let lists: Vec<String> = schemas.keys().filter_map(|name| list_item(name)).collect();
        for item in lists {
            if let Some(mut schema) = schemas.remove(&format!("List_{item}")) {
                refer_to_item(&mut schema, &item, schemas);
                schemas.insert(format!("{item}List"), schema);
            }
        }
    }
    rename_list_references(document);
}

/// Replaces the inlined schema of a list's items by a reference.
fn refer_to_item(list: &mut Value, item: &str, schemas: &mut Map<String, Value>) {
    let items = &mut list["properties"]["items"]["items"];
    let inlined = std::mem::replace(
        items,
        json!({ "$ref": format!("{REFERENCE_PREFIX}{item}") }),
    );
    schemas.entry(item).or_insert(inlined);
}

fn list_item(name: &str) -> Option<String> {
    name.strip_prefix("List_").map(str::to_owned)
}

fn rename_list_references(part: &mut Value) {
    match part {
        Value::Object(map) => {
            for (key, value) in map {
                let list = value
                    .as_str()
                    .filter(|_| key == "$ref")
                    .and_then(|target| target.strip_prefix(REFERENCE_PREFIX))
                    .and_then(list_item);
                match list {
                    Some(item) => *value = json!(format!("{REFERENCE_PREFIX}{item}List")),
                    None => rename_list_references(value),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(rename_list_references),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Writes the tool call as a choice of objects, told apart by `command`: generators refuse a choice inside of a composition.
fn split_tool_call(schemas: &mut Map<String, Value>) {
    let commands = schemas.remove(TOOL_COMMAND).unwrap_or_default();
    let Some(call) = schemas.get(TOOL_CALL).cloned() else {
        return;
    };
    let common = call["allOf"].as_array().into_iter().flatten();
    let common: Map<String, Value> = common
        .filter_map(|part| part["properties"].as_object().cloned())
        .flatten()
        .collect();
    let mut choices = Vec::new();
    let mut mapping = Map::new();
    for mut choice in commands["oneOf"].as_array().cloned().unwrap_or_default() {
        let Some(command) = choice["properties"]["command"]["enum"][0].as_str() else {
            continue;
        };
        let command = command.to_owned();
        let name = format!("{}Call", pascal_case(&command));
        if let Some(properties) = choice["properties"].as_object_mut() {
            properties.extend(common.clone());
        }
        let reference = format!("{REFERENCE_PREFIX}{name}");
        choices.push(json!({ "$ref": reference }));
        mapping.insert(command, json!(reference));
        schemas.insert(name, choice);
    }
    let call = json!({
        "description": call["description"],
        "oneOf": choices,
        "discriminator": { "propertyName": "command", "mapping": mapping },
    });
    schemas.insert(TOOL_CALL.to_owned(), call);
}

fn pascal_case(name: &str) -> String {
    let word = |word: &str| {
        let (first, rest) = word.split_at(word.len().min(1));
        first.to_uppercase() + rest
    };
    name.split('_').map(word).collect()
}
