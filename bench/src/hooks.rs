//! Latency of each hook as an agent program sees it, started through a shell.

use crate::stats::Times;
use crate::zipf::ZipfGenerator;
use crate::{Outcome, fixture, results};
use serde_json::{Value, json};
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Number of records in the store.
const RECORDS: usize = 100_000;
/// Number of words of a text.
const WORDS: usize = 19;
/// Number of calls of each hook.
const RUNS: usize = 100;
/// Number of warm-up calls, which are not timed.
const WARM: usize = 3;

pub(crate) fn measure(heirloom: Option<&Path>, to: Option<usize>) -> Outcome<()> {
    let Some(heirloom) = heirloom else {
        println!("hooks: skipped, no --heirloom BINARY");
        return Ok(());
    };
    let root = tempfile::tempdir()?;
    let engine = fixture::engine(root.path())?;
    let records = to.unwrap_or(RECORDS);
    let mut generator = ZipfGenerator(31);
    fixture::fill_with(&engine, 0, records, &mut |_| generator.text(WORDS))?;
    drop(engine);
    let syncs = fixture::bare_syncs(root.path(), RUNS)?;
    results::times("hooks.sync", "4 KB write and sync", &Times::of(&syncs));
    let mut nothing = Vec::new();
    for _ in 0..RUNS {
        let start = Instant::now();
        Command::new("sh").arg("-c").arg("true").status()?;
        nothing.push(start.elapsed());
    }
    results::times("hooks.shell", "sh -c true", &Times::of(&nothing));
    let prompts = ZipfGenerator(37).prompts(WARM + RUNS);
    let mut times = Vec::new();
    for (n, prompt) in prompts.iter().enumerate() {
        let event = json!({"prompt": prompt});
        let took = call_hook(heirloom, root.path(), "UserPromptSubmit", n, event)?;
        times.extend((n >= WARM).then_some(took));
    }
    let name = format!("hook UserPromptSubmit, {records} records");
    results::times("hooks.UserPromptSubmit", &name, &Times::of(&times));
    for (name, writes, event) in events(root.path())? {
        let event_name = name.split(' ').next().unwrap_or(name);
        let mut times = Vec::new();
        for n in 0..WARM + RUNS {
            let took = call_hook(heirloom, root.path(), event_name, n, event(n))?;
            times.extend((n >= WARM).then_some(took));
        }
        let writes = if writes { ", writes" } else { "" };
        let id = format!("hooks.{}", name.replace(' ', "_"));
        let name = format!("hook {name}, {records} records{writes}");
        results::times(&id, &name, &Times::of(&times));
    }
    for name in ["Stop", "PreCompact", "SessionEnd"] {
        let times = time_learning(heirloom, root.path(), name)?;
        let id = format!("hooks.{name}_with_a_turn");
        let name = format!("hook {name}, {records} records, a new turn and its lessons");
        results::times(&id, &name, &times);
    }
    let outside = tempfile::tempdir()?;
    let mut times = Vec::new();
    for n in 0..WARM + RUNS {
        let took = call_hook(heirloom, outside.path(), "Stop", n, json!({}))?;
        times.extend((n >= WARM).then_some(took));
    }
    results::times(
        "hooks.outside",
        "hook outside of a project",
        &Times::of(&times),
    );
    Ok(())
}

type Event = (&'static str, bool, Box<dyn Fn(usize) -> Value>);

/// Returns the events, each with a flag for writing to the store and a function from session number to content.
fn events(root: &Path) -> Outcome<Vec<Event>> {
    let bash = |n: usize, name: &str, value: Value| {
        let command = format!("cargo test part{n}");
        let mut event = json!({"tool_name": "Bash", "tool_input": {"command": command}});
        event[name] = value;
        event
    };
    let transcript_file = write_transcripts(root)?;
    Ok(vec![
        (
            "SessionStart",
            true,
            Box::new(|_| json!({"source": "startup"})),
        ),
        (
            "PreToolUse",
            false,
            Box::new(move |n| bash(n, "tool_use_id", json!("t"))),
        ),
        (
            "PostToolUse",
            false,
            Box::new(move |n| bash(n, "tool_response", json!({"stdout": "ok"}))),
        ),
        (
            "PostToolUseFailure",
            true,
            Box::new(move |n| {
                bash(
                    n,
                    "error",
                    json!(format!("Exit code 1\nerror: no part {n}")),
                )
            }),
        ),
        (
            "Stop",
            false,
            Box::new(|_| json!({"last_assistant_message": "done"})),
        ),
        ("SessionEnd", true, Box::new(|_| json!({"reason": "other"}))),
        (
            "SessionEnd with 400 turns",
            true,
            Box::new(move |n| json!({"reason": "other", "transcript_path": transcript_file(n)})),
        ),
    ])
}

/// Measures a hook that imports a new turn of a long conversation and stores its lessons. A hook at the end of the turn
/// before has read the rest of the conversation.
fn time_learning(heirloom: &Path, root: &Path, name: &str) -> Outcome<Times> {
    let mut times = Vec::new();
    for n in 0..WARM + RUNS {
        let session = format!("{name}-{n}");
        let file = root.join(format!("{session}.jsonl"));
        let text = crate::transcripts::transcript_text(&session, root);
        let event = json!({"transcript_path": file, "session_id": session});
        heirloom_fs::durable::write_atomic(&file, text.as_bytes())?;
        call_hook(heirloom, root, "Stop", n, event.clone())?;
        let turn = format!("{text}{}", one_turn(&session));
        heirloom_fs::durable::write_atomic(&file, turn.as_bytes())?;
        let took = call_hook(heirloom, root, name, n, event)?;
        times.extend((n >= WARM).then_some(took));
    }
    Ok(Times::of(&times))
}

/// Returns the lines of a turn: a rule of a person, a command, and an answer.
fn one_turn(session: &str) -> String {
    let rule = format!("from now on run the tests of {session} before you commit");
    let command = json!({"command": "cargo test --workspace"});
    let call = json!([{"type": "tool_use", "id": "last", "name": "Bash", "input": command}]);
    let result =
        json!([{"type": "tool_result", "tool_use_id": "last", "content": "ok", "is_error": false}]);
    let lines = [
        ("user", json!(rule)),
        ("assistant", call),
        ("user", result),
        (
            "assistant",
            json!([{"type": "text", "text": "All tests pass."}]),
        ),
    ];
    let mut text = String::new();
    let mut parent = format!("{session}-{}", crate::transcripts::TURNS - 1);
    for (n, (kind, content)) in lines.into_iter().enumerate() {
        let id = format!("{session}-last-{n}");
        let line = json!({
            "type": kind, "uuid": id, "parentUuid": parent, "sessionId": session, "isSidechain": false,
            "timestamp": "2026-04-01T12:00:00.000Z", "message": {"id": format!("m{n}"), "content": content},
        });
        text.push_str(&line.to_string());
        text.push('\n');
        parent = id;
    }
    text
}

/// Writes a transcript of 400 messages for each session; returns a function from session number to file.
fn write_transcripts(root: &Path) -> Outcome<impl Fn(usize) -> std::path::PathBuf + use<>> {
    let folder = root.to_owned();
    for n in 0..WARM + RUNS {
        let text = crate::transcripts::transcript_text(&format!("s{n}"), root);
        heirloom_fs::durable::write_atomic(
            &folder.join(format!("talk{n}.jsonl")),
            text.as_bytes(),
        )?;
    }
    Ok(move |n| folder.join(format!("talk{n}.jsonl")))
}

/// Calls a hook through a shell as an agent program does, and returns how long it took.
pub(crate) fn call_hook(
    heirloom: &Path,
    root: &Path,
    name: &str,
    session: usize,
    mut event: Value,
) -> Outcome<Duration> {
    if event["session_id"].is_null() {
        event["session_id"] = json!(format!("s{session}"));
    }
    event["cwd"] = json!(root);
    let event = event.to_string();
    let start = Instant::now();
    let mut child = Command::new("sh")
        .arg("-c")
        .arg(format!("'{}' hook claude-code {name}", heirloom.display()))
        .current_dir(root)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()?;
    if let Some(mut pipe) = child.stdin.take() {
        pipe.write_all(event.as_bytes())?;
    }
    let status = child.wait()?;
    let took = start.elapsed();
    if !status.success() {
        return Err(format!("the hook {name} ended with {status}").into());
    }
    Ok(took)
}
