//! Reader of JSON values into a mirror; unusable values are reported and skipped.

use super::mirror_time::ZERO_TIME;
use super::{
    MirrorDecision, MirrorDiagnostic, MirrorError, MirrorErrorItem, MirrorFile, MirrorTask,
    PrNumber,
};
use heirloom_model::record::Attrs;
use heirloom_model::{Timestamp, limits};
use serde_json::Value;
use std::collections::BTreeMap;

/// Parses the whole text as a JSON object.
pub(super) fn parse_object(text: &str) -> Result<Attrs, MirrorError> {
    if text.trim().is_empty() {
        return Err(MirrorError {
            line: 1,
            column: 0,
            message: "the file is empty".to_owned(),
        });
    }
    match serde_json::from_str(text) {
        Ok(Value::Object(object)) => Ok(object),
        Ok(other) => Err(MirrorError {
            line: 1,
            column: 1,
            message: format!("expected an object, found {}", type_name(&other)),
        }),
        Err(error) => {
            let message = error.to_string();
            let end = message.rfind(" at line ").unwrap_or(message.len());
            Err(MirrorError {
                line: error.line(),
                column: error.column(),
                message: message[..end].to_owned(),
            })
        }
    }
}

/// Returns the name of the type of a value for diagnostics.
pub(super) fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

/// Removes known fields from JSON objects; the remaining fields are unknown to Heirloom.
pub(super) struct MirrorReader {
    diagnostics: Vec<MirrorDiagnostic>,
    /// Number of diagnostics over the maximum.
    unreported_count: usize,
}

impl MirrorReader {
    pub(super) fn new(diagnostics: Vec<MirrorDiagnostic>) -> Self {
        Self {
            diagnostics,
            unreported_count: 0,
        }
    }

    /// Returns the diagnostics; if there were too many, the last one has the number of the rest.
    pub(super) fn finish(mut self) -> Vec<MirrorDiagnostic> {
        if self.unreported_count > 0 {
            self.diagnostics.push(MirrorDiagnostic {
                at: String::new(),
                message: format!("{} more parts could not be used", self.unreported_count),
            });
        }
        self.diagnostics
    }

    pub(super) fn report(&mut self, at: String, message: String) {
        // The last place is reserved for the number of the rest.
        if self.diagnostics.len() + 1 < limits::DIAGNOSTICS_MAX {
            self.diagnostics.push(MirrorDiagnostic { at, message });
        } else {
            self.unreported_count += 1;
        }
    }

    fn report_type(&mut self, at: String, expected: &str, found: &Value) {
        let message = format!("expected {expected}, found {}; skipped", type_name(found));
        self.report(at, message);
    }

    /// Reads a mirror in the format that Heirloom writes.
    pub(super) fn read_file(&mut self, mut object: Attrs) -> MirrorFile {
        let it = &mut object;
        MirrorFile {
            session_id: self.read_text("", it, "session_id"),
            repository: self.read_text("", it, "repository"),
            iteration: self.read_count("", it, "iteration"),
            tasks: self.read_tasks(it),
            decisions: self.read_list(it, "decisions", Self::read_decision),
            errors: self.read_list(it, "errors", Self::read_error_item),
            key_facts: self.read_texts("", it, "key_facts"),
            last_checkpoint: self.read_time("", it, "last_checkpoint"),
            extra: object,
        }
    }

    fn read_tasks(&mut self, object: &mut Attrs) -> BTreeMap<String, MirrorTask> {
        let tasks = match object.remove("tasks") {
            None | Some(Value::Null) => return BTreeMap::new(),
            Some(Value::Object(tasks)) => tasks,
            Some(other) => {
                self.report_type("tasks".to_owned(), "an object", &other);
                return BTreeMap::new();
            }
        };
        let mut read = BTreeMap::new();
        for (id, value) in tasks {
            let at = format!("tasks.{id}");
            if let Value::Object(task) = value {
                let task = self.read_task(&at, &id, task);
                read.insert(id, task);
            } else {
                self.report_type(at, "an object", &value);
            }
        }
        read
    }

    fn read_task(&mut self, at: &str, key: &str, mut object: Attrs) -> MirrorTask {
        let it = &mut object;
        let id = self.read_text(at, it, "id");
        MirrorTask {
            id: if id.is_empty() { key.to_owned() } else { id },
            task_type: self.read_text(at, it, "type"),
            phase: self.read_text(at, it, "phase"),
            branch: self.read_text(at, it, "branch"),
            pr_number: self.read_pr_number(at, it),
            completed_steps: self.read_texts(at, it, "completed_steps"),
            pending_steps: self.read_texts(at, it, "pending_steps"),
            blocked_reason: self.read_text(at, it, "blocked_reason"),
            files_modified: self.read_texts(at, it, "files_modified"),
            extra: object,
        }
    }

    fn read_decision(&mut self, at: &str, mut object: Attrs) -> MirrorDecision {
        let it = &mut object;
        MirrorDecision {
            iteration: self.read_count(at, it, "iteration"),
            task_id: self.read_text(at, it, "task_id"),
            description: self.read_text(at, it, "description"),
            rationale: self.read_text(at, it, "rationale"),
            extra: object,
        }
    }

    fn read_error_item(&mut self, at: &str, mut object: Attrs) -> MirrorErrorItem {
        let it = &mut object;
        MirrorErrorItem {
            iteration: self.read_count(at, it, "iteration"),
            task_id: self.read_text(at, it, "task_id"),
            phase: self.read_text(at, it, "phase"),
            error: self.read_text(at, it, "error"),
            resolution: self.read_text(at, it, "resolution"),
            resolved: self.read_flag(at, it, "resolved"),
            extra: object,
        }
    }

    /// Reads a list of objects.
    pub(super) fn read_list<T>(
        &mut self,
        object: &mut Attrs,
        key: &str,
        read: impl Fn(&mut Self, &str, Attrs) -> T,
    ) -> Vec<T> {
        let mut list = Vec::new();
        for (i, value) in self.read_values("", object, key).into_iter().enumerate() {
            let at = format!("{key}[{i}]");
            if let Value::Object(item) = value {
                list.push(read(self, &at, item));
            } else {
                self.report_type(at, "an object", &value);
            }
        }
        list
    }

    fn read_texts(&mut self, at: &str, object: &mut Attrs, key: &str) -> Vec<String> {
        let mut texts = Vec::new();
        for (i, value) in self.read_values(at, object, key).into_iter().enumerate() {
            if let Value::String(text) = value {
                texts.push(text);
            } else {
                self.report_type(format!("{}[{i}]", join(at, key)), "text", &value);
            }
        }
        texts
    }

    fn read_values(&mut self, at: &str, object: &mut Attrs, key: &str) -> Vec<Value> {
        match object.remove(key) {
            None | Some(Value::Null) => Vec::new(),
            Some(Value::Array(values)) => values,
            Some(other) => {
                self.report_type(join(at, key), "a list", &other);
                Vec::new()
            }
        }
    }

    /// Reads a text; a number is read as its digits, because ids are written both ways.
    pub(super) fn read_text(&mut self, at: &str, object: &mut Attrs, key: &str) -> String {
        match object.remove(key) {
            None | Some(Value::Null) => String::new(),
            Some(Value::String(text)) => text,
            Some(Value::Number(number)) => {
                let message = "expected text, found a number; read as text".to_owned();
                self.report(join(at, key), message);
                number.to_string()
            }
            Some(other) => {
                self.report_type(join(at, key), "text", &other);
                String::new()
            }
        }
    }

    /// Reads a number of iterations.
    pub(super) fn read_count(&mut self, at: &str, object: &mut Attrs, key: &str) -> u32 {
        let value = match object.remove(key) {
            None | Some(Value::Null) => return 0,
            Some(value) => value,
        };
        let count = value.as_u64().and_then(|n| u32::try_from(n).ok());
        count.unwrap_or_else(|| {
            self.report_type(join(at, key), "a whole number from 0 to 4294967295", &value);
            0
        })
    }

    fn read_flag(&mut self, at: &str, object: &mut Attrs, key: &str) -> bool {
        match object.remove(key) {
            None | Some(Value::Null) => false,
            Some(Value::Bool(flag)) => flag,
            Some(other) => {
                self.report_type(join(at, key), "true or false", &other);
                false
            }
        }
    }

    /// Reads a time without reformatting it; a zero time reads as empty.
    pub(super) fn read_time(&mut self, at: &str, object: &mut Attrs, key: &str) -> String {
        let time = self.read_text(at, object, key);
        if time.is_empty() || time == ZERO_TIME {
            return String::new();
        }
        if time.parse::<Timestamp>().is_err() {
            let message = "expected a time such as 2026-05-01T10:00:00Z; skipped".to_owned();
            self.report(join(at, key), message);
            return String::new();
        }
        time
    }

    fn read_pr_number(&mut self, at: &str, object: &mut Attrs) -> Option<PrNumber> {
        let value = object.remove("pr_number")?;
        match (value.as_u64(), value) {
            (Some(0), _) | (_, Value::Null) => None,
            (Some(number), _) => Some(PrNumber::Number(number)),
            (_, Value::String(text)) if text.is_empty() => None,
            (_, Value::String(text)) => Some(PrNumber::Text(text)),
            (_, other) => {
                self.report_type(join(at, "pr_number"), "a whole number", &other);
                None
            }
        }
    }
}

fn join(at: &str, key: &str) -> String {
    if at.is_empty() {
        key.to_owned()
    } else {
        format!("{at}.{key}")
    }
}
