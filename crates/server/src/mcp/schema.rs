//! Arguments of tools: one table of fields, from which the JSON schema and the checks are derived.

use heirloom_model::{Fault, Timestamp, limits};
use serde_json::{Map, Value, json};

/// Texts that models write for an argument that is not set, other than a text.
const UNSET_WORDS: [&str; 5] = ["", "null", "none", "undefined", "[]"];

/// Names of arguments, each with one that the HTTP API or other tools use, which is accepted too.
const OTHER_NAMES: [(&str, &str); 10] = [
    ("agent", "agent_id"),
    ("k", "limit"),
    ("kinds", "kind"),
    ("query", "q"),
    ("query", "question"),
    ("session", "session_id"),
    ("source", "by"),
    ("task", "task_id"),
    ("text", "content"),
    ("text", "value"),
];

/// One argument of a tool.
#[derive(Debug, Clone, Copy)]
pub(super) struct ToolArgument {
    name: &'static str,
    about: &'static str,
    shape: ArgumentType,
    required: bool,
    /// True if clients see it in the list of tools; the others are accepted too.
    listed: bool,
}

/// Type and limits of an argument.
#[derive(Debug, Clone, Copy)]
enum ArgumentType {
    Text { bytes_max: usize },
    Count { least: u64, most: u64 },
    Share,
    Flag,
    Choice(&'static [&'static str]),
    Choices(&'static [&'static str]),
    Time,
}

impl ToolArgument {
    const fn new(name: &'static str, about: &'static str, shape: ArgumentType) -> Self {
        Self {
            name,
            about,
            shape,
            required: false,
            listed: true,
        }
    }

    /// Text argument with a maximum size in bytes.
    pub(super) const fn text(name: &'static str, about: &'static str, bytes_max: usize) -> Self {
        Self::new(name, about, ArgumentType::Text { bytes_max })
    }

    /// Name argument, for tasks, agents and other scopes.
    pub(super) const fn name(name: &'static str, about: &'static str) -> Self {
        Self::text(name, about, limits::NAME_BYTES_MAX)
    }

    /// Integer argument within bounds.
    pub(super) const fn count(
        name: &'static str,
        about: &'static str,
        least: u64,
        most: u64,
    ) -> Self {
        Self::new(name, about, ArgumentType::Count { least, most })
    }

    /// Number argument from 0 to 1.
    pub(super) const fn share(name: &'static str, about: &'static str) -> Self {
        Self::new(name, about, ArgumentType::Share)
    }

    /// Argument that is true or false.
    pub(super) const fn flag(name: &'static str, about: &'static str) -> Self {
        Self::new(name, about, ArgumentType::Flag)
    }

    /// Argument with one of these words.
    pub(super) const fn choice(
        name: &'static str,
        about: &'static str,
        words: &'static [&'static str],
    ) -> Self {
        Self::new(name, about, ArgumentType::Choice(words))
    }

    /// Argument with a list of these words.
    pub(super) const fn choices(
        name: &'static str,
        about: &'static str,
        words: &'static [&'static str],
    ) -> Self {
        Self::new(name, about, ArgumentType::Choices(words))
    }

    /// Time argument (RFC 3339).
    pub(super) const fn time(name: &'static str, about: &'static str) -> Self {
        Self::new(name, about, ArgumentType::Time)
    }

    /// Marks the argument as required.
    pub(super) const fn required(mut self) -> Self {
        self.required = true;
        self
    }

    /// Leaves the argument out of the list of tools: each listed one costs tokens in every session, and few models use it.
    pub(super) const fn unlisted(mut self) -> Self {
        self.listed = false;
        self
    }

    /// Returns the schema for models: type, words and description. The check has the limits, and its message names them.
    fn schema(&self) -> Value {
        let mut schema = match self.shape {
            ArgumentType::Text { .. } | ArgumentType::Time => json!({"type": "string"}),
            ArgumentType::Count { .. } => json!({"type": "integer"}),
            ArgumentType::Share => json!({"type": "number"}),
            ArgumentType::Flag => json!({"type": "boolean"}),
            ArgumentType::Choice(words) => json!({"type": "string", "enum": words}),
            ArgumentType::Choices(words) => json!({
                "type": "array",
                "items": {"type": "string", "enum": words},
            }),
        };
        if !self.about.is_empty() {
            schema["description"] = json!(self.about);
        }
        schema
    }

    /// Returns true for a value that means an argument that is not set: models fill in what they do not need.
    fn is_unset(&self, value: &Value) -> bool {
        match (self.shape, value) {
            (_, Value::Null) => true,
            (ArgumentType::Text { .. }, _) => false,
            (ArgumentType::Choices(_), Value::Array(items)) => items.is_empty(),
            (_, Value::String(text)) => {
                let text = text.trim().to_lowercase();
                UNSET_WORDS.contains(&text.as_str())
            }
            (_, Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_)) => false,
        }
    }

    /// Converts numbers, lists and texts that are given as each other: models confuse them, and the meaning is clear.
    fn coerce(&self, value: &mut Value) {
        if let (ArgumentType::Choices(_), Value::String(text)) = (self.shape, &*value)
            && let Ok(list @ Value::Array(_)) = serde_json::from_str::<Value>(text)
        {
            *value = list;
        }
        let coerced = match (self.shape, &*value) {
            (ArgumentType::Count { .. } | ArgumentType::Share, Value::String(text)) => {
                let number = serde_json::from_str::<Value>(text.trim()).ok();
                number.filter(Value::is_number)
            }
            (ArgumentType::Flag, Value::String(word)) => {
                let word = word.trim().to_lowercase();
                let is = ["true", "yes", "1"].contains(&word.as_str());
                (is || ["false", "no", "0"].contains(&word.as_str())).then_some(Value::Bool(is))
            }
            (ArgumentType::Flag, Value::Number(number)) => {
                let number = number.as_u64().filter(|number| *number <= 1);
                number.map(|number| Value::Bool(number == 1))
            }
            (ArgumentType::Text { .. }, Value::Number(number)) => {
                Some(Value::String(number.to_string()))
            }
            (ArgumentType::Text { .. }, Value::Bool(is)) => Some(Value::String(is.to_string())),
            (ArgumentType::Text { .. }, Value::Array(items)) => {
                let lines: Option<Vec<&str>> = items.iter().map(Value::as_str).collect();
                lines.map(|lines| Value::String(lines.join("\n")))
            }
            (ArgumentType::Choice(_) | ArgumentType::Time, Value::Array(items)) => {
                items.first().filter(|_| items.len() == 1).cloned()
            }
            (ArgumentType::Time, Value::String(time)) => {
                Some(Value::String(time.trim().to_owned()))
            }
            (ArgumentType::Choices(_), Value::Array(items)) => {
                let word = |item: &Value| item.as_str().map(|word| word.trim().to_lowercase());
                let words: Option<Vec<String>> = items.iter().map(word).collect();
                words.map(|words| words.into_iter().filter(|word| !word.is_empty()).collect())
            }
            (ArgumentType::Choice(_), Value::String(word)) => {
                Some(Value::String(word.trim().to_lowercase()))
            }
            (ArgumentType::Choices(_), Value::String(words)) => {
                let words = words.split(',').map(|word| word.trim().to_lowercase());
                Some(words.filter(|word| !word.is_empty()).collect())
            }
            _ => None,
        };
        if let Some(coerced) = coerced {
            *value = coerced;
        }
    }

    fn check(&self, value: &Value) -> Result<(), String> {
        let is_right = match self.shape {
            ArgumentType::Text { bytes_max } => match value.as_str() {
                Some(text) if text.len() > bytes_max => {
                    let length = text.len();
                    return Err(format!("has {length} bytes; at most {bytes_max}"));
                }
                text => text.is_some(),
            },
            ArgumentType::Count { least, most } => {
                let count = parse_whole_number(value);
                if count.is_some_and(|n| n < least || n > most) {
                    return Err(format!("is outside {least} to {most}"));
                }
                count.is_some()
            }
            ArgumentType::Share => value.as_f64().is_some_and(|x| (0.0..=1.0).contains(&x)),
            ArgumentType::Flag => value.is_boolean(),
            ArgumentType::Choice(words) => value.as_str().is_some_and(|text| words.contains(&text)),
            ArgumentType::Choices(words) => value.as_array().is_some_and(|all| {
                all.len() <= words.len()
                    && (all.iter()).all(|one| one.as_str().is_some_and(|one| words.contains(&one)))
            }),
            ArgumentType::Time => value
                .as_str()
                .is_some_and(|text| text.parse::<Timestamp>().is_ok()),
        };
        match is_right {
            true => Ok(()),
            false => Err(format!("is not {}", self.expected())),
        }
    }

    fn expected(&self) -> String {
        match self.shape {
            ArgumentType::Text { .. } => "a text".to_owned(),
            ArgumentType::Count { .. } => "a whole number".to_owned(),
            ArgumentType::Share => "a number from 0 to 1".to_owned(),
            ArgumentType::Flag => "true or false".to_owned(),
            ArgumentType::Choice(words) => format!("one of {}", words.join(", ")),
            ArgumentType::Choices(words) => format!("a list of some of {}", words.join(", ")),
            ArgumentType::Time => "a time such as 2026-11-21T12:00:00Z".to_owned(),
        }
    }
}

/// Returns an integer, also if it is written as 3.0.
fn parse_whole_number(value: &Value) -> Option<u64> {
    if let Some(count) = value.as_u64() {
        return Some(count);
    }
    let count = value.as_f64()?;
    let most = 9e15;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "it is whole and within bounds"
    )]
    (count.fract() == 0.0 && (0.0..most).contains(&count)).then_some(count as u64)
}

/// Returns the JSON schema of these arguments.
pub(super) fn schema(fields: &[ToolArgument]) -> Map<String, Value> {
    let of = |field: &ToolArgument| (field.name.to_owned(), field.schema());
    let listed = fields.iter().filter(|field| field.listed);
    let properties: Map<String, Value> = listed.map(of).collect();
    let required = fields.iter().filter(|field| field.required);
    let required: Vec<_> = required.map(|field| field.name).collect();
    let mut schema = Map::new();
    schema.insert("type".to_owned(), json!("object"));
    schema.insert("properties".to_owned(), Value::Object(properties));
    if !required.is_empty() {
        schema.insert("required".to_owned(), json!(required));
    }
    schema
}

/// Checked arguments of a call.
#[derive(Debug, Clone, Default)]
pub(super) struct Args(Map<String, Value>);

impl Args {
    /// Checks arguments; null counts as missing. Errors: `Usage`, with the accepted arguments.
    pub(super) fn parse(
        fields: &[ToolArgument],
        given: Option<Map<String, Value>>,
    ) -> Result<Self, Fault> {
        let mut given = given.unwrap_or_default();
        given.retain(|_, value| !value.is_null());
        let has = |name: &str| fields.iter().any(|field| field.name == name);
        for (name, other) in OTHER_NAMES {
            if !has(name) || has(other) {
                continue;
            }
            let Some(value) = given.remove(other) else {
                continue;
            };
            let known = given.entry(name).or_insert_with(|| value.clone());
            if *known != value {
                return Err(Fault::usage(format!("`{name}` and `{other}` differ"))
                    .hint(format!("give `{name}` only")));
            }
        }
        // Clients and models add arguments of their own, such as a reason for the call.
        given.retain(|name, value| {
            let field = fields.iter().find(|field| field.name == name);
            field.is_some_and(|field| !field.is_unset(value))
        });
        for field in fields {
            let Some(value) = given.get_mut(field.name) else {
                continue;
            };
            field.coerce(value);
            let name = field.name;
            (field.check(value)).map_err(|problem| Fault::usage(format!("`{name}` {problem}")))?;
        }
        let missing = |field: &&ToolArgument| {
            let text = given.get(field.name);
            field.required && text.is_none_or(|text| text.as_str().is_some_and(is_blank))
        };
        if let Some(field) = fields.iter().find(missing) {
            let about = match field.about {
                "" => String::new(),
                about => format!(": {about}"),
            };
            return Err(Fault::usage(format!(
                "`{}` is missing or empty{about}",
                field.name
            )));
        }
        Ok(Self(given))
    }

    /// Returns a text argument.
    pub(super) fn text(&self, name: &str) -> Option<String> {
        let text = self.0.get(name).and_then(Value::as_str);
        text.filter(|text| !is_blank(text)).map(str::to_owned)
    }

    /// Returns a required text argument. Errors: `Usage` if it is missing.
    pub(super) fn require(&self, name: &str) -> Result<String, Fault> {
        self.text(name)
            .ok_or_else(|| Fault::usage(format!("`{name}` is missing or empty")))
    }

    /// Returns an integer argument.
    pub(super) fn count(&self, name: &str) -> Option<u64> {
        self.0.get(name).and_then(parse_whole_number)
    }

    /// Returns an integer argument as a size.
    pub(super) fn size(&self, name: &str) -> Option<usize> {
        self.count(name).and_then(|n| usize::try_from(n).ok())
    }

    /// Returns a number argument.
    pub(super) fn share(&self, name: &str) -> Option<f64> {
        self.0.get(name).and_then(Value::as_f64)
    }

    /// Returns true for an argument that is set to true.
    pub(super) fn flag(&self, name: &str) -> bool {
        self.0.get(name).and_then(Value::as_bool) == Some(true)
    }

    /// Returns the words of a list argument.
    pub(super) fn words(&self, name: &str) -> Vec<String> {
        let words = self.0.get(name).and_then(Value::as_array);
        let words = words.into_iter().flatten().filter_map(Value::as_str);
        words.map(str::to_owned).collect()
    }

    /// Returns a time argument.
    pub(super) fn time(&self, name: &str) -> Option<Timestamp> {
        self.text(name).and_then(|text| text.parse().ok())
    }
}

fn is_blank(text: &str) -> bool {
    text.trim().is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIELDS: &[ToolArgument] = &[
        ToolArgument::name("task", "The task"),
        ToolArgument::count("k", "How many", 1, 50),
        ToolArgument::share("confidence", "How sure"),
        ToolArgument::choice("state", "", &["done", "pending"]),
        ToolArgument::choices("kinds", "", &["error", "note"]).unlisted(),
    ];

    fn read(given: &Value) -> Result<Args, Fault> {
        Args::parse(FIELDS, given.as_object().cloned())
    }

    #[test]
    fn numbers_and_names_are_coerced_to_expected_type() {
        let args = read(&json!({"task": 42, "k": " 3 ", "confidence": "0.5"})).unwrap();
        assert_eq!(args.text("task").as_deref(), Some("42"));
        assert_eq!(
            (args.size("k"), args.share("confidence")),
            (Some(3), Some(0.5))
        );
        assert_eq!(read(&json!({"k": "3.0"})).unwrap().size("k"), Some(3));
        assert_eq!(read(&json!({"k": ""})).unwrap().size("k"), None);
        for wrong in ["three", "99", "-1", "[1]", "3 4"] {
            assert!(read(&json!({"k": wrong})).is_err(), "{wrong}");
        }
        assert!(read(&json!({"confidence": "2"})).is_err());
    }

    #[test]
    fn words_are_accepted_in_capitals_and_lists_as_text() {
        let args = read(&json!({"state": " Done", "kinds": "Error, note"})).unwrap();
        assert_eq!(args.text("state").as_deref(), Some("done"));
        assert_eq!(args.words("kinds"), ["error", "note"]);
        assert_eq!(read(&json!({"kinds": ""})).unwrap().words("kinds").len(), 0);
        for wrong in [json!({"state": "both"}), json!({"kinds": "error, fact"})] {
            assert!(read(&wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn schema_lists_only_listed_arguments() {
        let listed = schema(FIELDS);
        assert!(listed["properties"]["state"].is_object());
        assert!(listed["properties"]["kinds"].is_null());
    }

    #[test]
    fn arguments_are_accepted_under_other_names() {
        for (name, other) in OTHER_NAMES {
            let fields = [ToolArgument::text(name, "An argument", 100)];
            let parse = |given: Value| Args::parse(&fields, given.as_object().cloned());
            let args = parse(json!({ other: "x" })).unwrap();
            assert_eq!(args.text(name).as_deref(), Some("x"), "{other}");
            assert!(parse(json!({ name: "x", other: "y" })).is_err(), "{other}");
        }
        // An argument with the other name keeps its meaning.
        let fields = ["text", "content"].map(|name| ToolArgument::text(name, "", 100));
        let given = json!({"content": "x"});
        let args = Args::parse(&fields, given.as_object().cloned()).unwrap();
        assert_eq!(
            (args.text("text"), args.text("content").as_deref()),
            (None, Some("x"))
        );
    }

    #[test]
    fn task_is_accepted_under_http_name() {
        let args = read(&json!({"task_id": "42"})).unwrap();
        assert_eq!(args.text("task").as_deref(), Some("42"));
        assert!(read(&json!({"task": "1", "task_id": "2"})).is_err());
        let others = Args::parse(&FIELDS[1..], json!({"task_id": "2"}).as_object().cloned());
        assert_eq!(others.unwrap().text("task"), None);
    }
}
