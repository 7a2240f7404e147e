//! JSON Schema validation of the keywords that the schemas in `docs/schemas` use.
//!
//! The validation is stricter than the published schemas: a field that a schema does not list is a violation. Readers
//! have to accept new fields, but a new field of this program has to be described.

use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::path::Path;
use std::{fs, io};

/// Schemas by file name, which may refer to each other.
#[derive(Debug, Default)]
pub struct SchemaSet {
    files: BTreeMap<String, Value>,
}

impl SchemaSet {
    /// Reads every `.json` file of a folder.
    pub fn read(folder: &Path) -> io::Result<Self> {
        let mut files = BTreeMap::new();
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            let name = path.file_name().unwrap_or_default();
            let name = name.to_string_lossy().into_owned();
            if name.ends_with(".json") {
                let text = fs::read_to_string(&path)?;
                let schema = serde_json::from_str(&text)
                    .map_err(|error| io::Error::other(format!("{name}: {error}")))?;
                files.insert(name, schema);
            }
        }
        Ok(Self { files })
    }

    /// Creates a set from named schemas.
    #[must_use]
    pub fn new(files: impl IntoIterator<Item = (String, Value)>) -> Self {
        let files = files.into_iter().collect();
        Self { files }
    }

    /// Returns the file with this name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.files.get(name)
    }

    /// Returns the violations of a value, each with the path of its place; an empty list if the value is valid.
    #[must_use]
    pub fn violations(&self, name: &str, value: &Value) -> Vec<String> {
        let mut found = Vec::new();
        match self.files.get(name) {
            Some(schema) => self.check(schema, value, "$", &mut found),
            None => found.push(format!("there is no schema {name}")),
        }
        found
    }

    fn check(&self, schema: &Value, value: &Value, place: &str, found: &mut Vec<String>) {
        let keywords = match schema {
            Value::Bool(true) => return,
            Value::Object(keywords) => keywords,
            Value::Bool(false)
            | Value::Null
            | Value::Number(_)
            | Value::String(_)
            | Value::Array(_) => {
                return found.push(format!("{place}: nothing is valid for {schema}"));
            }
        };
        for (keyword, rule) in keywords {
            match keyword.as_str() {
                "type" => check_type(rule, value, place, found),
                "enum" => check_enum(rule, value, place, found),
                "const" if rule == value => {}
                "const" => found.push(format!("{place}: {value} is not {rule}")),
                "format" => check_format(rule, value, place, found),
                "minimum" => check_minimum(rule, value, place, found),
                "items" => self.check_items(rule, value, place, found),
                "required" => check_required(rule, value, place, found),
                "anyOf" => self.check_branches(rule, value, place, found, false),
                "oneOf" => self.check_branches(rule, value, place, found, true),
                "$ref" => self.check_reference(rule, value, place, found),
                // Both apply to the same fields; `properties` is checked once, below.
                "properties" | "additionalProperties" => {}
                "$schema" | "$id" | "title" | "description" | "examples" => {}
                other => found.push(format!(
                    "{place}: the validator does not know the keyword `{other}`"
                )),
            }
        }
        let has_fields =
            keywords.contains_key("properties") || keywords.contains_key("additionalProperties");
        if let (Value::Object(fields), true) = (value, has_fields) {
            self.check_fields(keywords, fields, place, found);
        }
    }

    fn check_fields(
        &self,
        keywords: &Map<String, Value>,
        fields: &Map<String, Value>,
        place: &str,
        found: &mut Vec<String>,
    ) {
        let listed = keywords.get("properties").and_then(Value::as_object);
        for (name, field) in fields {
            let place = format!("{place}.{name}");
            let rule = listed.and_then(|listed| listed.get(name));
            match rule.or_else(|| keywords.get("additionalProperties")) {
                Some(rule) => self.check(rule, field, &place, found),
                None => found.push(format!("{place}: the field is not in the schema")),
            }
        }
    }

    fn check_items(&self, rule: &Value, value: &Value, place: &str, found: &mut Vec<String>) {
        for (index, item) in value.as_array().into_iter().flatten().enumerate() {
            self.check(rule, item, &format!("{place}[{index}]"), found);
        }
    }

    /// Checks alternatives. Without a match, the violations of the nearest alternative are reported.
    fn check_branches(
        &self,
        rule: &Value,
        value: &Value,
        place: &str,
        found: &mut Vec<String>,
        is_exclusive: bool,
    ) {
        let violations = |branch: &Value| {
            let mut found = Vec::new();
            self.check(branch, value, place, &mut found);
            found
        };
        let branches = rule.as_array().into_iter().flatten();
        let mut attempts: Vec<Vec<String>> = branches.map(violations).collect();
        let matches = attempts.iter().filter(|found| found.is_empty()).count();
        if matches > 1 && is_exclusive {
            found.push(format!("{place}: {matches} alternatives match"));
        }
        if matches == 0 {
            attempts.sort_by_key(Vec::len);
            found.push(format!("{place}: no alternative matches"));
            found.extend(attempts.into_iter().next().unwrap_or_default());
        }
    }

    fn check_reference(&self, rule: &Value, value: &Value, place: &str, found: &mut Vec<String>) {
        match rule.as_str().and_then(|name| self.files.get(name)) {
            Some(schema) => self.check(schema, value, place, found),
            None => found.push(format!("{place}: there is no schema {rule}")),
        }
    }
}

fn check_type(rule: &Value, value: &Value, place: &str, found: &mut Vec<String>) {
    let is = |name: &str| match name {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        _ => false,
    };
    let has_type = match rule {
        Value::Array(names) => names.iter().filter_map(Value::as_str).any(is),
        Value::String(name) => is(name),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => false,
    };
    if !has_type {
        found.push(format!("{place}: {value} is not of type {rule}"));
    }
}

fn check_enum(rule: &Value, value: &Value, place: &str, found: &mut Vec<String>) {
    if !rule.as_array().is_some_and(|words| words.contains(value)) {
        found.push(format!("{place}: {value} is not in {rule}"));
    }
}

fn check_minimum(rule: &Value, value: &Value, place: &str, found: &mut Vec<String>) {
    if let (Some(least), Some(number)) = (rule.as_f64(), value.as_f64())
        && number < least
    {
        found.push(format!("{place}: {value} is below {rule}"));
    }
}

/// Checks the one format that is in use, an instant of RFC 3339 in UTC.
fn check_format(rule: &Value, value: &Value, place: &str, found: &mut Vec<String>) {
    let Some(text) = value.as_str() else { return };
    let is_valid = rule == "date-time" && is_utc_instant(text);
    if !is_valid {
        found.push(format!("{place}: {value} is not of the format {rule}"));
    }
}

fn is_utc_instant(text: &str) -> bool {
    let Some((whole, fraction)) = text.strip_suffix('Z').map(|text| {
        let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
        (whole, fraction)
    }) else {
        return false;
    };
    let is_shaped = |(c, pattern): (char, char)| match pattern {
        '0' => c.is_ascii_digit(),
        other => c == other,
    };
    const PATTERN: &str = "0000-00-00T00:00:00";
    whole.len() == PATTERN.len()
        && whole.chars().zip(PATTERN.chars()).all(is_shaped)
        && !fraction.is_empty()
        && fraction.chars().all(|c| c.is_ascii_digit())
}

fn check_required(rule: &Value, value: &Value, place: &str, found: &mut Vec<String>) {
    let Value::Object(fields) = value else { return };
    let names = rule.as_array().into_iter().flatten();
    for name in names.filter_map(Value::as_str) {
        if !fields.contains_key(name) {
            found.push(format!("{place}: the field `{name}` is missing"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::SchemaSet;
    use serde_json::{Value, json};

    fn violations(schema: &Value, value: &Value) -> Vec<String> {
        let shared =
            json!({"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]});
        let files = [("it.json", schema.clone()), ("shared.json", shared)];
        let set = SchemaSet::new(files.map(|(name, schema)| (name.to_owned(), schema)));
        set.violations("it.json", value)
    }

    #[track_caller]
    fn assert_valid(schema: &Value, value: &Value) {
        let found = violations(schema, value);
        assert!(found.is_empty(), "{found:?}");
    }

    #[track_caller]
    fn assert_violation(schema: &Value, value: &Value, part: &str) {
        let found = violations(schema, value);
        assert!(found.iter().any(|line| line.contains(part)), "{found:?}");
    }

    #[test]
    fn wrong_type_is_violation_with_its_place() {
        let schema = json!({"type": "array", "items": {"type": ["integer", "null"]}});
        assert_valid(&schema, &json!([1, null]));
        assert_violation(&schema, &json!([1, 1.5]), "$[1]: 1.5 is not of type");
        assert_violation(&schema, &json!({}), "$: {} is not of type");
    }

    #[test]
    fn missing_and_unlisted_fields_are_violations() {
        let schema = json!({
            "type": "object",
            "properties": {"a": {"type": "string"}, "b": {"type": "boolean"}},
            "required": ["a"],
        });
        assert_valid(&schema, &json!({"a": "x", "b": true}));
        assert_violation(&schema, &json!({"b": true}), "`a` is missing");
        assert_violation(&schema, &json!({"a": "x", "c": 1}), "$.c: the field is not");
        assert_violation(&schema, &json!({"a": 1}), "$.a: 1 is not of type");
    }

    #[test]
    fn additional_properties_have_their_own_rule() {
        let schema =
            json!({"type": "object", "additionalProperties": {"type": "integer", "minimum": 0}});
        assert_valid(&schema, &json!({"any": 3}));
        assert_violation(&schema, &json!({"any": -1}), "below 0");
        let open = json!({"type": "object", "additionalProperties": true});
        assert_valid(&open, &json!({"any": {"thing": []}}));
    }

    #[test]
    fn words_outside_of_enum_or_const_are_violations() {
        assert_violation(&json!({"enum": ["a", null]}), &json!("b"), "is not in");
        assert_valid(&json!({"enum": ["a", null]}), &json!(null));
        assert_violation(&json!({"const": "a"}), &json!("b"), "is not \"a\"");
        assert_valid(&json!({"const": "a"}), &json!("a"));
    }

    #[test]
    fn alternatives_match_once() {
        let (text, number) = (json!({"type": "string"}), json!({"type": "integer"}));
        let any = json!({"anyOf": [text, number, {"type": "number"}]});
        assert_valid(&any, &json!(1));
        assert_violation(&any, &json!(true), "no alternative matches");
        let one = json!({"oneOf": [text, number, {"type": "number"}]});
        assert_valid(&one, &json!(1.5));
        assert_violation(&one, &json!(1), "2 alternatives match");
    }

    #[test]
    fn references_lead_to_other_files() {
        let schema = json!({"type": "array", "items": {"$ref": "shared.json"}});
        assert_valid(&schema, &json!([{"id": "x"}]));
        assert_violation(&schema, &json!([{}]), "$[0]: the field `id` is missing");
        assert_violation(&json!({"$ref": "gone.json"}), &json!(1), "no schema");
    }

    #[test]
    fn times_are_instants_in_utc() {
        let schema = json!({"type": ["string", "null"], "format": "date-time"});
        for valid in [
            json!("2026-05-01T10:00:00Z"),
            json!("2026-05-01T10:00:00.25Z"),
            json!(null),
        ] {
            assert_valid(&schema, &valid);
        }
        for invalid in [
            "2026-05-01",
            "2026-05-01T10:00:00",
            "2026-05-01T10:00:00.Z",
            "2026-05-01T10:00:00+02:00",
        ] {
            assert_violation(&schema, &json!(invalid), "format");
        }
    }

    #[test]
    fn unknown_keyword_is_violation() {
        assert_violation(&json!({"pattern": "a"}), &json!("a"), "`pattern`");
        let unnamed = SchemaSet::default().violations("gone.json", &json!(1));
        assert_eq!(unnamed, ["there is no schema gone.json"]);
    }
}
