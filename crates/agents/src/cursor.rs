//! Cursor.

pub(crate) mod hooks;
pub(crate) mod settings;
