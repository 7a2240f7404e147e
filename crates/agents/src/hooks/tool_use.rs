//! Tool use in a hook event: command, files and failure.

use super::json_members::{JsonMembers, as_string, object_members};
use super::protocol::HookProtocol;
use crate::AgentProgram;
use crate::patch_marks::named_file;
use heirloom_model::limits::TOOL_OUTPUT_BYTES_MAX;
use heirloom_model::text;
use serde_json::Value;
use serde_json::value::RawValue;

/// A tool use, before or after it happened.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ToolUse {
    /// Name of the tool in the program.
    pub name: String,
    /// The command, if the tool runs one.
    pub command: Option<String>,
    /// The files that the tool changes, as named in the input.
    pub files: Vec<String>,
    /// The error message, if the tool failed.
    pub failure: Option<String>,
    /// True if the program reports the outcome. Codex passes on only the output of a command, and the end of a command
    /// in the background is unknown.
    pub has_outcome: bool,
    /// True if the command goes on in the background.
    pub is_background: bool,
    /// True if the person interrupted the tool.
    pub is_interrupted: bool,
    /// Response of the tool.
    pub response: Option<Value>,
}

/// Most files of one tool use that are reported.
const FILES_MAX: usize = 50;
/// Tools that run commands.
const SHELLS: [&str; 10] = [
    "Bash",
    "bash",
    "shell",
    "exec_command",
    "local_shell",
    "run_shell_command",
    "PowerShell",
    "shell_command",
    "Shell",
    "run_in_terminal",
];
/// Tools that change files.
const EDITORS: [&str; 16] = [
    "Edit",
    "MultiEdit",
    "Write",
    "NotebookEdit",
    "apply_patch",
    "write_file",
    "replace",
    "edit",
    "write",
    "create",
    "str_replace_editor",
    "StrReplace",
    "create_file",
    "replace_string_in_file",
    "multi_replace_string_in_file",
    "insert_edit_into_file",
];

impl ToolUse {
    pub(super) fn from_fields(program: AgentProgram, fields: &JsonMembers<'_>) -> Option<Self> {
        let field = |name: &str| fields.get(name).copied();
        let name = field("tool_name").and_then(as_string)?;
        let input = field("tool_input").map(object_members).unwrap_or_default();
        let response = field("tool_response");
        let (is_shell, is_editor) = (
            SHELLS.contains(&name.as_str()),
            EDITORS.contains(&name.as_str()),
        );
        let command = ["command", "cmd"]
            .iter()
            .find_map(|key| command_text(input.get(*key)?))
            .filter(|_| is_shell);
        let hooks = program.hooks()?;
        let failure = match field("error").and_then(as_string) {
            Some(error) if !error.trim().is_empty() => {
                Some((hooks.clean_output)(&error).into_owned())
            }
            Some(_) | None => response.and_then(|raw| failure_text(hooks, raw, is_shell)),
        };
        let is_background = is_shell
            && ["run_in_background", "is_background"]
                .iter()
                .any(|key| input.get(*key).is_some_and(|raw| raw.get() == "true"));
        let has_outcome = failure.is_some()
            || !is_shell
            || (!is_background
                && (hooks.reports_outcomes
                    || response.is_some_and(|raw| has_exit_code(hooks, raw))));
        let is_interrupted = field("is_interrupt").is_some_and(|raw| raw.get() == "true");
        Some(Self {
            files: if is_editor {
                changed_files(&input)
            } else {
                Vec::new()
            },
            command,
            failure,
            has_outcome,
            is_background,
            is_interrupted,
            response: response.and_then(|raw| response_value(hooks, raw)),
            name,
        })
    }

    /// Returns the text of the response, without what the program adds to it; of a long one both ends.
    pub fn output(&self, program: AgentProgram) -> String {
        let output = self.response.as_ref().map(output_text).unwrap_or_default();
        let plain = match program.hooks() {
            Some(hooks) => (hooks.clean_output)(&output).into_owned(),
            None => output,
        };
        both_ends(plain)
    }

    /// Returns true if the tool belongs to an MCP server.
    pub fn is_mcp_tool(&self) -> bool {
        self.name.starts_with("mcp__")
    }
}

/// Returns the command, given as a string or as words whose last one is a shell script.
fn command_text(raw: &RawValue) -> Option<String> {
    let output = match serde_json::from_str(raw.get()).ok()? {
        Value::String(output) => output,
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
    Some(output).filter(|output| !output.trim().is_empty())
}

/// Returns the files that an edit or a patch names.
fn changed_files(input: &JsonMembers<'_>) -> Vec<String> {
    let named = [
        "file_path",
        "filePath",
        "notebook_path",
        "absolute_path",
        "path",
    ];
    let mut files: Vec<String> = (named.iter())
        .filter_map(|key| as_string(input.get(*key)?))
        .collect();
    for patch in ["command", "input", "patch"] {
        let Some(patch) = input.get(patch).and_then(|raw| command_text(raw)) else {
            continue;
        };
        let named = patch.lines().filter_map(named_file);
        files.extend(named.map(str::to_owned).take(FILES_MAX));
    }
    files.retain(|file| !file.is_empty());
    files.dedup();
    files.truncate(FILES_MAX);
    files
}

/// Returns the error message in a response.
fn failure_text(hooks: &HookProtocol, raw: &RawValue, is_shell: bool) -> Option<String> {
    let value = response_value(hooks, raw)?;
    let clean = |output: String| (hooks.clean_output)(&output).into_owned();
    if let Some(code) = exit_code_field(&value) {
        return (code != 0).then(|| clean(error_output(&value, code)));
    }
    if hooks.has_error_field {
        match value.get("error") {
            None | Some(Value::Null) => {}
            Some(error) => {
                let output = error.get("message").unwrap_or(error);
                let output = output
                    .as_str()
                    .map_or_else(|| output.to_string(), str::to_owned);
                return Some(clean(output)).filter(|output| !output.is_empty());
            }
        }
    }
    let exit_code_line = hooks.exit_code_line.filter(|_| is_shell)?;
    let output = output_text(&value);
    let code = exit_code_line(&output)?;
    (code != 0).then(|| clean(output))
}

/// Returns a response as data.
fn response_value(hooks: &HookProtocol, raw: &RawValue) -> Option<Value> {
    let value: Value = serde_json::from_str(raw.get()).ok()?;
    let inner = value.as_str().filter(|_| hooks.has_json_output);
    let inner = inner.and_then(|text| serde_json::from_str(text).ok());
    Some(inner.unwrap_or(value))
}

/// Returns the exit code in a field of a response.
fn exit_code_field(value: &Value) -> Option<i64> {
    let of = |name: &str| value.get(name);
    let code = ["exit_code", "exitCode"]
        .iter()
        .find_map(|name| of(name).or_else(|| of("metadata")?.get(*name)));
    code.and_then(Value::as_i64)
}

/// Returns the exit code in a line that a program adds to the output of a command.
pub(crate) fn exit_code_of_line(line: &str) -> Option<i64> {
    let line = line.trim().to_ascii_lowercase();
    let rest = ["exit code:", "process exited with code"]
        .iter()
        .find_map(|mark| line.strip_prefix(mark))?;
    rest.trim().parse::<i64>().ok()
}

/// Returns true if a response has an exit code.
fn has_exit_code(hooks: &HookProtocol, raw: &RawValue) -> bool {
    let value = response_value(hooks, raw).unwrap_or_default();
    let in_line = |code: fn(&str) -> Option<i64>| code(&output_text(&value)).is_some();
    exit_code_field(&value).is_some() || hooks.exit_code_line.is_some_and(in_line)
}

fn error_output(value: &Value, code: i64) -> String {
    let output = output_text(value);
    if output.trim().is_empty() {
        format!("exit code {code}")
    } else {
        output
    }
}

/// Returns a text without its middle if it is too long.
fn both_ends(output: String) -> String {
    if output.len() <= TOOL_OUTPUT_BYTES_MAX {
        return output;
    }
    let half = TOOL_OUTPUT_BYTES_MAX / 2;
    let head = output.get(..output.floor_char_boundary(half));
    let tail = output.get(output.ceil_char_boundary(output.len() - half)..);
    format!("{}\n{}", head.unwrap_or_default(), tail.unwrap_or_default())
}

/// Returns the text of a response.
fn output_text(value: &Value) -> String {
    match value {
        Value::String(output) => output.clone(),
        Value::Array(parts) => {
            let texts = parts.iter().map(output_text);
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
                "text_result_for_llm",
                "textResultForLlm",
            ];
            let reported = keys.iter().filter_map(|key| fields.get(*key));
            let reported: Vec<String> = reported
                .map(output_text)
                .filter(|output| !output.is_empty())
                .collect();
            reported.join("\n")
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => String::new(),
    }
}

/// Replaces every text longer than `most` characters in a response by the result of `short`; `None` if nothing was
/// replaced.
///
/// The structure stays, because a program rejects an output that differs from its tool's structure.
pub fn shorten_texts(
    response: &Value,
    most: usize,
    short: &mut dyn FnMut(&str) -> Option<String>,
) -> Option<Value> {
    let mut changed = false;
    let value = shorten_value(response, most, short, &mut changed);
    changed.then_some(value)
}

fn shorten_value(
    value: &Value,
    most: usize,
    short: &mut dyn FnMut(&str) -> Option<String>,
    changed: &mut bool,
) -> Value {
    match value {
        Value::String(output) if output.len() > most && text::chars(output) > most => {
            match short(output) {
                Some(instead) => {
                    *changed = true;
                    Value::String(instead)
                }
                None => value.clone(),
            }
        }
        Value::Array(parts) => Value::Array(
            parts
                .iter()
                .map(|one| shorten_value(one, most, short, changed))
                .collect(),
        ),
        Value::Object(fields) => Value::Object(
            fields
                .iter()
                .map(|(name, one)| {
                    // Image data is not text.
                    let is_data = matches!(name.as_str(), "base64" | "data");
                    let one = if is_data {
                        one.clone()
                    } else {
                        shorten_value(one, most, short, changed)
                    };
                    (name.clone(), one)
                })
                .collect(),
        ),
        Value::String(_) | Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    }
}

#[cfg(test)]
mod tests;
