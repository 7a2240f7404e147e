//! Generation of the files in `docs/schemas` from the types in `answers`.

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Map, Value, json};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::marker::PhantomData;

/// Instant of RFC 3339 in UTC.
pub(crate) struct Time;

impl JsonSchema for Time {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Time".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "string", "format": "date-time"})
    }
}

/// The value `true`, of a field that is left out otherwise.
pub(crate) struct True;

impl JsonSchema for True {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "True".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"const": true})
    }
}

/// A type whose schema is a file that others refer to.
pub(crate) trait SchemaFile: JsonSchema {
    const NAME: &'static str;
}

/// Reference to the file of `T`.
pub(crate) struct Ref<T>(PhantomData<T>);

impl<T: SchemaFile> JsonSchema for Ref<T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        T::NAME.into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"$ref": T::NAME})
    }
}

/// The schema of one or more commands.
pub(crate) struct AnswerSchema {
    /// Commands with their subcommand; empty for a part of other schemas, and for a file that a command writes.
    commands: &'static [&'static str],
    /// Form of standard output.
    form: AnswerForm,
    file: &'static str,
    schema: Value,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum AnswerForm {
    /// One JSON value.
    Value,
    /// One JSON value on each line.
    Lines,
}

impl AnswerSchema {
    /// Describes commands that print one value.
    pub(crate) fn value<T: JsonSchema>(
        file: &'static str,
        commands: &'static [&'static str],
    ) -> Self {
        Self::new::<T>(file, commands, AnswerForm::Value)
    }

    /// Describes commands that print one value on each line.
    pub(crate) fn lines<T: JsonSchema>(
        file: &'static str,
        commands: &'static [&'static str],
    ) -> Self {
        Self::new::<T>(file, commands, AnswerForm::Lines)
    }

    /// Describes a part that other schemas refer to.
    pub(crate) fn part<T: SchemaFile>() -> Self {
        Self::new::<T>(T::NAME, &[], AnswerForm::Value)
    }

    fn new<T: JsonSchema>(
        file: &'static str,
        commands: &'static [&'static str],
        form: AnswerForm,
    ) -> Self {
        let settings = SchemaSettings::draft2020_12().for_serialize();
        let mut generator = settings
            .with(|settings| settings.inline_subschemas = true)
            .into_generator();
        let mut schema = generator.root_schema_for::<T>().to_value();
        simplify(&mut schema);
        Self {
            commands,
            form,
            file,
            schema,
        }
    }
}

/// Returns the content of `docs/schemas`: the schemas, and the table of commands.
pub(crate) fn files(answers: Vec<AnswerSchema>) -> BTreeMap<String, Value> {
    let mut files = BTreeMap::new();
    let mut commands = Map::new();
    for answer in answers {
        for command in answer.commands {
            let lines = answer.form == AnswerForm::Lines;
            let row = json!({"schema": answer.file, "lines": lines});
            let double = commands.insert((*command).to_owned(), row);
            assert!(double.is_none(), "two schemas for `{command}`");
        }
        let double = files.insert(answer.file.to_owned(), answer.schema);
        assert!(
            double.is_none(),
            "two schemas with the name {}",
            answer.file
        );
    }
    files.insert("commands.json".to_owned(), Value::Object(commands));
    files
}

/// Formats a file as it is committed.
pub(crate) fn text(value: &Value) -> String {
    format!("{value:#}\n")
}

/// Returns the folder of the committed files.
pub(crate) fn folder() -> std::path::PathBuf {
    std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/schemas")
}

/// Removes what the derive adds and no reader needs: formats of numbers, line breaks in descriptions, and `null` as a
/// value of a field that is left out instead.
fn simplify(schema: &mut Value) {
    match schema {
        Value::Array(items) => items.iter_mut().for_each(simplify),
        Value::Object(keywords) => {
            // A field may have the name of a keyword; its value is a schema then, not a string.
            let format = keywords.get("format").and_then(Value::as_str);
            if format.is_some_and(|format| format != "date-time") {
                keywords.remove("format");
            }
            if let Some(Value::String(text)) = keywords.get_mut("description") {
                *text = text.split_whitespace().collect::<Vec<_>>().join(" ");
            }
            let required = keywords.get("required").cloned().unwrap_or_default();
            if let Some(Value::Object(fields)) = keywords.get_mut("properties") {
                let is_required = |name: &String| {
                    let names = required.as_array().into_iter().flatten();
                    names.into_iter().any(|other| other == name)
                };
                for (name, field) in fields.iter_mut() {
                    if !is_required(name) {
                        remove_null(field);
                    }
                }
            }
            keywords.values_mut().for_each(simplify);
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Removes `null` from the values that a schema allows.
fn remove_null(schema: &mut Value) {
    let Value::Object(keywords) = schema else {
        return;
    };
    if let Some(Value::Array(types)) = keywords.get_mut("type") {
        types.retain(|name| name != "null");
        if let [only] = types.as_slice() {
            let only = only.clone();
            keywords.insert("type".to_owned(), only);
        }
    }
    if let Some(Value::Array(words)) = keywords.get_mut("enum") {
        words.retain(|word| !word.is_null());
    }
    if let Some(Value::Array(branches)) = keywords.get_mut("anyOf") {
        branches.retain(|branch| branch["type"] != "null");
        if let [Value::Object(only)] = branches.as_slice() {
            let only = only.clone();
            keywords.remove("anyOf");
            for (name, rule) in only {
                keywords.entry(name).or_insert(rule);
            }
        }
    }
}
