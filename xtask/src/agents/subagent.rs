//! Drives a program whose model delegates to a subagent; checks the subagent's context and the attribution of its signals.

use std::path::Path;

use heirloom_testkit::{RecordedRequest, Script, Turn};
use serde_json::{Value, json};

use super::hooks::{agent, count, ensure, json_answer, step};
use super::iterations::Stage;
use super::program::{PROMPT, Program};
use super::rules::{RULE, write_rule};

/// Task of the subagent.
const ERRAND: &str = "Say in which file the login module lives";
/// Fact that the subagent reports.
const ITS_OWN: &str = "the login module lives in aside.rs";
/// Fact that the main agent reports.
const OF_MAIN: &str = "the login works without the aside";
/// Names of the tool that starts a subagent, by version; the last one returns at once and needs [`WAIT`].
const TOOLS: [&str; 4] = ["Task", "Agent", "task", "multi_agent_v1/spawn_agent"];
const WAIT: &str = "multi_agent_v1/wait_agent";

/// Drives the program once without hooks and once with them. `sort` is the type of the subagent.
pub(super) fn drive(
    program: &'static Program,
    sort: &'static str,
    heirloom: &Path,
) -> Result<(), String> {
    let folder = heirloom.parent().ok_or("the binary is in no folder")?;
    let without = Stage::set(program, script(sort))?;
    agent(&without, folder)?;
    let bare = without.service.main_requests().len();
    let stage = Stage::set(program, script(sort))?;
    let outcome = act(&stage, sort, heirloom, folder, bare);
    outcome.map_err(|error| format!("{error} ({})", stage.keep()))
}

/// The main agent starts a subagent, which prints its fact; then the main agent prints its own.
fn script(sort: &'static str) -> Script {
    Script::function(move |request: &RecordedRequest| {
        let turn_text = |fact: &str| format!("It is done.\n\nHEIRLOOM_MEMORY: KEY_FACT {fact}\n");
        if is_subagent(request) {
            return Turn::text(turn_text(ITS_OWN));
        }
        match spawn_tool(request) {
            Some(tool) if !request.mentions(ERRAND) => {
                let input = match tool.contains('/') {
                    true => json!({"message": ERRAND}),
                    false => json!({
                        "description": "Look for the module",
                        "prompt": ERRAND,
                        "subagent_type": sort,
                    }),
                };
                Turn::call(tool, input)
            }
            Some(_) | None => match started_agent(request) {
                Some(id) => Turn::call(WAIT, json!({"targets": [id], "timeout_ms": 30_000})),
                None => Turn::text(turn_text(OF_MAIN)),
            },
        }
    })
}

/// Id of the subagent that the last tool call started.
fn started_agent(request: &RecordedRequest) -> Option<String> {
    let last = request.body["input"].as_array()?.last()?;
    let answer: Value = serde_json::from_str(last["output"].as_str()?).ok()?;
    Some(answer["agent_id"].as_str()?.to_owned())
}

/// True if the request comes from a subagent: it does not contain the person's prompt.
fn is_subagent(request: &RecordedRequest) -> bool {
    !request.mentions(PROMPT)
}

/// Name of the offered tool that starts a subagent.
fn spawn_tool(request: &RecordedRequest) -> Option<String> {
    let mut names = request.tool_names().into_iter();
    names.find(|name| TOOLS.contains(&name.as_str()))
}

fn act(
    stage: &Stage,
    sort: &str,
    heirloom: &Path,
    folder: &Path,
    bare: usize,
) -> Result<(), String> {
    let run_step =
        |args: &[&str], name: &str| step(stage, stage.command(heirloom).args(args), name);
    run_step(&["init", "--yes"], "init")?;
    write_rule(stage)?;
    run_step(&["install", stage.program().name, "--yes"], "install")?;
    agent(stage, folder)?;
    let requests = stage.service.main_requests();
    ensure(
        requests.len() == bare,
        &format!("{} turns with hooks, {bare} without", requests.len()),
    )?;
    let of_aside: Vec<_> = (requests.iter())
        .filter(|request| is_subagent(request))
        .collect();
    ensure(!of_aside.is_empty(), "no subagent asked the model")?;
    for request in of_aside {
        let times = count(&request.body, RULE);
        let wrong = format!("a subagent's context contains the rule {times} times");
        ensure(request.mentions(ERRAND) && times == 1, &wrong)?;
    }
    run_step(&["list", "--kind", "knowledge", "--json"], "list")?;
    let of = |text: &str| -> Result<String, String> {
        let listed: Value = serde_json::from_str(&stage.output("list", "out"))
            .map_err(|error| format!("`heirloom list --json` printed no JSON: {error}"))?;
        let records = listed["records"].as_array().cloned().unwrap_or_default();
        let mut found = records.iter().filter(|record| record["text"] == text);
        match (found.next(), found.next()) {
            (Some(one), None) => Ok(one["agent"].as_str().unwrap_or_default().to_owned()),
            (first, _) => Err(format!("\"{text}\": {first:?} is not one record of it")),
        }
    };
    let (main, its_own) = (of(OF_MAIN)?, of(ITS_OWN)?);
    ensure(
        main == stage.program().name,
        &format!("what the main agent learned is of `{main}`"),
    )?;
    ensure(
        !its_own.is_empty() && its_own != main,
        &format!("what the subagent learned is of `{its_own}`"),
    )?;
    check_conversation(stage, sort, heirloom, &its_own)
}

/// Checks that the subagent's conversation is a separate session with the subagent's id.
fn check_conversation(stage: &Stage, sort: &str, heirloom: &Path, id: &str) -> Result<(), String> {
    let json = |args: &[&str], name: &str| json_answer(stage, heirloom, args, name);
    let found = json(&["session", "search", ERRAND], "search")?;
    let hits = found["hits"].as_array().cloned().unwrap_or_default();
    let session = hits.iter().find_map(|hit| {
        let session = hit["session"].as_str()?;
        // Codex starts a separate session; Claude Code writes a second file next to the main agent's.
        let is_its_own = session == id || session.ends_with(&format!(".agent-{id}"));
        is_its_own.then_some(session)
    });
    let session = session.ok_or(format!("no session of subagent {id}: {found}"))?;
    let shown = json(&["session", "show", session], "show")?;
    ensure(
        shown["attrs"]["agent_id"] == *id && shown["attrs"]["agent_type"] == sort,
        &format!("the subagent's session has {}", shown["attrs"]),
    )
}
