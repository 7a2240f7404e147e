//! Tools with which a program runs commands and changes files.

use std::path::Path;

use heirloom_testkit::Turn;
use serde_json::{Value, json};

use crate::agents::program::Program;

/// Tools of one program in one project.
#[derive(Debug)]
pub(super) struct WorkTools {
    /// Arguments that permit these tools without a person.
    pub(super) arguments: &'static [&'static str],
    program: &'static str,
    root: String,
}

impl WorkTools {
    /// Returns the tools of a program.
    pub(super) fn of(program: &Program, root: &Path) -> Result<Self, String> {
        let arguments: &[&str] = match program.name {
            "claude-code" => &["--allowedTools", "Bash,Edit,Read"],
            "codex" => &["--dangerously-bypass-approvals-and-sandbox"],
            "gemini" | "opencode" | "copilot" => &[],
            other => return Err(format!("the tools of {other} are not known")),
        };
        Ok(Self {
            arguments,
            program: program.name,
            root: root.display().to_string(),
        })
    }

    /// Returns a turn with a text and a command.
    pub(super) fn shell(&self, says: &str, command: &str) -> Turn {
        let (tool, input) = match self.program {
            "claude-code" => ("Bash", json!({"command": command})),
            "codex" => ("exec_command", json!({"cmd": command})),
            "gemini" => ("run_shell_command", json!({"command": command})),
            _ => ("bash", json!({"command": command, "description": "Run it"})),
        };
        Turn::text(says).and_call(tool, input)
    }

    /// Returns the turns that replace a line of a file; some programs read it first.
    pub(super) fn edit(&self, says: &str, file: &str, old: &str, new: &str) -> Vec<Turn> {
        let path = format!("{}/{file}", self.root);
        let read = |tool: &str, input: Value| Turn::text("I read it.").and_call(tool, input);
        let change = |tool: &str, input: Value| Turn::text(says).and_call(tool, input);
        match self.program {
            "claude-code" => vec![
                read("Read", json!({"file_path": path})),
                change(
                    "Edit",
                    json!({"file_path": path, "old_string": old, "new_string": new}),
                ),
            ],
            "codex" => vec![self.shell(
                says,
                &format!(
                    "apply_patch <<'EOF'\n*** Begin Patch\n*** Update File: {file}\n@@\n-{old}\n+{new}\n*** End Patch\nEOF"
                ),
            )],
            "gemini" => vec![
                read("read_file", json!({"file_path": path})),
                change(
                    "replace",
                    json!({"file_path": path, "old_string": old, "new_string": new, "instruction": says}),
                ),
            ],
            "opencode" => vec![
                read("read", json!({"filePath": path})),
                change(
                    "edit",
                    json!({"filePath": path, "oldString": old, "newString": new}),
                ),
            ],
            _ => vec![change(
                "edit",
                json!({"path": path, "old_str": old, "new_str": new}),
            )],
        }
    }
}
