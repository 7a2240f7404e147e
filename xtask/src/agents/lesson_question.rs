//! Drives a program whose hook asks the agent for a lesson at the end of a turn: `hooks.ask`.

use std::path::Path;

use heirloom_testkit::{RecordedRequest, Script, Turn};
use serde_json::Value;

use super::hooks::{agent, count, ensure, step};
use super::iterations::Stage;
use super::program::Program;

/// Beginning of the question, as [the hook](../../../crates/agents/src/hooks/agent_guide.rs) writes it.
const QUESTION: &str = "Did this work teach something";

/// Command that fails: the project has no tests.
pub(super) const TEST: &str = "python3 -m unittest tests.login";

/// Lesson with which the agent answers.
const ANSWER: &str = "the project has no tests of the login yet";

/// Drives the program through a session with a failure and without a signal: the hook requests a lesson once, and the agent answers.
pub(super) fn drive(program: &'static Program, heirloom: &Path) -> Result<(), String> {
    let Some((name, mut input)) = program.read_call().filter(|_| program.can_ask_agent) else {
        return Ok(());
    };
    fail(&mut input);
    let mut requests = 0;
    let script = Script::function(move |request: &RecordedRequest| {
        requests += 1;
        match requests {
            1 => Turn::text("I run the tests.").and_call(name, input.clone()),
            _ if count(&request.body, QUESTION) > 0 => {
                Turn::text(format!("HEIRLOOM_MEMORY: KEY_FACT {ANSWER}"))
            }
            _ => Turn::text("The tests do not run."),
        }
    });
    let stage = Stage::set(program, script)?;
    act(&stage, heirloom).map_err(|error| format!("{error} ({})", stage.keep()))
}

/// Makes the command one of a test that fails.
pub(super) fn fail(input: &mut Value) {
    if let Some(fields) = input.as_object_mut() {
        for name in ["command", "cmd"] {
            if let Some(Value::String(command)) = fields.get_mut(name) {
                *command = TEST.to_owned();
            }
        }
    }
}

fn act(stage: &Stage, heirloom: &Path) -> Result<(), String> {
    let folder = heirloom.parent().ok_or("the binary is in no folder")?;
    let run_step =
        |args: &[&str], name: &str| step(stage, stage.command(heirloom).args(args), name);
    run_step(&["init", "--yes"], "init")?;
    let config = stage.project.path().join(".heirloom/config.toml");
    let written = std::fs::read_to_string(&config)
        .and_then(|text| std::fs::write(&config, format!("{text}\n[hooks]\nask = true\n")));
    written.map_err(|error| format!("cannot write {}: {error}", config.display()))?;
    run_step(&["install", stage.program().name, "--yes"], "install")?;
    agent(stage, folder)?;
    let requests = stage.service.main_requests();
    let asked: Vec<usize> = (requests.iter())
        .map(|request| count(&request.body, QUESTION))
        .collect();
    ensure(
        asked == [0, 0, 1],
        &format!("questions in the requests: {asked:?}, not one in the third and last"),
    )?;
    run_step(&["list", "--kind", "knowledge", "--json"], "list")?;
    let answers = stage.output("list", "out").matches(ANSWER).count();
    ensure(
        answers == 1,
        &format!("the answer was recorded {answers} times"),
    )
}
