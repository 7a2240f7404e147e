//! Tests with recorded output of the real programs (`cargo xtask agents`): events and signals.

use heirloom_agents::StreamFormat;
use heirloom_agents::signals::{SignalParser, SignalRules};
use heirloom_agents::streams::{StreamPiece, StreamReader};
use heirloom_model::event_stream::StreamEvent;
use heirloom_model::signal::ParserEvent;

/// Returns the events of an output without texts and progress.
fn event_lines(output: &str) -> Vec<String> {
    let mut parser = SignalParser::new(&SignalRules::default());
    let mut reader = StreamReader::new(StreamFormat::Auto);
    let mut lines = Vec::new();
    for chunk in output.as_bytes().chunks(100) {
        reader.push(chunk, &mut |piece| tell(piece, &mut parser, &mut lines));
    }
    reader.finish(&mut |piece| tell(piece, &mut parser, &mut lines));
    parser.finish(&mut |found| lines.push(found_line(&found)));
    lines
}

fn tell(piece: StreamPiece<'_>, parser: &mut SignalParser, lines: &mut Vec<String>) {
    let event = match piece {
        StreamPiece::Raw(bytes) => {
            return parser.push(bytes, &mut |found| lines.push(found_line(&found)));
        }
        StreamPiece::Event(event) => event,
    };
    lines.push(match event {
        StreamEvent::Text { text, line } => {
            return parser.parse_message(&text, line, &mut |found| lines.push(found_line(&found)));
        }
        StreamEvent::SessionId(_) => return,
        StreamEvent::ToolCall { name, input } => format!("call {name} {input}"),
        StreamEvent::ToolResult { failed, .. } => format!("answer failed={failed}"),
        StreamEvent::FileChanged(path) => format!("file {path}"),
        StreamEvent::Usage(usage) => {
            format!("usage {}+{}+{}", usage.input, usage.cached, usage.output)
        }
        StreamEvent::Error(message) => format!("error {message:.40}"),
        StreamEvent::Finished { failed } => format!("finished failed={failed}"),
        StreamEvent::Unreadable { line, message } => format!("unreadable {line} {message}"),
    });
}

fn found_line(found: &ParserEvent) -> String {
    match found {
        ParserEvent::Signal(signal) => format!(
            "{} {} {:.40}",
            signal.line,
            signal.verb.as_str(),
            signal.text
        ),
        ParserEvent::Diagnostic(diagnostic) => {
            format!("{} ! {}", diagnostic.line, diagnostic.message)
        }
    }
}

/// Returns the signals that the model wrote on this line; the file that it read contains another one.
fn signals(line: u64) -> [String; 5] {
    [
        format!("{line} KEY_FACT the login module is in auth.rs"),
        format!("{line} DECISION keep the session cookie BECAUSE other te"),
        format!("{line} KEY_FACT the session token is checked in src/logi"),
        format!("{line} STEP_DONE read the notes"),
        format!("{line} STEP_PENDING write the test"),
    ]
}

fn check(output: &str, before: &[&str], line: u64, after: &[&str]) {
    let mut expected: Vec<String> = before.iter().map(|one| (*one).to_owned()).collect();
    expected.extend(signals(line));
    expected.extend(after.iter().map(|one| (*one).to_owned()));
    assert_eq!(event_lines(output), expected);
}

#[test]
fn claude_code_output_is_read() {
    check(
        include_str!("streams/claude-code.jsonl"),
        &[
            "usage 19181+0+1",
            "call Bash {\"command\":\"cat notes.txt\"}",
            "answer failed=false",
        ],
        5,
        &[
            "usage 38450+0+2",
            "usage 38450+0+109",
            "finished failed=false",
        ],
    );
    assert_eq!(
        event_lines(include_str!("streams/claude-code-error.jsonl")),
        [
            "error API Error: 400 scripted fault 400",
            "finished failed=true"
        ]
    );
    // After a retry the program's own token total is zero.
    assert_eq!(
        event_lines(include_str!("streams/claude-code-cut.jsonl")),
        [
            "2 KEY_FACT the session token is checked in src/logi",
            "2 STEP_PENDING write the test",
            "usage 19177+0+54",
            "finished failed=false",
        ]
    );
}

#[test]
fn codex_output_is_read() {
    let fallback = "error Model metadata for `scripted` not found.";
    check(
        include_str!("streams/codex.jsonl"),
        &[
            fallback,
            "call command_execution /bin/bash -lc 'cat notes.txt'",
            "answer failed=false",
        ],
        7,
        &["usage 20028+0+110", "finished failed=false"],
    );
    assert_eq!(
        event_lines(include_str!("streams/codex-error.jsonl")),
        [
            fallback,
            "error {\"error\":{\"code\":\"invalid_request_error\"",
            "finished failed=true",
        ]
    );
    assert_eq!(
        event_lines(include_str!("streams/codex-cut.jsonl")),
        [
            fallback,
            "error Reconnecting... 1/5 (stream disconnected",
            "5 KEY_FACT the session token is checked in src/logi",
            "5 STEP_PENDING write the test",
            "usage 9938+0+54",
            "finished failed=false",
        ]
    );
}

#[test]
fn gemini_output_is_read() {
    check(
        include_str!("streams/gemini.jsonl"),
        &[
            "call run_shell_command {\"command\":\"cat notes.txt\"}",
            "answer failed=false",
        ],
        6,
        &["usage 24593+0+113", "finished failed=false"],
    );
    assert_eq!(
        event_lines(include_str!("streams/gemini-error.jsonl")),
        [
            "usage 0+0+0",
            "error [API Error: {\"error\":{\"code\":400,\"messag",
            "finished failed=true",
        ]
    );
    // The answer broke off inside a fact and was not retried; an incomplete fact is dropped.
    assert_eq!(
        event_lines(include_str!("streams/gemini-cut.jsonl")),
        [
            "unreadable 7 the answer broke off inside a line: HEIRLOOM_MEMORY: KEY_FACT the session \
             token is checked in src/login/__init__/to…",
            "usage 0+0+0",
            "error [API Error: terminated]",
            "finished failed=true",
        ]
    );
}

#[test]
fn aider_output_is_plain_text() {
    let found = event_lines(include_str!("streams/aider.txt"));
    assert!(
        found
            .iter()
            .any(|one| one.contains(" KEY_FACT the login module")),
        "{found:?}"
    );
    assert!(
        found.iter().all(|one| !one.contains("came from a file")),
        "{found:?}"
    );
    assert_eq!(
        event_lines(include_str!("streams/aider-error.txt")),
        Vec::<String>::new()
    );
}

#[test]
fn opencode_output_is_read() {
    check(
        include_str!("streams/opencode.jsonl"),
        &[
            "call bash {\"command\":\"cat notes.txt\",\"description\":\"Show the notes\"}",
            "answer failed=false",
            "usage 7695+0+21",
        ],
        6,
        &["usage 15477+0+117", "finished failed=false"],
    );
    assert_eq!(
        event_lines(include_str!("streams/opencode-error.jsonl")),
        ["error scripted fault 400", "finished failed=true"]
    );
    // The interrupted answer was retried and appears once.
    assert_eq!(
        event_lines(include_str!("streams/opencode-cut.jsonl")),
        [
            "3 KEY_FACT the session token is checked in src/logi",
            "3 STEP_PENDING write the test",
            "usage 7695+0+54",
            "finished failed=false",
        ]
    );
}

#[test]
fn copilot_output_is_read() {
    check(
        include_str!("streams/copilot.jsonl"),
        &[
            "call bash {\"command\":\"cat notes.txt\",\"description\":\"Show the notes\"}",
            "answer failed=false",
        ],
        57,
        &["finished failed=false"],
    );
    assert_eq!(
        event_lines(include_str!("streams/copilot-error.jsonl")),
        ["error 400 scripted fault 400", "finished failed=true"]
    );
    // The interrupted answer was retried and appears once.
    assert_eq!(
        event_lines(include_str!("streams/copilot-cut.jsonl")),
        [
            "28 KEY_FACT the session token is checked in src/logi",
            "28 STEP_PENDING write the test",
            "finished failed=false",
        ]
    );
}
