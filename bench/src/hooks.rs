//! How long an agent program waits for each of its hooks, started through a shell as it starts them.

use crate::dice::Dice;
use crate::stats::Times;
use crate::{Outcome, probe};
use serde_json::{Value, json};
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Records in the store.
const RECORDS: usize = 100_000;
/// Words of a text.
const WORDS: usize = 19;
/// Calls of each hook.
const RUNS: usize = 100;
/// Calls before the clock counts.
const WARM: usize = 3;

pub(crate) fn measure(heirloom: Option<&Path>, to: Option<usize>) -> Outcome<()> {
    let Some(heirloom) = heirloom else {
        println!("hooks: skipped, no --heirloom BINARY");
        return Ok(());
    };
    let root = tempfile::tempdir()?;
    let engine = probe::engine(root.path())?;
    let records = to.unwrap_or(RECORDS);
    let mut dice = Dice(31);
    probe::fill_with(&engine, 0, records, &mut |_| dice.text(WORDS))?;
    drop(engine);
    let syncs = probe::bare_syncs(root.path(), RUNS)?;
    Times::of(&syncs).print("a write with a sync, of which one is in what writes");
    let mut nothing = Vec::new();
    for _ in 0..RUNS {
        let start = Instant::now();
        Command::new("sh").arg("-c").arg("true").status()?;
        nothing.push(start.elapsed());
    }
    Times::of(&nothing).print("sh -c true");
    let prompts = Dice(37).prompts(WARM + RUNS);
    let mut times = Vec::new();
    for (n, prompt) in prompts.iter().enumerate() {
        let event = json!({"prompt": prompt});
        let took = call(heirloom, root.path(), "UserPromptSubmit", n, event)?;
        times.extend((n >= WARM).then_some(took));
    }
    Times::of(&times).print(&format!("hook UserPromptSubmit, {records} records"));
    for (name, writes, event) in events(root.path())? {
        let spelled = name.split(' ').next().unwrap_or(name);
        let mut times = Vec::new();
        for n in 0..WARM + RUNS {
            let took = call(heirloom, root.path(), spelled, n, event(n))?;
            times.extend((n >= WARM).then_some(took));
        }
        let writes = if writes { ", writes" } else { "" };
        Times::of(&times).print(&format!("hook {name}, {records} records{writes}"));
    }
    let outside = tempfile::tempdir()?;
    let mut times = Vec::new();
    for n in 0..WARM + RUNS {
        let took = call(heirloom, outside.path(), "Stop", n, json!({}))?;
        times.extend((n >= WARM).then_some(took));
    }
    Times::of(&times).print("hook outside of a project");
    Ok(())
}

type Event = (&'static str, bool, Box<dyn Fn(usize) -> Value>);

/// The events, whether each writes to the store, and what it says in each session.
fn events(root: &Path) -> Outcome<Vec<Event>> {
    let bash = |n: usize, name: &str, value: Value| {
        let command = format!("cargo test part{n}");
        let mut event = json!({"tool_name": "Bash", "tool_input": {"command": command}});
        event[name] = value;
        event
    };
    let talk = talk(root)?;
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
            Box::new(move |n| json!({"reason": "other", "transcript_path": talk(n)})),
        ),
    ])
}

/// Conversations of 400 turns, one for each session, in their files.
fn talk(root: &Path) -> Outcome<impl Fn(usize) -> std::path::PathBuf + use<>> {
    let folder = root.to_owned();
    for n in 0..WARM + RUNS {
        let text = crate::transcripts::talk(&format!("s{n}"), root);
        heirloom_store::durable::write_atomic(
            &folder.join(format!("talk{n}.jsonl")),
            text.as_bytes(),
        )?;
    }
    Ok(move |n| folder.join(format!("talk{n}.jsonl")))
}

fn call(
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
