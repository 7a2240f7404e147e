//! One program that calls Heirloom by its hooks: without them, with them, and with hooks that die.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use heirloom_testkit::RecordedRequest;
use serde_json::Value;

use super::drive::Stage;
use super::plan::{LEARNED, LONG, SHOWN};
use super::program::{PROMPT, Program};
use super::{aside, beside, install, plan};

/// What is known before the session begins.
pub(super) const KNOWN: &str = "the login tests need the clock of tests/clock.rs";

/// What begins our text; of what stands around it Gemini CLI makes something else.
const FENCE: &str = "heirloom-memory project=";

/// What came of one program.
#[derive(Debug)]
pub(crate) struct Hooked {
    /// The program.
    pub(crate) program: &'static Program,
    /// Requests that the model answered without hooks, with them, and with hooks that die.
    pub(crate) requests: [usize; 3],
    /// How long all of it took.
    pub(crate) elapsed: Duration,
    /// The first broken promise.
    pub(crate) outcome: Result<(), String>,
}

/// Drives the program three times.
pub(crate) fn drive(program: &'static Program, heirloom: &Path) -> Hooked {
    let started = Instant::now();
    let mut requests = [0; 3];
    let outcome = all(program, heirloom, &mut requests);
    Hooked {
        program,
        requests,
        elapsed: started.elapsed(),
        outcome,
    }
}

fn all(
    program: &'static Program,
    heirloom: &Path,
    requests: &mut [usize; 3],
) -> Result<(), String> {
    let folder = heirloom.parent().ok_or("the binary is in no folder")?;
    let without = Stage::set(program, plan::script(program))?;
    agent(&without, folder)?;
    requests[0] = without.service.main_requests().len();
    let with = Stage::set(program, plan::script(program))?;
    let outcome = with_hooks(&with, heirloom, folder);
    requests[1] = with.service.main_requests().len();
    outcome.map_err(|error| format!("{error} ({})", with.keep()))?;
    let dying = Stage::set(program, plan::script(program))?;
    let outcome = with_dying_hooks(&dying, heirloom);
    requests[2] = dying.service.main_requests().len();
    outcome.map_err(|error| format!("{error} ({})", dying.keep()))?;
    beside::drive(program, heirloom)?;
    if let Some(sort) = program.subagents {
        aside::drive(program, sort, heirloom)?;
    }
    ensure(
        requests[1] == requests[0],
        &format!("{} turns with hooks, {} without", requests[1], requests[0]),
    )?;
    ensure(
        requests[2] == requests[0],
        &format!(
            "{} turns with dying hooks, {} without",
            requests[2], requests[0]
        ),
    )
}

fn with_hooks(stage: &Stage, heirloom: &Path, folder: &Path) -> Result<(), String> {
    let said = |args: &[&str], name: &str| step(stage, stage.command(heirloom).args(args), name);
    said(&["init", "--yes"], "init")?;
    said(&["remember", KNOWN], "remember")?;
    said(&["install", stage.program().name, "--yes"], "install")?;
    agent(stage, folder)?;
    let requests = stage.service.main_requests();
    let first = requests.first().ok_or("no request reached the model")?;
    ensure(
        !first.ends_with_tool_result(),
        "the first request has a tool's result",
    )?;
    for (n, request) in requests.iter().enumerate() {
        for text in [KNOWN, FENCE] {
            let count = count(&request.body, text);
            let wrong = format!("request {} has \"{text}\" {count} times, not once", n + 1);
            ensure(count == 1, &wrong)?;
        }
        ensure(
            !in_a_tool_result(request),
            "what memory said stands in a tool's result",
        )?;
    }
    said(&["list", "--kind", "knowledge", "--json"], "list")?;
    let listed = stage.output("list", "out");
    for text in [LEARNED, LONG] {
        let count = listed.matches(text).count();
        ensure(
            count == 1,
            &format!("\"{text}\" was recorded {count} times"),
        )?;
    }
    ensure(
        !listed.contains(SHOWN),
        "a signal in a tool's output was recorded",
    )?;
    said(&["status", "--json"], "status")?;
    let status: Value = serde_json::from_str(&stage.output("status", "out"))
        .map_err(|error| format!("`heirloom status --json` printed no JSON: {error}"))?;
    let hooks = &status["hooks"];
    ensure(hooks["failures"] == 0, &format!("hooks failed: {hooks}"))?;
    ensure(
        hooks["calls"].as_u64().is_some_and(|calls| calls >= 4),
        &format!("few hooks were called: {hooks}"),
    )?;
    archived(stage, heirloom)
}

/// What was said in the session is here when it has ended, without what memory said; an import brings nothing more.
fn archived(stage: &Stage, heirloom: &Path) -> Result<(), String> {
    let json = |args: &[&str], name: &str| answer(stage, heirloom, args, name);
    let found = json(&["session", "search", PROMPT], "search")?;
    let session = found["hits"][0]["session"].as_str().unwrap_or_default();
    ensure(!session.is_empty(), "the prompt is in no session")?;
    let shown = json(&["session", "show", session], "show")?;
    ensure(
        shown["ended_at"].is_string() && shown["attrs"]["hooks"] == true,
        "the session has no end, or was not begun by its hooks",
    )?;
    let said = shown["messages"].as_array().map_or(0, Vec::len);
    ensure(said >= 3, &format!("{said} messages of the session"))?;
    for text in [KNOWN, FENCE] {
        let is_kept = count(&shown["messages"], text) > 0;
        ensure(!is_kept, "what memory said is kept as a message")?;
    }
    let report = json(&["import", stage.program().import], "import")?;
    ensure(
        report["created"] == 0 && report["files"].as_u64().is_some_and(|files| files > 0),
        &format!("an import behind the session brought more: {report}"),
    )
}

/// The same with a program in Heirloom's place that is killed while it reads its event.
fn with_dying_hooks(stage: &Stage, heirloom: &Path) -> Result<(), String> {
    let install = ["install", stage.program().name, "--yes"];
    step(
        stage,
        stage.command(heirloom).args(["init", "--yes"]),
        "init",
    )?;
    step(stage, stage.command(heirloom).args(install), "install")?;
    let folder = stage.home.join("bin");
    let dying = folder.join("heirloom");
    let text = |error: std::io::Error| format!("cannot write {}: {error}", dying.display());
    std::fs::create_dir_all(&folder).map_err(text)?;
    let script = "#!/bin/sh\necho called >> \"$HOME/deaths\"\nhead -c 10 > /dev/null\nkill -9 $$\n";
    std::fs::write(&dying, script).map_err(text)?;
    std::fs::set_permissions(&dying, PermissionsExt::from_mode(0o700)).map_err(text)?;
    agent(stage, &folder)?;
    let deaths = std::fs::read_to_string(stage.home.join("deaths")).unwrap_or_default();
    ensure(deaths.lines().count() >= 3, "hardly any hook was called")
}

/// Runs the agent as its person would, with `folder` on the path.
pub(super) fn agent(stage: &Stage, folder: &Path) -> Result<(), String> {
    let program = stage.program();
    let line = program.command_line(&install::folder(program)?);
    let path = std::env::var("PATH").unwrap_or_default();
    let mut command = stage.command(line[0].as_ref());
    command.args(&line[1..]);
    command.args(program.trust_arguments);
    command.env("PATH", format!("{}:{path}", folder.display()));
    step(stage, &mut command, "agent")
}

/// The program's hooks find Heirloom, and its person has accepted them.
pub(super) fn with_path(
    command: &mut Command,
    program: &Program,
    heirloom: &Path,
) -> Result<(), String> {
    let folder = heirloom.parent().ok_or("the binary is in no folder")?;
    let path = std::env::var("PATH").unwrap_or_default();
    command.args(program.trust_arguments);
    command.env("PATH", format!("{}:{path}", folder.display()));
    Ok(())
}

pub(super) fn step(stage: &Stage, command: &mut Command, name: &str) -> Result<(), String> {
    let status = stage.run(command, name)?;
    if status.success() {
        return Ok(());
    }
    let words = stage.output(name, "err");
    let last = words.lines().last().unwrap_or("it said nothing");
    Err(format!("{name}: {status}: {last}"))
}

/// What a command of ours answers with `--json`.
pub(super) fn answer(
    stage: &Stage,
    heirloom: &Path,
    args: &[&str],
    name: &str,
) -> Result<Value, String> {
    let mut command = stage.command(heirloom);
    step(stage, command.args(args).arg("--json"), name)?;
    serde_json::from_str(&stage.output(name, "out"))
        .map_err(|error| format!("`heirloom {name}` printed no JSON: {error}"))
}

/// How often a text stands in the strings of a request.
pub(super) fn count(value: &Value, text: &str) -> usize {
    match value {
        Value::String(said) => said.matches(text).count(),
        Value::Array(parts) => parts.iter().map(|part| count(part, text)).sum(),
        Value::Object(fields) => fields.values().map(|part| count(part, text)).sum(),
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
    }
}

fn in_a_tool_result(request: &RecordedRequest) -> bool {
    fn walk(value: &Value) -> bool {
        match value {
            Value::Array(parts) => parts.iter().any(walk),
            Value::Object(fields) => {
                let kind = fields.get("type").and_then(Value::as_str).unwrap_or("");
                let is_result = kind == "tool_result"
                    || kind.ends_with("_output")
                    || fields.contains_key("functionResponse");
                (is_result && count(value, KNOWN) > 0) || fields.values().any(walk)
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
        }
    }
    walk(&request.body)
}

pub(super) fn ensure(holds: bool, message: &str) -> Result<(), String> {
    if holds {
        Ok(())
    } else {
        Err(message.to_owned())
    }
}
