//! Settings in layers, each value with the layer it came from.
//!
//! The one place that reads the environment and the home directory.

mod edit;
mod env;
mod keys;
mod layers;
mod policy;

pub(crate) use edit::with_keys;
pub(crate) use env::Environment;
pub(crate) use keys::{KEYS, Key, check};
pub(crate) use layers::{Config, Layer, Origin};
pub(crate) use policy::policy_file;
