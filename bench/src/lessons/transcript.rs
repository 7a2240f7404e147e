//! Transcript of Claude Code that is made of the constructed tables: people's turns, failures with their changes, and
//! files that are read in between.

use super::tables::fail_edit_pass::pairs;
use super::tables::user_turns::measure_turns;
use crate::fixture;
use serde_json::{Value, json};

/// Bytes of a file that is read.
const FILE_BYTES: usize = 4_000;
/// Number of files that are read after each failure.
const FILES: usize = 3;

/// Transcript that is written line by line.
#[derive(Default)]
struct TranscriptText {
    text: String,
    lines: usize,
}

impl TranscriptText {
    fn push(&mut self, kind: &str, content: &Value) {
        let id = |line: usize| format!("line-{line}");
        let line = json!({
            "type": kind, "uuid": id(self.lines), "parentUuid": self.lines.checked_sub(1).map(id),
            "isSidechain": false, "sessionId": "lessons", "cwd": "/work", "version": "2.1.0",
            "timestamp": "2026-04-01T10:00:00.000Z",
            "message": {"id": id(self.lines), "role": kind, "content": content},
        });
        self.text.push_str(&line.to_string());
        self.text.push('\n');
        self.lines += 1;
    }

    fn say(&mut self, text: &str) {
        if !text.is_empty() {
            self.push("assistant", &json!([{"type": "text", "text": text}]));
        }
    }

    fn call(&mut self, tool: &str, input: &Value, output: &str, failed: bool) {
        let id = format!("call-{}", self.lines);
        let call = json!([{"type": "tool_use", "id": id, "name": tool, "input": input}]);
        self.push("assistant", &call);
        let result = json!([{"type": "tool_result", "tool_use_id": id, "content": output, "is_error": failed}]);
        self.push("user", &result);
    }
}

/// Returns a transcript of at least this size whose last line is a person's turn.
pub(super) fn transcript_of_tables(bytes: usize) -> String {
    let (turns, pairs) = (measure_turns(), pairs());
    let mut out = TranscriptText::default();
    let mut prompts = turns.iter().map(|turn| turn.text.as_str()).cycle();
    let mut changes = pairs.iter().cycle();
    while let (Some(prompt), Some(pair)) = (prompts.next(), changes.next()) {
        out.push("user", &json!(prompt));
        if out.text.len() >= bytes {
            break;
        }
        out.call(
            "Bash",
            &json!({"command": pair.command}),
            &pair.output,
            !pair.failed,
        );
        out.say(&pair.says);
        for number in 0..FILES {
            let text = fixture::text(out.lines + number);
            let file = format!("{text}\n").repeat(FILE_BYTES / text.len());
            let path = format!("/project/src/part{number}.rs");
            out.call("Read", &json!({"file_path": path}), &file, false);
        }
        for command in &pair.ran {
            out.call("Bash", &json!({"command": command}), "", false);
        }
        let input =
            json!({"file_path": pair.path, "old_string": pair.removed, "new_string": pair.added});
        if !pair.path.is_empty() {
            out.call("Edit", &input, "The file was updated.", false);
        }
        let passes = match pair.passes.as_str() {
            "" => &pair.command,
            passes => passes,
        };
        out.call("Bash", &json!({"command": passes}), "", false);
        out.say("That works now.");
    }
    out.text
}
