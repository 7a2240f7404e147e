//! GitHub Copilot CLI; Visual Studio Code reads the same hooks.

pub(crate) mod hooks;
pub(crate) mod launch;
pub(crate) mod settings;
pub(crate) mod stream;
pub(crate) mod transcript;
