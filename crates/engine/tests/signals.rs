//! Tests of the signal parser, row by row, for all ways to cut the output.

use heirloom_agents::signals::{
    SignalParser, SignalRules, neutralize_signals, split_convention, split_decision, split_status,
    without_signals,
};
use heirloom_model::AgentStatus;
use heirloom_model::limits::{
    DIAGNOSTICS_MAX, PLAIN_LINE_BYTES_MAX, SIGNAL_PREFIXES_MAX, SIGNAL_TEXT_BYTES_MAX, SIGNALS_MAX,
};
use heirloom_model::signal::ParserEvent;

/// Formats an event in one line: `3 KEY_FACT text`, or `3 ! message`.
fn line_of(found: &ParserEvent) -> String {
    match found {
        ParserEvent::Signal(signal) => {
            format!("{} {} {}", signal.line, signal.verb.as_str(), signal.text)
        }
        ParserEvent::Diagnostic(diagnostic) => {
            format!("{} ! {}", diagnostic.line, diagnostic.message)
        }
    }
}

fn in_chunks<'a>(rules: &SignalRules, chunks: impl IntoIterator<Item = &'a [u8]>) -> Vec<String> {
    let mut parser = SignalParser::new(rules);
    let mut found = Vec::new();
    for chunk in chunks {
        parser.push(chunk, &mut |one| found.push(line_of(&one)));
    }
    parser.finish(&mut |one| found.push(line_of(&one)));
    found
}

fn as_message(rules: &SignalRules, text: &str, line: u64) -> Vec<String> {
    let mut parser = SignalParser::new(rules);
    let mut found = Vec::new();
    parser.parse_message(text, line, &mut |one| found.push(line_of(&one)));
    parser.finish(&mut |one| found.push(line_of(&one)));
    found
}

fn without_numbers(found: &[String]) -> Vec<&str> {
    let parts = found.iter().map(|one| one.split_once(' '));
    parts.map(|part| part.map_or("", |part| part.1)).collect()
}

/// Checks the events in `input`: in one chunk, byte by byte, cut in two anywhere, and as a message.
///
/// An expected diagnostic is a prefix, so that the rows do not repeat whole messages.
fn check_bytes(input: &[u8], expected: &[&str]) {
    let rules = SignalRules::default();
    let whole = in_chunks(&rules, [input]);
    let shown = String::from_utf8_lossy(input);
    let matches = whole.len() == expected.len()
        && whole
            .iter()
            .zip(expected)
            .all(|(found, wanted)| match wanted.contains(" ! ") {
                true => found.starts_with(wanted),
                false => found == wanted,
            });
    assert!(
        matches,
        "{shown:?}\n found    {whole:?}\n expected {expected:?}"
    );
    assert_eq!(
        in_chunks(&rules, input.chunks(1)),
        whole,
        "byte by byte: {shown:?}"
    );
    for cut in 0..input.len() {
        let (left, right) = input.split_at(cut);
        assert_eq!(
            in_chunks(&rules, [left, right]),
            whole,
            "cut at {cut}: {shown:?}"
        );
    }
    let message = as_message(&rules, &shown, 7);
    assert_eq!(
        without_numbers(&message),
        without_numbers(&whole),
        "as a message: {shown:?}"
    );
    assert!(message.iter().all(|one| one.starts_with("7 ")));
    let rest = without_signals(&shown, &rules);
    let retained = as_message(&rules, &rest, 1);
    assert!(
        retained.iter().all(|one| one.contains(" ! ")),
        "left in {rest:?}: {retained:?}"
    );
}

fn check(rows: &[(&str, &[&str])]) {
    for (input, expected) in rows {
        check_bytes(input.as_bytes(), expected);
    }
}

const NONE: &[&str] = &[];

#[test]
fn parser_finds_every_verb() {
    check(&[
        ("HEIRLOOM_MEMORY: KEY_FACT a b\n", &["1 KEY_FACT a b"]),
        (
            "AGENTIUM_MEMORY: DECISION a BECAUSE b\n",
            &["1 DECISION a BECAUSE b"],
        ),
        ("HEIRLOOM_MEMORY: STEP_DONE a", &["1 STEP_DONE a"]),
        ("HEIRLOOM_MEMORY: STEP_PENDING a", &["1 STEP_PENDING a"]),
        (
            "HEIRLOOM_MEMORY: FILE_MODIFIED src/a b.rs",
            &["1 FILE_MODIFIED src/a b.rs"],
        ),
        ("HEIRLOOM_MEMORY: ERROR a", &["1 ERROR a"]),
        ("HEIRLOOM_MEMORY: ERROR_RESOLVED a", &["1 ERROR_RESOLVED a"]),
        ("HEIRLOOM_MEMORY: LEARNING a", &["1 LEARNING a"]),
        ("HEIRLOOM_MEMORY: BLOCKED a", &["1 BLOCKED a"]),
        ("HEIRLOOM_MEMORY: UNBLOCKED", &["1 UNBLOCKED "]),
        ("HEIRLOOM_MEMORY: UNBLOCKED now", &["1 UNBLOCKED now"]),
        ("HEIRLOOM_MEMORY: CONVENTION k = v", &["1 CONVENTION k = v"]),
        ("HEIRLOOM_MEMORY: FORGET 0199", &["1 FORGET 0199"]),
        ("HEIRLOOM_MEMORY: EVAL_FEEDBACK a", &["1 EVAL_FEEDBACK a"]),
        ("HEIRLOOM_MEMORY: PHASE_RESULT a", &["1 PHASE_RESULT a"]),
        (
            "HEIRLOOM_MEMORY: FEEDBACK_RESPONSE a",
            &["1 FEEDBACK_RESPONSE a"],
        ),
        (
            "AGENTIUM_STATUS: COMPLETE all done",
            &["1 STATUS COMPLETE all done"],
        ),
        ("HEIRLOOM_STATUS: PARTIAL", &["1 STATUS PARTIAL"]),
        ("HEIRLOOM_STATUS: see http://x", &["1 STATUS see http://x"]),
    ]);
}

#[test]
fn parser_reports_line_and_text() {
    check(&[
        ("", NONE),
        ("\n\n", NONE),
        ("a\n\nHEIRLOOM_MEMORY: KEY_FACT x\nb", &["3 KEY_FACT x"]),
        (
            "HEIRLOOM_MEMORY: KEY_FACT x\nHEIRLOOM_MEMORY: KEY_FACT x\n",
            &["1 KEY_FACT x", "2 KEY_FACT x"],
        ),
        ("HEIRLOOM_MEMORY:KEY_FACT x", &["1 KEY_FACT x"]),
        (
            "  \t HEIRLOOM_MEMORY:   KEY_FACT \t x  y \t ",
            &["1 KEY_FACT x  y"],
        ),
        ("HEIRLOOM_MEMORY: KEY_FACT: x", &["1 KEY_FACT x"]),
        ("\u{feff}HEIRLOOM_MEMORY: KEY_FACT x", &["1 KEY_FACT x"]),
        (
            "HEIRLOOM_MEMORY: KEY_FACT a\u{2028}b\u{85}c\td",
            &["1 KEY_FACT a b c d"],
        ),
        ("HEIRLOOM_MEMORY: KEY_FACT a\0b\u{7}c", &["1 KEY_FACT abc"]),
        (
            "HEIRLOOM_MEMORY: KEY_FACT häuser 家 🏠",
            &["1 KEY_FACT häuser 家 🏠"],
        ),
        (
            "HEIRLOOM_MEMORY: KEY_FACT a: b `c` *d*",
            &["1 KEY_FACT a: b `c` *d*"],
        ),
        (
            "HEIRLOOM_MEMORY: KEY_FACT uses `pnpm`",
            &["1 KEY_FACT uses `pnpm`"],
        ),
        (
            "HEIRLOOM_MEMORY: KEY_FACT HEIRLOOM_MEMORY: KEY_FACT x",
            &["1 KEY_FACT HEIRLOOM_MEMORY: KEY_FACT x"],
        ),
    ]);
    check_bytes(
        b"HEIRLOOM_MEMORY: KEY_FACT a\xff\xfeb\n",
        &["1 KEY_FACT a\u{fffd}\u{fffd}b"],
    );
    check_bytes(b"\xff HEIRLOOM_MEMORY: KEY_FACT a\n", NONE);
}

#[test]
fn parser_ignores_prefix_inside_sentence() {
    check(&[
        ("I wrote HEIRLOOM_MEMORY: KEY_FACT x", NONE),
        ("see `HEIRLOOM_MEMORY: KEY_FACT x`", NONE),
        ("| HEIRLOOM_MEMORY: KEY_FACT x |", NONE),
        ("# HEIRLOOM_MEMORY: KEY_FACT x", NONE),
        ("// HEIRLOOM_MEMORY: KEY_FACT x", NONE),
        ("\"HEIRLOOM_MEMORY: KEY_FACT x\"", NONE),
        ("+HEIRLOOM_MEMORY: KEY_FACT x", NONE),
        ("-HEIRLOOM_MEMORY: KEY_FACT x", NONE),
        ("+- HEIRLOOM_MEMORY: KEY_FACT x", NONE),
        ("12:HEIRLOOM_MEMORY: KEY_FACT x", NONE),
        ("    12\tHEIRLOOM_MEMORY: KEY_FACT x", NONE),
        ("1.HEIRLOOM_MEMORY: KEY_FACT x", NONE),
        ("1234567890. HEIRLOOM_MEMORY: KEY_FACT x", NONE),
        ("[x] HEIRLOOM_MEMORY: KEY_FACT x", NONE),
        ("HEIRLOOM_MEMORY KEY_FACT x", NONE),
        ("HEIRLOOM_MEMORY : KEY_FACT x", NONE),
        ("heirloom_memory: KEY_FACT x", NONE),
        ("XHEIRLOOM_MEMORY: KEY_FACT x", NONE),
        ("HEIRLOOM_MEMORYX: KEY_FACT x", NONE),
        ("HEIRLOOM\0_MEMORY: KEY_FACT x", NONE),
    ]);
}

#[test]
fn parser_accepts_markdown_marks() {
    check(&[
        ("- HEIRLOOM_MEMORY: KEY_FACT x", &["1 KEY_FACT x"]),
        ("* HEIRLOOM_MEMORY: KEY_FACT x", &["1 KEY_FACT x"]),
        ("+ HEIRLOOM_MEMORY: KEY_FACT x", NONE),
        ("• HEIRLOOM_MEMORY: KEY_FACT x", &["1 KEY_FACT x"]),
        ("  12. HEIRLOOM_MEMORY: KEY_FACT x", &["1 KEY_FACT x"]),
        ("1) HEIRLOOM_MEMORY: KEY_FACT x", &["1 KEY_FACT x"]),
        ("- [x] HEIRLOOM_MEMORY: STEP_DONE x", &["1 STEP_DONE x"]),
        (
            "* [ ] HEIRLOOM_MEMORY: STEP_PENDING x",
            &["1 STEP_PENDING x"],
        ),
        ("- [y] HEIRLOOM_MEMORY: STEP_PENDING x", NONE),
        ("> HEIRLOOM_MEMORY: KEY_FACT x", NONE),
        (">> - > HEIRLOOM_MEMORY: KEY_FACT x", NONE),
        ("- - 1. HEIRLOOM_MEMORY: KEY_FACT x", &["1 KEY_FACT x"]),
        ("**HEIRLOOM_MEMORY: KEY_FACT x**", &["1 KEY_FACT x"]),
        ("__HEIRLOOM_MEMORY: KEY_FACT x__", &["1 KEY_FACT x"]),
        ("*HEIRLOOM_MEMORY: KEY_FACT x*", &["1 KEY_FACT x"]),
        ("_HEIRLOOM_MEMORY: KEY_FACT x_", &["1 KEY_FACT x"]),
        ("`HEIRLOOM_MEMORY: KEY_FACT x`", &["1 KEY_FACT x"]),
        ("``HEIRLOOM_MEMORY: KEY_FACT x``", &["1 KEY_FACT x"]),
        ("```HEIRLOOM_MEMORY: KEY_FACT x```", &["1 KEY_FACT x"]),
        ("**HEIRLOOM_MEMORY:** KEY_FACT x", &["1 KEY_FACT x"]),
        ("**HEIRLOOM_MEMORY**: KEY_FACT x", &["1 KEY_FACT x"]),
        ("**HEIRLOOM_MEMORY: KEY_FACT** x", &["1 KEY_FACT x"]),
        ("**HEIRLOOM_MEMORY: KEY_FACT:** x", &["1 KEY_FACT x"]),
        ("`HEIRLOOM_MEMORY:` KEY_FACT x `y`", &["1 KEY_FACT x `y`"]),
        (
            "`HEIRLOOM_MEMORY: KEY_FACT` run `x`",
            &["1 KEY_FACT run `x`"],
        ),
        ("_HEIRLOOM_MEMORY: KEY_FACT_ x", &["1 KEY_FACT x"]),
        (
            "HEIRLOOM_MEMORY: **KEY_FACT** x **y**",
            &["1 KEY_FACT x **y**"],
        ),
        ("HEIRLOOM_MEMORY: `KEY_FACT` x", &["1 KEY_FACT x"]),
        ("- **`HEIRLOOM_MEMORY: KEY_FACT x`**", &["1 KEY_FACT x"]),
        ("**_HEIRLOOM_MEMORY: KEY_FACT x_**  ", &["1 KEY_FACT x"]),
        ("***HEIRLOOM_MEMORY:** KEY_FACT x*", &["1 KEY_FACT x"]),
        ("1. **HEIRLOOM_MEMORY:** `KEY_FACT` x", &["1 KEY_FACT x"]),
        ("**HEIRLOOM_MEMORY: UNBLOCKED**", &["1 UNBLOCKED "]),
        ("**AGENTIUM_STATUS: COMPLETE**", &["1 STATUS COMPLETE"]),
        (
            "**AGENTIUM_STATUS:** **COMPLETE** done",
            &["1 STATUS COMPLETE done"],
        ),
    ]);
}

#[test]
fn parser_reads_terminal_output() {
    check(&[
        (
            "\u{1b}[32mHEIRLOOM_MEMORY: KEY_FACT x\u{1b}[0m\n",
            &["1 KEY_FACT x"],
        ),
        (
            "\u{1b}[1m-\u{1b}[0m \u{1b}[1;33mHEIRLOOM_MEMORY\u{1b}[0m:\u{1b}[m KEY_FACT \u{1b}[4mx\u{1b}[24m y",
            &["1 KEY_FACT x y"],
        ),
        (
            "\u{1b}(B\u{1b}[mHEIRLOOM_MEMORY: KEY_FACT x",
            &["1 KEY_FACT x"],
        ),
        (
            "HEIR\u{1b}[1mLOOM_MEM\u{1b}[0mORY: KEY_FACT x\nHEIRLOOM_MEMORY: KEY_FACT y",
            &["1 KEY_FACT x", "2 KEY_FACT y"],
        ),
        (
            "\u{1b}]8;;http://x\u{7}HEIRLOOM_MEMORY: KEY_FACT x\u{1b}]8;;\u{1b}\\",
            &["1 KEY_FACT x"],
        ),
        (
            "\u{1b}]0;title\u{7}HEIRLOOM_MEMORY: KEY_FACT x",
            &["1 KEY_FACT x"],
        ),
        ("\u{1b}]0;HEIRLOOM_MEMORY: KEY_FACT x\u{7}", NONE),
        ("\u{1b}[1mthe\u{1b}[0m HEIRLOOM_MEMORY: KEY_FACT x", NONE),
        ("HEIRLOOM_MEMORY: KEY_FACT x\r\nb\r\n", &["1 KEY_FACT x"]),
        ("a\r\nHEIRLOOM_MEMORY: KEY_FACT x\r\r\n", &["2 KEY_FACT x"]),
        ("10%\r50%\rHEIRLOOM_MEMORY: KEY_FACT x\n", &["1 KEY_FACT x"]),
        (
            "HEIRLOOM_MEMORY: KEY_FACT par\rHEIRLOOM_MEMORY: KEY_FACT partial\n",
            &["1 KEY_FACT partial"],
        ),
        ("HEIRLOOM_MEMORY: KEY_FACT x\r100%\n", NONE),
        ("HEIRLOOM_MEMORY: KEY_FACT x\r\u{1b}[K\n", &["1 KEY_FACT x"]),
        (
            "\u{1b}[2K\r\u{1b}[32m⏺\u{1b}[0m HEIRLOOM_MEMORY: KEY_FACT x",
            &["1 KEY_FACT x"],
        ),
        (
            "\u{1b}[34m```rust\u{1b}[0m\nHEIRLOOM_MEMORY: KEY_FACT x\n```\nHEIRLOOM_MEMORY: KEY_FACT y",
            &["4 KEY_FACT y"],
        ),
    ]);
}

#[test]
fn parser_respects_code_fences() {
    let unclosed = "1 ! the fence that begins here has no end: 1 signal";
    check(&[
        ("```\nHEIRLOOM_MEMORY: KEY_FACT x\n```\n", NONE),
        ("```text\nHEIRLOOM_MEMORY: KEY_FACT x\n```\n", NONE),
        ("``` Text title\nHEIRLOOM_MEMORY: KEY_FACT x\n```\n", NONE),
        ("~~~\r\n- HEIRLOOM_MEMORY: KEY_FACT x\r\n~~~\r\n", NONE),
        (
            "```bash\nHEIRLOOM_MEMORY: KEY_FACT x\n```\nHEIRLOOM_MEMORY: KEY_FACT y",
            &["4 KEY_FACT y"],
        ),
        ("``` rust,ignore\nHEIRLOOM_MEMORY: KEY_FACT x\n```", NONE),
        ("```txt\nHEIRLOOM_MEMORY: KEY_FACT x\n```", NONE),
        (
            "~~~py\nHEIRLOOM_MEMORY: KEY_FACT x\n```\nHEIRLOOM_MEMORY: KEY_FACT y\n~~~",
            NONE,
        ),
        (
            "````md\n```\nHEIRLOOM_MEMORY: KEY_FACT x\n```\n````\nHEIRLOOM_MEMORY: KEY_FACT y",
            &["6 KEY_FACT y"],
        ),
        (
            "```md\n```bash\nHEIRLOOM_MEMORY: KEY_FACT x\n```\nHEIRLOOM_MEMORY: KEY_FACT y\n```",
            &["5 KEY_FACT y"],
        ),
        (
            "```sh\nHEIRLOOM_MEMORY: KEY_FACT x\n`````  \nHEIRLOOM_MEMORY: KEY_FACT y",
            &["4 KEY_FACT y"],
        ),
        (
            "```sh\nHEIRLOOM_MEMORY: KEY_FACT x\n    ```\nHEIRLOOM_MEMORY: KEY_FACT y\n   ```\n",
            NONE,
        ),
        (
            "- ```sh\n  HEIRLOOM_MEMORY: KEY_FACT x\n  ```\n- HEIRLOOM_MEMORY: KEY_FACT y",
            &["4 KEY_FACT y"],
        ),
        (
            "1. a\n\n     ```sh\n     HEIRLOOM_MEMORY: KEY_FACT x\n     ```\n\nHEIRLOOM_MEMORY: KEY_FACT y",
            &["7 KEY_FACT y"],
        ),
        (
            "> ```sh\n> HEIRLOOM_MEMORY: KEY_FACT x\n> ```\nHEIRLOOM_MEMORY: KEY_FACT y",
            &["4 KEY_FACT y"],
        ),
        (
            "> ```sh\n> HEIRLOOM_MEMORY: KEY_FACT x\n\nHEIRLOOM_MEMORY: KEY_FACT y",
            &["4 KEY_FACT y"],
        ),
        (
            "> ```sh\n> a\nHEIRLOOM_MEMORY: KEY_FACT x",
            &["3 KEY_FACT x"],
        ),
        (
            "> ````\nHEIRLOOM_MEMORY: KEY_FACT x\n> ```py\n> HEIRLOOM_MEMORY: KEY_FACT y\n> ```",
            &["2 KEY_FACT x"],
        ),
        ("```sh\n> ```\nHEIRLOOM_MEMORY: KEY_FACT x\n```", NONE),
        ("``` a`b\nHEIRLOOM_MEMORY: KEY_FACT x", &["2 KEY_FACT x"]),
        ("``sh\nHEIRLOOM_MEMORY: KEY_FACT x", &["2 KEY_FACT x"]),
        ("```HEIRLOOM_MEMORY: KEY_FACT x\n```", NONE),
        ("text ```sh\nHEIRLOOM_MEMORY: KEY_FACT x", &["2 KEY_FACT x"]),
        ("```sh\nHEIRLOOM_MEMORY: KEY_FACT x\n", &[unclosed]),
        ("```\nHEIRLOOM_MEMORY: KEY_FACT x\n", &[unclosed]),
        ("```sh\nHEIRLOOM_MEMORY: NO_VERB x\n```", NONE),
    ]);
}

#[test]
fn parser_ignores_quoted_signals() {
    check(&[
        ("> HEIRLOOM_MEMORY: KEY_FACT x\n", NONE),
        (">HEIRLOOM_MEMORY: KEY_FACT x", NONE),
        ("> > HEIRLOOM_MEMORY: KEY_FACT x", NONE),
        ("- > HEIRLOOM_MEMORY: KEY_FACT x", NONE),
        ("> - **HEIRLOOM_MEMORY: KEY_FACT x**", NONE),
        ("  > HEIRLOOM_STATUS: COMPLETE", NONE),
        ("+ HEIRLOOM_MEMORY: KEY_FACT x", NONE),
        ("+HEIRLOOM_MEMORY: KEY_FACT x", NONE),
        (
            "> HEIRLOOM_MEMORY: KEY_FACT x\n\nHEIRLOOM_MEMORY: KEY_FACT y",
            &["3 KEY_FACT y"],
        ),
    ]);
}

#[test]
fn parser_ignores_signals_in_diffs() {
    check(&[
        (
            "@@ -1,3 +1,4 @@\n HEIRLOOM_MEMORY: KEY_FACT a\n\n+ HEIRLOOM_MEMORY: KEY_FACT b\n- HEIRLOOM_MEMORY: KEY_FACT c\n HEIRLOOM_MEMORY: KEY_FACT d\n\nHEIRLOOM_MEMORY: KEY_FACT y",
            &["8 KEY_FACT y"],
        ),
        (
            "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@ fn x()\n-a\n+b\n\\ No newline at end of file\nHEIRLOOM_MEMORY: KEY_FACT y",
            &["8 KEY_FACT y"],
        ),
        // The hunk announces fewer lines than it has.
        (
            "@@ -1 +1 @@\n a\n HEIRLOOM_MEMORY: KEY_FACT x\n\n- HEIRLOOM_MEMORY: KEY_FACT y",
            &["5 KEY_FACT y"],
        ),
        (
            "  @@ -1,2 +1,2 @@\n   HEIRLOOM_MEMORY: KEY_FACT x\n  HEIRLOOM_MEMORY: KEY_FACT y",
            &["3 KEY_FACT y"],
        ),
        ("@@ -x @@\n HEIRLOOM_MEMORY: KEY_FACT y", &["2 KEY_FACT y"]),
        (
            "@@ -1,9 +1,9 @@\n```\nHEIRLOOM_MEMORY: KEY_FACT x\n```\nHEIRLOOM_MEMORY: KEY_FACT y",
            &["5 KEY_FACT y"],
        ),
    ]);
}

#[test]
fn parser_ignores_signals_in_envelopes() {
    check(&[
        (
            "<heirloom-memory project=\"x\">\nHEIRLOOM_MEMORY: KEY_FACT no\n</heirloom-memory>\nHEIRLOOM_MEMORY: KEY_FACT a\n",
            &["4 KEY_FACT a"],
        ),
        (
            "&lt;heirloom-memory&gt;\nHEIRLOOM_MEMORY: ERROR no\n&lt;/heirloom-memory&gt; done\nHEIRLOOM_MEMORY: KEY_FACT a",
            &["4 KEY_FACT a"],
        ),
        (
            "I heard <heirloom-memory>\n```text\nHEIRLOOM_MEMORY: KEY_FACT no\n</heirloom-memory>\nHEIRLOOM_MEMORY: KEY_FACT a",
            &["5 KEY_FACT a"],
        ),
        (
            "<heirloom-memory>one</heirloom-memory> <heirloom-memory>\nHEIRLOOM_MEMORY: KEY_FACT no\n</heirloom-memory>\nHEIRLOOM_MEMORY: KEY_FACT a",
            &["4 KEY_FACT a"],
        ),
        (
            "<heir\u{1b}[1mloom-memory>\nHEIRLOOM_MEMORY: KEY_FACT no\n</heirloom-memory>\nHEIRLOOM_MEMORY: KEY_FACT a",
            &["4 KEY_FACT a"],
        ),
        (
            "<heirloom-memory>\nHEIRLOOM_STATUS: COMPLETE no\n</heirloom-memory>\n",
            NONE,
        ),
        (
            "HEIRLOOM_MEMORY: KEY_FACT a\n<heirloom-memory>\nHEIRLOOM_MEMORY: KEY_FACT no\n\nHEIRLOOM_MEMORY: KEY_FACT no\n",
            &[
                "1 KEY_FACT a",
                "5 ! a `<heirloom-memory>` has no end: 2 signals",
            ],
        ),
        ("<heirloom-memory>\nnothing\n", NONE),
        (
            "</heirloom-memory>\nHEIRLOOM_MEMORY: KEY_FACT a\n",
            &["2 KEY_FACT a"],
        ),
        (
            "the heirloom-memory crate\nHEIRLOOM_MEMORY: KEY_FACT a\n",
            &["2 KEY_FACT a"],
        ),
    ]);
}

#[test]
fn parser_reports_invalid_signals() {
    check(&[
        (
            "a\nHEIRLOOM_MEMORY:\n",
            &["2 ! no verb: expected one of KEY_FACT, DECISION, "],
        ),
        ("**HEIRLOOM_MEMORY:**", &["1 ! no verb"]),
        (
            "HEIRLOOM_MEMORY: KEY_FACT\n",
            &["1 ! `KEY_FACT` needs a text after it"],
        ),
        (
            "**HEIRLOOM_MEMORY: KEY_FACT  **\n",
            &["1 ! `KEY_FACT` needs a text"],
        ),
        (
            "HEIRLOOM_MEMORY: KEY_FACT \0\u{7}\n",
            &["1 ! `KEY_FACT` needs a text"],
        ),
        (
            "HEIRLOOM_MEMORY: KEY_FACTS x",
            &["1 ! `KEY_FACTS` is not a verb; did you mean `KEY_FACT`?"],
        ),
        (
            "HEIRLOOM_MEMORY: key_fact x",
            &["1 ! `key_fact` is not a verb; did you mean `KEY_FACT`?"],
        ),
        (
            "HEIRLOOM_MEMORY: STEP-DONE x",
            &["1 ! `STEP-DONE` is not a verb: expected one of"],
        ),
        (
            "HEIRLOOM_MEMORY: DECISON: x",
            &["1 ! `DECISON:` is not a verb; did you mean `DECISION`?"],
        ),
        (
            "HEIRLOOM_MEMORY: use pnpm",
            &["1 ! `use` is not a verb: expected one of KEY_FACT"],
        ),
        (
            "HEIRLOOM_MEMORY: STATUS COMPLETE",
            &["1 ! `STATUS` is not a verb: a status has a line of its own"],
        ),
        ("HEIRLOOM_MEMORY: <verb> x", &["1 ! `<verb>` is not a verb"]),
        (
            "AGENTIUM_STATUS:",
            &["1 ! `AGENTIUM_STATUS:` needs a status"],
        ),
    ]);
    assert_eq!(
        as_message(
            &SignalRules::default(),
            "HEIRLOOM_MEMORY: X\u{1b}[1m\u{202e}Y z",
            4
        ),
        [
            "4 ! `X\u{fffd}Y` is not a verb: expected one of KEY_FACT, DECISION, STEP_DONE, STEP_PENDING, \
          FILE_MODIFIED, ERROR, ERROR_RESOLVED, LEARNING, BLOCKED, UNBLOCKED, CONVENTION, FORGET, \
          EVAL_FEEDBACK, PHASE_RESULT, FEEDBACK_RESPONSE"
        ]
    );
}

#[test]
fn parser_limits_are_enforced() {
    let rules = SignalRules::default();
    let fits = "x".repeat(SIGNAL_TEXT_BYTES_MAX);
    let input = format!("HEIRLOOM_MEMORY: KEY_FACT {fits}\nHEIRLOOM_MEMORY: KEY_FACT {fits}x\n");
    let found = in_chunks(&rules, [input.as_bytes()]);
    assert_eq!(found[0].len(), "1 KEY_FACT ".len() + SIGNAL_TEXT_BYTES_MAX);
    assert_eq!(
        found[1],
        "2 ! the text of `KEY_FACT` has 16385 bytes; the most is 16384"
    );

    let many = "HEIRLOOM_MEMORY: KEY_FACT x\n".repeat(SIGNALS_MAX + 3);
    let found = in_chunks(&rules, many.as_bytes().chunks(1000));
    assert_eq!(found.len(), SIGNALS_MAX + 1);
    assert_eq!(
        found[SIGNALS_MAX],
        "100001 ! 3 more signals were not counted: the first 100000 are"
    );

    let many = "HEIRLOOM_MEMORY: x\n".repeat(DIAGNOSTICS_MAX + 2);
    let found = in_chunks(&rules, [many.as_bytes()]);
    assert_eq!(found.len(), DIAGNOSTICS_MAX + 1);
    assert_eq!(
        found[DIAGNOSTICS_MAX],
        "1001 ! 2 more lines could not be read as signals"
    );
}

#[test]
fn parser_long_lines() {
    let rules = SignalRules::default();
    let pad = |length: usize| "x".repeat(length);
    let head = "HEIRLOOM_MEMORY: KEY_FACT ";
    let cut = "1 ! the line is longer than the 65536 bytes in which a signal is looked for";
    let after = "\nHEIRLOOM_MEMORY: KEY_FACT y";
    for (line, expected) in [
        (format!("{head}{}", pad(PLAIN_LINE_BYTES_MAX)), Some(cut)),
        (
            format!("{}{head}x", " ".repeat(PLAIN_LINE_BYTES_MAX - 27)),
            Some("1 KEY_FACT x"),
        ),
        (
            format!("{}{head}xy", " ".repeat(PLAIN_LINE_BYTES_MAX - 27)),
            Some(cut),
        ),
        (format!("{}{head}x", pad(PLAIN_LINE_BYTES_MAX)), None),
        (
            format!("{}\r{head}x", pad(PLAIN_LINE_BYTES_MAX)),
            Some("1 KEY_FACT x"),
        ),
        (
            format!("{}\r\r{head}x\r", "50%\r".repeat(PLAIN_LINE_BYTES_MAX)),
            Some("1 KEY_FACT x"),
        ),
        (format!("{head}x\r{}", pad(PLAIN_LINE_BYTES_MAX)), None),
        (format!("```sh {}", pad(PLAIN_LINE_BYTES_MAX)), None),
    ] {
        let opens_fence = line.starts_with('`');
        let mut wanted: Vec<&str> = expected.into_iter().collect();
        wanted.extend((!opens_fence).then_some("2 KEY_FACT y"));
        if opens_fence {
            wanted
                .push("1 ! the fence that begins here has no end: 1 signal in it was not counted");
        }
        let input = line + after;
        for size in [1, 7, 4096, 65_536, 65_537, input.len()] {
            assert_eq!(
                in_chunks(&rules, input.as_bytes().chunks(size)),
                wanted,
                "{size}"
            );
        }
    }
}

/// A gigabyte without a line feed needs the memory of one line and linear time; this test uses a sixteenth of it.
#[test]
fn parser_endless_line_uses_bounded_memory() {
    let rules = SignalRules::default();
    let mut parser = SignalParser::new(&rules);
    let mut found = Vec::new();
    parser.push(b"HEIRLOOM_MEMORY: KEY_FACT ", &mut |one| {
        found.push(line_of(&one))
    });
    let chunk = vec![b'x'; 1 << 20];
    for _ in 0..64 {
        parser.push(&chunk, &mut |one| found.push(line_of(&one)));
        assert!(parser.buffered_bytes() <= 2 * PLAIN_LINE_BYTES_MAX);
    }
    parser.push(b"\nHEIRLOOM_MEMORY: KEY_FACT y\n", &mut |one| {
        found.push(line_of(&one))
    });
    assert_eq!(found.len(), 2);
    assert!(found[0].starts_with("1 ! the line is longer"));
    assert_eq!(found[1], "2 KEY_FACT y");
}

#[test]
fn parser_messages_share_limits() {
    let mut parser = SignalParser::new(&SignalRules::default());
    let mut found = Vec::new();
    let mut sink = |one: ParserEvent| found.push(line_of(&one));
    parser.push(b"HEIRLOOM_MEM", &mut sink);
    parser.parse_message("```sh\nHEIRLOOM_MEMORY: KEY_FACT a", 3, &mut sink);
    parser.parse_message("HEIRLOOM_MEMORY: KEY_FACT b", 4, &mut sink);
    parser.push(b"ORY: KEY_FACT c\n", &mut sink);
    parser.finish(&mut sink);
    parser.finish(&mut sink);
    assert_eq!(
        found,
        [
            "3 ! the fence that begins here has no end: 1 signal in it was not counted",
            "4 KEY_FACT b",
            "1 KEY_FACT c"
        ]
    );
}

#[test]
fn rules_prefixes_are_configurable() {
    let rules = SignalRules::new(&["MEM", "MEMORY:", "MEM"], &["ST"]).unwrap();
    let text = "MEM: KEY_FACT a\nMEMORY: KEY_FACT b\nST: x\nHEIRLOOM_MEMORY: KEY_FACT c\n";
    assert_eq!(
        as_message(&rules, text, 1),
        ["1 KEY_FACT a", "1 KEY_FACT b", "1 STATUS x"]
    );
    let none: &[&str] = &[];
    let silent = SignalRules::new(none, none).unwrap();
    assert_eq!(in_chunks(&silent, [text.as_bytes()]), Vec::<String>::new());
    for (word, message) in [
        ("", "`` is not a signal prefix"),
        (":", "`:` is not a signal prefix"),
        ("a b", "`a b` is not a signal prefix"),
        ("_A", "`_A` is not a signal prefix"),
        ("A\n", ""),
        ("A\nB", "`A | B` is not a signal prefix"),
        ("ST", "`ST` cannot be the prefix of both"),
    ] {
        let made = SignalRules::new(&[word], &["ST"]);
        match made {
            Ok(_) => assert_eq!(message, "", "{word:?}"),
            Err(error) => assert!(error.to_string().starts_with(message), "{error}"),
        }
    }
    let words: Vec<String> = (0..=SIGNAL_PREFIXES_MAX).map(|n| format!("P{n}")).collect();
    let error = SignalRules::new(&words, &[]).unwrap_err().to_string();
    assert_eq!(
        error,
        "17 signal prefixes are more than the 16 that may be active"
    );
}

#[test]
fn without_signals_removes_signal_lines() {
    let rules = SignalRules::default();
    for (input, rest) in [
        ("a\nb", "a\nb"),
        ("a\n- HEIRLOOM_MEMORY: KEY_FACT x\nb\n", "a\nb\n"),
        ("HEIRLOOM_MEMORY: KEY_FACT x", ""),
        ("a\nHEIRLOOM_STATUS: COMPLETE", "a\n"),
        (
            "a HEIRLOOM_MEMORY: KEY_FACT x\n",
            "a HEIRLOOM_MEMORY: KEY_FACT x\n",
        ),
        ("HEIRLOOM_MEMORY: NOPE x\n", "HEIRLOOM_MEMORY: NOPE x\n"),
        (
            "```sh\nHEIRLOOM_MEMORY: KEY_FACT x\n```\n",
            "```sh\nHEIRLOOM_MEMORY: KEY_FACT x\n```\n",
        ),
        (
            "```\nHEIRLOOM_MEMORY: KEY_FACT x\n```\n",
            "```\nHEIRLOOM_MEMORY: KEY_FACT x\n```\n",
        ),
        (
            "> ```sh\nHEIRLOOM_MEMORY: KEY_FACT x\n> b",
            "> ```sh\n\n> b",
        ),
    ] {
        assert_eq!(without_signals(input, &rules), rest, "{input:?}");
    }
}

/// A removed line that begins or ends an envelope leaves its tags: without them a line that is no signal becomes one.
#[test]
fn without_signals_preserves_envelopes_of_removed_lines() {
    let rules = SignalRules::default();
    for (input, rest) in [
        (
            "HEIRLOOM_STATUS: a <heirloom-memory>\nHEIRLOOM_STATUS: b\n</heirloom-memory>\nc",
            "<heirloom-memory>\nHEIRLOOM_STATUS: b\n</heirloom-memory>\nc",
        ),
        (
            "<heirloom-memory>\n</heirloom-memory> HEIRLOOM_STATUS: a\nHEIRLOOM_STATUS: b\nc",
            "<heirloom-memory>\n</heirloom-memory>\nc",
        ),
        (
            "HEIRLOOM_STATUS: a &lt;heirloom-memory x&lt;/heirloom-memory&gt; b <heirloom-memory\nHEIRLOOM_STATUS: c",
            "&lt;heirloom-memory x&lt;/heirloom-memory&gt;\n<heirloom-memory\nHEIRLOOM_STATUS: c",
        ),
        // The signal ends a quoted fence, before the envelope that it begins and after the one that it ends.
        (
            "> ```sh\nHEIRLOOM_STATUS: a <heirloom-memory\nb</heirloom-memory>\n> HEIRLOOM_STATUS: c\nd",
            "> ```sh\n\n<heirloom-memory\nb</heirloom-memory>\n> HEIRLOOM_STATUS: c\nd",
        ),
        (
            "> ```sh\n<heirloom-memory\nb</heirloom-memory>HEIRLOOM_STATUS: a\n> HEIRLOOM_STATUS: c\nd",
            "> ```sh\n<heirloom-memory\nb</heirloom-memory>\n\n> HEIRLOOM_STATUS: c\nd",
        ),
    ] {
        assert_eq!(without_signals(input, &rules), rest, "{input:?}");
        assert_eq!(
            without_signals(rest, &rules),
            rest,
            "a second removal changes {rest:?}"
        );
    }
}

#[test]
fn envelope_inside_prefix_leaves_no_signal() {
    let rules = SignalRules::default();
    let text = "HEIRLOOM_<heirloom-memory></heirloom-memory>STATUS: a\n";
    assert_eq!(as_message(&rules, text, 1), Vec::<String>::new());
    let safe = neutralize_signals(text, &rules);
    assert_eq!(as_message(&rules, &safe, 1), Vec::<String>::new());
}

#[test]
fn neutralize_signals_leaves_no_signal() {
    let rules = SignalRules::default();
    for (input, safe) in [
        ("plain: text", "plain: text"),
        ("HEIRLOOM_MEMORY: KEY_FACT x", "HEIRLOOM_MEMORY KEY_FACT x"),
        (
            "say HEIRLOOM_MEMORY:KEY_FACT x",
            "say HEIRLOOM_MEMORY KEY_FACT x",
        ),
        (
            "**AGENTIUM_STATUS**: COMPLETE",
            "**AGENTIUM_STATUS** COMPLETE",
        ),
        ("`HEIRLOOM_MEMORY:`: a", "`HEIRLOOM_MEMORY ` a"),
        ("HEIRLOOM_MEMORY\u{1b}[1m: a", "HEIRLOOM_MEMORY a"),
        ("HEIRLOOM_MEMORY:", "HEIRLOOM_MEMORY "),
    ] {
        assert_eq!(neutralize_signals(input, &rules), safe, "{input:?}");
        assert_eq!(as_message(&rules, safe, 1), Vec::<String>::new());
    }
    let grown = SignalRules::new(&["FOO", "FOOBAR"], &[]).unwrap();
    assert_eq!(
        neutralize_signals("FOO:BAR: KEY_FACT x", &grown),
        "FOO BAR: KEY_FACT x"
    );
}

#[test]
fn split_decision_separates_reason() {
    for (text, expected) in [
        ("use a BECAUSE b", ("use a", Some("b"))),
        ("use a -- b BECAUSE c", ("use a", Some("b BECAUSE c"))),
        ("use a BECAUSE b -- c", ("use a", Some("b -- c"))),
        ("use a because b", ("use a because b", None)),
        ("use a--b", ("use a--b", None)),
        ("BECAUSE b", ("BECAUSE b", None)),
        ("use a BECAUSE ", ("use a BECAUSE", None)),
        ("  -- b", ("-- b", None)),
        ("", ("", None)),
    ] {
        assert_eq!(split_decision(text), expected, "{text:?}");
    }
}

#[test]
fn split_convention_separates_key() {
    assert_eq!(
        split_convention("indent = 4 = four"),
        Ok(("indent", "4 = four"))
    );
    assert_eq!(split_convention("`a b`=c"), Ok(("a b", "c")));
    assert!(
        split_convention("no key")
            .unwrap_err()
            .contains("`key = text`")
    );
    assert!(
        split_convention(" = x")
            .unwrap_err()
            .contains("both not empty")
    );
    assert!(
        split_convention("x = ")
            .unwrap_err()
            .contains("both not empty")
    );
    assert!(
        split_convention(&format!("{}=x", "k".repeat(2000)))
            .unwrap_err()
            .contains("1024")
    );
}

#[test]
fn split_status_separates_name() {
    for (text, expected) in [
        ("COMPLETE", (Some(AgentStatus::Complete), "")),
        ("PARTIAL two left", (Some(AgentStatus::Partial), "two left")),
        ("BLOCKED: no key", (Some(AgentStatus::Blocked), "no key")),
        ("FAILED - tests", (Some(AgentStatus::Failed), "tests")),
        (
            "FAILED -1 is wrong",
            (Some(AgentStatus::Failed), "-1 is wrong"),
        ),
        ("RUNNING the tests", (None, "RUNNING the tests")),
        ("failed tests are mended", (None, "failed tests are mended")),
        ("", (None, "")),
    ] {
        assert_eq!(split_status(text), expected, "{text:?}");
    }
}
