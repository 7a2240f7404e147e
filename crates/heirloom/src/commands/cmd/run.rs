//! `heirloom cmd run`.

use super::{is_allowed, load_command_book, show_for_review};
use crate::commands::run::interrupt_flag;
use crate::config::Config;
use crate::store_access::CliSession;
use crate::store_access::trust;
use heirloom_engine::{CommandFile, RenderedCommand};
use heirloom_model::{Fault, text};
use heirloom_prompt::custom_commands::{RenderStep, argument_variables, quote_for_shell};
use heirloom_redact::Redactor;
use serde_json::json;

/// Prints a command's prompt, after asking for missing permissions.
pub(super) fn run(
    session: &mut CliSession,
    name: &str,
    args: &[String],
    yes: bool,
) -> Result<(), Fault> {
    let (book, config) = load_command_book(session)?;
    let command = book.find(name)?;
    let steps = book.plan(&command, args)?;
    if !yes {
        require_permission(session, &config, &command, &steps, args)?;
    }
    let redactor =
        Redactor::new(&config.settings().redact).map_err(|bad| Fault::usage(bad.to_string()))?;
    let rendered = book.render(&command, args, &redactor, &interrupt_flag()?)?;
    print_prompt(session, &command, &rendered);
    Ok(())
}

/// Asks for missing permissions: trust in the file, and permission to run programs.
///
/// Errors: `Refused` if there is no terminal to ask at, or the answer is no.
fn require_permission(
    session: &mut CliSession,
    config: &Config,
    command: &CommandFile,
    steps: &[RenderStep],
    args: &[String],
) -> Result<(), Fault> {
    let name = &command.name;
    let untrusted = !trust::is_trusted(&session.env, command);
    let scripts: Vec<_> = steps
        .iter()
        .filter_map(|step| match step {
            RenderStep::Shell { script, .. } => Some(script),
            RenderStep::Text(_) | RenderStep::File { .. } => None,
        })
        .collect();
    let needs_permission = !scripts.is_empty() && !is_allowed(config, name);
    if !untrusted && !needs_permission {
        return Ok(());
    }
    if untrusted {
        show_for_review(session, command);
    }
    if needs_permission {
        for script in &scripts {
            let script = text::excerpt(script.trim(), 400);
            session.out.talk(&format!("runs: {script}"));
        }
        for (variable, value) in argument_variables(args) {
            let value = quote_for_shell(&text::excerpt(&value, 200));
            session.out.talk(&format!("with: {variable}={value}"));
        }
    }
    let (question, hint) = match (untrusted, needs_permission) {
        (true, true) => (
            format!(
                "The command `{name}` comes with this project and is not trusted, and it runs programs. Use it?"
            ),
            format!(
                "`heirloom cmd show {name}` shows it, `heirloom cmd trust {name}` trusts it, `commands.allow` in your config lets it run programs, --yes allows both for this call"
            ),
        ),
        (true, false) => (
            format!("The command `{name}` comes with this project and is not trusted. Use it?"),
            format!(
                "`heirloom cmd show {name}` shows it, `heirloom cmd trust {name}` trusts it, --yes trusts it for this call"
            ),
        ),
        (false, _) => (
            format!("The command `{name}` runs programs. Run them?"),
            format!(
                "`commands.allow = [\"{name}\"]` in your config allows it, --yes allows it for this call"
            ),
        ),
    };
    let answer = session
        .out
        .ask(&question)
        .map_err(|fault| fault.hint(hint))?;
    if answer {
        return Ok(());
    }
    Err(Fault::refused(format!("`{name}` was not used")))
}

fn print_prompt(session: &mut CliSession, command: &CommandFile, rendered: &RenderedCommand) {
    if session.out.json {
        let program = |run: &heirloom_engine::ProgramRun| {
            json!({
                "script": run.script,
                "exit_code": run.exit_code,
                "duration_ms": run.duration_ms,
            })
        };
        let programs: Vec<_> = rendered.programs.iter().map(program).collect();
        session.out.value(&json!({
            "name": command.name,
            "text": rendered.text,
            "programs": programs,
            "notes": rendered.notes,
        }));
        return;
    }
    for run in &rendered.programs {
        let script = text::excerpt(run.script.trim(), 80);
        let (code, ms) = (run.exit_code, run.duration_ms);
        session
            .out
            .talk(&format!("ran `{script}`: exit code {code}, {ms} ms"));
    }
    for note in &rendered.notes {
        session.out.talk(&format!("heirloom: {note}"));
    }
    session.out.data(&rendered.text);
    if !rendered.text.is_empty() && !rendered.text.ends_with('\n') {
        session.out.data("\n");
    }
}
