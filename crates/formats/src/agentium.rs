//! The `memory:` section of an `.agentium.yaml`, read for import.
//!
//! Pure: the caller reads the file, bounds its size, and decides what of it holds for the project.

use heirloom_model::limits;
use serde_norway::{Mapping, Value};

/// Settings of the section; `None` if unset.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AgentiumMemory {
    /// True if memory is enabled.
    pub enabled: Option<bool>,
    /// Path of the mirror as configured; the caller checks that it is inside of the project.
    pub file_path: Option<String>,
    /// Maximum number of entries, from 1.
    pub max_entries: Option<usize>,
    /// Budget of a context in characters, from 1.
    pub context_budget: Option<usize>,
}

/// Parsed `.agentium.yaml`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AgentiumConfig {
    /// The `memory:` section, if present.
    pub memory: Option<AgentiumMemory>,
    /// Unusable keys of that section, in its order: key, problem, and consequence.
    pub diagnostics: Vec<String>,
}

/// Error for a file that is not a YAML mapping.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column}: {message}")]
pub struct AgentiumError {
    /// Line of the problem, from 1.
    pub line: usize,
    /// Column of the problem, from 1.
    pub column: usize,
    /// Description of the problem.
    pub message: String,
}

/// Parses an `.agentium.yaml`. Keys outside of `memory:` belong to other programs and are ignored.
///
/// Zero and negative numbers mean "the default" in this file, and are read as unset.
pub fn parse(text: &str) -> Result<AgentiumConfig, AgentiumError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let root: Value = serde_norway::from_str(text).map_err(|error| {
        let (line, column) = error
            .location()
            .map_or((1, 1), |at| (at.line(), at.column()));
        let message = error.to_string();
        let end = message.rfind(" at line ").unwrap_or(message.len());
        AgentiumError {
            line,
            column,
            message: message[..end].to_owned(),
        }
    })?;
    if let Value::Mapping(mut root) = root {
        return Ok(parse_section(root.remove("memory")));
    }
    if root.is_null() {
        return Ok(AgentiumConfig::default());
    }
    Err(AgentiumError {
        line: 1,
        column: 1,
        message: format!("expected a mapping, found {}", type_name(&root)),
    })
}

fn parse_section(memory: Option<Value>) -> AgentiumConfig {
    let mut diagnostics = Vec::new();
    let memory = match memory {
        None => None,
        Some(Value::Null) => Some(AgentiumMemory::default()),
        Some(Value::Mapping(mapping)) => Some(parse_settings(mapping, &mut diagnostics)),
        Some(other) => {
            let found = type_name(&other);
            diagnostics.push(format!(
                "memory: expected a mapping, found {found}; skipped"
            ));
            None
        }
    };
    AgentiumConfig {
        memory,
        diagnostics,
    }
}

fn parse_settings(mapping: Mapping, diagnostics: &mut Vec<String>) -> AgentiumMemory {
    let mut memory = AgentiumMemory::default();
    for (key, value) in mapping {
        let key = key.as_str().unwrap_or("?").to_owned();
        let read = match key.as_str() {
            "enabled" => parse_flag(&value).map(|flag| memory.enabled = flag),
            "file_path" => parse_path(&value).map(|path| memory.file_path = path),
            "max_entries" => {
                parse_number(&value, usize::MAX).map(|number| memory.max_entries = number)
            }
            "context_budget" => parse_number(&value, limits::CONTEXT_BUDGET_CHARS_MAX)
                .map(|number| memory.context_budget = number),
            _ => Err("is not known".to_owned()),
        };
        if let Err(problem) = read {
            let key = heirloom_model::text::excerpt(&key, 60);
            diagnostics.push(format!("memory.{key}: {problem}; skipped"));
        }
    }
    memory
}

fn parse_flag(value: &Value) -> Result<Option<bool>, String> {
    let text = value.as_str().unwrap_or("").to_ascii_lowercase();
    match (value.as_bool(), text.as_str()) {
        (Some(flag), _) => Ok(Some(flag)),
        (None, "true") => Ok(Some(true)),
        (None, "false") => Ok(Some(false)),
        (None, _) if value.is_null() => Ok(None),
        (None, _) => Err(format!(
            "expected true or false, found {}",
            type_name(value)
        )),
    }
}

fn parse_path(value: &Value) -> Result<Option<String>, String> {
    match value.as_str() {
        Some("") => Ok(None),
        Some(path) => Ok(Some(path.to_owned())),
        None if value.is_null() => Ok(None),
        None => Err(format!("expected a path, found {}", type_name(value))),
    }
}

/// Reads a number from 1 to `max`; also in quotes, as other readers accept it.
fn parse_number(value: &Value, max: usize) -> Result<Option<usize>, String> {
    let number = match value {
        Value::Null => return Ok(None),
        Value::Number(number) => number.as_i64(),
        Value::String(text) => text.trim().parse().ok(),
        Value::Bool(_) | Value::Sequence(_) | Value::Mapping(_) | Value::Tagged(_) => None,
    };
    let Some(number) = number else {
        return Err(format!(
            "expected a whole number, found {}",
            type_name(value)
        ));
    };
    match usize::try_from(number) {
        Ok(0) | Err(_) => Ok(None),
        Ok(number) if number > max => Err(format!("at most {max} is allowed")),
        Ok(number) => Ok(Some(number)),
    }
}

fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "nothing",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "another number",
        Value::String(_) => "text",
        Value::Sequence(_) => "a list",
        Value::Mapping(_) => "a mapping",
        Value::Tagged(_) => "a tagged value",
    }
}
