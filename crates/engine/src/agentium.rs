//! The `memory:` section of an `.agentium.yaml`, read for import.
//!
//! Pure: the caller reads the file, bounds its size, and decides what of it holds for the project.

use heirloom_model::limits;
use serde_norway::{Mapping, Value};

/// What the section says; `None` where it says nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AgentiumMemory {
    /// Whether memory is on.
    pub enabled: Option<bool>,
    /// The mirror, as it is written there; the caller checks that it lies in the project.
    pub file_path: Option<String>,
    /// Most entries that are kept, from 1.
    pub max_entries: Option<usize>,
    /// The budget of a context in characters, from 1.
    pub context_budget: Option<usize>,
}

/// An `.agentium.yaml` that was read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AgentiumConfig {
    /// Its `memory:` section, if it has one.
    pub memory: Option<AgentiumMemory>,
    /// What in that section could not be used, in its order: the key, what is wrong, what became of it.
    pub diagnostics: Vec<String>,
}

/// A file that is no YAML mapping.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column}: {message}")]
pub struct AgentiumError {
    /// The line of the problem, from 1.
    pub line: usize,
    /// Its column, from 1.
    pub column: usize,
    /// What is wrong.
    pub message: String,
}

/// Reads an `.agentium.yaml`. Keys outside `memory:` are other programs' and pass silently.
///
/// Zero and negative numbers mean "the default" there, and are read as nothing said.
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
        return Ok(section(root.remove("memory")));
    }
    if root.is_null() {
        return Ok(AgentiumConfig::default());
    }
    Err(AgentiumError {
        line: 1,
        column: 1,
        message: format!("expected a mapping, found {}", name(&root)),
    })
}

fn section(memory: Option<Value>) -> AgentiumConfig {
    let mut diagnostics = Vec::new();
    let memory = match memory {
        None => None,
        Some(Value::Null) => Some(AgentiumMemory::default()),
        Some(Value::Mapping(mapping)) => Some(settings(mapping, &mut diagnostics)),
        Some(other) => {
            let found = name(&other);
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

fn settings(mapping: Mapping, diagnostics: &mut Vec<String>) -> AgentiumMemory {
    let mut memory = AgentiumMemory::default();
    for (key, value) in mapping {
        let key = key.as_str().unwrap_or("?").to_owned();
        let read = match key.as_str() {
            "enabled" => flag(&value).map(|flag| memory.enabled = flag),
            "file_path" => path(&value).map(|path| memory.file_path = path),
            "max_entries" => number(&value, usize::MAX).map(|number| memory.max_entries = number),
            "context_budget" => number(&value, limits::CONTEXT_BUDGET_CHARS_MAX)
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

fn flag(value: &Value) -> Result<Option<bool>, String> {
    let text = value.as_str().unwrap_or("").to_ascii_lowercase();
    match (value.as_bool(), text.as_str()) {
        (Some(flag), _) => Ok(Some(flag)),
        (None, "true") => Ok(Some(true)),
        (None, "false") => Ok(Some(false)),
        (None, _) if value.is_null() => Ok(None),
        (None, _) => Err(format!("expected true or false, found {}", name(value))),
    }
}

fn path(value: &Value) -> Result<Option<String>, String> {
    match value.as_str() {
        Some("") => Ok(None),
        Some(path) => Ok(Some(path.to_owned())),
        None if value.is_null() => Ok(None),
        None => Err(format!("expected a path, found {}", name(value))),
    }
}

/// A number from 1 to `max`; also in quotes, as other readers accept it.
fn number(value: &Value, max: usize) -> Result<Option<usize>, String> {
    let number = match value {
        Value::Null => return Ok(None),
        Value::Number(number) => number.as_i64(),
        Value::String(text) => text.trim().parse().ok(),
        Value::Bool(_) | Value::Sequence(_) | Value::Mapping(_) | Value::Tagged(_) => None,
    };
    let Some(number) = number else {
        return Err(format!("expected a whole number, found {}", name(value)));
    };
    match usize::try_from(number) {
        Ok(0) | Err(_) => Ok(None),
        Ok(number) if number > max => Err(format!("at most {max} is allowed")),
        Ok(number) => Ok(Some(number)),
    }
}

fn name(value: &Value) -> &'static str {
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
