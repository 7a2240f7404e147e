//! `heirloom install`.

use crate::hook_installation::{self, HookChange, InstallScope, SettingsChange, diff};
use crate::store_access::CliSession;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use heirloom_agents::AgentProgram;
use heirloom_model::text::EscapedPath;
use heirloom_model::{Fault, text};
use serde_json::{Value, json};
use std::path::PathBuf;

/// Let an agent program call Heirloom while it works: its sessions start with what is known, and what they learn is
/// kept
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Shows what changes in the settings of the agent program, asks, and keeps a backup of the file next to it. Everything else in the file stays unchanged. Running it again changes nothing. Hooks do nothing outside projects with a memory (`heirloom init`)."
)]
pub(crate) struct Args {
    #[command(flatten)]
    pub(crate) target: InstallTarget,
}

/// Target of an installation or removal.
#[derive(Debug, clap::Args)]
pub(crate) struct InstallTarget {
    /// The agent program
    #[arg(value_parser = program_parser())]
    agent: AgentProgram,
    /// The sessions: all of yours, or those of everyone in this project
    #[arg(long, value_name = "SCOPE", default_value = "user")]
    scope: InstallScope,
    /// Only show what would change
    #[arg(long)]
    dry_run: bool,
    /// Ask no questions
    #[arg(long)]
    yes: bool,
}

/// Returns the parser of a program with hooks.
fn program_parser() -> impl TypedValueParser<Value = AgentProgram> {
    let names = AgentProgram::with_hooks().map(AgentProgram::as_str);
    PossibleValuesParser::new(names).try_map(|name| name.parse::<AgentProgram>())
}

pub(crate) fn run(args: Args, session: &mut CliSession) -> Result<u8, Fault> {
    apply_hooks(&args.target, HookChange::Install, session)
}

/// Shows the change, asks for confirmation and writes it.
pub(crate) fn apply_hooks(
    target: &InstallTarget,
    change: HookChange,
    session: &mut CliSession,
) -> Result<u8, Fault> {
    let program = target.agent;
    let start = session.start_folder()?;
    let plan = hook_installation::plan_change(program, target.scope, change, &session.env, &start)?;
    let diff_text = diff(
        &plan.file.to_escaped(),
        plan.before.as_deref().unwrap_or_default(),
        plan.after.as_deref().unwrap_or_default(),
    );
    if !session.out.json {
        diff_text.lines().for_each(|line| session.out.line(line));
    }
    let mut backup = None;
    let mut written = false;
    if plan.has_changes() && !target.dry_run {
        let question = format!("Write this to {}?", plan.file.to_escaped());
        if !target.yes && !session.out.ask(&question)? {
            return Err(Fault::refused("nothing was written"));
        }
        backup = plan.write(session.clock()?.now())?;
        written = true;
    }
    let notes = match change {
        HookChange::Install => follow_up_notes(program, target.scope, session),
        HookChange::Remove => remove_copies(target, session)?,
    };
    print_report(
        session,
        target,
        &plan,
        &InstallReport {
            diff_text,
            backup,
            written,
            notes,
        },
        change,
    );
    Ok(0)
}

/// Removes copies of conversations that killed hooks left; returns a line with their number.
fn remove_copies(target: &InstallTarget, session: &CliSession) -> Result<Vec<String>, Fault> {
    let copies = hook_installation::find_conversation_copies(target.agent, &session.env);
    if copies.is_empty() {
        return Ok(Vec::new());
    }
    let outcome = match target.dry_run {
        true => "would be removed",
        false => "were removed",
    };
    if !target.dry_run {
        hook_installation::remove_conversation_copies(&copies)?;
    }
    let count = copies.len();
    Ok(vec![format!(
        "temporary copies of conversations in {count} folders {outcome}"
    )])
}

/// Result of an installation or removal, for output.
struct InstallReport {
    diff_text: String,
    backup: Option<PathBuf>,
    written: bool,
    notes: Vec<String>,
}

fn print_report(
    session: &mut CliSession,
    target: &InstallTarget,
    plan: &SettingsChange,
    report: &InstallReport,
    change: HookChange,
) {
    let file = plan.file.to_escaped();
    let outcome = match (plan.has_changes(), report.written, change) {
        (false, _, _) => "unchanged",
        (true, false, _) => "dry-run",
        (true, true, HookChange::Install) => "installed",
        (true, true, HookChange::Remove) => "removed",
    };
    let backup = report.backup.as_ref().map(|path| path.to_escaped());
    if session.out.json {
        let value: Value = json!({
            "agent": target.agent.as_str(),
            "scope": target.scope.as_str(),
            "file": file,
            "outcome": outcome,
            "backup": backup,
            "diff": report.diff_text,
            "notes": report.notes,
        });
        return session.out.value(&value);
    }
    let message = match (outcome, change) {
        ("unchanged", HookChange::Install) => format!("{file} has the hooks already"),
        ("unchanged", HookChange::Remove) => format!("{file} has no hooks of Heirloom"),
        ("dry-run", _) => "nothing was written".to_owned(),
        ("installed", _) => format!("the hooks are in {file}"),
        _ => format!("the hooks are out of {file}"),
    };
    session.out.line(&message);
    if let Some(backup) = backup {
        session.out.line(&format!("backup: {backup}"));
    }
    for note in &report.notes {
        session.out.talk(&format!("  {note}"));
    }
}

/// Returns the steps that the user still has to do in the agent program.
fn follow_up_notes(
    program: AgentProgram,
    scope: InstallScope,
    session: &CliSession,
) -> Vec<String> {
    let mut notes = Vec::new();
    let mut note = |note_text: &str| notes.push(text::one_line(note_text));
    if let Some(format) = program.settings() {
        format.notes.iter().for_each(|text| note(text));
        if scope == InstallScope::Project {
            format.project_notes.iter().for_each(|text| note(text));
        }
    }
    if !hook_installation::is_on_path(&session.env) {
        note("`heirloom` is in no folder of PATH: the hooks call it by this name and would fail");
    }
    if session.project_place().is_none() {
        note(
            "this folder has no memory yet: `heirloom init` creates one; without it hooks do nothing",
        );
    }
    notes
}
