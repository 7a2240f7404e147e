//! Merging of the configuration layers.

mod config_file;
mod cumulative_lists;
mod settings;
mod value_check;

pub(crate) use config_file::read_config;

use super::keys::ValueType;
use super::{ConfigKey, Environment, KEYS};
use heirloom_model::database_address::without_password;
use heirloom_model::{Fault, limits};
use std::collections::BTreeMap;
use std::path::Path;
use toml::{Table, Value};
use value_check::Warning;

pub(super) const DEFAULTS: &str = include_str!("defaults.toml");

/// A configuration layer; later ones win.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Layer {
    /// Compiled in.
    Default,
    /// The user's file.
    User,
    /// The project's file.
    Project,
    /// A variable.
    Environment,
    /// `--set`, `--project`.
    Flag,
}

impl Layer {
    /// Returns the layer's name for the terminal and JSON.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::User => "user",
            Self::Project => "project",
            Self::Environment => "environment",
            Self::Flag => "flag",
        }
    }
}

/// Origin of a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Origin {
    /// The layer.
    pub(crate) layer: Layer,
    /// The file, variable or flag.
    pub(crate) place: String,
}

/// Every key with its value and origin.
#[derive(Debug, Clone)]
pub(crate) struct Config {
    values: BTreeMap<&'static str, (Value, Origin)>,
    /// Values that were ignored.
    pub(crate) warnings: Vec<Warning>,
}

impl Config {
    /// The built-in defaults.
    pub(crate) fn defaults() -> Result<Self, Fault> {
        let mut config = Self {
            values: BTreeMap::new(),
            warnings: Vec::new(),
        };
        let origin = Origin {
            layer: Layer::Default,
            place: "built in".to_owned(),
        };
        config.apply_text(DEFAULTS, &origin)?;
        Ok(config)
    }

    /// Loads every layer: defaults, the user's file, the project's file, the environment, flags (`key=value`).
    ///
    /// Errors: `Usage` for a file that is not TOML (with the line) or a flag that fits no key. A wrong or unknown key
    /// in a file or variable is a warning: a typo must not make the program unusable.
    pub(crate) fn load(
        env: &Environment,
        project: Option<&Path>,
        flags: &[String],
    ) -> Result<Self, Fault> {
        let mut texts = Vec::new();
        if let Some(path) = env.user_config() {
            texts.extend(config_file::read_config(&path, Layer::User)?);
        }
        if let Some(path) = project {
            texts.extend(config_file::read_config(path, Layer::Project)?);
        }
        Self::from_texts(&texts, env, flags)
    }

    /// Merges the texts of files that were read, the environment and flags, as [`Config::load`] does.
    pub(crate) fn from_texts(
        texts: &[(Origin, String)],
        env: &Environment,
        flags: &[String],
    ) -> Result<Self, Fault> {
        let mut config = Self::defaults()?;
        for (origin, text) in texts {
            config.apply_text(text, origin)?;
        }
        config.apply_environment(env);
        if flags.len() > limits::SET_FLAGS_MAX {
            let most = limits::SET_FLAGS_MAX;
            return Err(Fault::usage(format!(
                "{} settings with --set; at most {most} are allowed",
                flags.len()
            ))
            .hint("write them into the config file"));
        }
        for flag in flags {
            config.apply_flag(flag)?;
        }
        Ok(config)
    }

    /// Returns the value of a key and its origin.
    pub(crate) fn get(&self, key: &ConfigKey) -> Option<(&Value, &Origin)> {
        self.values
            .get(key.name)
            .map(|(value, origin)| (value, origin))
    }

    fn apply_text(&mut self, text: &str, origin: &Origin) -> Result<(), Fault> {
        let text = text.trim_start_matches('\u{feff}');
        let table: Table = text.parse().map_err(|error: toml::de::Error| {
            let start = error.span().map_or(0, |span| span.start);
            let before = text.as_bytes().iter().take(start);
            let line = before.filter(|byte| **byte == b'\n').count() + 1;
            Fault::usage(format!("{}:{line}: {}", origin.place, error.message()))
                .hint("correct the line; `heirloom config` lists every key with its default")
        })?;
        for (section, value) in table {
            match value {
                Value::Table(inner) => {
                    for (key, value) in inner {
                        self.apply_value(&format!("{section}.{key}"), value, origin);
                    }
                }
                Value::String(_)
                | Value::Integer(_)
                | Value::Float(_)
                | Value::Boolean(_)
                | Value::Datetime(_)
                | Value::Array(_) => self.apply_value(&section, value, origin),
            }
        }
        Ok(())
    }

    fn apply_environment(&mut self, env: &Environment) {
        for key in KEYS {
            let variable = key.variable();
            let Some(text) = env.get(&variable) else {
                continue;
            };
            let origin = Origin {
                layer: Layer::Environment,
                place: variable,
            };
            // The environment may have a password, which settings never contain.
            let parsed = if key.kind == ValueType::DatabaseAddress {
                key.parse(&without_password(text))
            } else {
                key.parse(text)
            };
            match parsed {
                Ok(value) => self.apply_value(key.name, value, &origin),
                Err(problem) => self.warn(&origin, format!("{problem}; the value is not used")),
            }
        }
    }

    fn apply_flag(&mut self, flag: &str) -> Result<(), Fault> {
        let Some((name, text)) = flag.split_once('=') else {
            return Err(Fault::usage(format!(
                "--set {flag}: expected section.key=value"
            )));
        };
        let key = ConfigKey::by_name(name.trim()).ok_or_else(|| {
            Fault::usage(format!("--set {flag}: there is no key `{name}`"))
                .hint("`heirloom config` lists every key")
        })?;
        let value = key
            .parse(text)
            .map_err(|problem| Fault::usage(format!("--set {name}: {problem}")))?;
        self.apply_value(
            key.name,
            value,
            &Origin {
                layer: Layer::Flag,
                place: format!("--set {name}"),
            },
        );
        Ok(())
    }
}

#[cfg(test)]
pub(in crate::config) mod tests {
    use super::*;

    pub(in crate::config) fn layered(user: &str, project: &str, flags: &[&str]) -> Config {
        let text = |layer, place: &str, text: &str| {
            let place = place.to_owned();
            (Origin { layer, place }, text.to_owned())
        };
        let texts = [
            text(Layer::User, "user", user),
            text(Layer::Project, "project", project),
        ];
        let flags: Vec<_> = flags.iter().map(ToString::to_string).collect();
        Config::from_texts(&texts, &Environment::default(), &flags).unwrap()
    }

    #[test]
    fn defaults_pass_key_checks() {
        let config = Config::defaults().unwrap();
        for key in KEYS {
            let (value, _) = config.get(key).unwrap();
            assert_eq!(key.check(value), Ok(()), "{}", key.name);
        }
        assert_eq!(config.warnings, Vec::new());
    }

    #[test]
    fn load_later_layer_wins_with_its_origin() {
        let config = layered(
            "memory.max_entries = 7\nmemory.enabled = true",
            "[memory]\nmax_entries = 9",
            &["run.iterations=3"],
        );
        let origin = |name| {
            config
                .get(ConfigKey::by_name(name).unwrap())
                .unwrap()
                .1
                .layer
        };
        assert_eq!(config.settings().max_entries, 9);
        assert_eq!(origin("memory.max_entries"), Layer::Project);
        assert_eq!(origin("memory.enabled"), Layer::User);
        assert_eq!(origin("run.iterations"), Layer::Flag);
        assert_eq!(origin("run.stall_limit"), Layer::Default);
    }

    /// Regression found by fuzzing: with a byte order mark, the error position was looked up in the wrong text
    /// (panic).
    #[test]
    fn syntax_error_contains_its_line() {
        for (text, line) in [
            ("[memory]\nenabled = = 3\n", 2),
            ("\u{feff}[memory]\nenabled = = 3\n", 2),
            ("\u{feff}[é]]\n", 1),
            ("\u{feff}\n[memo\u{fffd}\u{fffd}ry]\n", 2),
            ("\n\nx = \"", 3),
        ] {
            let mut config = Config::defaults().unwrap();
            let origin = Origin {
                layer: Layer::User,
                place: "config.toml".to_owned(),
            };
            let fault = config.apply_text(text, &origin).unwrap_err();
            let expected = format!("config.toml:{line}:");
            assert!(fault.message.starts_with(&expected), "{text:?}: {fault}");
        }
    }
}
