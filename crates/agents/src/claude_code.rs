//! Claude Code.

pub(crate) mod hooks;
pub(crate) mod launch;
pub(crate) mod settings;
pub(crate) mod stream;
pub(crate) mod transcript;
