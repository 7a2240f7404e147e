//! Agent programs on this machine that could use the memory: `init` offers to install the hooks.

use super::Args;
use crate::config::Environment;
use crate::hook_installation::{self, HookChange, InstallScope};
use crate::store_access::CliSession;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use heirloom_agents::AgentProgram;
use heirloom_fs::program_file;
use heirloom_model::text::EscapedPath;
use heirloom_model::{Fault, text};
use serde_json::{Value, json};

/// Agent program with the state of its hooks.
#[derive(Debug)]
pub(super) struct OfferedAgent {
    program: AgentProgram,
    /// Settings file of the user.
    file: String,
    /// `offered`, `installed` or `unchanged`.
    outcome: &'static str,
}

/// Returns the parser of programs with hooks.
pub(super) fn program_parser() -> impl TypedValueParser<Value = AgentProgram> {
    let names = AgentProgram::with_hooks().map(AgentProgram::as_str);
    PossibleValuesParser::new(names).try_map(|name| name.parse::<AgentProgram>())
}

/// Installs the hooks in the programs of `--install`. Without it, a person at a terminal answers a question for each
/// program that is found; elsewhere programs are only named, because their settings are outside of the project.
pub(super) fn offer_agents(
    args: &Args,
    session: &mut CliSession,
) -> Result<Vec<OfferedAgent>, Fault> {
    if args.no_install || args.dry_run {
        return Ok(Vec::new());
    }
    let is_requested = !args.install.is_empty();
    let programs = match is_requested {
        true => args.install.clone(),
        false => find_programs(&session.env),
    };
    let mut agents = Vec::new();
    for program in programs {
        match offer(program, is_requested, args.yes, session) {
            Ok(agent) => agents.push(agent),
            Err(fault) if is_requested => return Err(fault),
            // Invalid settings of a program that `--install` does not name do not fail `init`.
            Err(fault) => session
                .out
                .talk(&format!("heirloom: {program}: {}", fault.message)),
        }
    }
    Ok(agents)
}

fn offer(
    program: AgentProgram,
    is_requested: bool,
    asks_nothing: bool,
    session: &mut CliSession,
) -> Result<OfferedAgent, Fault> {
    let start = session.start_folder()?;
    let (scope, change) = (InstallScope::User, HookChange::Install);
    let plan = hook_installation::plan_change(program, scope, change, &session.env, &start)?;
    let file = plan.file.to_escaped().to_string();
    let mut outcome = if plan.has_changes() {
        "offered"
    } else {
        "unchanged"
    };
    if plan.has_changes() {
        let question = format!("Let {program} use this memory, by hooks in {file}?");
        let is_asked = !asks_nothing && session.out.can_ask();
        if is_requested || is_asked && session.out.ask(&question)? {
            plan.write(session.clock()?.now())?;
            outcome = "installed";
        }
    }
    Ok(OfferedAgent {
        program,
        file,
        outcome,
    })
}

/// Finds the programs whose executable is in `PATH`, or whose settings folder exists.
fn find_programs(env: &Environment) -> Vec<AgentProgram> {
    let path = env.get("PATH").unwrap_or_default();
    let folders: Vec<_> = std::env::split_paths(path).collect();
    let is_installed = |program: &AgentProgram| {
        let mut names = program.executables().iter();
        let has_executable = names.any(|name| {
            folders
                .iter()
                .any(|folder| program_file(&folder.join(name)).is_some())
        });
        let settings = program.settings();
        let folder = settings.and_then(|format| format.user_folder.resolve(|name| env.get(name)));
        has_executable || folder.is_some_and(|folder| folder.is_dir())
    };
    AgentProgram::with_hooks().filter(is_installed).collect()
}

/// Formats the agents as JSON.
pub(super) fn agents_value(agents: &[OfferedAgent]) -> Value {
    let one = |agent: &OfferedAgent| json!({"agent": agent.program.as_str(), "file": agent.file, "outcome": agent.outcome});
    agents.iter().map(one).collect()
}

/// Prints what was installed, and the next step for the other programs.
pub(super) fn print_agents(agents: &[OfferedAgent], session: &mut CliSession) {
    for agent in agents.iter().filter(|agent| agent.outcome == "installed") {
        let (program, file) = (agent.program, &agent.file);
        session.out.line(&format!(
            "{program} uses this memory: the hooks are in {file}"
        ));
        let notes = program.settings().map_or(&[][..], |format| format.notes);
        for note in notes {
            session.out.talk(&format!("  {}", text::one_line(note)));
        }
    }
    let offered = agents.iter().filter(|agent| agent.outcome == "offered");
    let offered: Vec<_> = offered.map(|agent| agent.program.as_str()).collect();
    if !offered.is_empty() {
        session.out.talk("agent programs that can use this memory:");
        for program in &offered {
            session.out.talk(&format!("  heirloom install {program}"));
        }
    }
    let is_called = agents.iter().any(|agent| agent.outcome == "installed");
    if is_called && !hook_installation::is_on_path(&session.env) {
        session.out.talk(
            "`heirloom` is in no folder of PATH: the hooks call it by this name and would fail",
        );
    }
}
