//! Validation of answers with `--json` against `docs/schemas`.

use heirloom_testkit::SchemaSet;
use serde_json::Value;
use std::path::Path;
use std::sync::LazyLock;

static SCHEMAS: LazyLock<SchemaSet> = LazyLock::new(|| {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/schemas");
    SchemaSet::read(&folder).unwrap()
});

/// Options of every command that take a value.
const VALUE_OPTIONS: [&str; 3] = ["--project", "--project-dir", "--set"];

/// Formats of `export` that are not described by a schema.
const OTHER_FORMATS: [&str; 2] = ["agentium", "markdown"];

/// Returns the command of a call in the spelling of `commands.json`; `None` if it has no schema.
pub(crate) fn command_of(args: &[String]) -> Option<String> {
    let table = SCHEMAS.get("commands.json")?;
    let mut words = Vec::new();
    let mut rest = args.iter().take_while(|arg| *arg != "--");
    while let Some(arg) = rest.next() {
        if VALUE_OPTIONS.contains(&arg.as_str()) {
            rest.next();
        } else if !arg.starts_with('-') {
            words.push(arg.as_str());
        }
    }
    let one = words.first().copied().unwrap_or_default().to_owned();
    let [two, three] = [2, 3].map(|count| words.get(..count).unwrap_or_default().join(" "));
    [three, two, one]
        .into_iter()
        .find(|name| table.get(name).is_some())
}

/// Fails if a call with `--json` printed an answer or an error that does not match its schema.
#[track_caller]
pub(crate) fn assert_described(args: &[String], stdout: &str, stderr: &str) {
    let mut options = args.iter().take_while(|arg| *arg != "--");
    if !options.any(|arg| arg == "--json") {
        return;
    }
    let last = stderr.lines().last().unwrap_or_default();
    if let Ok(error @ Value::Object(_)) = serde_json::from_str::<Value>(last) {
        assert_matches("error.json", &error, args);
    }
    let Some(command) = command_of(args).filter(|_| !stdout.is_empty()) else {
        return;
    };
    if command == "export" && args.iter().any(|arg| OTHER_FORMATS.contains(&arg.as_str())) {
        return;
    }
    let row = &SCHEMAS.get("commands.json").unwrap()[&command];
    let values: Result<Vec<Value>, _> = serde_json::Deserializer::from_str(stdout)
        .into_iter()
        .collect();
    let values = values.unwrap_or_else(|error| panic!("{args:?}: {error} in {stdout}"));
    assert!(
        row["lines"] == true || values.len() == 1,
        "{args:?} printed {} values",
        values.len()
    );
    for value in &values {
        assert_matches(row["schema"].as_str().unwrap(), value, args);
    }
}

/// Fails if a value does not match a schema.
#[track_caller]
pub(crate) fn assert_matches(schema: &str, value: &Value, args: &[String]) {
    let found = SCHEMAS.violations(schema, value);
    let list = found.join("\n  ");
    assert!(found.is_empty(), "{args:?}, {schema}:\n  {list}\n{value:#}");
}
