//! `heirloom init`.

mod offer;

use crate::open::{self, Session};
use heirloom_engine::places;
use heirloom_model::{Fault, ProjectName};
use offer::Offer;
use serde_json::json;
use std::path::{Path, PathBuf};

/// Switch memory on for the project in this folder
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Creates .heirloom/ with config.toml, the database and a .gitignore. Again: changes nothing, but takes away what others may do there. What other tools left is only named; --import takes it in, as one import that `heirloom undo` takes back: AGENTS.md, CLAUDE.md, .agentium/memory.json, histories and outputs of plans of Radium, shared-context/ and ~/.agent/workspace."
)]
pub(crate) struct Args {
    /// Keep everything in the user's data folder, no file in the project
    #[arg(long)]
    user: bool,
    /// Take in what other tools left, as one import
    #[arg(long)]
    import: bool,
    /// With --import: only say what would come, and take nothing in
    #[arg(long, requires = "import")]
    dry_run: bool,
    /// Ask nothing; takes nothing in by itself
    #[arg(long)]
    yes: bool,
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

pub(crate) fn run(args: Args, session: &mut Session) -> Result<u8, Fault> {
    let start = session.start()?;
    let named = session.bare_config()?.text("project.name").to_owned();
    if !named.is_empty() {
        ProjectName::new(&named).map_err(|error| Fault::usage(error.to_string()))?;
    }
    let mut place = places::find_root(&start).unwrap_or_else(|| places::new_place(&start));
    if args.user {
        place = session.user_place(&place.root).ok_or_else(|| {
            Fault::failed("no data folder: neither XDG_DATA_HOME nor HOME is set").hint("set HOME")
        })?;
    }
    let folder = open::memory_folder(&place)?;
    let mut made = Vec::new();
    open::create_folder(&folder)?;
    // A checkout makes the folder as open as any other. The journal gets the mode of its database.
    let mut tightened = open::make_memory_private(&folder)?;
    create(&place.config, &config_text(&named), &mut made)?;
    if !args.user {
        create(&folder.join(".gitignore"), GITIGNORE, &mut made)?;
    }
    let database = folder.join("heirloom.db");
    let fresh = !database.exists();
    let found = session.find()?;
    let engine = session.engine(&found)?;
    if fresh {
        made.push(database);
    }
    made.extend(engine.init_workspace()?);
    if let Ok(mirror) = engine.mirror_path() {
        tightened.extend(open::make_private(&mirror)?);
    }
    let engine = session.with_embedder(engine, &found);
    let offer = Offer::make(&args, &engine, &found, session)?;
    if session.out.json {
        let made: Vec<_> = made.iter().map(|path| path.display().to_string()).collect();
        let tightened: Vec<_> = tightened.iter().map(|p| p.display().to_string()).collect();
        let folder = folder.display().to_string();
        let mut value = json!({
            "project": engine.project().as_str(), "folder": folder, "created": made, "tightened": tightened,
        });
        offer.add_to(&mut value);
        session.out.value(&value);
        return Ok(0);
    }
    if made.is_empty() {
        session
            .out
            .line(&format!("memory is here already: {}", folder.display()));
    }
    for path in &made {
        session.out.line(&format!("created {}", path.display()));
    }
    for path in &tightened {
        session.out.line(&format!(
            "made private, it was open to others: {}",
            path.display()
        ));
    }
    session.out.talk(&format!("project {}", engine.project()));
    session.out.talk("next: heirloom run -- YOUR-AGENT, or heirloom remember \"…\"; heirloom context shows what is handed over");
    offer.tell(session);
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

fn create(path: &Path, text: &str, made: &mut Vec<PathBuf>) -> Result<(), Fault> {
    if path.exists() {
        return Ok(());
    }
    open::write_file(path, text.as_bytes())?;
    made.push(path.to_owned());
    Ok(())
}
