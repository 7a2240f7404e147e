//! Drives a program with Heirloom's plugin or extension, which the program's own command installs: alone, together with
//! the hooks of `heirloom install`, and after its removal.

use std::path::Path;
use std::time::{Duration, Instant};

use heirloom_testkit::{RecordedRequest, Script, Turn};
use serde_json::Value;

use crate::cargo;

use super::hooks::{KNOWN, agent, count, ensure, json_answer, step};
use super::install;
use super::iterations::Stage;
use super::lesson_question::{TEST, fail};
use super::mcp_client::{TOOLS, tool_name};
use super::program::Program;

/// Fact that the agent reports.
const LEARNED: &str = "the project has no tests of the login yet";

/// Result of driving one program.
#[derive(Debug)]
pub(crate) struct PluginRun {
    /// The program.
    pub(crate) program: &'static Program,
    /// Total time.
    pub(crate) elapsed: Duration,
    /// The first failed check.
    pub(crate) outcome: Result<(), String>,
}

/// Commands of a program that install and remove our plugin; `ROOT` is replaced by the repository.
#[derive(Debug)]
pub(crate) struct PluginCommands {
    /// Commands that check and install it.
    pub(crate) install: &'static [&'static [&'static str]],
    /// Command that removes it.
    pub(crate) remove: &'static [&'static str],
}

/// Drives the program three times.
pub(crate) fn drive(program: &'static Program, heirloom: &Path) -> PluginRun {
    let started = Instant::now();
    let outcome = match &program.plugin {
        Some(commands) => all(program, commands, heirloom),
        None => Err("it has no plugin".to_owned()),
    };
    PluginRun {
        program,
        elapsed: started.elapsed(),
        outcome,
    }
}

/// Installation of a session.
#[derive(Clone, Copy, PartialEq)]
enum Setup {
    Plugin,
    PluginAndHooks,
    Removed,
}

fn all(
    program: &'static Program,
    commands: &PluginCommands,
    heirloom: &Path,
) -> Result<(), String> {
    for (setup, name) in [
        (Setup::Plugin, "the plugin"),
        (Setup::PluginAndHooks, "the plugin and the hooks"),
        (Setup::Removed, "the plugin removed"),
    ] {
        let stage = Stage::set(program, script(program))?;
        let outcome = act(&stage, commands, heirloom, setup);
        outcome.map_err(|error| format!("with {name}: {error} ({})", stage.keep()))?;
    }
    Ok(())
}

/// Script of a model that runs a failing command, reports a fact and ends.
fn script(program: &'static Program) -> Script {
    let mut call = program.read_call();
    if let Some((_, input)) = &mut call {
        fail(input);
    }
    Script::function(move |request: &RecordedRequest| match &call {
        Some((name, input)) if !request.ends_with_tool_result() => {
            Turn::text("I run the tests.").and_call(*name, input.clone())
        }
        _ => Turn::text(format!(
            "They do not run.\n\nHEIRLOOM_MEMORY: KEY_FACT {LEARNED}\n"
        )),
    })
}

fn act(
    stage: &Stage,
    commands: &PluginCommands,
    heirloom: &Path,
    setup: Setup,
) -> Result<(), String> {
    let program = stage.program();
    let folder = heirloom.parent().ok_or("the binary is in no folder")?;
    let run_step =
        |args: &[&str], name: &str| step(stage, stage.command(heirloom).args(args), name);
    run_step(&["init", "--yes"], "init")?;
    run_step(&["remember", KNOWN], "remember")?;
    if setup == Setup::PluginAndHooks {
        run_step(&["install", program.name, "--yes"], "install")?;
    }
    let binary = install::folder(program)?.join(program.binary);
    let root = cargo::root().display().to_string();
    let run_own = |arguments: &[&str], name: &str| {
        let arguments = arguments.iter().map(|word| word.replace("ROOT", &root));
        step(stage, stage.command(&binary).args(arguments), name)
    };
    for (n, arguments) in commands.install.iter().enumerate() {
        run_own(arguments, &format!("plugin-{}", n + 1))?;
    }
    if setup == Setup::Removed {
        run_own(commands.remove, "plugin-remove")?;
    }
    agent(stage, folder)?;
    let expected = usize::from(setup != Setup::Removed);
    check_requests(&stage.service.main_requests(), expected)?;
    check_records(stage, heirloom, expected)?;
    if expected == 1 {
        check_calls(stage, heirloom)?;
    }
    Ok(())
}

/// Checks that each request has the known fact `expected` times, and the tools of the MCP server with it.
fn check_requests(requests: &[RecordedRequest], expected: usize) -> Result<(), String> {
    ensure(
        requests.len() == 2,
        &format!("{} requests reached the model, not two", requests.len()),
    )?;
    for (n, request) in requests.iter().enumerate() {
        let found = count(&request.body, KNOWN);
        let number = n + 1;
        let wrong = format!("request {number} has the known fact {found} times, not {expected}");
        ensure(found == expected, &wrong)?;
        for tool in TOOLS {
            let is_offered = tool_name(request, tool).is_some();
            let wrong = format!("request {number}: is `{tool}` offered: {is_offered}");
            ensure(is_offered == (expected == 1), &wrong)?;
        }
    }
    Ok(())
}

/// Checks that the fact and the failure were recorded `expected` times.
fn check_records(stage: &Stage, heirloom: &Path, expected: usize) -> Result<(), String> {
    let list = |kind: &str| json_answer(stage, heirloom, &["list", "--kind", kind], kind);
    let facts = count(&list("knowledge")?, LEARNED);
    ensure(
        facts == expected,
        &format!("the fact was recorded {facts} times, not {expected}"),
    )?;
    let errors = list("error")?;
    let records = errors["records"].as_array().map_or(&[][..], Vec::as_slice);
    let is_test = |record: &&Value| record.to_string().contains(TEST);
    let failures: Vec<_> = records.iter().filter(is_test).collect();
    ensure(
        failures.len() == expected,
        &format!("the failure has {} records: {errors}", failures.len()),
    )?;
    let is_once = |record: &&Value| record["occurrences"].as_u64().unwrap_or(1) == 1;
    ensure(
        failures.iter().all(is_once),
        &format!("the failure was counted more than once: {errors}"),
    )
}

/// Checks that hooks were called and none failed.
fn check_calls(stage: &Stage, heirloom: &Path) -> Result<(), String> {
    let status = json_answer(stage, heirloom, &["status"], "status")?;
    let hooks = &status["hooks"];
    ensure(
        hooks["failures"] == 0 && hooks["calls"].as_u64().is_some_and(|calls| calls >= 4),
        &format!("hooks failed, or few were called: {hooks}"),
    )
}
