//! `heirloom cmd run`.

use super::{book, is_allowed, lay_open};
use crate::commands::run::interrupt_flag;
use crate::config::Config;
use crate::open::Session;
use crate::trust;
use heirloom_engine::commands::{Step, quoted, variables};
use heirloom_engine::redact::Redactor;
use heirloom_engine::{CommandFile, Rendered};
use heirloom_model::{Fault, text};
use serde_json::json;

/// Prints a command's prompt, after whatever is to be asked was answered.
pub(super) fn run(
    session: &mut Session,
    name: &str,
    args: &[String],
    yes: bool,
) -> Result<(), Fault> {
    let (book, config) = book(session)?;
    let command = book.find(name)?;
    let steps = book.plan(&command, args)?;
    if !yes {
        permit(session, &config, &command, &steps, args)?;
    }
    let redactor =
        Redactor::new(&config.settings().redact).map_err(|bad| Fault::usage(bad.to_string()))?;
    let rendered = book.render(&command, args, &redactor, &interrupt_flag()?)?;
    tell(session, &command, &rendered);
    Ok(())
}

/// Asks for what has not been granted: trust in the file, and leave to run programs.
///
/// Errors: `Refused` where nobody can be asked, or the answer is no.
fn permit(
    session: &mut Session,
    config: &Config,
    command: &CommandFile,
    steps: &[Step],
    args: &[String],
) -> Result<(), Fault> {
    let name = &command.name;
    let untrusted = !trust::is_trusted(&session.env, command);
    let scripts: Vec<_> = steps
        .iter()
        .filter_map(|step| match step {
            Step::Shell { script, .. } => Some(script),
            Step::Text(_) | Step::File { .. } => None,
        })
        .collect();
    let asks = !scripts.is_empty() && !is_allowed(config, name);
    if !untrusted && !asks {
        return Ok(());
    }
    if untrusted {
        lay_open(session, command);
    }
    if asks {
        for script in &scripts {
            let script = text::excerpt(script.trim(), 400);
            session.out.talk(&format!("runs: {script}"));
        }
        for (variable, value) in variables(args) {
            let value = quoted(&text::excerpt(&value, 200));
            session.out.talk(&format!("with: {variable}={value}"));
        }
    }
    let (question, hint) = match (untrusted, asks) {
        (true, true) => (
            format!(
                "The command `{name}` comes with this project and is not trusted, and it runs programs. Use it?"
            ),
            format!(
                "`heirloom cmd show {name}` shows it, `heirloom cmd trust {name}` trusts it, `commands.allow` in your config lets it run programs, --yes does both for this call"
            ),
        ),
        (true, false) => (
            format!("The command `{name}` comes with this project and is not trusted. Use it?"),
            format!(
                "`heirloom cmd show {name}` shows it, `heirloom cmd trust {name}` trusts it, --yes does for this call"
            ),
        ),
        (false, _) => (
            format!("The command `{name}` runs programs. Run them?"),
            format!(
                "`commands.allow = [\"{name}\"]` in your config lets it, --yes does for this call"
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

fn tell(session: &mut Session, command: &CommandFile, rendered: &Rendered) {
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
