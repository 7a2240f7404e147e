//! What a tool takes: one table of fields from which its schema is made and its arguments are checked.

use heirloom_model::{Fault, Timestamp, limits, text};
use serde_json::{Map, Value, json};

/// One argument of a tool.
#[derive(Debug, Clone, Copy)]
pub(super) struct Field {
    name: &'static str,
    about: &'static str,
    shape: Shape,
    required: bool,
}

/// What an argument may be.
#[derive(Debug, Clone, Copy)]
enum Shape {
    Text { bytes_max: usize },
    Count { least: u64, most: u64 },
    Share,
    Choice(&'static [&'static str]),
    Choices(&'static [&'static str]),
    Time,
}

impl Field {
    const fn new(name: &'static str, about: &'static str, shape: Shape) -> Self {
        Self {
            name,
            about,
            shape,
            required: false,
        }
    }

    /// A text of at most so many bytes.
    pub(super) const fn text(name: &'static str, about: &'static str, bytes_max: usize) -> Self {
        Self::new(name, about, Shape::Text { bytes_max })
    }

    /// A name: of a task, an agent and the like.
    pub(super) const fn name(name: &'static str, about: &'static str) -> Self {
        Self::text(name, about, limits::NAME_BYTES_MAX)
    }

    /// A whole number within bounds.
    pub(super) const fn count(
        name: &'static str,
        about: &'static str,
        least: u64,
        most: u64,
    ) -> Self {
        Self::new(name, about, Shape::Count { least, most })
    }

    /// A number from 0 to 1.
    pub(super) const fn share(name: &'static str, about: &'static str) -> Self {
        Self::new(name, about, Shape::Share)
    }

    /// One of these words.
    pub(super) const fn choice(
        name: &'static str,
        about: &'static str,
        words: &'static [&'static str],
    ) -> Self {
        Self::new(name, about, Shape::Choice(words))
    }

    /// Some of these words.
    pub(super) const fn choices(
        name: &'static str,
        about: &'static str,
        words: &'static [&'static str],
    ) -> Self {
        Self::new(name, about, Shape::Choices(words))
    }

    /// A time (RFC 3339).
    pub(super) const fn time(name: &'static str, about: &'static str) -> Self {
        Self::new(name, about, Shape::Time)
    }

    /// The same; it must be given.
    pub(super) const fn required(mut self) -> Self {
        self.required = true;
        self
    }

    fn schema(&self) -> Value {
        let mut schema = match self.shape {
            // Characters are never more than bytes: what the schema lets through may still be refused.
            Shape::Text { bytes_max } => json!({"type": "string", "maxLength": bytes_max}),
            Shape::Count { least, most } => {
                json!({"type": "integer", "minimum": least, "maximum": most})
            }
            Shape::Share => json!({"type": "number", "minimum": 0, "maximum": 1}),
            Shape::Choice(words) => json!({"type": "string", "enum": words}),
            Shape::Choices(words) => json!({
                "type": "array",
                "items": {"type": "string", "enum": words},
                "maxItems": words.len(),
            }),
            Shape::Time => json!({"type": "string", "format": "date-time"}),
        };
        schema["description"] = json!(self.about);
        schema
    }

    fn check(&self, value: &Value) -> Result<(), String> {
        let is_right = match self.shape {
            Shape::Text { bytes_max } => match value.as_str() {
                Some(said) if said.len() > bytes_max => {
                    let length = said.len();
                    return Err(format!("has {length} bytes; at most {bytes_max}"));
                }
                said => said.is_some(),
            },
            Shape::Count { least, most } => {
                let count = whole(value);
                if count.is_some_and(|n| n < least || n > most) {
                    return Err(format!("is outside {least} to {most}"));
                }
                count.is_some()
            }
            Shape::Share => value.as_f64().is_some_and(|x| (0.0..=1.0).contains(&x)),
            Shape::Choice(words) => value.as_str().is_some_and(|said| words.contains(&said)),
            Shape::Choices(words) => value.as_array().is_some_and(|all| {
                all.len() <= words.len()
                    && (all.iter()).all(|one| one.as_str().is_some_and(|one| words.contains(&one)))
            }),
            Shape::Time => value
                .as_str()
                .is_some_and(|said| said.parse::<Timestamp>().is_ok()),
        };
        match is_right {
            true => Ok(()),
            false => Err(format!("is not {}", self.wanted())),
        }
    }

    fn wanted(&self) -> String {
        match self.shape {
            Shape::Text { .. } => "a text".to_owned(),
            Shape::Count { .. } => "a whole number".to_owned(),
            Shape::Share => "a number from 0 to 1".to_owned(),
            Shape::Choice(words) => format!("one of {}", words.join(", ")),
            Shape::Choices(words) => format!("a list of some of {}", words.join(", ")),
            Shape::Time => "a time such as 2026-11-21T12:00:00Z".to_owned(),
        }
    }
}

/// A whole number, also one that is written as 3.0.
fn whole(value: &Value) -> Option<u64> {
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

/// The schema of what these fields let through.
pub(super) fn schema(fields: &[Field]) -> Map<String, Value> {
    let of = |field: &Field| (field.name.to_owned(), field.schema());
    let properties: Map<String, Value> = fields.iter().map(of).collect();
    let required = fields.iter().filter(|field| field.required);
    let required: Vec<_> = required.map(|field| field.name).collect();
    let mut schema = Map::new();
    schema.insert("type".to_owned(), json!("object"));
    schema.insert("properties".to_owned(), Value::Object(properties));
    if !required.is_empty() {
        schema.insert("required".to_owned(), json!(required));
    }
    schema.insert("additionalProperties".to_owned(), json!(false));
    schema
}

/// Arguments that were checked.
#[derive(Debug, Clone, Default)]
pub(super) struct Args(Map<String, Value>);

impl Args {
    /// Checks arguments; what is null is as if it was not given. Errors: `Usage`, with what is taken.
    pub(super) fn read(fields: &[Field], given: Option<Map<String, Value>>) -> Result<Self, Fault> {
        let mut given = given.unwrap_or_default();
        given.retain(|_, value| !value.is_null());
        for (name, value) in &given {
            let Some(field) = fields.iter().find(|field| field.name == name) else {
                let names: Vec<_> = fields.iter().map(|field| field.name).collect();
                let name = text::excerpt(name, 60);
                return Err(Fault::usage(format!("there is no argument `{name}`"))
                    .hint(format!("it takes {}", names.join(", "))));
            };
            (field.check(value)).map_err(|problem| Fault::usage(format!("`{name}` {problem}")))?;
        }
        let missing = |field: &&Field| {
            let said = given.get(field.name);
            field.required && said.is_none_or(|said| said.as_str().is_some_and(is_blank))
        };
        if let Some(field) = fields.iter().find(missing) {
            return Err(Fault::usage(format!(
                "`{}` is missing or empty: {}",
                field.name, field.about
            )));
        }
        Ok(Self(given))
    }

    /// A text or word that was given.
    pub(super) fn text(&self, name: &str) -> Option<String> {
        let said = self.0.get(name).and_then(Value::as_str);
        said.filter(|said| !is_blank(said)).map(str::to_owned)
    }

    /// A text or word that must have been given.
    pub(super) fn needed(&self, name: &str) -> Result<String, Fault> {
        self.text(name)
            .ok_or_else(|| Fault::usage(format!("`{name}` is missing or empty")))
    }

    /// A whole number that was given.
    pub(super) fn count(&self, name: &str) -> Option<u64> {
        self.0.get(name).and_then(whole)
    }

    /// The same as a size.
    pub(super) fn size(&self, name: &str) -> Option<usize> {
        self.count(name).and_then(|n| usize::try_from(n).ok())
    }

    /// A number that was given.
    pub(super) fn share(&self, name: &str) -> Option<f64> {
        self.0.get(name).and_then(Value::as_f64)
    }

    /// Words that were given.
    pub(super) fn words(&self, name: &str) -> Vec<String> {
        let words = self.0.get(name).and_then(Value::as_array);
        let words = words.into_iter().flatten().filter_map(Value::as_str);
        words.map(str::to_owned).collect()
    }

    /// A time that was given.
    pub(super) fn time(&self, name: &str) -> Option<Timestamp> {
        self.text(name).and_then(|said| said.parse().ok())
    }
}

fn is_blank(said: &str) -> bool {
    said.trim().is_empty()
}
