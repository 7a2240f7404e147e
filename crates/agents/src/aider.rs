//! aider.

pub(crate) mod launch;
pub(crate) mod transcript;
