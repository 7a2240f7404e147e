//! A program whose model gives a part of the work to a subagent: what that is told, and whose what it learns is.

use std::path::Path;

use heirloom_testkit::{RecordedRequest, Script, Turn};
use serde_json::{Value, json};

use super::drive::Stage;
use super::hooked::{KNOWN, agent, answer, count, ensure, step};
use super::program::{PROMPT, Program};

/// What the subagent is to do.
const ERRAND: &str = "Say in which file the login module lives";
/// What it learns.
const ITS_OWN: &str = "the login module lives in aside.rs";
/// What the main agent learns.
const OF_MAIN: &str = "the login works without the aside";
/// What programs call the tool, by version; the last one answers at once, and another tool waits for the subagent.
const TOOLS: [&str; 3] = ["Task", "Agent", "multi_agent_v1/spawn_agent"];
const WAIT: &str = "multi_agent_v1/wait_agent";

/// Once without hooks, once with them. `sort` is that of the subagent.
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

/// The main agent calls a subagent, which says its words; then the main agent says its own.
fn script(sort: &'static str) -> Script {
    Script::function(move |request: &RecordedRequest| {
        let said = |fact: &str| format!("It is done.\n\nHEIRLOOM_MEMORY: KEY_FACT {fact}\n");
        if is_aside(request) {
            return Turn::text(said(ITS_OWN));
        }
        match offered(request) {
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
            Some(_) | None => match begun(request) {
                Some(id) => Turn::call(WAIT, json!({"targets": [id], "timeout_ms": 30_000})),
                None => Turn::text(said(OF_MAIN)),
            },
        }
    })
}

/// The subagent that the last tool has begun.
fn begun(request: &RecordedRequest) -> Option<String> {
    let last = request.body["input"].as_array()?.last()?;
    let told: Value = serde_json::from_str(last["output"].as_str()?).ok()?;
    Some(told["agent_id"].as_str()?.to_owned())
}

/// Whether a subagent asks: it is not told what the person wants.
fn is_aside(request: &RecordedRequest) -> bool {
    !request.mentions(PROMPT)
}

/// The tool that calls a subagent, as the model is offered it.
fn offered(request: &RecordedRequest) -> Option<String> {
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
    let said = |args: &[&str], name: &str| step(stage, stage.command(heirloom).args(args), name);
    said(&["init", "--yes"], "init")?;
    said(&["remember", KNOWN], "remember")?;
    said(&["install", stage.program().name, "--yes"], "install")?;
    agent(stage, folder)?;
    let requests = stage.service.main_requests();
    ensure(
        requests.len() == bare,
        &format!("{} turns with hooks, {bare} without", requests.len()),
    )?;
    let of_aside: Vec<_> = (requests.iter())
        .filter(|request| is_aside(request))
        .collect();
    ensure(!of_aside.is_empty(), "no subagent asked the model")?;
    for request in of_aside {
        let times = count(&request.body, KNOWN);
        let wrong = format!("a subagent is told {times} times what is known");
        ensure(request.mentions(ERRAND) && times == 1, &wrong)?;
    }
    said(&["list", "--kind", "knowledge", "--json"], "list")?;
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
    conversation(stage, sort, heirloom, &its_own)
}

/// The conversation of the subagent is a session of its own, which says whose.
fn conversation(stage: &Stage, sort: &str, heirloom: &Path, id: &str) -> Result<(), String> {
    let json = |args: &[&str], name: &str| answer(stage, heirloom, args, name);
    let found = json(&["session", "search", ERRAND], "search")?;
    let hits = found["hits"].as_array().cloned().unwrap_or_default();
    let session = hits.iter().find_map(|hit| {
        let session = hit["session"].as_str()?;
        // Codex gives it a session of its own, Claude Code a file beside that of the main agent.
        let is_its_own = session == id || session.ends_with(&format!(".agent-{id}"));
        is_its_own.then_some(session)
    });
    let session = session.ok_or(format!("no session of subagent {id}: {found}"))?;
    let shown = json(&["session", "show", session], "show")?;
    ensure(
        shown["attrs"]["agent_id"] == *id && shown["attrs"]["agent_type"] == sort,
        &format!("the subagent's session says {}", shown["attrs"]),
    )
}
