//! `heirloom cmd list` and `heirloom cmd show`.

use super::{book, is_allowed};
use crate::config::Config;
use crate::open::Session;
use crate::{output, trust};
use heirloom_engine::CommandFile;
use heirloom_model::Fault;
use serde_json::{Value, json};

/// Lists every command, and what was left out.
pub(super) fn list(session: &mut Session) -> Result<(), Fault> {
    let (book, config) = book(session)?;
    let listing = book.list();
    if session.out.json {
        let of = |one| value(session, &config, one);
        let commands: Vec<_> = listing.commands.iter().map(of).collect();
        session
            .out
            .value(&json!({"commands": commands, "left_out": listing.left_out}));
        return Ok(());
    }
    let row = |one: &CommandFile| {
        vec![
            one.name.clone(),
            one.source.as_str().to_owned(),
            state(session, &config, one),
            one.definition.description.clone(),
        ]
    };
    let rows: Vec<_> = listing.commands.iter().map(row).collect();
    if rows.is_empty() {
        session
            .out
            .talk("there are no commands; `heirloom cmd new NAME` writes one");
    } else {
        session.out.line(&output::table(&rows));
    }
    for left in &listing.left_out {
        session.out.talk(&format!("left out: {left}"));
    }
    Ok(())
}

/// Shows one command, also one with something wrong in it.
pub(super) fn one(session: &mut Session, name: &str) -> Result<(), Fault> {
    let (book, config) = book(session)?;
    let command = book.look_up(name)?;
    if session.out.json {
        let mut all = value(session, &config, &command);
        all["text"] = json!(command.text);
        session.out.value(&all);
        return Ok(());
    }
    let heads = [
        ("command", command.name.clone()),
        ("from", command.source.as_str().to_owned()),
        ("file", command.path.display().to_string()),
        ("sha256", command.sha256.clone()),
        ("state", state(session, &config, &command)),
        ("takes", takes(&command)),
        ("time", format!("{} s", command.definition.timeout_s)),
        ("about", command.definition.description.clone()),
    ];
    let rows: Vec<_> = heads
        .into_iter()
        .filter(|(_, said)| !said.is_empty())
        .map(|(head, said)| vec![head.to_owned(), said])
        .collect();
    session.out.line(&output::table(&rows));
    for problem in &command.problems {
        session.out.line(&format!("problem: {problem}"));
    }
    session.out.line("");
    session.out.line(command.text.trim_end());
    Ok(())
}

fn value(session: &Session, config: &Config, command: &CommandFile) -> Value {
    let arguments = command.definition.template.arguments();
    json!({
        "name": command.name,
        "description": command.definition.description,
        "source": command.source.as_str(),
        "file": command.path.display().to_string(),
        "sha256": command.sha256,
        "arguments": arguments.needed,
        "takes_all": arguments.all,
        "runs_programs": command.definition.template.runs_programs(),
        "timeout_s": command.definition.timeout_s,
        "trusted": trust::is_trusted(&session.env, command),
        "allowed": is_allowed(config, &command.name),
        "hidden": command.hidden,
        "problems": command.problems,
    })
}

fn takes(command: &CommandFile) -> String {
    let arguments = command.definition.template.arguments();
    match (arguments.needed, arguments.all) {
        (0, false) => "nothing".to_owned(),
        (0, true) => "any arguments".to_owned(),
        (n, false) => format!("{n} arguments"),
        (n, true) => format!("{n} arguments or more"),
    }
}

/// In a few words, whether it can be used.
fn state(session: &Session, config: &Config, command: &CommandFile) -> String {
    let asks = command.definition.template.runs_programs() && !is_allowed(config, &command.name);
    let mut said = Vec::new();
    if !command.problems.is_empty() {
        said.push("broken");
    }
    if command.hidden {
        said.push("hidden");
    }
    if !trust::is_trusted(&session.env, command) {
        said.push("untrusted");
    }
    if asks {
        said.push("asks");
    }
    if said.is_empty() {
        said.push("ready");
    }
    said.join(", ")
}
