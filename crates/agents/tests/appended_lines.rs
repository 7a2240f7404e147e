//! A survey of only the appended lines of a transcript either gives the events of a survey of the whole file, or needs the
//! earlier lines.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use heirloom_agents::AgentProgram;
use heirloom_agents::transcripts::{SupersededLineScan, TranscriptEvent, TranscriptLines};
use proptest::prelude::*;
use serde_json::{Value, json};

/// Returns the events of the lines from offset `from`, after a survey of the lines from offset `surveyed_from`, and true if
/// that survey needs earlier lines.
fn events(
    program: AgentProgram,
    file: &str,
    surveyed_from: usize,
    from: usize,
) -> (Vec<TranscriptEvent>, bool) {
    let mut scan = SupersededLineScan::new(program);
    each_line(file, surveyed_from, &mut |at, line| {
        scan.read_line(at, line);
    });
    let needs_earlier_lines = scan.needs_earlier_lines();
    let mut reader = scan.into_reader();
    let mut events = Vec::new();
    each_line(file, from, &mut |at, line| {
        reader.read_line(at, line, &mut |event| events.push(event));
    });
    reader.finish(&mut |event| events.push(event));
    (events, needs_earlier_lines)
}

fn each_line(file: &str, from: usize, on: &mut dyn FnMut(u64, &[u8])) {
    let mut lines = TranscriptLines::new(&file.as_bytes()[from..], from as u64);
    while let Some(line) = lines.next_line().unwrap() {
        on(line.at, line.bytes.unwrap());
    }
}

/// Checks every split of a file at a line. Returns the number of splits at which the appended lines were enough.
fn check_splits(program: AgentProgram, lines: &[Value]) -> usize {
    let file: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let splits = file.match_indices('\n').map(|(at, _)| at + 1);
    splits
        .filter(|split| {
            let (whole, _) = events(program, &file, 0, *split);
            let (appended, needs_earlier_lines) = events(program, &file, *split, *split);
            assert!(
                needs_earlier_lines || appended == whole,
                "from offset {split} of {file}"
            );
            !needs_earlier_lines
        })
        .count()
}

/// Returns line `n` of a conversation of Claude Code. `kind` selects its content, `back` the distance to its parent.
fn claude_line(n: usize, kind: u8, back: usize) -> Value {
    let name = |n: usize| format!("u{n}");
    let text = format!("text {}", n % 3);
    let call = |tool: &str, input: Value| {
        let block =
            json!({"type": "tool_use", "id": format!("c{n}"), "name": tool, "input": input});
        (
            "assistant",
            json!({"id": format!("m{}", n / 2), "content": [block]}),
        )
    };
    let (line_kind, message) = match kind {
        0..=2 => ("user", json!({"content": text})),
        3..=5 => {
            let block = json!({"type": "text", "text": text});
            (
                "assistant",
                json!({"id": format!("m{n}"), "content": [block]}),
            )
        }
        6 => call("Bash", json!({"command": "make"})),
        7 => {
            let id = format!("c{}", n.saturating_sub(back));
            let block = json!({"type": "tool_result", "tool_use_id": id, "content": "Task #3 created successfully"});
            ("user", json!({"content": [block]}))
        }
        8 => call("TaskCreate", json!({"subject": text})),
        9 => call("TaskUpdate", json!({"taskId": "3", "status": "completed"})),
        10 | 11 => {
            let operation = if kind == 10 { "enqueue" } else { "dequeue" };
            let time = "2026-04-01T10:00:00.000Z";
            return json!({"type": "queue-operation", "operation": operation, "content": text, "timestamp": time});
        }
        _ => ("system", json!({"content": text})),
    };
    json!({
        "type": line_kind, "uuid": name(n), "parentUuid": n.checked_sub(back).map(name), "isSidechain": false,
        "sessionId": "s", "cwd": "/p", "timestamp": "2026-04-01T10:00:00.000Z", "message": message,
    })
}

/// Returns line `n` of a conversation of Codex.
fn codex_line(n: usize, kind: u8, turns: usize) -> Value {
    let event = |payload: Value| ("event_msg", payload);
    let (line_kind, payload) = match kind {
        0..=3 => event(json!({"type": "user_message", "message": format!("prompt {n}")})),
        4 => event(json!({"type": "thread_rolled_back", "num_turns": turns})),
        5 => event(json!({"type": "token_count"})),
        9 => ("turn_context", json!({"turn_id": format!("t{n}")})),
        _ => {
            let content = json!([{"type": "output_text", "text": format!("answer {n}")}]);
            (
                "response_item",
                json!({"type": "message", "role": "assistant", "content": content}),
            )
        }
    };
    json!({"timestamp": "2026-04-01T10:00:00Z", "type": line_kind, "payload": payload})
}

proptest! {
    #[test]
    fn claude_code_appended_lines_are_enough_or_earlier_ones_needed(
        lines in prop::collection::vec((0..14_u8, prop_oneof![6 => Just(1_usize), 1 => 1..6_usize]), 1..24)
    ) {
        let lines: Vec<Value> = lines
            .into_iter()
            .enumerate()
            .map(|(n, (kind, back))| claude_line(n, kind, back))
            .collect();
        check_splits(AgentProgram::ClaudeCode, &lines);
    }

    #[test]
    fn codex_appended_lines_are_enough_or_earlier_ones_needed(
        lines in prop::collection::vec((0..10_u8, 1..4_usize), 1..24)
    ) {
        let lines: Vec<Value> = lines
            .into_iter()
            .enumerate()
            .map(|(n, (kind, turns))| codex_line(n, kind, turns))
            .collect();
        check_splits(AgentProgram::Codex, &lines);
    }
}

#[test]
fn appended_turn_of_a_plain_conversation_needs_no_earlier_line() {
    let kinds = [0, 3, 6, 7, 3, 0, 3];
    let lines: Vec<Value> = (0..)
        .zip(kinds)
        .map(|(n, kind)| claude_line(n, kind, 1))
        .collect();
    assert_eq!(check_splits(AgentProgram::ClaudeCode, &lines), kinds.len());
    // In a file of Codex the new turn begins with its id.
    let lines: Vec<Value> = (0..)
        .zip([9, 0, 7, 9, 0, 7, 9, 0, 7])
        .map(|(n, kind)| codex_line(n, kind, 1))
        .collect();
    assert_eq!(check_splits(AgentProgram::Codex, &lines), 2);
}
