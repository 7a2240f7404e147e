//! JSON values as the parts of a mirror; what does not fit is reported and skipped.

use super::{
    MirrorDecision, MirrorDiagnostic, MirrorError, MirrorFile, MirrorMistake, MirrorTask, NO_TIME,
    PrNumber,
};
use heirloom_model::record::Attrs;
use heirloom_model::{Timestamp, limits};
use serde_json::Value;
use std::collections::BTreeMap;

/// The JSON object that the whole text is.
pub(super) fn object(text: &str) -> Result<Attrs, MirrorError> {
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
            message: format!("expected an object, found {}", name(&other)),
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

/// What a value is called in a diagnostic.
pub(super) fn name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

/// Takes values out of objects; what is left in an object is not Heirloom's.
pub(super) struct Reader {
    diagnostics: Vec<MirrorDiagnostic>,
    /// Diagnostics that are counted only.
    more: usize,
}

impl Reader {
    pub(super) fn new(diagnostics: Vec<MirrorDiagnostic>) -> Self {
        Self {
            diagnostics,
            more: 0,
        }
    }

    /// The diagnostics; if there were too many, the last one says how many.
    pub(super) fn finish(mut self) -> Vec<MirrorDiagnostic> {
        if self.more > 0 {
            self.diagnostics.push(MirrorDiagnostic {
                at: String::new(),
                message: format!("{} more parts could not be used", self.more),
            });
        }
        self.diagnostics
    }

    pub(super) fn report(&mut self, at: String, message: String) {
        // The last place is for the number of the rest.
        if self.diagnostics.len() + 1 < limits::DIAGNOSTICS_MAX {
            self.diagnostics.push(MirrorDiagnostic { at, message });
        } else {
            self.more += 1;
        }
    }

    fn wrong(&mut self, at: String, expected: &str, found: &Value) {
        let message = format!("expected {expected}, found {}; skipped", name(found));
        self.report(at, message);
    }

    /// A mirror in the form that Heirloom writes.
    pub(super) fn file(&mut self, mut object: Attrs) -> MirrorFile {
        let it = &mut object;
        MirrorFile {
            session_id: self.text("", it, "session_id"),
            repository: self.text("", it, "repository"),
            iteration: self.count("", it, "iteration"),
            tasks: self.tasks(it),
            decisions: self.list(it, "decisions", Self::decision),
            errors: self.list(it, "errors", Self::mistake),
            key_facts: self.texts("", it, "key_facts"),
            last_checkpoint: self.time("", it, "last_checkpoint"),
            extra: object,
        }
    }

    fn tasks(&mut self, object: &mut Attrs) -> BTreeMap<String, MirrorTask> {
        let tasks = match object.remove("tasks") {
            None | Some(Value::Null) => return BTreeMap::new(),
            Some(Value::Object(tasks)) => tasks,
            Some(other) => {
                self.wrong("tasks".to_owned(), "an object", &other);
                return BTreeMap::new();
            }
        };
        let mut read = BTreeMap::new();
        for (id, value) in tasks {
            let at = format!("tasks.{id}");
            if let Value::Object(task) = value {
                let task = self.task(&at, &id, task);
                read.insert(id, task);
            } else {
                self.wrong(at, "an object", &value);
            }
        }
        read
    }

    fn task(&mut self, at: &str, key: &str, mut object: Attrs) -> MirrorTask {
        let it = &mut object;
        let id = self.text(at, it, "id");
        MirrorTask {
            id: if id.is_empty() { key.to_owned() } else { id },
            task_type: self.text(at, it, "type"),
            phase: self.text(at, it, "phase"),
            branch: self.text(at, it, "branch"),
            pr_number: self.pr_number(at, it),
            completed_steps: self.texts(at, it, "completed_steps"),
            pending_steps: self.texts(at, it, "pending_steps"),
            blocked_reason: self.text(at, it, "blocked_reason"),
            files_modified: self.texts(at, it, "files_modified"),
            extra: object,
        }
    }

    fn decision(&mut self, at: &str, mut object: Attrs) -> MirrorDecision {
        let it = &mut object;
        MirrorDecision {
            iteration: self.count(at, it, "iteration"),
            task_id: self.text(at, it, "task_id"),
            description: self.text(at, it, "description"),
            rationale: self.text(at, it, "rationale"),
            extra: object,
        }
    }

    fn mistake(&mut self, at: &str, mut object: Attrs) -> MirrorMistake {
        let it = &mut object;
        MirrorMistake {
            iteration: self.count(at, it, "iteration"),
            task_id: self.text(at, it, "task_id"),
            phase: self.text(at, it, "phase"),
            error: self.text(at, it, "error"),
            resolution: self.text(at, it, "resolution"),
            resolved: self.flag(at, it, "resolved"),
            extra: object,
        }
    }

    /// A list of objects.
    pub(super) fn list<T>(
        &mut self,
        object: &mut Attrs,
        key: &str,
        read: impl Fn(&mut Self, &str, Attrs) -> T,
    ) -> Vec<T> {
        let mut list = Vec::new();
        for (i, value) in self.values("", object, key).into_iter().enumerate() {
            let at = format!("{key}[{i}]");
            if let Value::Object(item) = value {
                list.push(read(self, &at, item));
            } else {
                self.wrong(at, "an object", &value);
            }
        }
        list
    }

    fn texts(&mut self, at: &str, object: &mut Attrs, key: &str) -> Vec<String> {
        let mut texts = Vec::new();
        for (i, value) in self.values(at, object, key).into_iter().enumerate() {
            if let Value::String(text) = value {
                texts.push(text);
            } else {
                self.wrong(format!("{}[{i}]", join(at, key)), "text", &value);
            }
        }
        texts
    }

    fn values(&mut self, at: &str, object: &mut Attrs, key: &str) -> Vec<Value> {
        match object.remove(key) {
            None | Some(Value::Null) => Vec::new(),
            Some(Value::Array(values)) => values,
            Some(other) => {
                self.wrong(join(at, key), "a list", &other);
                Vec::new()
            }
        }
    }

    /// A text; a number is taken for its digits, as ids are written both ways.
    pub(super) fn text(&mut self, at: &str, object: &mut Attrs, key: &str) -> String {
        match object.remove(key) {
            None | Some(Value::Null) => String::new(),
            Some(Value::String(text)) => text,
            Some(Value::Number(number)) => {
                let message = "expected text, found a number; read as text".to_owned();
                self.report(join(at, key), message);
                number.to_string()
            }
            Some(other) => {
                self.wrong(join(at, key), "text", &other);
                String::new()
            }
        }
    }

    /// A number of iterations.
    pub(super) fn count(&mut self, at: &str, object: &mut Attrs, key: &str) -> u32 {
        let value = match object.remove(key) {
            None | Some(Value::Null) => return 0,
            Some(value) => value,
        };
        let count = value.as_u64().and_then(|n| u32::try_from(n).ok());
        count.unwrap_or_else(|| {
            self.wrong(join(at, key), "a whole number from 0 to 4294967295", &value);
            0
        })
    }

    fn flag(&mut self, at: &str, object: &mut Attrs, key: &str) -> bool {
        match object.remove(key) {
            None | Some(Value::Null) => false,
            Some(Value::Bool(flag)) => flag,
            Some(other) => {
                self.wrong(join(at, key), "true or false", &other);
                false
            }
        }
    }

    /// A time, as it is written; no time reads as empty.
    pub(super) fn time(&mut self, at: &str, object: &mut Attrs, key: &str) -> String {
        let time = self.text(at, object, key);
        if time.is_empty() || time == NO_TIME {
            return String::new();
        }
        if time.parse::<Timestamp>().is_err() {
            let message = "expected a time such as 2026-05-01T10:00:00Z; skipped".to_owned();
            self.report(join(at, key), message);
            return String::new();
        }
        time
    }

    fn pr_number(&mut self, at: &str, object: &mut Attrs) -> Option<PrNumber> {
        let value = object.remove("pr_number")?;
        match (value.as_u64(), value) {
            (Some(0), _) | (_, Value::Null) => None,
            (Some(number), _) => Some(PrNumber::Number(number)),
            (_, Value::String(text)) if text.is_empty() => None,
            (_, Value::String(text)) => Some(PrNumber::Text(text)),
            (_, other) => {
                self.wrong(join(at, "pr_number"), "a whole number", &other);
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
