//! Format of an output file: `{agent_id, content, timestamp, metadata}`.

use heirloom_model::record::Attrs;
use heirloom_model::{clock, text};
use serde_json::{Map, Value, json};

/// Parsed output file.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct OutputFile {
    /// Id of the agent; empty if missing in the file.
    pub agent_id: String,
    /// Output of the agent.
    pub content: String,
    /// Time, in seconds since 1970; `None` if missing in the file.
    pub timestamp: Option<i64>,
    /// Metadata.
    pub metadata: Attrs,
    /// Unknown fields, which are preserved.
    pub extra: Attrs,
}

/// Error of an output file that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OutputProblem {
    /// The file is not JSON; it may be truncated.
    #[error("it is not JSON: {0}")]
    NoJson(String),
    /// A field has the wrong type.
    #[error("`{field}` is {found}, not {expected}")]
    Type {
        /// Name of the field.
        field: &'static str,
        /// Type in the file.
        found: &'static str,
        /// Expected type.
        expected: &'static str,
    },
    /// The content is missing.
    #[error("it has no `content`")]
    NoContent,
}

/// Parses an output file.
pub fn parse(bytes: &[u8]) -> Result<OutputFile, OutputProblem> {
    let value: Value =
        serde_json::from_slice(bytes).map_err(|error| OutputProblem::NoJson(error.to_string()))?;
    let Value::Object(mut map) = value else {
        return Err(type_problem("the file", &value, "an object"));
    };
    let agent_id = match map.remove("agent_id") {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(agent)) => agent,
        Some(other) => return Err(type_problem("agent_id", &other, "a text")),
    };
    let content = match map.remove("content") {
        Some(Value::String(content)) => content,
        None | Some(Value::Null) => return Err(OutputProblem::NoContent),
        Some(other) => return Err(type_problem("content", &other, "a text")),
    };
    let timestamp = match map.remove("timestamp") {
        None | Some(Value::Null) => None,
        Some(value) => Some(
            clock::parse_seconds(&value)
                .ok_or_else(|| type_problem("timestamp", &value, "Unix seconds"))?,
        ),
    };
    let metadata = match map.remove("metadata") {
        None | Some(Value::Null) => Attrs::new(),
        Some(Value::Object(metadata)) => metadata,
        Some(other) => return Err(type_problem("metadata", &other, "an object")),
    };
    Ok(OutputFile {
        agent_id,
        content,
        timestamp,
        metadata,
        extra: map,
    })
}

/// Renders an output file, with a line break at its end.
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

fn type_problem(field: &'static str, found: &Value, expected: &'static str) -> OutputProblem {
    OutputProblem::Type {
        field,
        found: type_name(found),
        expected,
    }
}

fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(value) if text::chars(value) == 0 => "an empty text",
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
    fn parse_preserves_unknown_fields() {
        let text = r#"{"agent_id":"a","content":"x\ny","timestamp":1777629600,
            "metadata":{"k":1},"iteration":7}"#;
        let read = parse(text.as_bytes()).unwrap();
        assert_eq!(read.timestamp, Some(1_777_629_600));
        assert_eq!(read.extra["iteration"], 7);
        assert_eq!(parse(&render(&read)), Ok(read));
    }

    #[test]
    fn parse_reports_invalid_fields() {
        for (text, problem) in [
            ("", "it is not JSON"),
            ("{\"agent_id\":\"a\",\"conte", "it is not JSON"),
            ("[]", "`the file` is a list, not an object"),
            ("{}", "it has no `content`"),
            (r#"{"content":5}"#, "`content` is a number, not a text"),
            (r#"{"content":"","agent_id":[]}"#, "`agent_id` is a list"),
            (r#"{"content":"","timestamp":"x"}"#, "`timestamp` is a text"),
            (r#"{"content":"","metadata":3}"#, "`metadata` is a number"),
        ] {
            let value = parse(text.as_bytes()).unwrap_err().to_string();
            assert!(value.starts_with(problem), "{text}: {value}");
        }
    }

    proptest! {
        #[test]
        fn parse_any_bytes_round_trips(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            if let Ok(read) = parse(&bytes) {
                prop_assert_eq!(parse(&render(&read)), Ok(read));
            }
        }

        #[test]
        fn render_round_trips(agent_id: String, content: String, at in -1_000_000_000_i64..9_000_000_000) {
            let output = OutputFile { agent_id, content, timestamp: Some(at), ..OutputFile::default() };
            prop_assert_eq!(parse(&render(&output)), Ok(output));
        }
    }
}
