//! Texts of the help: commands in groups, topics, and suggestions for wrong names.

pub(crate) mod command_groups;
pub(crate) mod help_topics;
pub(crate) mod overview;
pub(crate) mod suggestions;
