//! Throughput of transcript import.

use crate::{Outcome, fixture, results};
use heirloom_agents::AgentProgram;
use heirloom_capture::Transcripts;
use heirloom_capture::{TranscriptStart, TranscriptsRequest};
use serde_json::{Value, json};
use std::fmt::Write;
use std::path::Path;
use std::time::Instant;

/// Number of bytes of all transcripts.
const BYTES: usize = 64 << 20;
/// Number of messages in one transcript.
pub(crate) const TURNS: usize = 400;
/// Size of a tool result in bytes; the agent program writes it twice.
const ANSWER_BYTES: usize = 2_000;

/// Returns a transcript of Claude Code: prompts, answers, files that are read, commands that fail and work.
pub(crate) fn transcript_text(session: &str, folder: &Path) -> String {
    let mut out = String::new();
    for n in 0..TURNS {
        let name = |n: usize| format!("{session}-{n}");
        let call = format!("{session}-call-{}", n / 2);
        let text = fixture::text(n);
        let (kind, message, result) = match n % 10 {
            0 => ("user", json!({"content": text}), Value::Null),
            8 | 9 => {
                let content = json!([{"type": "text", "text": format!("{text} {text}")}]);
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
                let answer = format!("{text}\n").repeat(ANSWER_BYTES / text.len());
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
        // Writing to a string cannot fail.
        let written = writeln!(out, "{line}");
        debug_assert!(written.is_ok());
    }
    out
}

pub(crate) fn measure() -> Outcome<()> {
    let root = tempfile::tempdir()?;
    let engine = fixture::engine(root.path())?;
    let (mut files, mut bytes) = (Vec::new(), 0);
    while bytes < BYTES {
        let text = transcript_text(&format!("talk{}", files.len()), engine.root());
        let file = root.path().join(format!("{}.jsonl", files.len()));
        heirloom_fs::durable::write_atomic(&file, text.as_bytes())?;
        bytes += text.len();
        files.push(file);
    }
    let request = TranscriptsRequest {
        agent: AgentProgram::ClaudeCode,
        files: files.clone(),
        scope: Default::default(),
        former_root: None,
        seen_roots: Vec::new(),
        is_explicit: false,
        dry_run: false,
    };
    let started = Instant::now();
    let report = Transcripts::new(&engine).import_all(&request, "bench", &mut |_| {})?;
    let seconds = started.elapsed().as_secs_f64();
    let mb = bytes as f64 / 1e6;
    let (count, created) = (files.len(), report.total.created);
    let name = format!("transcripts, {mb:.0} MB in {count} files, {created} turns and records");
    results::value("transcripts.import", &name, "MB/s", mb / seconds);
    let started = Instant::now();
    let again = Transcripts::new(&engine).import(
        AgentProgram::ClaudeCode,
        &files[0],
        TranscriptStart::Continue,
    )?;
    let name = format!("one transcript again, {} new", again.import.created);
    let again_ms = started.elapsed().as_secs_f64() * 1e3;
    results::value("transcripts.again", &name, "ms", again_ms);
    Ok(())
}
