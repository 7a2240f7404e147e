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

fn call_hook(
    heirloom: &Path,
    root: &Path,
    name: &str,
    session: usize,
    mut event: Value,
) -> Outcome<Duration> {
    event["session_id"] = json!(format!("s{session}"));
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
