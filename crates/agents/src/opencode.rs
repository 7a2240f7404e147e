//! opencode.

pub(crate) mod hooks;
pub(crate) mod launch;
pub(crate) mod settings;
pub(crate) mod stream;
mod token_usage;
pub(crate) mod transcript;
