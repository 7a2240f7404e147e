//! `heirloom cmd list` and `heirloom cmd show`.

use super::{is_allowed, load_command_book};
use crate::config::Config;
use crate::store_access::CliSession;
use crate::store_access::trust;
use heirloom_engine::CommandFile;
use heirloom_model::Fault;
use heirloom_model::text::EscapedPath;
use serde_json::{Value, json};

/// Lists every command, and the files that were left out.
pub(super) fn list_commands(session: &mut CliSession) -> Result<(), Fault> {
    let (book, config) = load_command_book(session)?;
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
            describe_state(session, &config, one),
            one.definition.description.clone(),
        ]
    };
    let rows: Vec<_> = listing.commands.iter().map(row).collect();
    if rows.is_empty() {
        session
            .out
            .talk("there are no commands; `heirloom cmd new NAME` writes one");
    } else {
        session.out.table(&rows, &[]);
    }
    for left in &listing.left_out {
        session.out.talk(&format!("left out: {left}"));
    }
    Ok(())
}

/// Shows one command, including one with problems.
pub(super) fn show_command(session: &mut CliSession, name: &str) -> Result<(), Fault> {
    let (book, config) = load_command_book(session)?;
    let command = book.look_up(name)?;
    if session.out.json {
        let mut all = value(session, &config, &command);
        all["text"] = json!(command.text);
        session.out.value(&all);
        return Ok(());
    }
    let rows_by_heading = [
        ("command", command.name.clone()),
        ("from", command.source.as_str().to_owned()),
        ("file", command.path.to_escaped()),
        ("sha256", command.sha256.clone()),
        ("state", describe_state(session, &config, &command)),
        ("takes", describe_arguments(&command)),
        ("time", format!("{} s", command.definition.timeout_s)),
        ("about", command.definition.description.clone()),
    ];
    let rows: Vec<_> = rows_by_heading
        .into_iter()
        .filter(|(_, content)| !content.is_empty())
        .map(|(heading, content)| vec![heading.to_owned(), content])
        .collect();
    session.out.table(&rows, &[]);
    for problem in &command.problems {
        session.out.line(&format!("problem: {problem}"));
    }
    session.out.line("");
    session.out.line(command.text.trim_end());
    Ok(())
}

fn value(session: &CliSession, config: &Config, command: &CommandFile) -> Value {
    let arguments = command.definition.template.arguments();
    json!({
        "name": command.name,
        "description": command.definition.description,
        "source": command.source.as_str(),
        "file": command.path.to_string_lossy().into_owned(),
        "sha256": command.sha256,
        "arguments": arguments.required_count,
        "argument_names": command.definition.argument_names,
        "takes_all": arguments.takes_all,
        "runs_programs": command.definition.template.runs_programs(),
        "timeout_s": command.definition.timeout_s,
        "trusted": trust::is_trusted(&session.env, command),
        "allowed": is_allowed(config, &command.name),
        "hidden": command.hidden,
        "problems": command.problems,
    })
}

fn describe_arguments(command: &CommandFile) -> String {
    let arguments = command.definition.template.arguments();
    match (arguments.required_count, arguments.takes_all) {
        (0, false) => "nothing".to_owned(),
        (0, true) => "any arguments".to_owned(),
        (n, false) => format!("{n} arguments"),
        (n, true) => format!("{n} arguments or more"),
    }
}

/// Describes in a few words whether a command can be used.
fn describe_state(session: &CliSession, config: &Config, command: &CommandFile) -> String {
    let needs_permission =
        command.definition.template.runs_programs() && !is_allowed(config, &command.name);
    let mut labels = Vec::new();
    if !command.problems.is_empty() {
        labels.push("broken");
    }
    if command.hidden {
        labels.push("hidden");
    }
    if !trust::is_trusted(&session.env, command) {
        labels.push("untrusted");
    }
    if needs_permission {
        labels.push("asks");
    }
    if labels.is_empty() {
        labels.push("ready");
    }
    labels.join(", ")
}
