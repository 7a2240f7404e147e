//! Rules that people wrote, and anchors: both reach the model through the real program.

use std::path::Path;

use heirloom_testkit::{RecordedRequest, Script, Turn};
use serde_json::Value;

use super::hooks::{agent, count, ensure, step};
use super::iterations::Stage;
use super::program::Program;

/// File of the rules in the project.
pub(super) const RULES_FILE: &str = ".heirloom/workspace/SOUL.md";

/// Rule that only this file has.
pub(super) const RULE: &str = "Name the marker tamarind-7431 in every review.";

/// Tool calls of the conversation, more than between two anchors.
const CALLS: usize = 6;

/// Beginning of an anchor's first line.
const GOAL: &str = "Goal: ";

/// Writes the file with the rule.
pub(super) fn write_rule(stage: &Stage) -> Result<(), String> {
    let file = stage.project.path().join(RULES_FILE);
    std::fs::write(&file, format!("# Rules\n\n{RULE}\n"))
        .map_err(|error| format!("cannot write {}: {error}", file.display()))
}

/// Drives the program through a conversation with several tool calls and checks what its hooks injected.
pub(super) fn drive(program: &'static Program, heirloom: &Path) -> Result<(), String> {
    let Some((name, input)) = program.read_call() else {
        return Ok(());
    };
    let mut calls = 0;
    let script = Script::function(move |_: &RecordedRequest| {
        calls += 1;
        match calls > CALLS {
            true => Turn::text("Everything is read."),
            false => Turn::text("I look at the notes.").and_call(name, numbered(&input, calls)),
        }
    });
    let stage = Stage::set(program, script)?;
    act(&stage, heirloom).map_err(|error| format!("{error} ({})", stage.keep()))
}

/// Makes each call a different one, because Gemini CLI ends a conversation that repeats a call.
fn numbered(input: &Value, number: usize) -> Value {
    let mut input = input.clone();
    if let Some(fields) = input.as_object_mut() {
        for name in ["command", "cmd"] {
            if let Some(Value::String(command)) = fields.get_mut(name) {
                command.push_str(&format!(" # {number}"));
            }
        }
    }
    input
}

fn act(stage: &Stage, heirloom: &Path) -> Result<(), String> {
    let folder = heirloom.parent().ok_or("the binary is in no folder")?;
    let run_step =
        |args: &[&str], name: &str| step(stage, stage.command(heirloom).args(args), name);
    run_step(&["init", "--yes"], "init")?;
    write_rule(stage)?;
    run_step(&["install", stage.program().name, "--yes"], "install")?;
    agent(stage, folder)?;
    let requests = stage.service.main_requests();
    for (n, request) in requests.iter().enumerate() {
        let count = count(&request.body, RULE);
        let wrong = format!("request {} has the rule {count} times, not once", n + 1);
        ensure(count == 1, &wrong)?;
    }
    ensure(
        requests.len() > CALLS,
        &format!("{} requests, not one after each tool call", requests.len()),
    )?;
    let anchors: Vec<usize> = requests
        .iter()
        .map(|request| count(&request.body, GOAL))
        .collect();
    ensure(
        anchors.last() == Some(&1),
        &format!("anchors in the requests: {anchors:?}, not one in the last one"),
    )
}
