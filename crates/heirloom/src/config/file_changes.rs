//! Changes of single keys in the config files of the user and of a project.

use super::keys::ValueType;
use super::layers::{Layer, read_config};
use super::toml_edits::{with_keys, without_key};
use super::{Config, ConfigKey, Environment};
use heirloom_model::text::EscapedPath;
use heirloom_model::{Fault, limits};
use std::path::{Path, PathBuf};
use toml::{Table, Value};

/// Text of a config file before and after a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ConfigChange {
    /// The file.
    pub(crate) file: PathBuf,
    /// Text before the change; `None` if the file does not exist.
    pub(crate) before: Option<String>,
    /// Text after the change.
    pub(crate) after: String,
}

/// Plans to set a key in a layer's file, or with `None` to remove it.
///
/// Errors: `Usage` for a value that the settings would not use, with the reason; nothing is written.
pub(crate) fn plan_key_change(
    file: &Path,
    layer: Layer,
    key: &ConfigKey,
    value: Option<&Value>,
) -> Result<ConfigChange, Fault> {
    if let Some(value) = value {
        key.check(value).map_err(Fault::usage)?;
    }
    let before = read_config(file, layer)?.map(|(_, text)| text);
    let text = before.as_deref().unwrap_or_default();
    let (section, name) = split_name(key);
    let after = match value {
        Some(value) => with_keys(text, section, &[(name, value.clone())])?,
        None => without_key(text, section, name)?,
    };
    if after.len() as u64 > limits::CONFIG_BYTES_MAX {
        let most = limits::CONFIG_BYTES_MAX;
        return Err(Fault::usage(format!(
            "the file would have more than {most} bytes"
        )));
    }
    if value.is_some() {
        check_is_used(&after, layer, file, key)?;
    }
    Ok(ConfigChange {
        file: file.to_owned(),
        before,
        after,
    })
}

/// Loads a text as the only file, and refuses it if its value of `key` would be ignored.
fn check_is_used(text: &str, layer: Layer, file: &Path, key: &ConfigKey) -> Result<(), Fault> {
    let origin = super::Origin {
        layer,
        place: file.to_escaped().to_string(),
    };
    let loaded = Config::from_texts(&[(origin, text.to_owned())], &Environment::default(), &[])?;
    let quoted = format!("`{}`", key.name);
    let warning = (loaded.warnings.iter()).find(|warning| warning.message.contains(&quoted));
    if let Some(warning) = warning {
        return Err(Fault::usage(warning.message.clone()));
    }
    loaded.window().map(drop)
}

/// Returns the values of the keys in the text of a config file.
pub(crate) fn parse_values(text: &str) -> Result<Table, Fault> {
    let text = text.trim_start_matches('\u{feff}');
    text.parse()
        .map_err(|error: toml::de::Error| Fault::usage(error.message().to_owned()))
}

/// Returns the value of a key in the values of a file.
pub(crate) fn find_value<'a>(values: &'a Table, key: &ConfigKey) -> Option<&'a Value> {
    let (section, name) = split_name(key);
    values.get(section)?.get(name)
}

fn split_name(key: &ConfigKey) -> (&'static str, &'static str) {
    key.name.split_once('.').unwrap_or(("", key.name))
}

impl ConfigKey {
    /// Parses the text of a form field: of a list each line is an entry, of other types as a variable.
    pub(crate) fn parse_field(&self, text: &str) -> Result<Value, String> {
        if self.kind != ValueType::Texts {
            return self.parse(text.trim());
        }
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
        let list = Value::Array(lines.map(|line| Value::String(line.to_owned())).collect());
        self.check(&list)?;
        Ok(list)
    }
}

/// Formats a value for a form field, so that [`ConfigKey::parse_field`] returns it again.
pub(crate) fn field_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(list) => {
            let lines: Vec<_> = list.iter().map(field_text).collect();
            lines.join("\n")
        }
        Value::Integer(_)
        | Value::Float(_)
        | Value::Boolean(_)
        | Value::Datetime(_)
        | Value::Table(_) => value.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::KEYS;
    use super::*;
    use heirloom_fs::durable;

    fn key(name: &str) -> &'static ConfigKey {
        ConfigKey::by_name(name).unwrap()
    }

    #[test]
    fn default_of_every_key_survives_a_form_field() {
        let config = Config::defaults().unwrap();
        for key in KEYS {
            let (value, _) = config.get(key).unwrap();
            let again = key.parse_field(&field_text(value));
            assert_eq!(again.as_ref(), Ok(value), "{}", key.name);
        }
    }

    #[test]
    fn value_that_would_be_ignored_is_refused() {
        let folder = durable::temporary_folder("config-", None).unwrap();
        let file = folder.path().join("config.toml");
        let plan = |name: &str, layer, text: &str| {
            let key = key(name);
            let value = key.parse_field(text).map_err(Fault::usage)?;
            plan_key_change(&file, layer, key, Some(&value))
        };
        for (name, layer, text, reason) in [
            ("memory.max_entries", Layer::User, "-1", "outside"),
            ("run.command", Layer::Project, "sh", "project's file"),
            ("redact.rules", Layer::User, "bad: (", "unclosed group"),
            ("context.sources", Layer::User, "plan 5\nplan 6", "two rows"),
        ] {
            let fault = plan(name, layer, text).unwrap_err();
            assert!(fault.message.contains(reason), "{name}: {fault}");
        }
        let change = plan("run.command", Layer::User, "claude\n-p").unwrap();
        assert_eq!(change.before, None);
        assert_eq!(change.after, "[run]\ncommand = [\"claude\", \"-p\"]\n");
    }
}
