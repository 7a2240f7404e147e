//! Redaction of JSON values: strings, and values of names that denote secrets.

use super::{Redactor, secret_names, value_rules};
use serde_json::{Map, Value};

/// Maximum nesting depth; deeper values are replaced by a mark.
const DEPTH_MAX: usize = 200;

impl Redactor {
    /// Redacts the texts and names of an object in place, and adds the kinds of the secrets to `kinds`.
    pub fn redact_map(&self, map: &mut Map<String, Value>, kinds: &mut Vec<String>) {
        self.redact_map_except(map, &|_| false, kinds);
    }

    /// Redacts like [`redact_map`](Self::redact_map), without a scan of the texts that `is_redacted` accepts because
    /// they are results of this redactor.
    pub fn redact_map_except(
        &self,
        map: &mut Map<String, Value>,
        is_redacted: &dyn Fn(&str) -> bool,
        kinds: &mut Vec<String>,
    ) {
        self.redact_nested_map(map, is_redacted, kinds, 0);
    }

    /// Redacts the texts of a value in place, and adds the kinds of the secrets to `kinds`.
    pub fn redact_value(&self, value: &mut Value, kinds: &mut Vec<String>) {
        self.redact_nested(value, None, &|_| false, kinds, 0);
    }

    fn redact_nested_map(
        &self,
        map: &mut Map<String, Value>,
        is_redacted: &dyn Fn(&str) -> bool,
        kinds: &mut Vec<String>,
        depth: usize,
    ) {
        let paired = paired_name(map);
        for (name, value) in map.iter_mut() {
            let name = match (&paired, is_value_field(name)) {
                (Some(paired), true) => paired,
                _ => name,
            };
            self.redact_nested(value, Some(name), is_redacted, kinds, depth);
        }
        if map.keys().any(|name| !self.is_clean(name)) {
            for (mut name, value) in std::mem::take(map) {
                self.redact_in_place(&mut name, kinds);
                map.insert(name, value);
            }
        }
    }

    fn redact_nested(
        &self,
        value: &mut Value,
        name: Option<&str>,
        is_redacted: &dyn Fn(&str) -> bool,
        kinds: &mut Vec<String>,
        depth: usize,
    ) {
        if depth > DEPTH_MAX {
            kinds.push("too-deep".to_owned());
            *value = Value::String("[redacted:too-deep]".to_owned());
            return;
        }
        match value {
            Value::String(text) => {
                if !is_redacted(text) {
                    self.redact_in_place(text, kinds);
                }
                self.redact_if_secret(name, text, kinds);
            }
            Value::Number(number) => {
                let name_kind = name.and_then(secret_names::classify_name);
                if name_kind == Some(secret_names::SecretNameKind::Password) {
                    let mut text = number.to_string();
                    if text.len() >= 6 {
                        self.redact_if_secret(name, &mut text, kinds);
                        *value = Value::String(text);
                    }
                }
            }
            Value::Array(list) => {
                for one in list {
                    self.redact_nested(one, name, is_redacted, kinds, depth + 1);
                }
            }
            Value::Object(map) => self.redact_nested_map(map, is_redacted, kinds, depth + 1),
            Value::Null | Value::Bool(_) => {}
        }
    }

    /// Redacts a whole text if its name denotes a secret.
    fn redact_if_secret(&self, name: Option<&str>, text: &mut String, kinds: &mut Vec<String>) {
        let Some(name_kind) = name.and_then(secret_names::classify_name) else {
            return;
        };
        let marked = text.contains(super::MARK);
        if !marked && value_rules::is_secret_literal(name_kind, text) && !self.user.allows(text) {
            kinds.push(name_kind.kind().to_owned());
            *text = super::mark(name_kind.kind());
        }
    }
}

/// Returns the secret name that an object has as a value: that of `{"name": "DB_PASSWORD", "value": "…"}`.
fn paired_name(map: &Map<String, Value>) -> Option<String> {
    const NAMING: [&str; 6] = ["name", "key", "header", "field", "parameterkey", "variable"];
    let names = map
        .iter()
        .filter(|(field, _)| NAMING.iter().any(|name| field.eq_ignore_ascii_case(name)));
    let mut texts = names.filter_map(|(_, value)| value.as_str());
    texts
        .find(|text| secret_names::classify_name(text).is_some())
        .map(str::to_owned)
}

/// Returns true for the field of the value next to a name.
fn is_value_field(field: &str) -> bool {
    const VALUES: [&str; 4] = ["value", "val", "default", "parametervalue"];
    VALUES.iter().any(|value| field.eq_ignore_ascii_case(value))
}
