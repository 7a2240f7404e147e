//! Tests of the stream reader, row by row, for all ways to cut the output.

use heirloom_agents::streams::{StreamPiece, StreamReader};
use heirloom_agents::{AgentProgram, StreamFormat};
use heirloom_model::event_stream::StreamEvent;
use heirloom_model::limits::{
    DIAGNOSTICS_MAX, STREAM_AUTO_BYTES_MAX, STREAM_AUTO_LINES_MAX, STREAM_LINE_BYTES_MAX,
    TOOL_INPUT_CHARS_MAX,
};
use proptest::prelude::*;
use std::fmt::Write as _;

const CODEX_FILES: &str = include_str!("streams/small-codex-file-change.jsonl");
const CODEX_COMMAND: &str = include_str!("streams/small-codex-command.jsonl");
const CLAUDE: &str = include_str!("streams/small-claude.jsonl");
const GEMINI: &str = include_str!("streams/small-gemini.jsonl");

/// Formats an event in one line.
fn line_of(event: &StreamEvent) -> String {
    match event {
        StreamEvent::Text { text, line } => format!("text {line} {text:?}"),
        StreamEvent::SessionId(id) => format!("session {id}"),
        StreamEvent::ToolCall { name, input } => format!("call {name} {input}"),
        StreamEvent::ToolResult { failed, .. } => format!("answer failed={failed}"),
        StreamEvent::FileChanged(path) => format!("file {path}"),
        StreamEvent::Usage(usage) => {
            format!("usage {}+{}+{}", usage.input, usage.cached, usage.output)
        }
        StreamEvent::Error(message) => format!("error {message}"),
        StreamEvent::Finished { failed } => format!("finished failed={failed}"),
        StreamEvent::Unreadable { line, message } => format!("unreadable {line} {message}"),
    }
}

/// Returns the pieces of the chunks: one line per event, with plain output joined.
fn in_chunks<'a>(format: StreamFormat, chunks: impl IntoIterator<Item = &'a [u8]>) -> String {
    let mut reader = StreamReader::new(format);
    let (mut out, mut plain) = (String::new(), Vec::new());
    let mut sink = |piece: StreamPiece<'_>| match piece {
        StreamPiece::Raw(bytes) => plain.extend_from_slice(bytes),
        StreamPiece::Event(event) => {
            flush(&mut plain, &mut out);
            out.push_str(&line_of(&event));
            out.push('\n');
        }
    };
    for chunk in chunks {
        reader.push(chunk, &mut sink);
    }
    reader.finish(&mut sink);
    flush(&mut plain, &mut out);
    out
}

fn flush(plain: &mut Vec<u8>, out: &mut String) {
    if !plain.is_empty() {
        let _ = writeln!(out, "plain {:?}", String::from_utf8_lossy(plain));
        plain.clear();
    }
}

/// Checks the pieces of `input`: whole, byte by byte, and cut in two anywhere.
fn check(format: StreamFormat, input: impl AsRef<[u8]>, expected: &[&str]) {
    let input = input.as_ref();
    let shown = String::from_utf8_lossy(input);
    let whole = in_chunks(format, [input]);
    let lines: Vec<&str> = whole.lines().collect();
    assert_eq!(lines, expected, "{shown}");
    assert_eq!(
        in_chunks(format, input.chunks(1)),
        whole,
        "byte by byte: {shown}"
    );
    for cut in 0..input.len() {
        let (left, right) = input.split_at(cut);
        assert_eq!(
            in_chunks(format, [left, right]),
            whole,
            "cut at {cut}: {shown}"
        );
    }
}

fn claude(input: &str, expected: &[&str]) {
    check(
        StreamFormat::Events(AgentProgram::ClaudeCode),
        input,
        expected,
    );
}

fn codex(input: &str, expected: &[&str]) {
    check(StreamFormat::Events(AgentProgram::Codex), input, expected);
}

fn gemini(input: &str, expected: &[&str]) {
    check(StreamFormat::Events(AgentProgram::Gemini), input, expected);
}

const NONE: &[&str] = &[];

#[test]
fn reader_codex_samples() {
    let expected = [
        "session 019a2d7a-8e1c-7111-b1a6-8cec551a55a0",
        "file /project/hello.txt",
        "text 4 \"Created `hello.txt` containing `Hello from Codex`.\"",
        "usage 1912+4096+51",
        "finished failed=false",
    ];
    check(
        StreamFormat::Events(AgentProgram::Codex),
        CODEX_FILES,
        &expected,
    );
    check(StreamFormat::Auto, CODEX_FILES, &expected);
    check(
        StreamFormat::Auto,
        CODEX_COMMAND,
        &[
            "session 019a2d7b-7fb8-78e1-8cfa-5bdbe274a3aa",
            "call command_execution zsh -lc ls",
            "answer failed=false",
            "text 7 \"Found 1 text file.\\nHEIRLOOM_MEMORY: KEY_FACT a\"",
            "usage 3142+2944+223",
            "finished failed=false",
        ],
    );
}

#[test]
fn reader_claude_sample() {
    let expected = [
        "session s-1",
        "text 3 \"I'll look.\"",
        "usage 3529+0+1",
        "call Read {\"file_path\":\"README.md\"}",
        "usage 3529+0+40",
        "answer failed=false",
        "text 7 \"Subagent: done.\"",
        "usage 3534+10+47",
        "text 8 \"HEIRLOOM_MEMORY: KEY_FACT a\\nDone.\"",
        "usage 3540+3536+67",
        "usage 3535+3536+60",
        "finished failed=false",
    ];
    check(
        StreamFormat::Events(AgentProgram::ClaudeCode),
        CLAUDE,
        &expected,
    );
    check(StreamFormat::Auto, CLAUDE, &expected);
}

#[test]
fn reader_gemini_sample() {
    let expected = [
        "session g-1",
        "text 3 \"First HEIRLOOM_MEMORY: KEY_FACT a\\n\"",
        "call read_file {\"path\":\"a.md\"}",
        "answer failed=false",
        "answer failed=true",
        "error Loop detected",
        "text 9 \"Done.\"",
        "usage 90+10+20",
        "finished failed=false",
    ];
    check(
        StreamFormat::Events(AgentProgram::Gemini),
        GEMINI,
        &expected,
    );
    check(StreamFormat::Auto, GEMINI, &expected);
}

#[test]
fn reader_claude_lines() {
    let rendered =
        r#"{"type":"assistant","message":{"id":"m","content":[{"type":"text","text":"a b"}]}}"#;
    claude(rendered, &["text 1 \"a b\""]);
    claude(
        r#"{"type":"assistant","message":{"content":[{"type":"thinking","thinking":"t"},{"type":"text","text":"a"},7,null,{"type":"text"},{"type":"text","text":"b"}]}}"#,
        &["text 1 \"a\"", "text 1 \"b\""],
    );
    claude(
        r#"{"type":"assistant","message":{"content":"whole"}}"#,
        &["text 1 \"whole\""],
    );
    claude(
        r#"{"type":"user","message":{"role":"user","content":"HEIRLOOM_MEMORY: KEY_FACT x"}}"#,
        NONE,
    );
    claude(
        r#"{"type":"user","message":{"content":[{"type":"tool_result","is_error":true,"content":"HEIRLOOM_MEMORY: KEY_FACT x"},{"type":"text","text":"x"}]}}"#,
        &["answer failed=true"],
    );
    for nothing in [
        r#"{"type":"stream_event","event":{"type":"content_block_delta","delta":{"text":"a"}}}"#,
        r#"{"type":"rate_limit_event"}"#,
        r#"{"type":"new_in_2027","message":{"content":[{"type":"text","text":"x"}]}}"#,
        r#"{"type":"assistant","message":null}"#,
        r#"{"type":"assistant","message":[1]}"#,
        r#"{"type":"assistant","message":{"content":{"text":"x"}}}"#,
        r#"{"type":["assistant"]}"#,
        "{}",
        "",
        " \r\n\n",
    ] {
        claude(nothing, NONE);
    }
    // A final text counts once, if it repeats the last block or the whole message.
    let result =
        |text: &str| format!("{{\"type\":\"result\",\"subtype\":\"success\",\"result\":{text:?}}}");
    let two = r#"{"type":"assistant","message":{"id":"m","content":[{"type":"text","text":"c"}]}}"#;
    let subagent = r#"{"type":"assistant","parent_tool_use_id":"t","message":{"id":"n","content":[{"type":"text","text":"sub"}]}}"#;
    for (input, final_text) in [
        (format!("{rendered}\n{}", result("a b")), None),
        (format!("{rendered}\n{}", result("A  b.\n")), None),
        (format!("{rendered}\n{two}\n{}", result("c")), None),
        (format!("{rendered}\n{two}\n{}", result("a b\n\nc")), None),
        (
            format!("{rendered}\n{two}\n{}", result("a b")),
            Some("\"a b\""),
        ),
        (format!("{rendered}\n{subagent}\n{}", result("a b")), None),
        (
            format!("{rendered}\n{}", result("other")),
            Some("\"other\""),
        ),
        (format!("{rendered}\n{}", result("")), None),
        (result("alone"), Some("\"alone\"")),
    ] {
        let reported = in_chunks(
            StreamFormat::Events(AgentProgram::ClaudeCode),
            [input.as_bytes()],
        );
        let line = input.lines().count();
        let again = final_text.map(|text| format!("text {line} {text}"));
        let finished = reported.lines().last();
        assert_eq!(finished, Some("finished failed=false"), "{input}");
        let before = reported.lines().rev().nth(1);
        let repeated = before.filter(|one| one.starts_with(&format!("text {line} ")));
        assert_eq!(repeated, again.as_deref(), "{input}");
    }
    claude(
        r#"{"type":"result","subtype":"error_max_turns","errors":["too many turns",3]}"#,
        &["error too many turns", "finished failed=true"],
    );
    claude(
        r#"{"type":"result","subtype":"success","is_error":true,"result":"API Error"}"#,
        &["error API Error", "finished failed=true"],
    );
}

#[test]
fn reader_claude_usage_counts_message_once() {
    let mut input = String::new();
    let mut expected = Vec::new();
    // More messages than are tracked, each reported twice.
    for n in 1..=100 {
        for output in [1, 2] {
            let _ = writeln!(
                input,
                "{{\"type\":\"assistant\",\"message\":{{\"id\":\"m{n}\",\"usage\":{{\"input_tokens\":10,\"output_tokens\":{output}}}}}}}"
            );
            expected.push(format!("usage {}+0+{}", n * 10, (n - 1) * 2 + output));
        }
    }
    let reported = in_chunks(
        StreamFormat::Events(AgentProgram::ClaudeCode),
        [input.as_bytes()],
    );
    assert_eq!(reported.lines().collect::<Vec<_>>(), expected);
    claude(
        r#"{"type":"assistant","message":{"id":"m","usage":{"input_tokens":-1,"output_tokens":1.5,"cache_read_input_tokens":"x"}}}"#,
        NONE,
    );
    claude(
        r#"{"type":"result","subtype":"success","usage":{"input_tokens":18446744073709551615,"cache_creation_input_tokens":9}}"#,
        &["usage 18446744073709551615+0+0", "finished failed=false"],
    );
}

#[test]
fn reader_codex_lines() {
    let item = |item: &str| format!("{{\"type\":\"item.completed\",\"item\":{item}}}");
    for (line, expected) in [
        (item(r#"{"type":"reasoning","text":"HEIRLOOM_MEMORY: KEY_FACT x"}"#), NONE),
        (item(r#"{"type":"todo_list","items":[]}"#), NONE),
        (item(r#"{"type":"agent_message"}"#), NONE),
        (item("7"), NONE),
        (
            item(r#"{"type":"command_execution","command":"a\nb","aggregated_output":"HEIRLOOM_MEMORY: KEY_FACT x","exit_code":1,"status":"failed"}"#),
            &["call command_execution a | b", "answer failed=true"],
        ),
        (
            item(r#"{"type":"command_execution","command":"a","exit_code":-9}"#),
            &["call command_execution a", "answer failed=true"],
        ),
        (
            item(r#"{"type":"command_execution","command":"a","exit_code":null,"status":"declined"}"#),
            &["call command_execution a", "answer failed=true"],
        ),
        (
            item(r#"{"type":"mcp_tool_call","server":"s","tool":"t","arguments":{"a": 1},"status":"completed"}"#),
            &["call s.t {\"a\": 1}", "answer failed=false"],
        ),
        (item(r#"{"type":"web_search","query":"q"}"#), &["call web_search q"]),
        (
            item(r#"{"type":"file_change","changes":[{"path":"a","kind":"add"},{"kind":"x"},3,{"path":"b"}],"status":"completed"}"#),
            &["file a", "file b"],
        ),
        (item(r#"{"type":"file_change","changes":[{"path":"a"}],"status":"failed"}"#), NONE),
        (item(r#"{"type":"error","message":"bad"}"#), &["error bad"]),
        (r#"{"type":"item.updated","item":{"type":"agent_message","text":"x"}}"#.to_owned(), NONE),
        (r#"{"type":"item.started","item":{"type":"agent_message","text":"x"}}"#.to_owned(), NONE),
        (r#"{"type":"error","message":"reconnecting"}"#.to_owned(), &["error reconnecting"]),
        (
            "{\"type\":\"error\",\"message\":\"e\"}\n{\"type\":\"turn.failed\",\"error\":{\"message\":\"e\"}}".to_owned(),
            &["error e", "finished failed=true"],
        ),
        (r#"{"type":"turn.failed","error":{"message":"e"}}"#.to_owned(), &["error e", "finished failed=true"]),
        (r#"{"type":"turn.failed"}"#.to_owned(), &["finished failed=true"]),
    ] {
        codex(&line, expected);
    }
    let turn = r#"{"type":"turn.completed","usage":{"input_tokens":10,"cached_input_tokens":4,"output_tokens":2}}"#;
    codex(
        &format!("{turn}\r\n{turn}\r\n"),
        &[
            "usage 6+4+2",
            "finished failed=false",
            "usage 12+8+4",
            "finished failed=false",
        ],
    );
}

#[test]
fn reader_gemini_lines() {
    let delta = |text: &str| {
        format!(
            "{{\"type\":\"message\",\"role\":\"assistant\",\"content\":{text:?},\"delta\":true}}\n"
        )
    };
    let whole = |text: &str| delta(text).replace(",\"delta\":true", "");
    for (input, expected) in [
        (delta("HEIR") + &delta("LOOM"), vec!["text 1 \"HEIRLOOM\""]),
        (
            delta("a") + "{\"type\":\"thought\"}\nnoise\n" + &delta("b"),
            vec!["unreadable 3 no JSON object: noise", "text 1 \"ab\""],
        ),
        (
            delta("a") + r#"{"type":"message","role":"user","content":"u"}"# + "\n" + &delta("b"),
            vec!["text 1 \"a\"", "text 3 \"b\""],
        ),
        (
            whole("a") + &whole("b"),
            vec!["text 1 \"a\"", "text 2 \"b\""],
        ),
        (
            delta("a") + &delta("b") + &whole("ab"),
            vec!["text 1 \"ab\""],
        ),
        (
            delta("a") + &whole("other"),
            vec!["text 1 \"a\"", "text 2 \"other\""],
        ),
        (
            whole("a") + r#"{"type":"result","status":"error","error":{"message":"quota"}}"#,
            vec!["text 1 \"a\"", "error quota", "finished failed=true"],
        ),
        (
            whole("a") + r#"{"type":"result","status":"success","response":"a"}"#,
            vec!["text 1 \"a\"", "finished failed=false"],
        ),
    ] {
        gemini(&input, &expected);
    }
}

#[test]
fn reader_broken_lines_are_reported_and_skipped() {
    let good = r#"{"type":"item.completed","item":{"type":"agent_message","text":"@"}}"#;
    let message = |text: &str| good.replace('@', text);
    for (bad, expected) in [
        (
            "HEIRLOOM_MEMORY: KEY_FACT x",
            "unreadable 1 no JSON object: HEIRLOOM_MEMORY: KEY_FACT x",
        ),
        ("[1,2]", "unreadable 1 no JSON object: [1,2]"),
        ("\u{1b}[31mred", "unreadable 1 no JSON object: [31mred"),
        (
            "{\"type\":\"item",
            "unreadable 1 a JSON object without an end: {\"type\":\"item",
        ),
        ("{\"a\" 1}", "unreadable 1 broken JSON at byte 6: {\"a\" 1}"),
        ("{}{}", "unreadable 1 broken JSON at byte 3: {}{}"),
    ] {
        codex(&format!("{bad}\n{good}"), &[expected, "text 2 \"@\""]);
    }
    for (raw, text) in [
        (message(r"\ud800"), "text 1 \"\u{fffd}\""),
        (
            message(r"a\udc00b\uD83D\uDE00\ud83d"),
            "text 1 \"a\u{fffd}b😀\u{fffd}\"",
        ),
        (
            message(r"\\ud800 \ud800\ud83d\ude00"),
            "text 1 \"\\\\ud800 \u{fffd}😀\"",
        ),
        (message(r"\ud800\n\u0041"), "text 1 \"\u{fffd}\\nA\""),
        (message("a\0b\tc"), "text 1 \"a b c\""),
        (message(r"\u0000"), "text 1 \"\\0\""),
        (format!("\0\0{good}\0"), "text 1 \"@\""),
        (format!("\u{feff}{good}"), "text 1 \"@\""),
    ] {
        codex(&raw, &[text]);
    }
    let invalid = [
        good.split('@').next().unwrap().as_bytes(),
        b"\xff\xc3",
        b"\"}}",
    ]
    .concat();
    check(
        StreamFormat::Events(AgentProgram::Codex),
        invalid,
        &["text 1 \"\u{fffd}\u{fffd}\""],
    );

    // Nesting too deep for a recursive parser, in an unused field.
    let deep = format!(
        "{{\"x\":{}{},\"type\":\"error\",\"message\":\"m\"}}",
        "[".repeat(9_999),
        "]".repeat(9_999)
    );
    let reported = in_chunks(StreamFormat::Events(AgentProgram::Codex), [deep.as_bytes()]);
    assert_eq!(reported, "error m\n");
}

#[test]
fn reader_unreadable_lines_are_limited_and_counted() {
    let input = "x\n".repeat(DIAGNOSTICS_MAX + 5);
    let reported = in_chunks(
        StreamFormat::Events(AgentProgram::Codex),
        input.as_bytes().chunks(100),
    );
    let lines: Vec<&str> = reported.lines().collect();
    assert_eq!(lines.len(), DIAGNOSTICS_MAX + 1);
    assert_eq!(
        lines[DIAGNOSTICS_MAX],
        "unreadable 1005 5 more lines could not be read"
    );
}

#[test]
fn reader_endless_line_is_reported_and_dropped() {
    let mut reader = StreamReader::new(StreamFormat::Events(AgentProgram::Codex));
    let mut reported = Vec::new();
    let mut sink = |piece: StreamPiece<'_>| {
        if let StreamPiece::Event(event) = piece {
            reported.push(line_of(&event));
        }
    };
    reader.push(b"{\"type\":\"", &mut sink);
    let chunk = vec![b'x'; 1 << 20];
    for _ in 0..=STREAM_LINE_BYTES_MAX >> 20 {
        reader.push(&chunk, &mut sink);
    }
    reader.push(b"\"}\n{\"type\":\"error\",\"message\":\"m\"}", &mut sink);
    reader.finish(&mut sink);
    assert_eq!(
        reported,
        [
            format!("unreadable 1 the line is longer than {STREAM_LINE_BYTES_MAX} bytes"),
            "error m".to_owned()
        ]
    );
}

#[test]
fn reader_detects_format() {
    let codex_line = r#"{"type":"turn.failed"}"#;
    for (input, expected) in [
        (String::new(), vec![]),
        ("plain\ntext".to_owned(), vec!["plain \"plain\\ntext\""]),
        (
            format!("warning: old\n\n{codex_line}\nnoise"),
            vec![
                "plain \"warning: old\\n\\n\"",
                "finished failed=true",
                "unreadable 4 no JSON object: noise",
            ],
        ),
        (format!("  {codex_line}"), vec!["finished failed=true"]),
        (
            format!("\u{feff}{codex_line}"),
            vec!["finished failed=true"],
        ),
        (
            format!("{{\"a\":1}}\n{{\n}}\n{codex_line}\r\n"),
            vec!["plain \"{\\\"a\\\":1}\\n{\\n}\\n\"", "finished failed=true"],
        ),
        (
            format!("x {codex_line}\n"),
            vec!["plain \"x {\\\"type\\\":\\\"turn.failed\\\"}\\n\""],
        ),
        (
            "{\"type\":\"turn.failed\"".to_owned(),
            vec!["plain \"{\\\"type\\\":\\\"turn.failed\\\"\""],
        ),
        ("\u{fffd}{".to_owned(), vec!["plain \"\u{fffd}{\""]),
        (
            r#"{"type":"error","message":"m"}"#.to_owned(),
            vec!["error m"],
        ),
        (
            r#"{"type":"error","severity":"warning","message":"m"}"#.to_owned(),
            vec!["error m"],
        ),
        (
            r#"{"type":"result","status":"success"}"#.to_owned(),
            vec!["finished failed=false"],
        ),
    ] {
        check(StreamFormat::Auto, &input, &expected);
    }
    for not_a_stream in [
        r#"{"type":"message","text":"a log line"}"#,
        r#"{"type":"system"}"#,
        r#"{"type":"user","sessionId":"s","message":{"content":"a stored transcript"}}"#,
        r#"{"type":"init"}"#,
        r#"{"level":"info"}"#,
    ] {
        let reported = in_chunks(StreamFormat::Auto, [not_a_stream.as_bytes()]);
        assert!(reported.starts_with("plain "), "{reported}");
    }
    let text = "{\"type\":\"turn.failed\"}\n";
    check(
        StreamFormat::Text,
        text,
        &["plain \"{\\\"type\\\":\\\"turn.failed\\\"}\\n\""],
    );
}

#[test]
fn reader_format_detection_is_limited() {
    let event = "{\"type\":\"turn.failed\"}\n";
    let few = "x\n".repeat(usize::try_from(STREAM_AUTO_LINES_MAX).unwrap() - 1);
    let ends_with_event = |input: &str, size: usize| {
        let reported = in_chunks(StreamFormat::Auto, input.as_bytes().chunks(size));
        reported.lines().last() == Some("finished failed=true")
    };
    let long = "y".repeat(STREAM_AUTO_BYTES_MAX);
    for (input, found) in [
        (format!("{few}{event}"), true),
        (format!("{few}x\n{event}"), false),
        (
            format!("{}\n{event}", &long[..STREAM_AUTO_BYTES_MAX - 2]),
            true,
        ),
        (format!("{long}\n{event}"), false),
        (format!("{{{long}\n{event}"), false),
        (
            format!("{}{event}", " ".repeat(STREAM_AUTO_BYTES_MAX)),
            false,
        ),
    ] {
        for size in [1, 1000, input.len()] {
            assert_eq!(
                ends_with_event(&input, size),
                found,
                "{} {size}",
                &input[..9]
            );
        }
    }
}

#[test]
fn reader_plain_output_is_not_delayed() {
    let mut reader = StreamReader::new(StreamFormat::Auto);
    for chunk in ["Working", " on", " it\n", "more", "\n", "the end"] {
        let mut passed = Vec::new();
        reader.push(chunk.as_bytes(), &mut |piece| {
            if let StreamPiece::Raw(bytes) = piece {
                passed.extend_from_slice(bytes);
            }
        });
        assert_eq!(passed, chunk.as_bytes());
    }
}

#[test]
fn reader_long_tool_inputs_are_shortened() {
    let line = format!(
        "{{\"type\":\"item.completed\",\"item\":{{\"type\":\"command_execution\",\"command\":\"{}\"}}}}",
        "é".repeat(5_000)
    );
    let reported = in_chunks(StreamFormat::Events(AgentProgram::Codex), [line.as_bytes()]);
    assert_eq!(
        reported.lines().next().unwrap().chars().count(),
        "call command_execution ".len() + TOOL_INPUT_CHARS_MAX
    );
    let input = |chars: usize| {
        let line = format!(
            "{{\"type\":\"item.completed\",\"item\":{{\"type\":\"command_execution\",\"command\":\"{}\"}}}}",
            "é".repeat(chars)
        );
        in_chunks(StreamFormat::Events(AgentProgram::Codex), [line.as_bytes()])
    };
    assert!(!input(TOOL_INPUT_CHARS_MAX).contains('…'));
    assert!(input(TOOL_INPUT_CHARS_MAX + 1).contains('…'));
}

/// Streams of the samples' lines in any order, mixed with broken ones.
fn output() -> impl Strategy<Value = Vec<u8>> {
    let samples = [CODEX_FILES, CODEX_COMMAND, CLAUDE, GEMINI];
    let lines: Vec<&'static str> = samples.iter().flat_map(|sample| sample.lines()).collect();
    let piece = prop_oneof![
        4 => prop::sample::select(lines).prop_map(|line| format!("{line}\n").into_bytes()),
        1 => (".{0,12}", any::<prop::sample::Index>()).prop_map(|(noise, at)| {
            let mut line = CLAUDE.lines().nth(2).unwrap_or_default().as_bytes().to_vec();
            let at = at.index(line.len());
            line.splice(at..at, noise.bytes());
            line
        }),
        1 => prop::collection::vec(any::<u8>(), 0..12),
        1 => Just(b"\r\n".to_vec()),
    ];
    prop::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn result_is_independent_of_chunks(bytes in output(), size in 1_usize..200, format in prop::sample::select(StreamFormat::all())) {
        prop_assert_eq!(in_chunks(format, bytes.chunks(size)), in_chunks(format, [bytes.as_slice()]));
    }

    #[test]
    fn reader_plain_output_is_complete(bytes in prop::collection::vec(any::<u8>(), 0..300), size in 1_usize..50) {
        let mut reader = StreamReader::new(StreamFormat::Auto);
        let mut plain = Vec::new();
        let mut sink = |piece: StreamPiece<'_>| if let StreamPiece::Raw(bytes) = piece { plain.extend_from_slice(bytes) };
        bytes.chunks(size).for_each(|chunk| reader.push(chunk, &mut sink));
        reader.finish(&mut sink);
        prop_assert_eq!(plain, bytes);
    }
}
