//! Window of a very long history, and quality and cost of windows over recorded conversations.

use crate::stats::Times;
use crate::{Outcome, fixture, results};
use heirloom_window::{Conversation, Policy, WindowState, WireFormat, compact};
use serde_json::{Value, json};
use std::fmt::Write;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Number of messages of the long history, and their characters.
const MESSAGES: usize = 20_000;
const CHARS: usize = 16_000_000;
/// Number of windows without state that are timed.
const COLD_RUNS: usize = 20;
/// Number of turns that are added with state.
const TURNS: usize = 200;
/// Number of runs of each turn; the fastest counts, so that other processes do not.
const TRIES: usize = 5;
/// Number of runs of the command in each form.
const COMMAND_RUNS: usize = 5;

/// Figures of `heirloom bench window` that are reported: field, id, name, unit, factor.
const QUALITY: [(&str, &str, &str, &str, f64); 12] = [
    ("cost", "cost", "cost, against no policy", "×", 1.0),
    (
        "cost_refetch",
        "cost_refetch",
        "cost with fetching again",
        "×",
        1.0,
    ),
    (
        "cost_median",
        "cost_median",
        "cost of the median conversation",
        "×",
        1.0,
    ),
    (
        "cost_worst",
        "cost_worst",
        "cost of the worst conversation",
        "×",
        1.0,
    ),
    (
        "breaks",
        "breaks",
        "requests that break the cache",
        "%",
        100.0,
    ),
    ("peak", "peak", "largest request", "tokens", 1.0),
    ("goal", "goal", "requests with the goal", "%", 100.0),
    (
        "near",
        "near",
        "requests with the goal near their end",
        "%",
        100.0,
    ),
    (
        "recall",
        "recall",
        "identifiers that are needed again and present",
        "%",
        100.0,
    ),
    ("fresh", "fresh", "fresh identifiers present", "%", 100.0),
    ("old", "old", "old identifiers present", "%", 100.0),
    ("lost", "lost", "tokens beyond recovery", "tokens", 1.0),
];

pub(crate) fn measure(heirloom: Option<&Path>, data: Option<&Path>) -> Outcome<()> {
    measure_speed()?;
    if let Some(heirloom) = heirloom {
        measure_command(heirloom)?;
    }
    let (Some(heirloom), Some(data)) = (heirloom, data) else {
        println!("windows of conversations: skipped, no --heirloom BINARY or no --data FOLDER");
        return Ok(());
    };
    measure_quality(heirloom, data)
}

/// First messages of the long history.
const HEAD: [&str; 2] = [
    r#"{"role":"system","content":"You are careful."}"#,
    r#"{"role":"user","content":"Find out why the parser loses the last line of src/form/chat.rs, and mend it."}"#,
];

/// Returns the messages of the long history.
fn long_history() -> Outcome<Vec<String>> {
    let mut messages: Vec<String> = HEAD.map(str::to_owned).into();
    while messages.len() < MESSAGES {
        messages.extend(turn(messages.len())?);
    }
    Ok(messages)
}

fn measure_speed() -> Outcome<()> {
    let mut history = Conversation::new(WireFormat::Openai);
    for message in long_history()? {
        history.push(&message)?;
    }
    let policy = Policy::default();
    let mut cold = Vec::new();
    for _ in 0..COLD_RUNS {
        let start = Instant::now();
        let window = compact(&history, &policy, &mut WindowState::default());
        cold.push(start.elapsed());
        assert!(!window.messages.is_empty(), "the window is empty");
    }
    let name = format!("window of {MESSAGES} parsed messages, without state");
    results::times("window.cold", &name, &Times::of(&cold));
    let mut state = WindowState::default();
    compact(&history, &policy, &mut state);
    let mut warm = Vec::new();
    for _ in 0..TURNS {
        for message in turn(history.len())? {
            history.push(&message)?;
        }
        warm.push(time_turn(&history, &policy, &mut state));
    }
    results::times("window.turn", "window, one more turn", &Times::of(&warm));
    Ok(())
}

/// Returns the time of one more turn: the minimum of several runs.
fn time_turn(history: &Conversation, policy: &Policy, state: &mut WindowState) -> Duration {
    let before = state.clone();
    let mut least = Duration::MAX;
    for _ in 0..TRIES {
        let mut tried = before.clone();
        let start = Instant::now();
        compact(history, policy, &mut tried);
        least = least.min(start.elapsed());
        *state = tried;
    }
    least
}

/// Returns a call and its result as messages `nth` and the next; one result in fifty is long.
fn turn(nth: usize) -> Outcome<[String; 2]> {
    let arguments = json!({"command": format!("sed -n {nth},+40p src/form/part_{}.rs", nth % 97)});
    let call = json!({"role": "assistant", "content": format!("I look at part {nth} of the parser next."),
        "tool_calls": [{"id": format!("call_{nth}"), "type": "function",
            "function": {"name": "bash", "arguments": arguments.to_string()}}]});
    let usual = 2 * CHARS / MESSAGES - 330;
    let length = match nth % 100 {
        2 => usual * 12,
        _ => usual - usual / 5,
    };
    let (mut text, mut line) = (String::new(), 0);
    while text.len() < length {
        line += 1;
        let (value, reader) = (line % 37, nth % 11);
        writeln!(
            text,
            "{line:>6}  let value_{value} = self.reader_{reader}.read(&mut buffer)?; // part {nth}"
        )?;
    }
    let answer = json!({"role": "tool", "tool_call_id": format!("call_{nth}"), "content": text});
    Ok([call.to_string(), answer.to_string()])
}

/// Runs `heirloom compact` on the long history: alone, and twice for a session.
fn measure_command(heirloom: &Path) -> Outcome<()> {
    let root = tempfile::tempdir()?;
    drop(fixture::engine(root.path())?);
    let messages = long_history()?;
    let history = root.path().join("history.json");
    let text = format!("[{}]", messages.join(","));
    heirloom_fs::durable::write_atomic(&history, text.as_bytes())?;
    let next = root.path().join("next.json");
    let more = turn(messages.len())?.join(",");
    let text = format!("[{},{more}]", messages.join(","));
    heirloom_fs::durable::write_atomic(&next, text.as_bytes())?;
    let run = |args: &[&str], input: &Path| -> Outcome<Duration> {
        let start = Instant::now();
        let status = Command::new(heirloom)
            .arg("compact")
            .args(args)
            .current_dir(root.path())
            .stdin(File::open(input)?)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()?;
        match status.success() {
            true => Ok(start.elapsed()),
            false => Err(format!("heirloom compact ended with {status}").into()),
        }
    };
    let mut times: [Vec<Duration>; 3] = Default::default();
    for n in 0..COMMAND_RUNS {
        let session = format!("s{n}");
        times[0].push(run(&[], &history)?);
        times[1].push(run(&["--session", &session], &history)?);
        times[2].push(run(&["--session", &session], &next)?);
    }
    let [plain, first, again] = times.each_ref().map(|times| Times::of(times));
    results::times("window.command", "heirloom compact", &plain);
    results::times(
        "window.command_first",
        "heirloom compact, a session",
        &first,
    );
    results::times(
        "window.command_next",
        "heirloom compact, its next turn",
        &again,
    );
    Ok(())
}

/// Replays the conversations of a folder under each policy.
fn measure_quality(heirloom: &Path, data: &Path) -> Outcome<()> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(data)?
        .map(|entry| Ok(entry?.path()))
        .collect::<Outcome<_>>()?;
    files.retain(|file| {
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        name.ends_with(".json") || name.ends_with(".json.gz")
    });
    files.sort();
    // The defaults apply: no settings of the machine, no project.
    let root = tempfile::tempdir()?;
    let output = Command::new(heirloom)
        .args(["bench", "window", "--json", "--in"])
        .args(&files)
        .current_dir(root.path())
        .env("HOME", root.path())
        .output()?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned().into());
    }
    let report: Value = serde_json::from_slice(&output.stdout)?;
    let policy = report["policy"].as_str().unwrap_or_default();
    let sum = &report["sum"][policy];
    for (field, id, name, unit, factor) in QUALITY {
        let value = sum[field].as_f64().ok_or(format!("no field {field}"))?;
        let name = format!("window over {} conversations: {name}", files.len());
        results::value(&format!("window.{id}"), &name, unit, value * factor);
    }
    let other = report["sum"]["keep-last-40k"]["cost"].as_f64();
    let name = "cost of keeping the last 40,000 tokens, against no policy";
    results::value("window.keep_last", name, "×", other.unwrap_or(f64::NAN));
    Ok(())
}
