//! A conversation as Claude Code writes it down, and what became of one.

use crate::project::{Project, string};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// A conversation of Claude Code, line by line.
pub(crate) struct Talk {
    pub(crate) session: String,
    folder: String,
    pub(crate) lines: Vec<String>,
}

impl Talk {
    pub(crate) fn new(session: &str, folder: &Path) -> Self {
        Self {
            session: session.to_owned(),
            folder: folder.to_str().unwrap().to_owned(),
            lines: Vec::new(),
        }
    }

    pub(crate) fn line(&mut self, kind: &str, message: &Value) -> &mut Self {
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

    pub(crate) fn asks(&mut self, said: &str) -> &mut Self {
        self.line("user", &json!({"role": "user", "content": said}))
    }

    pub(crate) fn says(&mut self, said: &str) -> &mut Self {
        let id = format!("m{}", self.lines.len());
        let content = json!([{"type": "text", "text": said}]);
        self.line("assistant", &json!({"id": id, "content": content}))
    }

    pub(crate) fn calls(&mut self, call: &str, tool: &str, input: &Value) -> &mut Self {
        let id = format!("m{}", self.lines.len());
        let call = format!("{}{call}", self.session);
        let content = json!([{"type": "tool_use", "id": call, "name": tool, "input": input}]);
        self.line("assistant", &json!({"id": id, "content": content}))
    }

    pub(crate) fn hears(&mut self, call: &str, said: &str, failed: bool) -> &mut Self {
        let call = format!("{}{call}", self.session);
        let block = json!({"type": "tool_result", "tool_use_id": call, "content": said, "is_error": failed});
        self.line("user", &json!({"role": "user", "content": [block]}))
    }

    pub(crate) fn runs(
        &mut self,
        call: &str,
        command: &str,
        said: &str,
        failed: bool,
    ) -> &mut Self {
        self.calls(call, "Bash", &json!({"command": command}));
        self.hears(call, said, failed)
    }

    pub(crate) fn text(&self) -> String {
        self.lines.join("\n") + "\n"
    }

    /// Writes it where Claude Code does.
    pub(crate) fn file(&self, project: &Project) -> PathBuf {
        let folder = self.folder.replace('/', "-");
        let name = format!(".claude/projects/{folder}/{}.jsonl", self.session);
        project.home.write(&name, self.text()).unwrap()
    }
}

/// The turns of a session that is here: who, and what.
pub(crate) fn turns(project: &Project, session: &str) -> Vec<(String, String)> {
    let shown = project.json(&["session", "show", session]);
    let turns = shown["messages"].as_array().unwrap();
    turns
        .iter()
        .map(|turn| (string(&turn["role"]), string(&turn["text"])))
        .collect()
}
