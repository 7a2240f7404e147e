//! Teaching agents to leave lessons: a paragraph at the start of a session, and a question at the end of a turn.

use super::HookRequest;
use super::session_state::HookSessionState;
use heirloom_agents::AgentProgram;
use heirloom_agents::hooks::{HookAnswer, LessonChannel, lesson_request, teaching_paragraph};
use heirloom_engine::Engine;
use heirloom_fs::project_fs::read_bounded;
use serde_json::Value;
use std::path::Path;

/// Maximum size of a settings file that is searched for an MCP server.
const SETTINGS_BYTES_MAX: u64 = 64 << 10;

/// Texts that teach agents to leave lessons.
pub(super) struct LessonTeaching<'e> {
    engine: &'e Engine,
}

impl<'e> LessonTeaching<'e> {
    pub(super) fn new(engine: &'e Engine) -> Self {
        Self { engine }
    }

    /// Returns the paragraph with which the first context of a session ends; empty if it is switched off.
    pub(super) fn teaching(&self, request: &HookRequest<'_>) -> String {
        match request.teach {
            true => self.with_lesson_channel(request, &teaching_paragraph),
            false => String::new(),
        }
    }

    /// Requests a lesson from the agent at the end of a turn: once in a session, after work that left none, and only where
    /// the program marks the turn that follows, so that it does not go round in circles.
    pub(super) fn request_lesson(
        &self,
        request: &HookRequest<'_>,
        state: &mut HookSessionState,
    ) -> HookAnswer {
        let event = request.event;
        let can_ask = request.ask
            && request.host.can_ask_agent()
            && !event.is_continued_by_hook
            && event.session.is_some()
            && event.agent_id.is_none();
        if !can_ask || !state.lacks_lesson() {
            return HookAnswer::default();
        }
        state.mark_lesson_asked();
        let text = self.with_lesson_channel(request, &lesson_request);
        state.add_injected_text(&text);
        HookAnswer {
            request: Some(text).filter(|text| !text.is_empty()),
            ..HookAnswer::default()
        }
    }

    /// Formats a text for the way in which the agent can leave a lesson: the MCP server that the project configures, as
    /// far as it is known, otherwise a signal.
    fn with_lesson_channel(
        &self,
        request: &HookRequest<'_>,
        format: &dyn Fn(LessonChannel<'_>) -> String,
    ) -> String {
        if let Some(server) = mcp_server(self.engine.root(), request.host) {
            let text = format(LessonChannel::McpServer(&server));
            if !text.is_empty() {
                return text;
            }
        }
        let prefixes = &self.engine.settings().memory_prefixes;
        let texts = prefixes
            .iter()
            .map(|prefix| format(LessonChannel::Signal(prefix)));
        texts
            .into_iter()
            .find(|text| !text.is_empty())
            .unwrap_or_default()
    }
}

/// Returns the name of the MCP server of Heirloom in the project's settings of a program.
fn mcp_server(root: &Path, host: AgentProgram) -> Option<String> {
    let file = match host {
        AgentProgram::ClaudeCode => ".mcp.json",
        AgentProgram::Gemini => ".gemini/settings.json",
        AgentProgram::Cursor => ".cursor/mcp.json",
        AgentProgram::Copilot => ".github/mcp.json",
        AgentProgram::Codex
        | AgentProgram::Aider
        | AgentProgram::Opencode
        | AgentProgram::Windsurf
        | AgentProgram::Vscode
        | AgentProgram::Command => return None,
    };
    let bytes = read_bounded(&root.join(file), SETTINGS_BYTES_MAX).ok()?;
    let settings: Value = serde_json::from_slice(&bytes).ok()?;
    let servers = settings.get("mcpServers")?.as_object()?;
    let found = servers
        .iter()
        .find(|(_, server)| is_memory_server(server))?;
    let name = found.0;
    // The name is shown to the agent.
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    name.chars().all(is_plain).then(|| name.clone())
}

/// Returns true for the command `heirloom mcp` with its own tools.
fn is_memory_server(server: &Value) -> bool {
    let command = server.get("command").and_then(Value::as_str);
    let program = command.map(|command| command.rsplit('/').next().unwrap_or(command));
    let args = server.get("args").and_then(Value::as_array);
    let has = |word: &str| args.is_some_and(|args| args.iter().any(|arg| arg == word));
    program == Some("heirloom") && has("mcp") && !has("--compat")
}

#[cfg(test)]
mod tests {
    use super::*;
    use heirloom_fs::durable;

    #[test]
    fn mcp_server_is_found_in_project_settings() {
        let folder = tempfile::tempdir().unwrap();
        let write = |text: &str| {
            durable::write_atomic(&folder.path().join(".mcp.json"), text.as_bytes()).unwrap();
        };
        let found = || mcp_server(folder.path(), AgentProgram::ClaudeCode);
        assert_eq!(found(), None);
        for (text, name) in [
            (
                r#"{"mcpServers": {"memory": {"command": "/usr/bin/heirloom", "args": ["mcp"]}}}"#,
                Some("memory"),
            ),
            (
                r#"{"mcpServers": {"m": {"command": "heirloom", "args": ["mcp", "--compat", "server-memory"]}}}"#,
                None,
            ),
            (
                r#"{"mcpServers": {"m": {"command": "npx", "args": ["mcp"]}}}"#,
                None,
            ),
            (
                r#"{"mcpServers": {"a `b`": {"command": "heirloom", "args": ["mcp"]}}}"#,
                None,
            ),
            ("[1", None),
            ("", None),
        ] {
            write(text);
            assert_eq!(found().as_deref(), name, "{text}");
        }
        assert_eq!(mcp_server(folder.path(), AgentProgram::Codex), None);
    }
}
