//! Secrets in values that have a structure: strings, and what stands beside a telling name.

use super::{Redactor, names, values};
use serde_json::{Map, Value};

/// Deepest value that is walked: deeper ones are left out whole.
const DEPTH_MAX: usize = 200;

impl Redactor {
    /// Redacts the texts and the names of an object in place; the kinds of what was found go to `kinds`.
    pub fn redact_map(&self, map: &mut Map<String, Value>, kinds: &mut Vec<String>) {
        self.map(map, kinds, 0);
    }

    /// Redacts the texts of a value in place; the kinds of what was found go to `kinds`.
    pub fn redact_value(&self, value: &mut Value, kinds: &mut Vec<String>) {
        self.json(value, None, kinds, 0);
    }

    fn map(&self, map: &mut Map<String, Value>, kinds: &mut Vec<String>, depth: usize) {
        for (name, value) in map.iter_mut() {
            self.json(value, Some(name), kinds, depth);
        }
        if map.keys().any(|name| !self.is_clean(name)) {
            for (mut name, value) in std::mem::take(map) {
                self.redact_in_place(&mut name, kinds);
                map.insert(name, value);
            }
        }
    }

    fn json(&self, value: &mut Value, name: Option<&str>, kinds: &mut Vec<String>, depth: usize) {
        if depth > DEPTH_MAX {
            kinds.push("too-deep".to_owned());
            *value = Value::String("[redacted:too-deep]".to_owned());
            return;
        }
        match value {
            Value::String(text) => {
                self.redact_in_place(text, kinds);
                self.beside(name, text, kinds);
            }
            Value::Number(number) => {
                let mut text = number.to_string();
                let telling = name.and_then(names::telling);
                if telling == Some(names::Telling::Password) && text.len() >= 6 {
                    self.beside(name, &mut text, kinds);
                    *value = Value::String(text);
                }
            }
            Value::Array(list) => {
                for one in list {
                    self.json(one, name, kinds, depth + 1);
                }
            }
            Value::Object(map) => self.map(map, kinds, depth + 1),
            Value::Null | Value::Bool(_) => {}
        }
    }

    /// Redacts a whole text whose name tells that it is a secret.
    fn beside(&self, name: Option<&str>, text: &mut String, kinds: &mut Vec<String>) {
        let Some(telling) = name.and_then(names::telling) else {
            return;
        };
        let marked = text.contains(super::MARK);
        if !marked && values::is_secret_datum(telling, text) && !self.user.allows(text) {
            kinds.push(telling.kind().to_owned());
            *text = super::mark(telling.kind());
        }
    }
}
