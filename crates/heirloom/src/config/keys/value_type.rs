//! Types of config values: the check of a value against its key, and the parser of variables and flags.

use super::ConfigKey;
use heirloom_model::database_address::{is_database_address, without_password};
use heirloom_model::section::SourceRow;
use heirloom_model::spend_meter::PriceRow;
use heirloom_model::text;
use heirloom_window::{CachePricing, PolicyKeys};
use std::collections::HashSet;
use toml::Value;

/// The type of a key's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ValueType {
    /// `true` or `false`.
    Bool,
    /// A whole number within these bounds.
    Int(i64, i64),
    /// A text.
    Text,
    /// A word of this list.
    Word(&'static [&'static str]),
    /// A list of texts.
    Texts,
    /// An address of a database without a password, or an empty text.
    DatabaseAddress,
    /// A factor of the price of an uncached token.
    Price,
    /// A number from 0 to 2, or an empty text for the service's default.
    Temperature,
    /// Rules of a window for single tools.
    Tools,
}

impl ConfigKey {
    /// Checks that `value` fits the key; an error explains the mismatch.
    pub(crate) fn check(&self, value: &Value) -> Result<(), String> {
        let texts = |list: &Vec<Value>| list.iter().all(Value::is_str);
        match (self.kind, value) {
            (ValueType::Bool, Value::Boolean(_)) | (ValueType::Text, Value::String(_)) => Ok(()),
            (ValueType::Word(words), Value::String(word)) if words.contains(&word.as_str()) => {
                Ok(())
            }
            (ValueType::Word(words), Value::String(word)) => Err(format!(
                "expected {}, found `{}`",
                words.join(" or "),
                text::excerpt(word, 60)
            )),
            (ValueType::Int(low, high), Value::Integer(n)) if (low..=high).contains(n) => Ok(()),
            (ValueType::Int(low, high), Value::Integer(n)) => {
                Err(format!("{n} is outside {low}..{high}"))
            }
            (ValueType::Texts, Value::Array(list)) if texts(list) => self.check_rows(list),
            (ValueType::Price, Value::Integer(_) | Value::Float(_))
            | (ValueType::Tools, Value::Table(_)) => check_window_value(self.name, value),
            (ValueType::DatabaseAddress, Value::String(address)) => check_address(address),
            (ValueType::Temperature, Value::String(none)) if none.is_empty() => Ok(()),
            (ValueType::Temperature, Value::Integer(0..=2)) => Ok(()),
            (ValueType::Temperature, Value::Float(x)) if (0.0..=2.0).contains(x) => Ok(()),
            (ValueType::Temperature, Value::Integer(_) | Value::Float(_)) => {
                Err(format!("{value} is outside 0..2"))
            }
            (kind, other) => Err(format!(
                "expected {}, found {}",
                kind.describe(),
                other.type_str()
            )),
        }
    }

    /// Checks the rows of a list of rows; other lists of texts need no check.
    fn check_rows(&self, list: &[Value]) -> Result<(), String> {
        let name_of: fn(&str) -> Result<String, String> = match self.name {
            "context.sources" => |row| SourceRow::parse(row).map(|row| row.name),
            "writer.prices" => |row| PriceRow::parse(row).map(|row| row.model),
            "window.prices" => |row| CachePricing::parse(row).map(|row| row.pattern),
            _ => return Ok(()),
        };
        let mut seen = HashSet::new();
        for row in list.iter().filter_map(Value::as_str) {
            let name = name_of(row)?;
            if let Some(name) = seen.replace(name) {
                return Err(format!("`{name}` has two rows"));
            }
        }
        Ok(())
    }

    /// Parses the text of a variable or flag as a value of the key's type.
    pub(crate) fn parse(&self, text: &str) -> Result<Value, String> {
        let value = match self.kind {
            ValueType::Text | ValueType::Word(_) | ValueType::DatabaseAddress => {
                Value::String(text.to_owned())
            }
            ValueType::Bool => match text.to_ascii_lowercase().as_str() {
                "true" | "1" | "yes" | "on" => Value::Boolean(true),
                "false" | "0" | "no" | "off" => Value::Boolean(false),
                _ => return Err(format!("expected true or false, found `{text}`")),
            },
            ValueType::Int(..) => Value::Integer(
                text.trim()
                    .parse()
                    .map_err(|_| format!("expected a whole number, found `{text}`"))?,
            ),
            ValueType::Texts => parse_list(text)?,
            ValueType::Temperature if text.trim().is_empty() => Value::String(String::new()),
            ValueType::Price | ValueType::Tools | ValueType::Temperature => text
                .trim()
                .parse::<Value>()
                .map_err(|error| error.message().to_owned())?,
        };
        self.check(&value)?;
        Ok(value)
    }
}

/// Checks a value of a window key with the parser of the policy.
fn check_window_value(name: &str, value: &Value) -> Result<(), String> {
    let key = name.strip_prefix("window.").unwrap_or(name);
    let keys = toml::Table::from_iter([(key.to_owned(), value.clone())]);
    let keys: PolicyKeys = keys
        .try_into()
        .map_err(|error: toml::de::Error| error.message().to_owned())?;
    match keys.policy() {
        Ok(_) => Ok(()),
        Err(fault) => Err(fault.message),
    }
}

/// Parses a list in TOML (`["a", "b"]`) or words separated by commas.
fn parse_list(text: &str) -> Result<Value, String> {
    if text.trim_start().starts_with('[') {
        return text.parse::<Value>().map_err(|e| e.message().to_owned());
    }
    let words = text
        .split(',')
        .map(str::trim)
        .filter(|word| !word.is_empty());
    Ok(Value::Array(
        words.map(|word| Value::String(word.to_owned())).collect(),
    ))
}

impl ValueType {
    fn describe(self) -> &'static str {
        match self {
            Self::Bool => "true or false",
            Self::Int(..) => "a whole number",
            Self::Text => "a text",
            Self::Word(_) => "a word",
            Self::Texts => "a list of texts",
            Self::DatabaseAddress => "an address such as postgres://USER@HOST/DATABASE",
            Self::Price => "a number such as 0.1",
            Self::Temperature => "a number from 0 to 2, or an empty text",
            Self::Tools => "a table of tools with max_length, preview_length and critical",
        }
    }
}

fn check_address(address: &str) -> Result<(), String> {
    if address.is_empty() {
        return Ok(());
    }
    if !is_database_address(address) {
        return Err("expected postgres://USER@HOST:PORT/DATABASE".to_owned());
    }
    if without_password(address) != address {
        return Err(
            "a password is not allowed here: set PGPASSWORD, or write a password file".to_owned(),
        );
    }
    Ok(())
}
