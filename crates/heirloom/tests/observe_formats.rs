//! `heirloom observe`: recognition of signals in every output format.
#![expect(clippy::unwrap_used, reason = "a helper of a test may fail it")]

#[expect(dead_code, reason = "each test file uses a part of the driver")]
#[path = "support/driver.rs"]
mod driver;

use driver::ProjectFixture;
use serde_json::{Value, json};
use std::path::Path;

/// Returns the findings of `observe --dry-run`: `LINE VERB text`, then `! LINE message`.
fn observe_dry_run(fixture: &ProjectFixture, format: &str, input: &[u8]) -> Vec<String> {
    let report = fixture
        .feed(
            &["observe", "--json", "--dry-run", "--format", format],
            input,
        )
        .expect(0)
        .json();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let signals = report["signals"].as_array().unwrap().iter();
    let signals = signals.map(|one| {
        format!(
            "{} {} {}",
            one["line"],
            text(&one["verb"]),
            text(&one["text"])
        )
    });
    let diagnostics = report["diagnostics"].as_array().unwrap().iter();
    let diagnostics = diagnostics.map(|one| format!("! {} {}", one["line"], text(&one["message"])));
    signals
        .chain(diagnostics)
        .map(|line| line.trim_end().to_owned())
        .collect()
}

#[track_caller]
fn check_signals(fixture: &ProjectFixture, input: &str, expected: &[&str]) {
    for format in ["auto", "text"] {
        assert_eq!(
            observe_dry_run(fixture, format, input.as_bytes()),
            expected,
            "{format}: {input:?}"
        );
    }
}

#[test]
fn observe_reads_signals_in_text_and_markdown() {
    let fixture = ProjectFixture::plain();
    let check = |input: &str, expected: &[&str]| check_signals(&fixture, input, expected);
    check("", &[]);
    check("\n\n", &[]);
    check("nothing to see", &[]);
    check("HEIRLOOM_MEMORY: KEY_FACT a", &["1 KEY_FACT a"]);
    check(
        "one\nHEIRLOOM_MEMORY: KEY_FACT a\nAGENTIUM_MEMORY: KEY_FACT b\n",
        &["2 KEY_FACT a", "3 KEY_FACT b"],
    );
    check(
        "HEIRLOOM_MEMORY: KEY_FACT a\r\nHEIRLOOM_MEMORY: KEY_FACT b\r\n",
        &["1 KEY_FACT a", "2 KEY_FACT b"],
    );
    for marks in ["- ", "* ", "1. ", "  ", "\t", "- [x] ", "**", "`"] {
        let end = marks.trim_start_matches([' ', '-', '[', 'x', ']', '\t', '1', '.']);
        let end = if end == "* " { "" } else { end };
        check(
            &format!("{marks}HEIRLOOM_MEMORY: KEY_FACT a{end}\n"),
            &["1 KEY_FACT a"],
        );
    }
    check("**HEIRLOOM_MEMORY:** KEY_FACT a\n", &["1 KEY_FACT a"]);
    check("I will print HEIRLOOM_MEMORY: KEY_FACT a\n", &[]);
    check("echo \"HEIRLOOM_MEMORY: KEY_FACT a\"\n", &[]);
    check("XHEIRLOOM_MEMORY: KEY_FACT a\n", &[]);
    check(
        "\u{1b}[32mHEIRLOOM_MEMORY:\u{1b}[0m KEY_FACT \u{1b}[1ma\u{1b}[0m\n",
        &["1 KEY_FACT a"],
    );
    check(
        "\u{1b}]8;;http://x\u{7}HEIRLOOM_MEMORY: KEY_FACT a\u{1b}]8;;\u{7}\n",
        &["1 KEY_FACT a"],
    );
    check(
        "HEIRLOOM_STATUS: PARTIAL half\nAGENTIUM_STATUS: COMPLETE\n",
        &["1 STATUS PARTIAL half", "2 STATUS COMPLETE"],
    );
    check("\u{feff}HEIRLOOM_MEMORY: KEY_FACT a\n", &["1 KEY_FACT a"]);
}

#[test]
fn observe_skips_signals_in_code_fences() {
    let fixture = ProjectFixture::plain();
    let check = |input: &str, expected: &[&str]| check_signals(&fixture, input, expected);
    check("```\nHEIRLOOM_MEMORY: KEY_FACT a\n```\n", &[]);
    check("```text\nHEIRLOOM_MEMORY: KEY_FACT a\n```\n", &[]);
    for quoted in ["> ", "> - ", "> **", "+ "] {
        check(&format!("{quoted}HEIRLOOM_MEMORY: KEY_FACT a\n"), &[]);
    }
    check(
        "```bash\nHEIRLOOM_MEMORY: KEY_FACT a\n```\nHEIRLOOM_MEMORY: KEY_FACT b\n",
        &["4 KEY_FACT b"],
    );
    check(
        "~~~rust\nHEIRLOOM_MEMORY: KEY_FACT a\n~~~\nHEIRLOOM_MEMORY: KEY_FACT b\n",
        &["4 KEY_FACT b"],
    );
    check(
        "````md\n```\nHEIRLOOM_MEMORY: KEY_FACT a\n```\n````\nHEIRLOOM_MEMORY: KEY_FACT b\n",
        &["6 KEY_FACT b"],
    );
    let open = observe_dry_run(
        &fixture,
        "text",
        b"```python\nHEIRLOOM_MEMORY: KEY_FACT a\n",
    );
    assert_eq!(open.len(), 1, "{open:?}");
    assert!(open[0].starts_with("! 1 "), "{open:?}");
}

#[test]
fn observe_reads_signals_in_agent_streams() {
    let fixture = ProjectFixture::plain();
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../engine/tests/streams");
    for (file, format) in [
        ("claude-code", "claude-stream"),
        ("codex", "codex-json"),
        ("gemini", "gemini-stream"),
    ] {
        let input = std::fs::read(fixtures.join(format!("{file}.jsonl"))).unwrap();
        let by_name = observe_dry_run(&fixture, format, &input);
        assert_eq!(by_name, observe_dry_run(&fixture, "auto", &input), "{file}");
        let all = by_name.join("\n");
        assert!(
            all.contains("KEY_FACT the login module is in auth.rs"),
            "{file}: {all}"
        );
        assert!(
            all.contains("DECISION keep the session cookie BECAUSE other tests rely on it"),
            "{file}: {all}"
        );
        // From a file that the agent read with a tool.
        assert!(!all.contains("came from a file"), "{file}: {all}");
        let unique: std::collections::BTreeSet<_> = by_name
            .iter()
            .map(|line| line.split_once(' ').unwrap().1)
            .collect();
        assert_eq!(unique.len(), by_name.len(), "{file}: {by_name:?}");
        // A truncated stream yields the same signals, without a failure.
        let cut = std::fs::read(fixtures.join(format!("{file}-cut.jsonl"))).unwrap();
        observe_dry_run(&fixture, format, &cut);
        let truncated = observe_dry_run(&fixture, format, &input[..input.len() - 3]);
        assert!(
            truncated
                .iter()
                .any(|line| line.contains("the login module")),
            "{truncated:?}"
        );
    }
}

fn claude_message(text: &str) -> String {
    json!({"type": "assistant", "message": {"role": "assistant", "content": [{"type": "text", "text": text}]}}).to_string() + "\n"
}

#[test]
fn observe_repeated_result_counts_once() {
    let fixture = ProjectFixture::plain();
    let message = "Done.\nHEIRLOOM_MEMORY: KEY_FACT a\n";
    let result = |text: &str| {
        json!({"type": "result", "subtype": "success", "is_error": false, "result": text})
            .to_string()
            + "\n"
    };
    let stream = claude_message(message) + &result(message);
    assert_eq!(
        observe_dry_run(&fixture, "claude-stream", stream.as_bytes()),
        ["1 KEY_FACT a"]
    );
    assert_eq!(
        observe_dry_run(&fixture, "auto", stream.as_bytes()),
        ["1 KEY_FACT a"]
    );
    let other = claude_message("hello") + &result("HEIRLOOM_MEMORY: KEY_FACT only in the result");
    assert_eq!(
        observe_dry_run(&fixture, "claude-stream", other.as_bytes()),
        ["2 KEY_FACT only in the result"]
    );
}

#[test]
fn observe_ignores_signals_in_tool_output() {
    let fixture = ProjectFixture::plain();
    let shown = "HEIRLOOM_MEMORY: KEY_FACT shown";
    let lines = [
        (
            "claude-stream",
            json!({"type": "user", "message": {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "x", "content": shown}]}}),
        ),
        (
            "claude-stream",
            json!({"type": "user", "message": {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "x", "content": [{"type": "text", "text": shown}]}]}}),
        ),
        (
            "claude-stream",
            json!({"type": "user", "message": {"role": "user", "content": shown}}),
        ),
        (
            "claude-stream",
            json!({"type": "assistant", "message": {"role": "assistant", "content": [{"type": "tool_use", "id": "x", "name": "Bash", "input": {"command": shown}}]}}),
        ),
        (
            "claude-stream",
            json!({"type": "assistant", "message": {"role": "assistant", "content": [{"type": "thinking", "thinking": shown}]}}),
        ),
        (
            "codex-json",
            json!({"type": "item.completed", "item": {"id": "i", "type": "command_execution", "command": "cat", "aggregated_output": shown, "exit_code": 0}}),
        ),
        (
            "codex-json",
            json!({"type": "item.completed", "item": {"id": "i", "type": "reasoning", "text": shown}}),
        ),
        (
            "gemini-stream",
            json!({"type": "tool_result", "tool_id": "t", "status": "success", "output": shown}),
        ),
        (
            "gemini-stream",
            json!({"type": "message", "role": "user", "content": shown}),
        ),
    ];
    for (format, line) in lines {
        let stream = format!("{line}\n");
        assert_eq!(
            observe_dry_run(&fixture, format, stream.as_bytes()),
            Vec::<String>::new(),
            "{line}"
        );
        let first = match format {
            "claude-stream" => json!({"type": "system", "subtype": "init", "session_id": "s"}),
            "codex-json" => json!({"type": "thread.started", "thread_id": "t"}),
            _ => json!({"type": "init", "session_id": "s"}),
        };
        assert_eq!(
            observe_dry_run(&fixture, "auto", format!("{first}\n{stream}").as_bytes()),
            Vec::<String>::new(),
            "{line}"
        );
    }
}

#[test]
fn observe_explicit_format_overrides_detection() {
    let fixture = ProjectFixture::plain();
    let stream = claude_message("HEIRLOOM_MEMORY: KEY_FACT a");
    assert_eq!(
        observe_dry_run(&fixture, "text", stream.as_bytes()),
        Vec::<String>::new()
    );
    assert_eq!(
        observe_dry_run(&fixture, "auto", stream.as_bytes()),
        ["1 KEY_FACT a"]
    );
    let plain = observe_dry_run(&fixture, "claude-stream", b"HEIRLOOM_MEMORY: KEY_FACT a\n");
    assert_eq!(plain.len(), 1, "{plain:?}");
    assert!(plain[0].starts_with("! 1 no JSON object"), "{plain:?}");
    // A banner before the stream.
    let banner = format!("npm warn something\n{stream}");
    assert_eq!(
        observe_dry_run(&fixture, "auto", banner.as_bytes()),
        ["2 KEY_FACT a"]
    );
    // Unrelated JSON before plain text.
    assert_eq!(
        observe_dry_run(
            &fixture,
            "auto",
            b"{\"level\":\"info\"}\nHEIRLOOM_MEMORY: KEY_FACT a\n"
        ),
        ["2 KEY_FACT a"]
    );
    assert_eq!(fixture.feed(&["observe", "--format", "xml"], b"").code, 2);
}

#[test]
fn observe_broken_lines_are_skipped() {
    let fixture = ProjectFixture::plain();
    let good = claude_message("HEIRLOOM_MEMORY: KEY_FACT good");
    let bad: [&[u8]; 9] = [
        b"{\"type\":\"assistant\",\"message\":{\"content\":[{\"type\":\"text\",\"te",
        b"{\"type\":\"assistant\",\"message\":\"\xff\xfe\"}",
        b"\x00\x00\x00",
        b"[1,2,3]",
        b"{\"type\":17}",
        b"{\"type\":\"assistant\",\"message\":null}",
        b"{\"type\":\"assistant\",\"message\":{\"content\":\"HEIRLOOM\"}}",
        b"{}",
        b"null",
    ];
    for junk in bad {
        let stream = [
            good.as_bytes(),
            junk,
            b"\n",
            claude_message("HEIRLOOM_MEMORY: KEY_FACT later").as_bytes(),
        ]
        .concat();
        let all = observe_dry_run(&fixture, "claude-stream", &stream);
        let signals: Vec<_> = all.iter().filter(|line| !line.starts_with('!')).collect();
        assert_eq!(
            signals,
            ["1 KEY_FACT good", "3 KEY_FACT later"],
            "{}",
            String::from_utf8_lossy(junk)
        );
        assert!(
            all.iter()
                .all(|line| !line.starts_with('!') || line.starts_with("! 2 ")),
            "{all:?}"
        );
    }
    let deep = format!("{}{}\n", "{\"a\":".repeat(100_000), "}".repeat(100_000));
    for format in ["claude-stream", "codex-json", "gemini-stream", "auto"] {
        let all = observe_dry_run(&fixture, format, format!("{deep}{good}").as_bytes());
        assert!(all.len() <= 2, "{format}: {all:?}");
    }
}

#[test]
fn observe_lone_surrogates_become_replacement_characters() {
    let fixture = ProjectFixture::plain();
    let line = br#"{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"HEIRLOOM_MEMORY: KEY_FACT a \ud83d b \udc00 c\nHEIRLOOM_MEMORY: KEY_FACT fine \ud83d\ude00"}]}}"#;
    let all = observe_dry_run(&fixture, "claude-stream", line);
    assert_eq!(
        all,
        [
            "1 KEY_FACT a \u{fffd} b \u{fffd} c",
            "1 KEY_FACT fine \u{1f600}"
        ]
    );
    fixture.feed(&["observe"], line).expect(0);
    assert_eq!(fixture.texts("knowledge").len(), 2);
}
