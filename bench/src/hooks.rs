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
    let bash = json!({"tool_name": "Bash", "tool_input": {"command": "cargo test"}});
    let with = |name: &str, value: Value| {
        let mut event = bash.clone();
        event[name] = value;
        event
    };
    let events = [
        ("SessionStart", json!({"source": "startup"})),
        ("PreToolUse", bash.clone()),
        (
            "PostToolUse",
            with("tool_response", json!({"stdout": "ok"})),
        ),
        ("PostToolUseFailure", with("error", json!("Exit code 1"))),
        ("Stop", json!({"last_assistant_message": "done"})),
        ("SessionEnd", json!({"reason": "other"})),
    ];
    let prompts = Dice(37).prompts(WARM + RUNS);
    let mut times = Vec::new();
    for (n, prompt) in prompts.iter().enumerate() {
        let event = json!({"prompt": prompt});
        let took = call(heirloom, root.path(), "UserPromptSubmit", n, event)?;
        times.extend((n >= WARM).then_some(took));
    }
    Times::of(&times).print(&format!("hook UserPromptSubmit, {records} records"));
    for (name, event) in events {
        let mut times = Vec::new();
        for n in 0..WARM + RUNS {
            let took = call(heirloom, root.path(), name, n, event.clone())?;
            times.extend((n >= WARM).then_some(took));
        }
        Times::of(&times).print(&format!("hook {name}, {records} records"));
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
