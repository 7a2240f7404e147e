//! How fast conversations that an agent program wrote down are taken in.

use crate::{Outcome, probe};
use heirloom_engine::transcripts::Agent;
use heirloom_engine::{TranscriptStart, TranscriptsRequest};
use serde_json::{Value, json};
use std::fmt::Write;
use std::path::Path;
use std::time::Instant;

/// Bytes of all conversations.
const BYTES: usize = 64 << 20;
/// Turns of one.
const TURNS: usize = 400;
/// Bytes of an answer of a tool, which the program writes twice.
const ANSWER_BYTES: usize = 2_000;

/// One conversation of Claude Code: prompts, words, files that are read, commands that fail and work.
pub(crate) fn talk(session: &str, folder: &Path) -> String {
    let mut out = String::new();
    for n in 0..TURNS {
        let name = |n: usize| format!("{session}-{n}");
        let call = format!("{session}-call-{}", n / 2);
        let said = probe::text(n);
        let (kind, message, result) = match n % 10 {
            0 => ("user", json!({"content": said}), Value::Null),
            8 | 9 => {
                let content = json!([{"type": "text", "text": format!("{said} {said}")}]);
                (
                    "assistant",
                    json!({"id": name(n), "content": content}),
                    Value::Null,
                )
            }
            2 | 4 | 6 => {
                let input = match n % 4 {
                    0 => json!({"command": format!("cargo test part{}", n % 50)}),
                    _ => json!({"file_path": folder.join(format!("src/{}.rs", n % 90))}),
                };
                let tool = if n % 4 == 0 { "Bash" } else { "Read" };
                let content =
                    json!([{"type": "tool_use", "id": call, "name": tool, "input": input}]);
                (
                    "assistant",
                    json!({"id": name(n), "content": content}),
                    Value::Null,
                )
            }
            _ => {
                let answer = format!("{said}\n").repeat(ANSWER_BYTES / said.len());
                let block = json!({"type": "tool_result", "tool_use_id": call, "content": answer, "is_error": n % 20 == 5});
                (
                    "user",
                    json!({"content": [block]}),
                    json!({"stdout": answer}),
                )
            }
        };
        let line = json!({
            "type": kind, "uuid": name(n), "parentUuid": n.checked_sub(1).map(name), "isSidechain": false,
            "cwd": folder, "sessionId": session, "version": "2.1.0", "gitBranch": "main", "message": message,
            "timestamp": format!("2026-04-01T10:{:02}:{:02}.000Z", n / 60, n % 60), "toolUseResult": result,
        });
        // Writing to a text cannot fail.
        let written = writeln!(out, "{line}");
        debug_assert!(written.is_ok());
    }
    out
}

pub(crate) fn measure() -> Outcome<()> {
    let root = tempfile::tempdir()?;
    let engine = probe::engine(root.path())?;
    let (mut files, mut bytes) = (Vec::new(), 0);
    while bytes < BYTES {
        let text = talk(&format!("talk{}", files.len()), engine.root());
        let file = root.path().join(format!("{}.jsonl", files.len()));
        heirloom_store::durable::write_atomic(&file, text.as_bytes())?;
        bytes += text.len();
        files.push(file);
    }
    let request = TranscriptsRequest {
        agent: Agent::Claude,
        files: files.clone(),
        reach: Default::default(),
        recorded_in: None,
        named: false,
        dry: false,
    };
    let started = Instant::now();
    let report = engine.import_transcripts(&request, "bench", &mut |_| {})?;
    let seconds = started.elapsed().as_secs_f64();
    let mb = bytes as f64 / 1e6;
    println!(
        "transcripts, {mb:.0} MB in {} files           {:8.1} MB/s   {} turns and records",
        files.len(),
        mb / seconds,
        report.whole.created
    );
    let started = Instant::now();
    let again =
        engine.import_transcript(Agent::Claude, &files[0], TranscriptStart::WhereItEnded)?;
    println!(
        "  one of them again, nothing new         {:8.2} ms   {} new",
        started.elapsed().as_secs_f64() * 1e3,
        again.import.created
    );
    Ok(())
}
