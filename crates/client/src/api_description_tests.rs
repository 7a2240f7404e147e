//! Comparison of the operations, requests and answers with `clients/openapi.json`.

use crate::answers as answer;
use crate::errors::ProblemDocument;
use crate::operations::{self, Operation};
use crate::pages::Page;
use crate::request_bodies as request_body;
use crate::requests as request;
use serde::de::{DeserializeOwned, Deserializer, Visitor};
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// API description.
struct Description(Value);

/// Fields of an object of the description, and those that it always has.
#[derive(Default)]
struct Fields {
    types: BTreeMap<String, Value>,
    required: BTreeSet<String>,
}

impl Description {
    fn read() -> Self {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../clients/openapi.json");
        Self(serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap())
    }

    fn operation(&self, operation: &Operation) -> &Value {
        let method = operation.method.to_lowercase();
        let found = &self.0["paths"][operation.path][&method];
        assert!(found.is_object(), "no {method} {}", operation.path);
        found
    }

    /// Follows references, and the choice between a type and `null`.
    fn resolve<'a>(&'a self, schema: &'a Value) -> &'a Value {
        if let Some(reference) = schema["$ref"].as_str() {
            let pointer = reference.strip_prefix('#').unwrap();
            return self.resolve(self.0.pointer(pointer).unwrap());
        }
        let choices = schema["oneOf"].as_array().map_or(&[][..], Vec::as_slice);
        let mut typed = choices.iter().filter(|choice| choice["type"] != "null");
        match (typed.next(), typed.next()) {
            (Some(only), None) => self.resolve(only),
            _ => schema,
        }
    }

    fn fields(&self, schema: &Value) -> Fields {
        let schema = self.resolve(schema);
        let mut fields = Fields::default();
        for part in schema["allOf"].as_array().into_iter().flatten() {
            let part = self.fields(part);
            fields.types.extend(part.types);
            fields.required.extend(part.required);
        }
        for (name, schema) in schema["properties"].as_object().into_iter().flatten() {
            fields.types.insert(name.clone(), schema.clone());
        }
        let required = schema["required"].as_array().into_iter().flatten();
        let required = required.map(|name| name.as_str().unwrap().to_owned());
        fields.required.extend(required);
        fields
    }

    /// Makes a value of a schema: with all fields, or only with those that it always has.
    fn example(&self, schema: &Value, is_full: bool) -> Value {
        let schema = self.resolve(schema);
        if let Some(words) = schema["enum"].as_array() {
            return words[0].clone();
        }
        let fields = self.fields(schema);
        if !fields.types.is_empty() {
            let kept = fields.types.iter();
            let kept = kept.filter(|(name, _)| is_full || fields.required.contains(*name));
            let value = |schema: &Value| self.example(schema, is_full);
            let kept = kept.map(|(name, schema)| (name.clone(), value(schema)));
            return Value::Object(kept.collect());
        }
        let types = match &schema["type"] {
            Value::Array(types) => types.clone(),
            Value::String(name) => vec![json!(name)],
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => Vec::new(),
        };
        let is_nullable = types.contains(&json!("null"));
        let name = types.iter().find(|name| **name != "null");
        match name.and_then(Value::as_str) {
            _ if is_nullable && !is_full => Value::Null,
            Some("string") => json!("text"),
            Some("integer") => json!(7),
            Some("number") => json!(0.5),
            Some("boolean") => json!(true),
            Some("array") => json!([self.example(&schema["items"], is_full)]),
            Some("object") => json!({"name": 1}),
            _ => json!("any"),
        }
    }

    fn schema(&self, name: &str) -> &Value {
        let schema = &self.0["components"]["schemas"][name];
        assert!(schema.is_object(), "no schema {name}");
        schema
    }

    /// Checks that each field of a type is in the schema.
    fn check_fields<T: DeserializeOwned>(&self, what: &str, schema: &Value) -> Fields {
        let fields = self.fields(schema);
        for name in field_names::<T>() {
            let is_known = fields.types.contains_key(*name);
            assert!(is_known, "{what} has no field `{name}`");
        }
        fields
    }

    /// Checks that an answer is read with all its fields, and with those that it always has.
    fn check_answer<T: DeserializeOwned>(&self, what: &str, schema: &Value) {
        self.check_fields::<T>(what, schema);
        for is_full in [true, false] {
            let value = self.example(schema, is_full);
            let read = serde_json::from_value::<T>(value.clone());
            assert!(read.is_ok(), "{what}: {:?} in {value}", read.err());
        }
    }

    /// Checks that a request has no field that the schema lacks, and all that it requires, in the types of the schema.
    fn check_request<T: DeserializeOwned>(&self, what: &str, schema: &Value) {
        let fields = self.check_fields::<T>(what, schema);
        let names = field_names::<T>();
        for name in &fields.required {
            assert!(names.contains(&name.as_str()), "{what} lacks `{name}`");
        }
        let value = self.example(schema, true);
        let read = serde_json::from_value::<T>(value.clone());
        assert!(read.is_ok(), "{what}: {:?} in {value}", read.err());
    }

    fn parameters(&self, operation: &Operation) -> BTreeSet<&str> {
        let parameters = self.operation(operation)["parameters"].as_array();
        let parameters = parameters.into_iter().flatten();
        let query = parameters.filter(|parameter| parameter["in"] == "query");
        query
            .map(|parameter| parameter["name"].as_str().unwrap())
            .collect()
    }

    fn body<'a>(&'a self, operation: &Operation) -> &'a Value {
        &self.operation(operation)["requestBody"]["content"]["application/json"]["schema"]
    }

    fn answer<'a>(&'a self, operation: &Operation) -> &'a Value {
        let responses = self.operation(operation)["responses"].as_object().unwrap();
        let success = responses.iter().find(|(status, _)| status.starts_with('2'));
        &success.unwrap().1["content"]["application/json"]["schema"]
    }
}

/// Returns the names of the fields that a structure reads.
fn field_names<T: DeserializeOwned>() -> &'static [&'static str] {
    let mut names = None;
    drop(T::deserialize(FieldNames(&mut names)));
    names.unwrap()
}

/// Deserializer that keeps the names of the fields and fails.
struct FieldNames<'a>(&'a mut Option<&'static [&'static str]>);

impl<'de> Deserializer<'de> for FieldNames<'_> {
    type Error = serde::de::value::Error;

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Self::Error> {
        panic!("not a structure")
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        _: V,
    ) -> Result<V::Value, Self::Error> {
        *self.0 = Some(fields);
        Err(serde::de::Error::custom("only its names are needed"))
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 char str string bytes byte_buf option unit
        unit_struct newtype_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}

#[test]
fn each_operation_is_in_the_description() {
    let description = Description::read();
    for operation in operations::ALL {
        let has_id = operation.path.contains("{id}");
        let found = description.operation(operation);
        let parameters = found["parameters"].as_array();
        let mut parameters = parameters.into_iter().flatten();
        let takes_id = parameters.any(|parameter| parameter["in"] == "path");
        assert_eq!(has_id, takes_id, "{}", operation.path);
    }
}

#[test]
fn project_is_a_field_or_a_parameter_of_each_operation() {
    let description = Description::read();
    for operation in operations::ALL {
        let body = description.body(operation);
        let takes_project = |schema: &Value| {
            let schema = description.resolve(schema);
            let choices = schema["oneOf"].as_array();
            let all = |choices: &Vec<Value>| {
                let mut choices = choices.iter();
                choices.all(|choice| description.fields(choice).types.contains_key("project"))
            };
            choices.map_or_else(
                || description.fields(schema).types.contains_key("project"),
                all,
            )
        };
        let is_taken = if body.is_object() {
            takes_project(body)
        } else {
            description.parameters(operation).contains("project")
        };
        assert!(is_taken, "{} {}", operation.method, operation.path);
    }
}

#[test]
fn requests_have_the_fields_of_the_description() {
    let description = Description::read();
    macro_rules! check {
        ($($operation:ident: $type:ty,)*) => {{
            let mut checked = BTreeSet::new();
            $(
                let operation = &operations::$operation;
                let what = format!("{} {}", operation.method, operation.path);
                description.check_request::<$type>(&what, description.body(operation));
                checked.insert(what);
            )*
            checked
        }};
    }
    let checked = check! {
        ADD_KNOWLEDGE: request::NewKnowledge,
        RECALL: request::RecallQuery,
        BUILD_CONTEXT: request::ContextQuery,
        MARK_RECORD: request_body::NewMark,
        RESOLVE_CONFLICT: request_body::ConflictDecision,
        LOG_EPISODE: request::NewEpisode,
        LOG_ERROR: request::NewError,
        RESOLVE_ERROR: request_body::Resolution,
        SET_TASK: request_body::TaskFields,
        RECORD_STEP: request_body::NewStep,
        END_TASK: request_body::TaskEnd,
        ADD_MESSAGE: request::NewMessage,
        COMPACT_CONVERSATION: request::CompactRequest,
        ADD_NOTE: request::NewNote,
        ADD_WORKSPACE_ENTRY: request::NewEntry,
    };
    for operation in operations::ALL {
        // The command of the memory tool is sent as the model wrote it.
        if description.body(operation).is_object() && operation.path != "/api/memory/tool" {
            let what = format!("{} {}", operation.method, operation.path);
            assert!(checked.contains(&what), "{what} is not compared");
        }
    }
}

#[test]
fn answers_have_the_fields_of_the_description() {
    let description = Description::read();
    macro_rules! check {
        ($($operation:ident: $type:ty,)*) => {{
            let mut checked = BTreeSet::new();
            $(
                let operation = &operations::$operation;
                let what = format!("{} {}", operation.method, operation.path);
                description.check_answer::<$type>(&what, description.answer(operation));
                checked.insert(what);
            )*
            checked
        }};
    }
    let checked = check! {
        ADD_KNOWLEDGE: answer::Outcome,
        RECALL: answer::RecallResponse,
        BUILD_CONTEXT: answer::Context,
        GET_RECORD: answer::Record,
        LIST_RECORDS: Page<answer::Record>,
        RETIRE_RECORD: answer::Outcome,
        MARK_RECORD: answer::Outcome,
        UNDO_CHANGE: answer::Outcome,
        GET_RECORD_HISTORY: answer::RecordHistory,
        LIST_CHANGES: Page<answer::Change>,
        LIST_CONFLICTS: Page<answer::Conflict>,
        RESOLVE_CONFLICT: answer::Outcome,
        LIST_SIMILAR_ATTEMPTS: answer::SimilarAttempts,
        LOG_EPISODE: answer::Outcome,
        LOG_ERROR: answer::LoggedError,
        RESOLVE_ERROR: answer::Outcome,
        SET_TASK: answer::Outcome,
        GET_TASK: answer::TaskDetails,
        LIST_TASKS: Page<answer::TaskSummary>,
        RECORD_STEP: answer::Outcome,
        END_TASK: answer::EndedTask,
        ADD_MESSAGE: answer::AddedMessage,
        LIST_MESSAGES: Page<answer::Message>,
        SEARCH_MESSAGES: Page<answer::FoundMessage>,
        GET_SESSION_SUMMARY: answer::SessionSummary,
        COMPACT_CONVERSATION: answer::CompactResponse,
        EXPAND_CONTENT: answer::ExpandedContent,
        ADD_NOTE: answer::Outcome,
        LIST_NOTES: Page<answer::Note>,
        GET_WORKSPACE: answer::WorkspaceSection,
        ADD_WORKSPACE_ENTRY: answer::EntryReport,
        CALL_MEMORY_TOOL: answer::ToolResult,
        GET_STATUS: answer::Status,
    };
    for operation in operations::ALL {
        // The event stream is text.
        if operation.path != "/api/events" {
            let what = format!("{} {}", operation.method, operation.path);
            assert!(checked.contains(&what), "{what} is not compared");
        }
    }
    description.check_answer::<ProblemDocument>("problem", description.schema("ProblemDocument"));
}

#[test]
fn parts_of_answers_have_the_fields_of_the_description() {
    let description = Description::read();
    let check_part = |name: &str, names: &[&str]| {
        let fields = description.fields(description.schema(name));
        for field in names {
            let is_known = fields.types.contains_key(*field);
            assert!(is_known, "{name} has no field `{field}`");
        }
    };
    check_part("AnyRecord", field_names::<answer::Record>());
    check_part("RecallHit", field_names::<answer::Hit>());
    check_part("ContextSection", field_names::<answer::ContextSection>());
    check_part("ContextItem", field_names::<answer::ContextItem>());
    check_part("Knowledge", field_names::<answer::Knowledge>());
    check_part("Conflict", field_names::<answer::Conflict>());
    check_part("EventEntry", field_names::<answer::Change>());
    check_part("PastResolution", field_names::<answer::PastResolution>());
    check_part("Task", field_names::<answer::TaskSummary>());
    check_part("MessageInfo", field_names::<answer::Message>());
    check_part("FoundMessage", field_names::<answer::FoundMessage>());
    check_part("Note", field_names::<answer::Note>());
    check_part("SectionItem", field_names::<answer::SectionItem>());
    let attempts = description.fields(description.schema("SimilarAttemptList"));
    let attempt = description.fields(&attempts.types["items"]["items"]);
    for field in field_names::<answer::Attempt>() {
        assert!(attempt.types.contains_key(*field), "no field `{field}`");
    }
}

#[test]
fn parameters_are_in_the_description() {
    let description = Description::read();
    let sent: [(&Operation, &[&str]); 5] = [
        (
            &operations::LIST_RECORDS,
            field_names::<request::RecordFilter>(),
        ),
        (&operations::LIST_CHANGES, &["limit"]),
        (&operations::LIST_SIMILAR_ATTEMPTS, &["approach", "task_id"]),
        (&operations::SEARCH_MESSAGES, &["query", "session_id", "k"]),
        (&operations::LIST_MESSAGES, &["cursor"]),
    ];
    for (operation, names) in sent {
        let known = description.parameters(operation);
        for name in names {
            assert!(known.contains(name), "{} has no `{name}`", operation.path);
        }
    }
    for operation in [
        &operations::LIST_RECORDS,
        &operations::LIST_TASKS,
        &operations::LIST_NOTES,
        &operations::LIST_MESSAGES,
    ] {
        let known = description.parameters(operation);
        assert!(known.contains("limit") && known.contains("cursor"));
    }
}

#[test]
fn words_are_those_of_the_description() {
    let description = Description::read();
    for (operation, field, words) in [
        (
            &operations::LOG_EPISODE,
            "action",
            request::EpisodeAction::WORDS,
        ),
        (&operations::MARK_RECORD, "mark", request::Mark::WORDS),
        (
            &operations::ADD_MESSAGE,
            "role",
            request::MessageRole::WORDS,
        ),
        (
            &operations::ADD_WORKSPACE_ENTRY,
            "type",
            request::EntryType::WORDS,
        ),
        (
            &operations::COMPACT_CONVERSATION,
            "format",
            request::MessageFormat::WORDS,
        ),
        (&operations::SET_TASK, "state", request::TaskState::WORDS),
        (&operations::RECORD_STEP, "state", request::StepState::WORDS),
    ] {
        let fields = description.fields(description.body(operation));
        let known = &description.resolve(&fields.types[field])["enum"];
        assert_eq!(known, &json!(words), "{} {field}", operation.path);
    }
}

#[test]
fn unknown_words_and_fields_of_an_answer_are_accepted() {
    let description = Description::read();
    let mut value = description.example(description.schema("AnyRecord"), true);
    let fields: &mut Map<String, Value> = value.as_object_mut().unwrap();
    fields.insert("kind".to_owned(), json!("dream"));
    fields.insert("colour".to_owned(), json!(["blue"]));
    let record: answer::Record = serde_json::from_value(value).unwrap();
    assert_eq!(record.kind, "dream");
}
