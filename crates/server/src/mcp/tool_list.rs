//! List of all tools, and the lookup by name or alias.

use super::tool::Tool;
use super::{
    conflicts, context, forget, log_episode, log_error, note_step, recall, register_artifact,
    remember, similar_attempts, update_memory, workspace,
};
use rmcp::model::JsonObject;

/// All tools, in listing order.
pub(super) const ALL: [&Tool; 12] = [
    &recall::TOOL,
    &remember::TOOL,
    &forget::TOOL,
    &context::TOOL,
    &update_memory::TOOL,
    &note_step::TOOL,
    &log_error::TOOL,
    &log_episode::TOOL,
    &similar_attempts::TOOL,
    &register_artifact::TOOL,
    &workspace::TOOL,
    &conflicts::TOOL,
];

/// Finds a tool by its name or alias. For an alias, `arguments` are renamed to the tool's arguments.
pub(super) fn find_tool(name: &str, arguments: &mut Option<JsonObject>) -> Option<&'static Tool> {
    if name == update_memory::ALIAS {
        update_memory::rename_alias_fields(arguments);
        return Some(&update_memory::TOOL);
    }
    if workspace::rename_alias_fields(name, arguments) {
        return Some(&workspace::TOOL);
    }
    ALL.into_iter().find(|tool| tool.name == name)
}
