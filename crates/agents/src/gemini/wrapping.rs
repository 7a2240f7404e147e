//! Removal of the markers and labels that Gemini CLI adds to tool output.

use std::borrow::Cow;

/// Markers around the output of a tool.
const MARKS: [&str; 2] = ["<untrusted_context>", "</untrusted_context>"];
/// Label before the output of a command.
const OUTPUT: &str = "Output: ";
/// Labels of lines about the command's process, and of absent parts.
const LABELS: [&str; 6] = [
    "Process Group PGID:",
    "Background PIDs:",
    "Error: (none)",
    "Exit Code: (none)",
    "Signal: (none)",
    "Stderr: (empty)",
];
/// Labels of the first lines of older versions, which repeat the call.
const CALL_LABELS: [&str; 2] = ["Command: ", "Directory: "];

/// Removes the markers and labels around tool output; the line with the exit code stays. Borrowed if nothing was
/// removed.
pub(crate) fn without_tool_wrapping(text: &str) -> Cow<'_, str> {
    let text = without_call_lines(text);
    let is_label = |line: &str| LABELS.iter().any(|label| line.trim().starts_with(label));
    let is_wrapped = MARKS.iter().any(|mark| text.contains(mark))
        || text.lines().any(is_label)
        || text.lines().any(|line| line.starts_with(OUTPUT));
    if !is_wrapped {
        return Cow::Borrowed(text);
    }
    let mut retained = String::with_capacity(text.len());
    let mut had_output = false;
    for line in text.split_inclusive('\n').filter(|line| !is_label(line)) {
        let mut bare = line.to_owned();
        for mark in MARKS {
            bare = bare.replace(mark, "");
        }
        // Only the first label is from the program: a command may print such a line too.
        if let Some(rest) = bare.strip_prefix(OUTPUT).filter(|_| !had_output) {
            had_output = true;
            bare = rest.to_owned();
        }
        // A line with only markers is dropped.
        if bare.trim().is_empty() && !line.trim().is_empty() {
            continue;
        }
        retained.push_str(&bare);
    }
    Cow::Owned(retained)
}

/// Removes the first lines that repeat the call.
fn without_call_lines(text: &str) -> &str {
    let [command, directory] = CALL_LABELS;
    let rest = text.strip_prefix(command).and_then(|rest| {
        let at = memchr::memmem::find(rest.as_bytes(), b"\nDirectory: ")?;
        rest.get(at + 1..)
    });
    let rest = rest.and_then(|rest| rest.strip_prefix(directory));
    let rest = rest.and_then(|rest| rest.split_once('\n'));
    rest.map_or(text, |(_, rest)| rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_tool_wrapping_leaves_tool_output() {
        for (text, left) in [
            ("plain\nExit Code: 3", "plain\nExit Code: 3"),
            (
                "<untrusted_context>\nOutput: connection refused by redis:6379\nExit Code: 3\nProcess Group PGID: 4711\n</untrusted_context>",
                "connection refused by redis:6379\nExit Code: 3\n",
            ),
            (
                "Output: <untrusted_context>no rule</untrusted_context>\nExit Code: 2\nBackground PIDs: 1, 2",
                "no rule\nExit Code: 2\n",
            ),
            (
                "Output: python3: can't open file\nOutput: mine",
                "python3: can't open file\nOutput: mine",
            ),
            (
                "Command: make\nDirectory: (root)\nOutput: no rule\nError: (none)\nExit Code: 2\nSignal: (none)",
                "no rule\nExit Code: 2\n",
            ),
            ("Command: not found", "Command: not found"),
            ("a\n\nOutput: b", "a\n\nb"),
            ("", ""),
        ] {
            assert_eq!(without_tool_wrapping(text), left, "{text}");
        }
    }
}
