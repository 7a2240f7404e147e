//! `heirloom init`.

mod adoption;
mod agent_offer;
mod import_offer;

use super::import::show_import_progress;
use crate::acting_agent::require_person;
use crate::store_access::{self, CliSession, MemoryGate, find_folder_project};
use adoption::Adoption;
use agent_offer::{agents_value, offer_agents, print_agents, program_parser};
use heirloom_agents::AgentProgram;
use heirloom_fs::project_fs;
use heirloom_model::text::EscapedPath;
use heirloom_model::{Fault, ProjectName};
use import_offer::ImportOffer;
use serde_json::json;
use std::path::{Path, PathBuf};

/// Enable memory for the project in this folder
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Creates .heirloom/ with config.toml, the database and a .gitignore. Running it again changes nothing, but removes permissions of other users. Data of other tools is only listed; --import imports it, as one import that `heirloom undo` reverts: AGENTS.md, CLAUDE.md, .agentium/memory.json, histories and outputs of plans of Radium, shared-context/ and ~/.agent/workspace. Memories that only `heirloom import` reads are named with its command. Agent programs on this machine are offered at a terminal, one by one: their settings are outside of the project, so nothing is installed without an answer or --install."
)]
pub(crate) struct Args {
    /// Keep everything in the user's data folder, no file in the project
    #[arg(long)]
    user: bool,
    /// Import data of other tools, as one import
    #[arg(long)]
    import: bool,
    /// With --import: only show what would be imported
    #[arg(long, requires = "import")]
    dry_run: bool,
    /// Ask no questions; does not imply --import or --install
    #[arg(long)]
    yes: bool,
    /// Let these agent programs use the memory, as `heirloom install AGENT` does
    #[arg(long, value_name = "AGENT", num_args = 1.., value_delimiter = ',', value_parser = program_parser())]
    install: Vec<AgentProgram>,
    /// Do not look for agent programs
    #[arg(long, conflicts_with = "install")]
    no_install: bool,
    /// For a copy of a project: whether it is the same project, or a new one with a copy of the memory
    #[arg(long, value_name = "IDENTITY")]
    identity: Option<IdentityKind>,
    /// Adopt the records of another project in the store; with --user, the memory of a folder that no longer exists
    #[arg(long, value_name = "PROJECT")]
    adopt: Option<String>,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum IdentityKind {
    Same,
    New,
}

const GITIGNORE: &str = "\
# Memory stays on this machine; what a team shares is listed here.
*
!.gitignore
!config.toml
!commands/
!commands/**
!shared/
!shared/**
!workspace/
!workspace/*.md
";

pub(crate) fn run(args: Args, session: &mut CliSession) -> Result<u8, Fault> {
    let start = session.start_folder()?;
    let named = session
        .config_without_project()?
        .text("project.name")
        .to_owned();
    if !named.is_empty() {
        ProjectName::new(&named).map_err(|error| Fault::usage(error.to_string()))?;
    }
    let mut place = find_folder_project(&session.env, &start)
        .unwrap_or_else(|| project_fs::new_project_paths(&start));
    let mut adoption = Adoption::default();
    if args.user {
        (place, adoption) = Adoption::find_user_place(&args, place, session)?;
    }
    let folder = store_access::memory_folder(&place)?;
    let mut made = Vec::new();
    store_access::create_folder(&folder)?;
    // A checkout may create the folder with default permissions. The journal gets the mode of its database.
    let mut tightened = store_access::make_memory_private(&folder)?;
    create_file(&place.config, &config_text(&named), &mut made)?;
    if !args.user {
        create_file(&folder.join(".gitignore"), GITIGNORE, &mut made)?;
    }
    let database = folder.join("heirloom.db");
    let is_new_database = !database.exists();
    let found = session.find_project()?;
    if args.identity.is_some() {
        // The person knows the copy and decides about it.
        require_person(session, "decide about the copy of a memory")?;
        MemoryGate::new(session).trust_copy(&found)?;
    }
    MemoryGate::new(session).join_project(&found)?;
    adoption.apply(&args, &found, session)?;
    let engine = session.engine(&found)?;
    if is_new_database && database.exists() {
        made.push(database);
    }
    made.extend(engine.workspace().init()?);
    if let Ok(mirror) = engine.mirror().path() {
        tightened.extend(store_access::make_private(&mirror)?);
    }
    let mut engine = session.with_embedder(engine, &found);
    if args.import {
        engine = show_import_progress(engine, session);
    }
    let offer = ImportOffer::prepare(&args, &engine, &found, session)?;
    if session.out.json {
        let made: Vec<_> = made
            .iter()
            .map(|path| path.to_string_lossy().into_owned())
            .collect();
        let tightened: Vec<_> = tightened
            .iter()
            .map(|p| p.to_string_lossy().into_owned())
            .collect();
        let folder = folder.to_string_lossy().into_owned();
        let mut value = json!({
            "project": engine.project().as_str(), "name": engine.display_name(), "folder": folder, "created": made, "tightened": tightened,
        });
        adoption.add_to(&mut value);
        offer.add_to(&mut value);
        value["agents"] = agents_value(&offer_agents(&args, session)?);
        session.out.value(&value);
        return Ok(0);
    }
    if made.is_empty() {
        session.out.line(&format!(
            "memory is already enabled here: {}",
            folder.to_escaped()
        ));
    }
    for path in &made {
        session.out.line(&format!("created {}", path.to_escaped()));
    }
    for path in &tightened {
        session.out.line(&format!(
            "made private, it was open to others: {}",
            path.to_escaped()
        ));
    }
    adoption.print(session);
    session
        .out
        .talk(&format!("project {}", engine.display_name()));
    session
        .out
        .talk("next: heirloom run -- YOUR-AGENT, or heirloom remember \"…\"");
    session.out.talk("heirloom context shows what agents get");
    offer.print(session);
    let agents = offer_agents(&args, session)?;
    print_agents(&agents, session);
    Ok(0)
}

fn config_text(name: &str) -> String {
    let mut text = "# Heirloom in this project. `heirloom config` lists every key.\n".to_owned();
    if !name.is_empty() {
        text.push_str(&format!(
            "\n[project]\nname = {}\n",
            toml::Value::String(name.to_owned())
        ));
    }
    text.push_str("\n[memory]\nenabled = true\n");
    text
}

fn create_file(path: &Path, text: &str, made: &mut Vec<PathBuf>) -> Result<(), Fault> {
    if path.exists() {
        return Ok(());
    }
    store_access::write_file(path, text.as_bytes())?;
    made.push(path.to_owned());
    Ok(())
}
