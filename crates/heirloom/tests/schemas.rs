//! JSON Schemas of the answers: the committed files, and answers of the real program.
#![expect(
    clippy::unwrap_used,
    reason = "helpers of tests: what cannot be done fails the test"
)]

#[path = "support/answer_validation.rs"]
mod answer_validation;
#[expect(
    dead_code,
    reason = "the types describe answers; their values are never made"
)]
#[path = "schemas/answers.rs"]
mod answers;
#[expect(dead_code, reason = "helpers of other tests")]
#[path = "cli/project.rs"]
mod project;
#[path = "schemas/scenario.rs"]
mod scenario;
#[path = "schemas/schema_files.rs"]
mod schema_files;

use std::collections::{BTreeMap, BTreeSet};

/// Commands that print no JSON: text, a protocol, or messages in the form in which they came.
const WITHOUT_JSON: [&str; 5] = ["compact", "completions", "help", "hook", "man"];

/// Commands over a database server, whose answers are validated by the tests of many machines.
const WITH_DATABASE: [&str; 2] = ["fleet init", "fleet status"];

#[test]
fn every_command_has_schema() {
    let listed = include_str!("fixtures/command_line.txt");
    let names = listed
        .lines()
        .filter_map(|line| line.strip_prefix("heirloom "));
    let names: Vec<&str> = names
        .filter(|line| !line.contains('-') && !line.contains('<'))
        .collect();
    let files = schema_files::files(answers::all());
    let has_schema = |name: &str| files["commands.json"].get(name).is_some();
    let has_subcommands = |name: &str| {
        let prefix = format!("{name} ");
        names.iter().any(|other| other.starts_with(&prefix))
    };
    for name in &names {
        let is_described = has_schema(name) || has_subcommands(name);
        let is_exempt = WITHOUT_JSON.contains(name);
        assert!(is_described != is_exempt, "{name}");
    }
    assert!(names.len() > 80);
}

#[test]
fn real_answers_match_schemas() {
    let called = scenario::Scenario::new().call_every_command();
    let files = schema_files::files(answers::all());
    let described: BTreeSet<String> = files["commands.json"]
        .as_object()
        .unwrap()
        .keys()
        .cloned()
        .collect();
    let missing = described.difference(&called);
    let missing: Vec<_> = missing
        .filter(|name| !WITH_DATABASE.contains(&name.as_str()))
        .collect();
    assert!(missing.is_empty(), "never called: {missing:?}");
}

#[test]
fn committed_schemas_match_answer_types() {
    let files = schema_files::files(answers::all());
    let mut committed = BTreeMap::new();
    for entry in std::fs::read_dir(schema_files::folder()).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if name.ends_with(".json") {
            committed.insert(name, std::fs::read_to_string(&path).unwrap());
        }
    }
    let generated: BTreeMap<_, _> = files
        .iter()
        .map(|(name, value)| (name.clone(), schema_files::text(value)))
        .collect();
    assert!(
        committed == generated,
        "docs/schemas differs from the types: cargo nextest run -p heirloom --test schemas --run-ignored only write_schemas"
    );
}

#[test]
#[ignore = "writes docs/schemas; run it after changing an answer"]
#[expect(
    clippy::disallowed_methods,
    reason = "files of the repository, under version control"
)]
fn write_schemas() {
    let folder = schema_files::folder();
    if folder.exists() {
        std::fs::remove_dir_all(&folder).unwrap();
    }
    std::fs::create_dir_all(&folder).unwrap();
    for (name, value) in schema_files::files(answers::all()) {
        std::fs::write(folder.join(name), schema_files::text(&value)).unwrap();
    }
}
