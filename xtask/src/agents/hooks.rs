//! Drives one program with hooks: without them, with them, with failing hooks, and with Heirloom removed.

use crate::unix_files::set_mode;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use heirloom_testkit::RecordedRequest;
use serde_json::Value;

use super::iterations::Stage;
use super::model_script::{LEARNED, LONG, SHOWN};
use super::program::{PROMPT, Program};
use super::{concurrent, install, lesson_question, model_script, rules, subagent};

/// Fact that is stored before the session begins.
pub(super) const KNOWN: &str = "the login tests need the clock of tests/clock.rs";

/// Start of the envelope's tag without its bracket, which Gemini CLI encodes.
const FENCE: &str = "heirloom-memory project=";

/// Result of driving one program.
#[derive(Debug)]
pub(crate) struct HookRun {
    /// The program.
    pub(crate) program: &'static Program,
    /// Requests that the model answered without hooks, with hooks, with failing hooks, and with Heirloom removed.
    pub(crate) requests: [usize; 4],
    /// Total time.
    pub(crate) elapsed: Duration,
    /// The first failed check.
    pub(crate) outcome: Result<(), String>,
}

/// Drives the program four times.
pub(crate) fn drive(program: &'static Program, heirloom: &Path) -> HookRun {
    let started = Instant::now();
    let mut requests = [0; 4];
    let outcome = all(program, heirloom, &mut requests);
    HookRun {
        program,
        requests,
        elapsed: started.elapsed(),
        outcome,
    }
}

fn all(
    program: &'static Program,
    heirloom: &Path,
    requests: &mut [usize; 4],
) -> Result<(), String> {
    let folder = heirloom.parent().ok_or("the binary is in no folder")?;
    let without = Stage::set(program, model_script::script(program))?;
    agent(&without, folder)?;
    requests[0] = without.service.main_requests().len();
    let with = Stage::set(program, model_script::script(program))?;
    let outcome = with_hooks(&with, heirloom, folder);
    requests[1] = with.service.main_requests().len();
    outcome.map_err(|error| format!("{error} ({})", with.keep()))?;
    let dying = Stage::set(program, model_script::script(program))?;
    let outcome = with_dying_hooks(&dying, heirloom);
    requests[2] = dying.service.main_requests().len();
    outcome.map_err(|error| format!("{error} ({})", dying.keep()))?;
    let removed = Stage::set(program, model_script::script(program))?;
    let outcome = with_heirloom_removed(&removed, heirloom);
    requests[3] = removed.service.main_requests().len();
    outcome.map_err(|error| format!("{error} ({})", removed.keep()))?;
    concurrent::drive(program, heirloom)?;
    rules::drive(program, heirloom)?;
    lesson_question::drive(program, heirloom)?;
    if let Some(sort) = program.subagents {
        subagent::drive(program, sort, heirloom)?;
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
    )?;
    ensure(
        requests[3] == requests[0],
        &format!(
            "{} turns with Heirloom removed, {} without hooks",
            requests[3], requests[0]
        ),
    )
}

fn with_hooks(stage: &Stage, heirloom: &Path, folder: &Path) -> Result<(), String> {
    let run_step =
        |args: &[&str], name: &str| step(stage, stage.command(heirloom).args(args), name);
    run_step(&["init", "--yes"], "init")?;
    run_step(&["remember", KNOWN], "remember")?;
    run_step(&["install", stage.program().name, "--yes"], "install")?;
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
            "Heirloom's text occurs in a tool's result",
        )?;
    }
    run_step(&["list", "--kind", "knowledge", "--json"], "list")?;
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
    run_step(&["status", "--json"], "status")?;
    let status: Value = serde_json::from_str(&stage.output("status", "out"))
        .map_err(|error| format!("`heirloom status --json` printed no JSON: {error}"))?;
    let hooks = &status["hooks"];
    ensure(hooks["failures"] == 0, &format!("hooks failed: {hooks}"))?;
    ensure(
        hooks["calls"].as_u64().is_some_and(|calls| calls >= 4),
        &format!("few hooks were called: {hooks}"),
    )?;
    check_no_copies(stage)?;
    check_archive(stage, heirloom)
}

/// Checks that no copy of a conversation remains for the import of a session.
fn check_no_copies(stage: &Stage) -> Result<(), String> {
    let Some(folder) = stage.program().copies else {
        return Ok(());
    };
    let entries = std::fs::read_dir(stage.home.join(folder));
    let count = entries.map_or(0, Iterator::count);
    ensure(
        count == 0,
        &format!("{count} copies of conversations remain"),
    )
}

/// Checks that the ended session is stored without Heirloom's own text, and that an import adds nothing.
fn check_archive(stage: &Stage, heirloom: &Path) -> Result<(), String> {
    let json = |args: &[&str], name: &str| json_answer(stage, heirloom, args, name);
    let found = json(&["session", "search", PROMPT], "search")?;
    let session = found["hits"][0]["session"].as_str().unwrap_or_default();
    ensure(!session.is_empty(), "the prompt is in no session")?;
    let shown = json(&["session", "show", session], "show")?;
    ensure(
        shown["ended_at"].is_string() && shown["attrs"]["hooks"] == true,
        "the session has no end, or was not begun by its hooks",
    )?;
    let messages = shown["messages"].as_array().map_or(0, Vec::len);
    ensure(
        messages >= 3,
        &format!("{messages} messages of the session"),
    )?;
    for text in [KNOWN, FENCE] {
        let is_kept = count(&shown["messages"], text) > 0;
        ensure(!is_kept, "Heirloom's text is stored as a message")?;
    }
    let mut import = vec!["import", stage.program().import];
    let exported = stage.home.join("exported.json");
    let exported_name = exported.display().to_string();
    if let Some(arguments) = stage.program().export {
        let program = install::folder(stage.program())?.join(stage.program().binary);
        let mut export = stage.command(&program);
        step(stage, export.args(arguments).arg(session), "export")?;
        std::fs::write(&exported, stage.output("export", "out"))
            .map_err(|error| format!("cannot write {exported_name}: {error}"))?;
        import.push(&exported_name);
    }
    let report = json(&import, "import")?;
    ensure(
        report["created"] == 0 && report["files"].as_u64().is_some_and(|files| files > 0),
        &format!("an import after the session added records: {report}"),
    )
}

/// Drives the program with a hook command that is killed while it reads its event.
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
    set_mode(&dying, 0o700).map_err(text)?;
    agent(stage, &folder)?;
    check_no_copies(stage)?;
    let deaths = std::fs::read_to_string(stage.home.join("deaths")).unwrap_or_default();
    ensure(deaths.lines().count() >= 3, "hardly any hook was called")
}

/// Drives the program with hooks whose binary is missing, also in the project's settings, as on a teammate's machine.
fn with_heirloom_removed(stage: &Stage, heirloom: &Path) -> Result<(), String> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let has_it = std::env::split_paths(&path).any(|folder| folder.join("heirloom").exists());
    ensure(!has_it, "take `heirloom` off the PATH: hooks would find it")?;
    let name = stage.program().name;
    for args in [
        ["init", "--yes"].as_slice(),
        &["install", name, "--yes"],
        &["install", name, "--scope", "project", "--yes"],
    ] {
        step(stage, stage.command(heirloom).args(args), args[0])?;
    }
    // The replacement on the PATH counts the calls.
    let folder = stage.home.join("bin");
    let counter = folder.join("cat");
    let text = |error: std::io::Error| format!("cannot write {}: {error}", counter.display());
    std::fs::create_dir_all(&folder).map_err(text)?;
    let script = "#!/bin/sh\necho called >> \"$HOME/missing\"\nexec /bin/cat \"$@\"\n";
    std::fs::write(&counter, script).map_err(text)?;
    set_mode(&counter, 0o700).map_err(text)?;
    agent(stage, &folder)?;
    let calls = std::fs::read_to_string(stage.home.join("missing")).unwrap_or_default();
    ensure(calls.lines().count() >= 3, "hardly any hook was called")
}

/// Runs the agent as a person would, with `folder` on the PATH.
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

/// Puts Heirloom on the PATH of the program's hooks and marks them as accepted.
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
    let last = words.lines().last().unwrap_or("no output");
    Err(format!("{name}: {status}: {last}"))
}

/// Returns the JSON output of a `heirloom` command.
pub(super) fn json_answer(
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

/// Counts the occurrences of a text in the strings of a request.
pub(super) fn count(value: &Value, text: &str) -> usize {
    match value {
        Value::String(text_value) => text_value.matches(text).count(),
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
