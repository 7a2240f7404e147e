//! Transcript fixture: a conversation in the format of Claude Code, and the messages of an imported session.

use crate::project::{Project, string};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// Conversation in the format of Claude Code, line by line.
pub(crate) struct TranscriptFixture {
    pub(crate) session: String,
    folder: String,
    pub(crate) lines: Vec<String>,
}

impl TranscriptFixture {
    pub(crate) fn new(session: &str, folder: &Path) -> Self {
        Self {
            session: session.to_owned(),
            folder: folder.to_str().unwrap().to_owned(),
            lines: Vec::new(),
        }
    }

    pub(crate) fn add_line(&mut self, kind: &str, message: &Value) -> &mut Self {
        let n = self.lines.len();
        let name = |n: usize| format!("{}-{n}", self.session);
        let line = json!({
            "type": kind, "uuid": name(n), "parentUuid": n.checked_sub(1).map(name), "isSidechain": false,
            "cwd": self.folder, "sessionId": self.session, "message": message,
            "timestamp": format!("2026-04-01T10:{:02}:{:02}.000Z", n / 60 % 60, n % 60),
        });
        self.lines.push(line.to_string());
        self
    }

    pub(crate) fn add_user_message(&mut self, text: &str) -> &mut Self {
        self.add_line("user", &json!({"role": "user", "content": text}))
    }

    pub(crate) fn add_assistant_message(&mut self, text: &str) -> &mut Self {
        let id = format!("m{}", self.lines.len());
        let content = json!([{"type": "text", "text": text}]);
        self.add_line("assistant", &json!({"id": id, "content": content}))
    }

    pub(crate) fn add_tool_call(&mut self, call: &str, tool: &str, input: &Value) -> &mut Self {
        let id = format!("m{}", self.lines.len());
        let call = format!("{}{call}", self.session);
        let content = json!([{"type": "tool_use", "id": call, "name": tool, "input": input}]);
        self.add_line("assistant", &json!({"id": id, "content": content}))
    }

    pub(crate) fn add_tool_result(&mut self, call: &str, text: &str, failed: bool) -> &mut Self {
        let call = format!("{}{call}", self.session);
        let block = json!({"type": "tool_result", "tool_use_id": call, "content": text, "is_error": failed});
        self.add_line("user", &json!({"role": "user", "content": [block]}))
    }

    pub(crate) fn add_command(
        &mut self,
        call: &str,
        command: &str,
        text: &str,
        failed: bool,
    ) -> &mut Self {
        self.add_tool_call(call, "Bash", &json!({"command": command}));
        self.add_tool_result(call, text, failed)
    }

    pub(crate) fn text(&self) -> String {
        self.lines.join("\n") + "\n"
    }

    /// Writes the transcript to the folder in which Claude Code keeps it.
    pub(crate) fn write_file(&self, project: &Project) -> PathBuf {
        let folder = self.folder.replace('/', "-");
        let name = format!(".claude/projects/{folder}/{}.jsonl", self.session);
        project.home.write(&name, self.text()).unwrap()
    }
}

/// Returns the role and text of each message of an imported session.
pub(crate) fn session_messages(project: &Project, session: &str) -> Vec<(String, String)> {
    let session_json = project.json(&["session", "show", session]);
    let turns = session_json["messages"].as_array().unwrap();
    turns
        .iter()
        .map(|turn| (string(&turn["role"]), string(&turn["text"])))
        .collect()
}
