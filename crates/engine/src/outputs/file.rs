//! The form of the file: `{agent_id, content, timestamp, metadata}`.

use heirloom_model::record::Attrs;
use heirloom_model::{clock, text};
use serde_json::{Map, Value, json};

/// What a file of an output says.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct OutputFile {
    /// The agent; empty if the file does not say it.
    pub agent_id: String,
    /// What it said at the end.
    pub content: String,
    /// When, in seconds since 1970; `None` if the file does not say it.
    pub timestamp: Option<i64>,
    /// What else it said.
    pub metadata: Attrs,
    /// Fields that are not known here, which are kept.
    pub extra: Attrs,
}

/// Why a file of an output cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OutputProblem {
    /// It is no JSON: half of it may be missing.
    #[error("it is no JSON: {0}")]
    NoJson(String),
    /// A field is of another type.
    #[error("`{field}` is {found}, not {expected}")]
    Type {
        /// The field.
        field: &'static str,
        /// What stands there.
        found: &'static str,
        /// What should.
        expected: &'static str,
    },
    /// It says nothing.
    #[error("it has no `content`")]
    NoContent,
}

/// Reads a file of an output.
pub fn parse(bytes: &[u8]) -> Result<OutputFile, OutputProblem> {
    let value: Value =
        serde_json::from_slice(bytes).map_err(|error| OutputProblem::NoJson(error.to_string()))?;
    let Value::Object(mut map) = value else {
        return Err(wrong("the file", &value, "an object"));
    };
    let agent_id = match map.remove("agent_id") {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(agent)) => agent,
        Some(other) => return Err(wrong("agent_id", &other, "a text")),
    };
    let content = match map.remove("content") {
        Some(Value::String(content)) => content,
        None | Some(Value::Null) => return Err(OutputProblem::NoContent),
        Some(other) => return Err(wrong("content", &other, "a text")),
    };
    let timestamp = match map.remove("timestamp") {
        None | Some(Value::Null) => None,
        Some(said) => {
            Some(clock::seconds(&said).ok_or_else(|| wrong("timestamp", &said, "Unix seconds"))?)
        }
    };
    let metadata = match map.remove("metadata") {
        None | Some(Value::Null) => Attrs::new(),
        Some(Value::Object(metadata)) => metadata,
        Some(other) => return Err(wrong("metadata", &other, "an object")),
    };
    Ok(OutputFile {
        agent_id,
        content,
        timestamp,
        metadata,
        extra: map,
    })
}

/// The file that says so, with a line break at its end.
pub fn render(output: &OutputFile) -> Vec<u8> {
    let mut map = Map::new();
    map.insert("agent_id".to_owned(), json!(output.agent_id));
    map.insert("content".to_owned(), json!(output.content));
    map.insert("timestamp".to_owned(), json!(output.timestamp));
    map.insert(
        "metadata".to_owned(),
        Value::Object(output.metadata.clone()),
    );
    for (name, value) in &output.extra {
        map.entry(name).or_insert_with(|| value.clone());
    }
    let mut text = serde_json::to_string_pretty(&Value::Object(map)).unwrap_or_default();
    text.push('\n');
    text.into_bytes()
}

fn wrong(field: &'static str, found: &Value, expected: &'static str) -> OutputProblem {
    OutputProblem::Type {
        field,
        found: sort(found),
        expected,
    }
}

fn sort(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(said) if text::chars(said) == 0 => "an empty text",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_file_is_read_as_it_was_written_with_fields_that_nobody_knows() {
        let text = r#"{"agent_id":"a","content":"x\ny","timestamp":1777629600,
            "metadata":{"k":1},"iteration":7}"#;
        let read = parse(text.as_bytes()).unwrap();
        assert_eq!(read.timestamp, Some(1_777_629_600));
        assert_eq!(read.extra["iteration"], 7);
        assert_eq!(parse(&render(&read)), Ok(read));
    }

    #[test]
    fn what_is_wrong_is_said() {
        for (text, problem) in [
            ("", "it is no JSON"),
            ("{\"agent_id\":\"a\",\"conte", "it is no JSON"),
            ("[]", "`the file` is a list, not an object"),
            ("{}", "it has no `content`"),
            (r#"{"content":5}"#, "`content` is a number, not a text"),
            (r#"{"content":"","agent_id":[]}"#, "`agent_id` is a list"),
            (r#"{"content":"","timestamp":"x"}"#, "`timestamp` is a text"),
            (r#"{"content":"","metadata":3}"#, "`metadata` is a number"),
        ] {
            let said = parse(text.as_bytes()).unwrap_err().to_string();
            assert!(said.starts_with(problem), "{text}: {said}");
        }
    }

    proptest! {
        #[test]
        fn no_bytes_are_too_strange(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            if let Ok(read) = parse(&bytes) {
                prop_assert_eq!(parse(&render(&read)), Ok(read));
            }
        }

        #[test]
        fn what_is_written_is_read(agent_id: String, content: String, at in -1_000_000_000_i64..9_000_000_000) {
            let output = OutputFile { agent_id, content, timestamp: Some(at), ..OutputFile::default() };
            prop_assert_eq!(parse(&render(&output)), Ok(output));
        }
    }
}
