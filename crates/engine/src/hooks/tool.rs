//! The use of a tool: what was to be done, to which files, and whether it went wrong.

use super::event::{Fields, members, string};
use super::host::Host;
use heirloom_model::text;
use serde_json::Value;
use serde_json::value::RawValue;

/// The use of a tool, before or behind it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ToolUse {
    /// The tool's name, as the program spells it.
    pub name: String,
    /// The command, of a tool that runs one.
    pub command: Option<String>,
    /// The files that are changed, of a tool that changes some; as they were named.
    pub files: Vec<String>,
    /// What went wrong, if something did.
    pub failure: Option<String>,
    /// Whether the program says how it went: Codex hands on what a command printed, and nothing else.
    pub is_told: bool,
    /// Whether the person interrupted it.
    pub is_interrupted: bool,
    /// What it gave back.
    pub response: Option<Value>,
}

/// Most files of one use that are told.
const FILES: usize = 50;
/// Tools that run commands.
const SHELLS: [&str; 8] = [
    "Bash",
    "bash",
    "shell",
    "exec_command",
    "local_shell",
    "run_shell_command",
    "PowerShell",
    "shell_command",
];
/// Tools that change files.
const EDITORS: [&str; 9] = [
    "Edit",
    "MultiEdit",
    "Write",
    "NotebookEdit",
    "apply_patch",
    "write_file",
    "replace",
    "edit",
    "write",
];

impl ToolUse {
    pub(super) fn of(host: Host, fields: &Fields<'_>) -> Option<Self> {
        let field = |name: &str| fields.get(name).copied();
        let name = field("tool_name").and_then(string)?;
        let input = field("tool_input").map(members).unwrap_or_default();
        let response = field("tool_response");
        let (is_shell, is_editor) = (
            SHELLS.contains(&name.as_str()),
            EDITORS.contains(&name.as_str()),
        );
        let command = ["command", "cmd"]
            .iter()
            .find_map(|key| words(input.get(*key)?))
            .filter(|_| is_shell);
        let failure = match field("error").and_then(string) {
            Some(error) if !error.trim().is_empty() => Some(error),
            Some(_) | None => response.and_then(|raw| failure(host, raw, is_shell)),
        };
        let is_told = host != Host::Codex
            || !is_shell
            || failure.is_some()
            || response.is_some_and(|raw| says_code(host, raw));
        let is_interrupted = field("is_interrupt").is_some_and(|raw| raw.get() == "true");
        Some(Self {
            files: if is_editor { files(&input) } else { Vec::new() },
            command,
            failure,
            is_told,
            is_interrupted,
            response: response.and_then(|raw| serde_json::from_str(raw.get()).ok()),
            name,
        })
    }

    /// Whether the tool belongs to an MCP server.
    pub fn is_foreign(&self) -> bool {
        self.name.starts_with("mcp__")
    }
}

/// A command: a text, or words of which the last one is the script that a shell is to run.
fn words(raw: &RawValue) -> Option<String> {
    let said = match serde_json::from_str(raw.get()).ok()? {
        Value::String(said) => said,
        Value::Array(words) => {
            let words: Vec<&str> = words.iter().filter_map(Value::as_str).collect();
            match words.as_slice() {
                [shell, flag, script] if shell.ends_with("sh") && flag.starts_with('-') => {
                    (*script).to_owned()
                }
                words => words.join(" "),
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => return None,
    };
    Some(said).filter(|said| !said.trim().is_empty())
}

/// The files that an edit names, or that a patch changes.
fn files(input: &Fields<'_>) -> Vec<String> {
    let named = ["file_path", "notebook_path", "absolute_path", "path"];
    let mut files: Vec<String> = (named.iter())
        .filter_map(|key| string(input.get(*key)?))
        .collect();
    for patch in ["command", "input", "patch"] {
        let Some(patch) = input.get(patch).and_then(|raw| words(raw)) else {
            continue;
        };
        let marks = [
            "*** Update File: ",
            "*** Add File: ",
            "*** Delete File: ",
            "*** Move to: ",
        ];
        let named = patch
            .lines()
            .filter_map(|line| marks.iter().find_map(|mark| line.strip_prefix(mark)));
        files.extend(named.map(|name| name.trim().to_owned()).take(FILES));
    }
    files.retain(|file| !file.is_empty());
    files.dedup();
    files.truncate(FILES);
    files
}

/// What went wrong, by what the tool gave back.
fn failure(host: Host, raw: &RawValue, is_shell: bool) -> Option<String> {
    let value: Value = serde_json::from_str(raw.get()).ok()?;
    let of = |name: &str| value.get(name);
    if let Some(code) = code_of(&value) {
        return (code != 0).then(|| said_by(&value, code));
    }
    if host == Host::Gemini {
        match of("error") {
            None | Some(Value::Null) => {}
            Some(error) => {
                let said = error.get("message").unwrap_or(error);
                let said = said
                    .as_str()
                    .map_or_else(|| said.to_string(), str::to_owned);
                return Some(said).filter(|said| !said.is_empty());
            }
        }
    }
    if !is_shell || host == Host::ClaudeCode {
        return None;
    }
    // Codex and Gemini CLI say the exit code on a line of the output.
    let said = output(&value);
    let code = code_in(host, &said)?;
    (code != 0).then_some(said)
}

/// The exit code that a response has as a field.
fn code_of(value: &Value) -> Option<i64> {
    let of = |name: &str| value.get(name);
    let code = ["exit_code", "exitCode"]
        .iter()
        .find_map(|name| of(name).or_else(|| of("metadata")?.get(*name)));
    code.and_then(Value::as_i64)
}

/// The exit code that the program itself says around an output: Codex's older versions before it, Gemini CLI behind it.
fn code_in(host: Host, said: &str) -> Option<i64> {
    const LINES: usize = 6;
    let code = |line: &str| {
        let line = line.trim().to_ascii_lowercase();
        let rest = ["exit code:", "process exited with code"]
            .iter()
            .find_map(|mark| line.strip_prefix(mark))?;
        rest.trim().parse::<i64>().ok()
    };
    match host {
        Host::ClaudeCode => None,
        Host::Codex => {
            let (lead, _) = said.split_once("\nOutput:\n")?;
            lead.lines().take(LINES).find_map(code)
        }
        Host::Gemini => said.lines().rev().take(LINES).find_map(code),
    }
}

/// Whether a response has an exit code anywhere.
fn says_code(host: Host, raw: &RawValue) -> bool {
    let value: Value = serde_json::from_str(raw.get()).unwrap_or_default();
    code_of(&value).is_some() || code_in(host, &output(&value)).is_some()
}

fn said_by(value: &Value, code: i64) -> String {
    let said = output(value);
    if said.trim().is_empty() {
        format!("exit code {code}")
    } else {
        said
    }
}

/// The words of a response.
fn output(value: &Value) -> String {
    match value {
        Value::String(said) => said.clone(),
        Value::Array(parts) => {
            let texts = parts.iter().map(output);
            texts.collect::<Vec<_>>().join("\n")
        }
        Value::Object(fields) => {
            let keys = [
                "stderr",
                "stdout",
                "output",
                "llmContent",
                "text",
                "content",
                "message",
            ];
            let told = keys.iter().filter_map(|key| fields.get(*key));
            let told: Vec<String> = told.map(output).filter(|said| !said.is_empty()).collect();
            told.join("\n")
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => String::new(),
    }
}

/// A response in which every text that is longer than `most` is what `short` makes of it; none if nothing is so long.
///
/// The form stays: a program refuses an output that is formed otherwise than that of its tool.
pub fn shortened(
    response: &Value,
    most: usize,
    short: &mut dyn FnMut(&str) -> Option<String>,
) -> Option<Value> {
    let mut changed = false;
    let value = walk(response, most, short, &mut changed);
    changed.then_some(value)
}

fn walk(
    value: &Value,
    most: usize,
    short: &mut dyn FnMut(&str) -> Option<String>,
    changed: &mut bool,
) -> Value {
    match value {
        Value::String(said) if said.len() > most && text::chars(said) > most => match short(said) {
            Some(instead) => {
                *changed = true;
                Value::String(instead)
            }
            None => value.clone(),
        },
        Value::Array(parts) => Value::Array(
            parts
                .iter()
                .map(|one| walk(one, most, short, changed))
                .collect(),
        ),
        Value::Object(fields) => Value::Object(
            fields
                .iter()
                .map(|(name, one)| {
                    // A picture is no text.
                    let is_data = matches!(name.as_str(), "base64" | "data");
                    let one = if is_data {
                        one.clone()
                    } else {
                        walk(one, most, short, changed)
                    };
                    (name.clone(), one)
                })
                .collect(),
        ),
        Value::String(_) | Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::read_event;
    use super::*;
    use serde_json::json;

    fn tool(host: Host, event: &Value) -> ToolUse {
        read_event(host, event.to_string().as_bytes()).tool.unwrap()
    }

    #[test]
    fn commands_and_files() {
        for (name, input, command, files) in [
            ("Bash", json!({"command": "ls -l"}), Some("ls -l"), &[][..]),
            ("exec_command", json!({"cmd": "ls"}), Some("ls"), &[]),
            (
                "shell",
                json!({"command": ["bash", "-lc", "a | b"]}),
                Some("a | b"),
                &[],
            ),
            (
                "shell",
                json!({"command": ["git", "log"]}),
                Some("git log"),
                &[],
            ),
            ("Edit", json!({"file_path": "/p/a.rs"}), None, &["/p/a.rs"]),
            (
                "apply_patch",
                json!({"command": "*** Begin Patch\n*** Update File: a.rs\n@@\n*** Add File: b.rs\n+x\n*** End Patch"}),
                None,
                &["a.rs", "b.rs"],
            ),
            ("Read", json!({"file_path": "a"}), None, &[]),
            ("Bash", json!("ls"), None, &[]),
            ("Bash", json!({"command": {"a": 1}}), None, &[]),
        ] {
            let used = tool(
                Host::ClaudeCode,
                &json!({"tool_name": name, "tool_input": input}),
            );
            assert_eq!(used.command.as_deref(), command, "{name}");
            assert_eq!(used.files, files, "{name}");
        }
    }

    #[test]
    fn what_went_wrong() {
        for (host, name, response, failure) in [
            (
                Host::Codex,
                "Bash",
                json!("Exit code: 2\nWall time: 1 s\nOutput:\nno such file"),
                Some("Exit code: 2\nWall time: 1 s\nOutput:\nno such file"),
            ),
            (
                Host::Codex,
                "Bash",
                json!("Exit code: 0\nOutput:\nok"),
                None,
            ),
            (
                Host::Codex,
                "Bash",
                json!({"output": "bad", "metadata": {"exit_code": 1}}),
                Some("bad"),
            ),
            (
                Host::Gemini,
                "run_shell_command",
                json!({"llmContent": "Output: x\nExit Code: 1", "error": null}),
                Some("Output: x\nExit Code: 1"),
            ),
            (
                Host::Gemini,
                "replace",
                json!({"llmContent": "", "error": {"message": "no match"}}),
                Some("no match"),
            ),
            (
                Host::ClaudeCode,
                "Bash",
                json!({"stdout": "Exit code: 1", "stderr": ""}),
                None,
            ),
            (Host::Codex, "mcp__a__b", json!("Exit code: 1"), None),
        ] {
            let used = tool(host, &json!({"tool_name": name, "tool_response": response}));
            assert_eq!(used.failure.as_deref(), failure, "{response}");
        }
        for (host, name, response, is_told) in [
            (Host::Codex, "Bash", json!("cat: x: no such file"), false),
            (Host::Codex, "Bash", json!("Exit code: 1"), false),
            (
                Host::Codex,
                "Bash",
                json!("Exit code: 0\nOutput:\nok"),
                true,
            ),
            (
                Host::Codex,
                "Bash",
                json!({"output": "bad", "exit_code": 1}),
                true,
            ),
            (Host::Codex, "apply_patch", json!("Done"), true),
            (Host::ClaudeCode, "Bash", json!({"stdout": "x"}), true),
            (
                Host::Gemini,
                "run_shell_command",
                json!({"llmContent": "x"}),
                true,
            ),
        ] {
            let used = tool(host, &json!({"tool_name": name, "tool_response": response}));
            assert_eq!(used.is_told, is_told, "{host:?} {response}");
        }
        let used = tool(
            Host::ClaudeCode,
            &json!({"tool_name": "Bash", "error": "Exit code 1", "is_interrupt": true}),
        );
        assert_eq!(used.failure.as_deref(), Some("Exit code 1"));
        assert!(used.is_interrupted);
    }

    #[test]
    fn long_texts_are_shortened_where_they_stand() {
        let response = json!({"stdout": "x".repeat(11), "stderr": "x".repeat(10), "interrupted": false, "data": "y".repeat(50), "a": ["z".repeat(12)]});
        let mut seen = Vec::new();
        let short = shortened(&response, 10, &mut |said| {
            seen.push(said.len());
            Some("short".to_owned())
        })
        .unwrap();
        seen.sort_unstable();
        assert_eq!(seen, [11, 12]);
        assert_eq!(short["stdout"], "short");
        assert_eq!(short["stderr"], "x".repeat(10));
        assert_eq!(short["data"], response["data"]);
        assert_eq!(short["interrupted"], false);
        assert_eq!(shortened(&response, 50, &mut |_| None), None);
    }
}
