//! Layered settings, each value with the layer of its origin.
//!
//! The only module that reads the environment and the home directory.

mod env;
mod file_changes;
mod key_descriptions;
mod keys;
mod layers;
mod toml_edits;
mod window_key_suggestion;
mod window_policy;

pub(crate) use env::Environment;
pub(crate) use file_changes::{field_text, find_value, parse_values, plan_key_change};
pub(crate) use key_descriptions::{describe_key, first_sentence};
pub(crate) use keys::{ConfigKey, KEYS, ValueType};
pub(crate) use layers::{Config, Layer, Origin, read_config};
pub(crate) use toml_edits::with_keys;
pub(crate) use window_policy::policy_file;
