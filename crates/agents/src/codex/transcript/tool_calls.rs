//! Tool calls of Codex: commands, patches, plans, and their outputs.

use super::line_fields::{CallArguments, CallOutput, CodexPayload, OutputMetadata};
use crate::json_fields::{
    Field, as_integer, as_keyword, as_nonblank_string, as_object, as_string, for_each_element,
    joined_texts, parse_object,
};
use crate::patch_marks::PATCH_BEGIN;
use crate::transcripts::recorded_commands::command_from_words;
use crate::transcripts::{ToolAction, ToolOutcome, call_line, patched_files, plan_items};

/// Returns the tool that an item calls and the purpose of the call.
pub(super) fn parse_call(item: &CodexPayload<'_>) -> (String, ToolAction) {
    if as_keyword(item.kind) == "local_shell_call" {
        let action = as_object::<CallArguments<'_>>(item.action);
        let command = action.and_then(|action| command_text(action.command));
        let action = command.map_or_else(|| ToolAction::Other(String::new()), shell_action);
        return ("shell".to_owned(), action);
    }
    let tool = as_string(item.name).unwrap_or_default();
    if let Some(input) = as_string(item.input) {
        let action = match patched_files(&input) {
            files if files.is_empty() => ToolAction::Other(call_line(&input)),
            files => ToolAction::Edit(files),
        };
        return (tool, action);
    }
    let arguments = as_string(item.arguments).unwrap_or_default();
    let read = parse_object::<CallArguments<'_>>(&arguments).ok();
    let command = read.as_ref().and_then(|read| {
        command_text(read.command)
            .or_else(|| as_nonblank_string(read.cmd))
            .or_else(|| as_nonblank_string(read.input).filter(|_| tool == "apply_patch"))
    });
    let plan = read.as_ref().filter(|_| tool == "update_plan");
    let action = match (command, plan.and_then(|read| plan_items(read.plan))) {
        (Some(command), _) => shell_action(command),
        (None, Some(items)) => ToolAction::Plan(items),
        (None, None) => ToolAction::Other(call_line(&arguments)),
    };
    (tool, action)
}

/// Returns the action of a command, which may apply a patch.
fn shell_action(command: String) -> ToolAction {
    if command.contains(PATCH_BEGIN) {
        let files = patched_files(&command);
        if !files.is_empty() {
            return ToolAction::Edit(files);
        }
    }
    ToolAction::Command(command)
}

/// Returns a command, given as one string or as words.
fn command_text(field: Field<'_>) -> Option<String> {
    if let Some(command) = as_nonblank_string(field) {
        return Some(command);
    }
    let mut words = Vec::new();
    for_each_element(field, &mut |raw| words.extend(as_string(Some(raw))));
    command_from_words(&words)
}

/// Returns the outcome of a call and its output.
pub(super) fn parse_output(output: Field<'_>) -> (ToolOutcome, String) {
    let text = match as_string(output) {
        Some(text) => text,
        None => match as_object::<CallOutput<'_>>(output) {
            Some(answer) => return parse_output_object(&answer),
            None => joined_texts(output, &["input_text", "output_text", "text"]),
        },
    };
    if let Ok(answer) = parse_object::<CallOutput<'_>>(&text)
        && (answer.output.is_some() || answer.metadata.is_some())
    {
        return parse_output_object(&answer);
    }
    if let Some(result) = sandbox_result(&text) {
        return result;
    }
    let stopped = ["aborted", "exec command rejected"];
    let outcome = match exit_code(&text) {
        Some(code) if code != 0 => ToolOutcome::Failed,
        _ if stopped.iter().any(|start| text.starts_with(start)) => ToolOutcome::Rejected,
        _ if text.starts_with("failed") || text.starts_with("execution error") => {
            ToolOutcome::Failed
        }
        Some(_) | None => ToolOutcome::Succeeded,
    };
    // Newer versions put a few lines before the output.
    let message_text = match text.split_once("\nOutput:\n") {
        Some((lead, message_text)) if lead.len() < 400 => message_text.to_owned(),
        _ => text,
    };
    (outcome, message_text)
}

/// Reads `failed in sandbox X with execution error: sandbox denied exec error, exit code: 2, stdout: …, stderr: …`.
///
/// Older versions report every non-zero exit of a command on Linux like this. A call that the sandbox did deny is
/// repeated with approval, and reveals nothing about the command.
fn sandbox_result(text: &str) -> Option<(ToolOutcome, String)> {
    let rest = text.strip_prefix("failed in sandbox")?;
    let Some((_, rest)) = rest.split_once("exit code: ") else {
        return Some((ToolOutcome::Rejected, text.to_owned()));
    };
    let (code, rest) = rest.split_once(',').unwrap_or((rest, ""));
    let output = rest.trim_start().strip_prefix("stdout:").unwrap_or(rest);
    let output = match output.rsplit_once(", stderr:") {
        Some((printed, errors)) => format!("{}\n{}", printed.trim(), errors.trim()),
        None => output.trim().to_owned(),
    };
    let output = output.trim();
    let outcome = match output.lines().any(is_denial) {
        true => ToolOutcome::Rejected,
        false => ToolOutcome::Failed,
    };
    Some((outcome, format!("Exit code {}\n{output}", code.trim())))
}

/// Returns true for a line that reports a denied access of the command.
///
/// On macOS the start files of the shell print such lines before each command: `…/Homebrew/brew.sh: line 60: cannot
/// create temp file for here document: Operation not permitted`.
fn is_denial(line: &str) -> bool {
    DENIALS.iter().any(|phrase| line.contains(phrase))
        && !START_FILES.iter().any(|name| line.contains(name))
}

/// Scripts that a shell runs when it starts.
const START_FILES: [&str; 5] = [
    "/Homebrew/",
    "/etc/profile",
    ".zprofile",
    ".zshrc",
    ".bashrc",
];

/// Messages of a sandbox that denied an access to a file or to the network.
const DENIALS: [&str; 5] = [
    "Operation not permitted",
    "Read-only file system",
    "Network is unreachable",
    "Temporary failure in name resolution",
    "Could not resolve host",
];

fn parse_output_object(answer: &CallOutput<'_>) -> (ToolOutcome, String) {
    let metadata = as_object::<OutputMetadata<'_>>(answer.metadata);
    let code = metadata.and_then(|metadata| as_integer(metadata.exit_code));
    let says_no = answer.success.is_some_and(|raw| raw.get() == "false");
    let outcome = match says_no || code.is_some_and(|code| code != 0) {
        true => ToolOutcome::Failed,
        false => ToolOutcome::Succeeded,
    };
    let kinds = ["input_text", "output_text", "text"];
    let message_text = [answer.output, answer.content]
        .into_iter()
        .find(Option::is_some);
    (outcome, joined_texts(message_text.flatten(), &kinds))
}

/// Returns the exit code in one of the first lines.
fn exit_code(text: &str) -> Option<i64> {
    let marks = ["Exit code: ", "Process exited with code "];
    text.lines().take(6).find_map(|line| {
        let code = marks.iter().find_map(|mark| line.strip_prefix(mark))?;
        code.trim().parse().ok()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sandbox_result_tells_failures_from_denials() {
        let text = |rest: &str| {
            format!(
                "failed in sandbox LinuxSeccomp with execution error: sandbox denied exec error, {rest}"
            )
        };
        for (rest, outcome, output) in [
            (
                "exit code: 2, stdout: collected 0 items, stderr: ERROR: no module 'shop'",
                ToolOutcome::Failed,
                "Exit code 2\ncollected 0 items\nERROR: no module 'shop'",
            ),
            (
                "exit code: 1, stdout: 1 failed, 2 passed, stderr: ",
                ToolOutcome::Failed,
                "Exit code 1\n1 failed, 2 passed",
            ),
            (
                "exit code: 1, stdout: , stderr: touch: /etc/x: Read-only file system",
                ToolOutcome::Rejected,
                "Exit code 1\ntouch: /etc/x: Read-only file system",
            ),
            (
                "exit code: 1, stdout: , stderr: ",
                ToolOutcome::Failed,
                "Exit code 1\n",
            ),
            (
                "exit code: 1, stdout: , stderr: /opt/homebrew/Library/Homebrew/cmd/shellenv.sh: line 18: /bin/ps: Operation not permitted\nzsh:1: no matches found: app/(a)/b",
                ToolOutcome::Failed,
                "Exit code 1\n/opt/homebrew/Library/Homebrew/cmd/shellenv.sh: line 18: /bin/ps: Operation not permitted\nzsh:1: no matches found: app/(a)/b",
            ),
        ] {
            let found = sandbox_result(&text(rest));
            assert_eq!(found, Some((outcome, output.to_owned())), "{rest}");
        }
        assert_eq!(
            sandbox_result(&text("timed out")).map(|(outcome, _)| outcome),
            Some(ToolOutcome::Rejected)
        );
        assert_eq!(sandbox_result("failed"), None);
    }
}
