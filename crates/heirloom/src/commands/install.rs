//! `heirloom install`.

use crate::hook_installation::{self, HookChange, InstallScope, SettingsChange, diff};
use crate::store_access::CliSession;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use heirloom_agents::AgentProgram;
use heirloom_agents::settings::SettingsPart;
use heirloom_model::text::EscapedPath;
use heirloom_model::{Fault, text};
use serde_json::{Value, json};

/// Let an agent program call Heirloom while it works: its sessions start with what is known, and what they learn is
/// kept
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Shows what changes in the settings of the agent program, asks, and keeps a backup of each file next to it. Everything else in the files stays unchanged. opencode, Copilot CLI, Cursor, Windsurf and VS Code get the MCP server too. Running it again changes nothing. Hooks do nothing outside projects with a memory (`heirloom init`)."
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

/// Returns the parser of a program with settings.
fn program_parser() -> impl TypedValueParser<Value = AgentProgram> {
    let names = AgentProgram::with_settings().map(AgentProgram::as_str);
    PossibleValuesParser::new(names).try_map(|name| name.parse::<AgentProgram>())
}

pub(crate) fn run(args: Args, session: &mut CliSession) -> Result<u8, Fault> {
    apply_hooks(&args.target, HookChange::Install, session)
}

/// Shows the changes, asks for confirmation and writes them.
pub(crate) fn apply_hooks(
    target: &InstallTarget,
    change: HookChange,
    session: &mut CliSession,
) -> Result<u8, Fault> {
    let program = target.agent;
    let start = session.start_folder()?;
    let plans =
        hook_installation::plan_changes(program, target.scope, change, &session.env, &start)?;
    let diff_text: String = plans.iter().map(diff_of).collect();
    if !session.out.json {
        diff_text.lines().for_each(|line| session.out.line(line));
    }
    let changed: Vec<_> = plans.iter().filter(|plan| plan.has_changes()).collect();
    let is_written = !changed.is_empty() && !target.dry_run;
    if is_written && !target.yes {
        let names: Vec<String> = changed
            .iter()
            .map(|plan| plan.file.to_escaped().to_string())
            .collect();
        let question = format!("Write this to {}?", names.join(", "));
        if !session.out.ask(&question)? {
            return Err(Fault::refused("nothing was written"));
        }
    }
    let mut files = Vec::new();
    for plan in &plans {
        let backup = match is_written && plan.has_changes() {
            true => plan.write(session.clock()?.now())?,
            false => None,
        };
        files.push(FileReport {
            part: plan.part,
            file: plan.file.to_escaped().to_string(),
            outcome: match (plan.has_changes(), is_written, change) {
                (false, _, _) => "unchanged",
                (true, false, _) => "dry-run",
                (true, true, HookChange::Install) => "installed",
                (true, true, HookChange::Remove) => "removed",
            },
            backup: backup.map(|path| path.to_escaped().to_string()),
            kept_for: plan.kept_for,
        });
    }
    let notes = match change {
        HookChange::Install => follow_up_notes(program, target.scope, session),
        HookChange::Remove => remove_copies(target, session)?,
    };
    let report = InstallReport {
        diff_text,
        files,
        notes,
    };
    print_report(session, target, &report, change);
    Ok(0)
}

fn diff_of(plan: &SettingsChange) -> String {
    diff(
        &plan.file.to_escaped(),
        plan.before.as_deref().unwrap_or_default(),
        plan.after.as_deref().unwrap_or_default(),
    )
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
    /// The files; that with the hooks is first.
    files: Vec<FileReport>,
    notes: Vec<String>,
}

/// Result for one file.
struct FileReport {
    part: SettingsPart,
    file: String,
    outcome: &'static str,
    backup: Option<String>,
    kept_for: Option<AgentProgram>,
}

impl InstallReport {
    /// Returns the outcome of the whole: that of the first file that changes.
    fn outcome(&self) -> &'static str {
        let mut outcomes = self.files.iter().map(|file| file.outcome);
        outcomes
            .find(|outcome| *outcome != "unchanged")
            .unwrap_or("unchanged")
    }
}

fn print_report(
    session: &mut CliSession,
    target: &InstallTarget,
    report: &InstallReport,
    change: HookChange,
) {
    if session.out.json {
        let files: Vec<Value> = (report.files.iter())
            .map(|one| {
                json!({
                    "part": one.part.as_str(),
                    "file": one.file,
                    "outcome": one.outcome,
                    "backup": one.backup,
                })
            })
            .collect();
        let first = report.files.first();
        let value: Value = json!({
            "agent": target.agent.as_str(),
            "scope": target.scope.as_str(),
            "file": first.map(|one| &one.file),
            "outcome": report.outcome(),
            "backup": first.and_then(|one| one.backup.as_ref()),
            "diff": report.diff_text,
            "files": files,
            "notes": report.notes,
        });
        return session.out.value(&value);
    }
    if report.outcome() == "dry-run" {
        session.out.line("nothing was written");
    }
    for one in report.files.iter().filter(|one| one.outcome != "dry-run") {
        session.out.line(&file_message(one, change));
        if let Some(backup) = &one.backup {
            session.out.line(&format!("backup: {backup}"));
        }
    }
    for note in &report.notes {
        session.out.talk(&format!("  {note}"));
    }
}

/// Returns the line about one file.
fn file_message(report: &FileReport, change: HookChange) -> String {
    let file = &report.file;
    if let Some(other) = report.kept_for {
        return format!("the hooks stay in {file}: {other} reads them too");
    }
    let (part, verb) = match report.part {
        SettingsPart::Hooks => ("hooks", "are"),
        SettingsPart::McpServer => ("MCP server", "is"),
        SettingsPart::Instructions => ("instructions", "are"),
    };
    match (report.outcome, change) {
        ("unchanged", HookChange::Install) => format!("{file} has the {part} already"),
        ("unchanged", HookChange::Remove) => format!("{file} has no {part} of Heirloom"),
        (_, HookChange::Install) => format!("the {part} {verb} in {file}"),
        (_, HookChange::Remove) => format!("the {part} {verb} out of {file}"),
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
