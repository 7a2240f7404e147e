//! Layered settings, each value with the layer of its origin.
//!
//! The only module that reads the environment and the home directory.

mod env;
mod key_suggestion;
mod keys;
mod layers;
mod toml_edits;
mod window_policy;

pub(crate) use env::Environment;
pub(crate) use keys::{ConfigKey, KEYS};
pub(crate) use layers::{Config, Layer, Origin};
pub(crate) use toml_edits::with_keys;
pub(crate) use window_policy::policy_file;
