//! Names of the HTTP API, compared with a committed list: names may be added, but not removed or changed.

use super::json_body::HasScope;
use super::knowledge::NewKnowledge;
use super::notes::NoteRequest;
use super::scope_fields::ScopeFields;
use crate::unknown_fields::field_names;
use serde_json::Value;
use std::collections::BTreeSet;

const LISTED: &str = include_str!(concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/tests/fixtures/http_api.txt"
));

/// Copy of the description from which the clients are generated.
const DESCRIPTION_OF_CLIENTS: &str = include_str!(concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../clients/openapi.json"
));

/// Returns the description in the form of the committed copy: without the version of the program, indented.
fn description_for_clients() -> String {
    let (_, document) = super::routes_with_description("0.0.0");
    serde_json::to_string_pretty(&document).unwrap() + "\n"
}

#[test]
fn description_of_the_clients_equals_the_servers() {
    assert!(
        description_for_clients() == DESCRIPTION_OF_CLIENTS,
        "write clients/openapi.json anew with the ignored test `write_listed_names`, then generate the clients"
    );
}

/// Collects every route with its parameters, and every schema with its fields and enum values.
fn names() -> BTreeSet<String> {
    let (_, document) = super::routes_with_description("0.0.0");
    let mut names = BTreeSet::new();
    for (path, methods) in document["paths"].as_object().unwrap() {
        for (method, operation) in methods.as_object().unwrap() {
            let route = format!("{} {path}", method.to_uppercase());
            let parameters = operation["parameters"].as_array();
            for parameter in parameters.into_iter().flatten() {
                let name = parameter["name"].as_str().unwrap();
                names.insert(format!("{route} {name}"));
                words(&format!("{route} {name}"), &parameter["schema"], &mut names);
            }
            let id = operation["operationId"].as_str().unwrap();
            names.insert(format!("operation {id}"));
            names.insert(route);
        }
    }
    let schemas = &document["components"]["schemas"];
    for (name, schema) in schemas.as_object().unwrap() {
        fields(name, schema, &mut names);
        // The items of lists were inlined: their names keep their places in the list.
        let items = &schema["properties"]["items"]["items"];
        let item = items["$ref"]
            .as_str()
            .and_then(|target| target.rsplit('/').next());
        if let Some(item) = item {
            fields(&format!("{name}.items[]"), &schemas[item], &mut names);
        }
    }
    names
}

fn fields(name: &str, schema: &Value, names: &mut BTreeSet<String>) {
    words(name, schema, names);
    for (field, schema) in schema["properties"].as_object().into_iter().flatten() {
        names.insert(format!("{name}.{field}"));
        fields(&format!("{name}.{field}"), schema, names);
    }
    for parts in ["allOf", "oneOf", "anyOf"] {
        for part in schema[parts].as_array().into_iter().flatten() {
            fields(name, part, names);
        }
    }
    if schema["items"].is_object() {
        fields(&format!("{name}[]"), &schema["items"], names);
    }
}

/// Collects the enum values of a schema.
fn words(name: &str, schema: &Value, names: &mut BTreeSet<String>) {
    for word in schema["enum"].as_array().into_iter().flatten() {
        names.insert(format!("{name} = {word}"));
    }
}

/// Lists of fields that are written by hand have all fields of the description.
#[test]
fn fields_of_bodies_with_a_scope_are_known() {
    let (_, document) = super::routes_with_description("0.0.0");
    let scope = field_names::<ScopeFields>().unwrap();
    for (schema, others) in [
        ("NewKnowledge", NewKnowledge::OTHER_FIELDS),
        ("NoteRequest", NoteRequest::OTHER_FIELDS),
    ] {
        let mut described = BTreeSet::new();
        fields(
            "",
            &document["components"]["schemas"][schema],
            &mut described,
        );
        let described = described.iter().filter_map(|name| name.strip_prefix('.'));
        let described: Vec<&str> = described.collect();
        assert!(
            others
                .iter()
                .filter(|name| described.contains(name))
                .count()
                >= 4
        );
        for name in described {
            assert!(
                scope.contains(&name) || others.contains(&name),
                "{schema}.{name}"
            );
        }
    }
}

#[test]
fn http_api_keeps_every_listed_name() {
    let names = names();
    let gone: Vec<&str> = LISTED
        .lines()
        .filter(|line| !names.contains(*line))
        .collect();
    assert!(
        gone.is_empty(),
        "clients rely on these names: keep them with `serde(rename)` or `schema(as)`: {gone:#?}"
    );
    assert!(LISTED.lines().count() > 300);
}

#[test]
fn operation_ids_and_schemas_are_fit_for_client_generators() {
    let (_, document) = super::routes_with_description("0.0.0");
    let paths = document["paths"].as_object().unwrap();
    let operations = paths.values().flat_map(|item| item.as_object().unwrap());
    let ids: Vec<&str> = operations
        .map(|(_, operation)| operation["operationId"].as_str().unwrap())
        .collect();
    let distinct: BTreeSet<&&str> = ids.iter().collect();
    assert_eq!(distinct.len(), ids.len(), "each operation has its own id");
    let schemas = document["components"]["schemas"].as_object().unwrap();
    for (name, schema) in schemas {
        assert!(!name.contains('_'), "{name}");
        let parts = schema["allOf"].as_array().into_iter().flatten();
        for part in parts {
            assert!(
                part["oneOf"].is_null(),
                "{name} has a choice inside of a composition"
            );
        }
    }
    for (name, schema) in schemas.iter().filter(|(name, _)| name.ends_with("List")) {
        let items = &schema["properties"]["items"]["items"];
        assert!(items["$ref"].is_string(), "{name} has inlined items");
    }
    let text = document.to_string();
    for target in text.split("\"$ref\":\"#/components/schemas/").skip(1) {
        let name = target.split('"').next().unwrap();
        assert!(schemas.contains_key(name), "{name} is missing");
    }
    let calls = document["components"]["schemas"]["ToolCall"]["oneOf"].as_array();
    assert_eq!(calls.map(Vec::len), Some(6));
}

#[test]
#[ignore = "writes the list; run it after adding names"]
#[expect(
    clippy::disallowed_methods,
    reason = "a file of the repository, under version control"
)]
fn write_listed_names() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/http_api.txt");
    let names: Vec<String> = names().into_iter().collect();
    std::fs::write(file, names.join("\n") + "\n").unwrap();
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../clients/openapi.json");
    std::fs::write(file, description_for_clients()).unwrap();
}
