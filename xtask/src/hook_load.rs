//! `hooks`: thousands of hook calls in a row, as agent programs make them.
//!
//! Afterwards no process may be left, and no file may have grown in the second half but the log and the list of
//! calls, which have caps. What is learned makes the store grow: all of that happens in the first half.

use crate::cargo;
use crate::sandbox::{self, Sandbox};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

const HELP: &str = "\
usage: cargo xtask hooks [--calls N] [--heirloom PATH]

  --calls N        hook calls (10000); fewer than 5000 do not fill what has a cap, and so the store grows
  --heirloom PATH  this binary instead of building one
";

const CALLS_DEFAULT: usize = 10_000;
/// Number of sessions in turn, more than hooks keep state for.
const SESSIONS: usize = 130;
/// Allowed growth of the store without new records, in bytes: replaced entries move.
const STORE_GROWTH_MAX: u64 = 128 << 10;
/// Maximum size of each log in bytes: the limit and one line.
const LOG_BYTES_MAX: u64 = (64 << 10) + 4_096;
/// Maximum number of session files: a state and a lock for each kept session, and some reserve.
const STATES_MAX: usize = 210;

/// Runs the task; the error is the message for the developer.
pub(crate) fn run(args: &[String]) -> Result<(), String> {
    let Some((calls, heirloom)) = parse(args)? else {
        print!("{HELP}");
        return Ok(());
    };
    let built = match heirloom {
        Some(path) => path
            .canonicalize()
            .map_err(|error| sandbox::io_error("find", &path, &error))?,
        None => sandbox::build_heirloom()?,
    };
    let root = cargo::target_dir()?.join("calls");
    // A copy, so that its processes are identified by their path.
    let binary = root.with_extension("bin").join("heirloom");
    let folder = binary.parent().unwrap_or(&root);
    std::fs::create_dir_all(folder).map_err(|error| sandbox::io_error("create", folder, &error))?;
    std::fs::copy(&built, &binary).map_err(|error| sandbox::io_error("copy", &built, &error))?;
    let desk = Sandbox::fresh(&binary, &root)?;
    let mut caller = Caller::new(desk, binary)?;
    let half = calls / 2;
    caller.call_all(0..half, true)?;
    let before = caller.files()?;
    caller.call_all(half..calls, false)?;
    let after = caller.files()?;
    caller.report(calls, &before, &after);
    caller.check(&before, &after)?;
    caller.desk.remove()
}

/// Project in which hooks are called.
struct Caller {
    desk: Sandbox,
    binary: PathBuf,
    took: Vec<Duration>,
}

impl Caller {
    fn new(desk: Sandbox, binary: PathBuf) -> Result<Self, String> {
        for n in 0..40 {
            desk.call_ok(&[
                "remember",
                &format!("part {n} of the parser reads table {n} from src/table{n}.rs"),
            ])?;
        }
        for session in 0..SESSIONS {
            let line = |n: usize, kind: &str, content: Value| {
                json!({"type": kind, "uuid": format!("u{session}-{n}"), "sessionId": format!("s{session}"),
                    "cwd": desk.project(), "timestamp": "2026-04-01T10:00:00Z",
                    "message": {"id": format!("m{session}"), "content": content}})
                .to_string()
                    + "\n"
            };
            let said = json!([{"type": "text", "text": "I look at the parser."}]);
            let talk = line(0, "user", json!("mend the parser")) + &line(1, "assistant", said);
            let path = transcript(&desk, session);
            desk.write(&path, talk.as_bytes())?;
        }
        Ok(Self {
            desk,
            binary,
            took: Vec::new(),
        })
    }

    fn call_all(&mut self, numbers: std::ops::Range<usize>, learns: bool) -> Result<(), String> {
        for n in numbers {
            let session = (n / 11) % SESSIONS;
            let (name, event) = event(&self.desk, n, session, learns);
            self.call(name, &event)?;
            if n % 1_000 == 999 {
                eprintln!("hooks: {} calls", n + 1);
            }
        }
        Ok(())
    }

    /// Makes one call through a shell, as agent programs do.
    fn call(&mut self, name: &str, event: &str) -> Result<(), String> {
        let shell = format!("'{}' hook claude-code {name}", self.binary.display());
        let mut command = self.desk.command("sh", &["-c", &shell]);
        command.stdin(Stdio::piped());
        let began = Instant::now();
        let mut child = (command.spawn()).map_err(|error| format!("cannot start sh: {error}"))?;
        if let Some(mut pipe) = child.stdin.take() {
            (pipe.write_all(event.as_bytes()))
                .map_err(|error| format!("{name} reads no event: {error}"))?;
        }
        let output = child
            .wait_with_output()
            .map_err(|error| format!("cannot wait: {error}"))?;
        self.took.push(began.elapsed());
        if output.status.success() && output.stderr.is_empty() {
            return Ok(());
        }
        let said = sandbox::excerpt(&output.stderr);
        Err(format!(
            "the hook {name} ended with {}: {said}",
            output.status
        ))
    }

    /// Returns all files with their sizes after the store was closed: a call without time for that
    /// leaves the close to the next one.
    fn files(&self) -> Result<BTreeMap<String, u64>, String> {
        self.desk.call_ok(&["status"])?;
        let mut files = BTreeMap::new();
        let mut folders = vec![self.desk.root().to_owned()];
        while let Some(folder) = folders.pop() {
            let entries = std::fs::read_dir(&folder)
                .map_err(|error| sandbox::io_error("list", &folder, &error))?;
            for entry in entries {
                let path = entry
                    .map_err(|error| sandbox::io_error("list", &folder, &error))?
                    .path();
                let found = path
                    .symlink_metadata()
                    .map_err(|error| sandbox::io_error("look at", &path, &error))?;
                let name = path.strip_prefix(self.desk.root()).unwrap_or(&path);
                if found.is_dir() {
                    folders.push(path);
                } else {
                    files.insert(name.to_string_lossy().into_owned(), found.len());
                }
            }
        }
        Ok(files)
    }

    fn report(
        &mut self,
        calls: usize,
        before: &BTreeMap<String, u64>,
        after: &BTreeMap<String, u64>,
    ) {
        self.took.sort();
        let share = |hundredths: usize| {
            let place = (self.took.len() * hundredths / 100).min(self.took.len().saturating_sub(1));
            self.took
                .get(place)
                .map_or(0.0, |took| took.as_secs_f64() * 1e3)
        };
        let size = |files: &BTreeMap<String, u64>| files.values().sum::<u64>() / 1_024;
        println!(
            "hooks: {calls} calls, {:.1} ms p50, {:.1} ms p99; {} files of {} KiB after the first half, {} of {} KiB at the end",
            share(50),
            share(99),
            before.len(),
            size(before),
            after.len(),
            size(after)
        );
    }

    fn check(
        &self,
        before: &BTreeMap<String, u64>,
        after: &BTreeMap<String, u64>,
    ) -> Result<(), String> {
        let left = processes(&self.binary);
        ensure(left.is_empty(), || format!("processes are left: {left:?}"))?;
        let states = after.keys().filter(|name| name.contains("/hooks/")).count();
        ensure(states <= STATES_MAX, || {
            format!("{states} files of sessions")
        })?;
        for (name, size) in after {
            let is_log = name.contains("/hooks.log") || name.contains("/hooks/calls");
            let known = before.get(name).copied();
            let grown = size.saturating_sub(known.unwrap_or(0));
            let most = match () {
                () if is_log => LOG_BYTES_MAX.saturating_sub(known.unwrap_or(0)),
                () if name.ends_with("heirloom.db") => STORE_GROWTH_MAX,
                // The set of kept sessions changes; the size of a state does not.
                () if name.contains("/hooks/") => 64 << 10,
                () => 0,
            };
            ensure(grown <= most && (known.is_some() || most > 0), || {
                format!("{name} has grown from {known:?} to {size} bytes")
            })?;
        }
        let health = self.desk.json(&["status", "--json"])?;
        ensure(health["health"] == "ok", || format!("the store: {health}"))
    }
}

fn transcript(desk: &Sandbox, session: usize) -> PathBuf {
    desk.root().join(format!("talks/s{session}.jsonl"))
}

/// Returns the event of call `n` in the sequence of a session.
fn event(desk: &Sandbox, n: usize, session: usize, learns: bool) -> (&'static str, String) {
    let bash = |command: &str| json!({"tool_name": "Bash", "tool_input": {"command": command}});
    let with = |mut event: Value, name: &str, value: Value| {
        event[name] = value;
        event
    };
    let (name, event) = match n % 11 {
        0 => ("SessionStart", json!({"source": "startup"})),
        1 => (
            "UserPromptSubmit",
            json!({"prompt": format!("why does part {} of the parser read its table?", n % 40)}),
        ),
        2 => ("PreToolUse", bash("cargo test -p parser")),
        3 if learns && n < 2_000 => (
            "PostToolUseFailure",
            with(
                bash(&format!("make part{}", n % 7)),
                "error",
                json!("Exit code 2\nerror: no rule"),
            ),
        ),
        3 | 4 => (
            "PostToolUse",
            with(
                bash(&format!("make part{}", n % 7)),
                "tool_response",
                json!({"stdout": "ok"}),
            ),
        ),
        5 => (
            "PostToolUse",
            json!({"tool_name": "Edit", "tool_input": {"file_path": "src/parser.rs"}, "tool_response": {}}),
        ),
        6 => (
            "SubagentStart",
            json!({"agent_id": "a1", "agent_type": "Explore"}),
        ),
        7 => (
            "SubagentStop",
            json!({"agent_id": "a1", "last_assistant_message": "I looked.", "agent_transcript_path": "/nonexistent"}),
        ),
        8 => ("PreCompact", json!({"trigger": "auto"})),
        9 => (
            "Stop",
            json!({"last_assistant_message": "HEIRLOOM_MEMORY: KEY_FACT the parser has forty parts"}),
        ),
        // A successful session writes an episode; these occur in the first half.
        _ if learns => ("SessionEnd", json!({"reason": "other"})),
        _ => ("Stop", json!({})),
    };
    if n % 97 == 96 {
        return (name, "nonsense".to_owned());
    }
    let mut event = event;
    event["session_id"] = json!(format!("s{session}"));
    event["cwd"] = json!(desk.project());
    event["transcript_path"] = json!(transcript(desk, session));
    (name, event.to_string())
}

/// The processes of this binary that still run.
fn processes(binary: &Path) -> Vec<String> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let ours = entries.filter(|entry| {
        std::fs::read_link(entry.path().join("exe")).is_ok_and(|path| path == binary)
    });
    ours.map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect()
}

fn ensure(holds: bool, message: impl Fn() -> String) -> Result<(), String> {
    match holds {
        true => Ok(()),
        false => Err(message()),
    }
}

/// Returns the number of calls and the binary; `None` if help was requested.
fn parse(args: &[String]) -> Result<Option<(usize, Option<PathBuf>)>, String> {
    let (mut calls, mut heirloom) = (CALLS_DEFAULT, None);
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        if arg == "--help" || arg == "-h" {
            return Ok(None);
        }
        let mut value = || args.next().ok_or(format!("{arg} wants a value"));
        match arg.as_str() {
            "--calls" => {
                let given = value()?;
                calls = (given.parse())
                    .map_err(|_| format!("--calls wants a whole number, got `{given}`"))?;
            }
            "--heirloom" => heirloom = Some(value()?.into()),
            other => return Err(format!("what is `{other}`?\n{HELP}")),
        }
    }
    Ok(Some((calls, heirloom)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parse_arguments_accepts_options_and_refuses_others() {
        let parsed = |line: &str| {
            let args: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
            parse(&args)
        };
        assert_eq!(parsed(""), Ok(Some((CALLS_DEFAULT, None))));
        let options = parsed("--calls 3 --heirloom h");
        assert_eq!(options, Ok(Some((3, Some("h".into())))));
        assert_eq!(parsed("-h"), Ok(None));
        for bad in ["--calls", "--calls x", "more"] {
            assert!(parsed(bad).is_err(), "{bad}");
        }
    }
}
