//! `heirloom install`.

use crate::installing::{self, Plan, Scope, Wish, diff};
use crate::open::Session;
use heirloom_engine::hooks::Host;
use heirloom_model::{Fault, text};
use serde_json::{Value, json};
use std::path::PathBuf;

/// Let an agent program call Heirloom while it works: its sessions begin with what is known, and what they learn stays
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Shows what changes in the settings of the agent program, asks, and keeps the file as it was beside it. Everything else in the file stays as it stands. Again: changes nothing. Hooks do nothing outside of projects with a memory (`heirloom init`)."
)]
pub(crate) struct Args {
    #[command(flatten)]
    pub(crate) what: What,
}

/// What is installed or taken away.
#[derive(Debug, clap::Args)]
pub(crate) struct What {
    /// The agent program
    agent: Agent,
    /// Whose sessions: all of yours, or those of everybody in this project
    #[arg(long, value_name = "SCOPE", default_value = "user")]
    scope: Scope,
    /// Only show what would change
    #[arg(long)]
    dry_run: bool,
    /// Ask nothing
    #[arg(long)]
    yes: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Agent {
    ClaudeCode,
    Codex,
    Gemini,
}

impl Agent {
    fn host(self) -> Host {
        match self {
            Self::ClaudeCode => Host::ClaudeCode,
            Self::Codex => Host::Codex,
            Self::Gemini => Host::Gemini,
        }
    }
}

pub(crate) fn run(args: Args, session: &mut Session) -> Result<u8, Fault> {
    carry_out(&args.what, Wish::There, session)
}

/// Shows, asks and writes.
pub(crate) fn carry_out(what: &What, wish: Wish, session: &mut Session) -> Result<u8, Fault> {
    let host = what.agent.host();
    let start = session.start()?;
    let plan = installing::plan(host, what.scope, wish, &session.env, &start)?;
    let shown = diff(
        &plan.file.display().to_string(),
        plan.before.as_deref().unwrap_or_default(),
        plan.after.as_deref().unwrap_or_default(),
    );
    if !session.out.json {
        shown.lines().for_each(|line| session.out.line(line));
    }
    let mut backup = None;
    let mut written = false;
    if plan.changes() && !what.dry_run {
        let question = format!("Write this to {}?", plan.file.display());
        if !what.yes && !session.out.ask(&question)? {
            return Err(Fault::refused("nothing was written"));
        }
        backup = plan.carry_out(session.clock()?.now())?;
        written = true;
    }
    let notes = match wish {
        Wish::There => notes(host, what.scope, session),
        Wish::Gone => Vec::new(),
    };
    tell(
        session,
        what,
        &plan,
        &Told {
            shown,
            backup,
            written,
            notes,
        },
        wish,
    );
    Ok(0)
}

/// What is said of it.
struct Told {
    shown: String,
    backup: Option<PathBuf>,
    written: bool,
    notes: Vec<String>,
}

fn tell(session: &mut Session, what: &What, plan: &Plan, told: &Told, wish: Wish) {
    let file = plan.file.display().to_string();
    let outcome = match (plan.changes(), told.written, wish) {
        (false, _, _) => "unchanged",
        (true, false, _) => "dry-run",
        (true, true, Wish::There) => "installed",
        (true, true, Wish::Gone) => "removed",
    };
    let backup = told.backup.as_ref().map(|path| path.display().to_string());
    if session.out.json {
        let value: Value = json!({
            "agent": what.agent.host().as_str(),
            "scope": what.scope.as_str(),
            "file": file,
            "outcome": outcome,
            "backup": backup,
            "diff": told.shown,
            "notes": told.notes,
        });
        return session.out.value(&value);
    }
    let said = match (outcome, wish) {
        ("unchanged", Wish::There) => format!("{file} has the hooks already"),
        ("unchanged", Wish::Gone) => format!("{file} has no hooks of Heirloom"),
        ("dry-run", _) => "nothing was written".to_owned(),
        ("installed", _) => format!("the hooks are in {file}"),
        _ => format!("the hooks are out of {file}"),
    };
    session.out.line(&said);
    if let Some(backup) = backup {
        session.out.line(&format!("as it was: {backup}"));
    }
    for note in &told.notes {
        session.out.talk(&format!("  {note}"));
    }
}

/// What the agent program still wants from the person.
fn notes(host: Host, scope: Scope, session: &Session) -> Vec<String> {
    let mut notes = Vec::new();
    let mut note = |said: &str| notes.push(text::one_line(said));
    match host {
        Host::ClaudeCode => {
            note("Claude Code: sessions that run already go on without; new ones have the hooks")
        }
        Host::Codex => {
            note(
                "Codex runs new hooks only when you have accepted them: type /hooks in Codex, look at them, accept",
            );
            if scope == Scope::Project {
                note("Codex reads a project's hooks only in projects that you trust");
            }
        }
        Host::Gemini => {
            note("Gemini CLI: sessions that run already go on without; new ones have the hooks");
            if scope == Scope::Project {
                note(
                    "Gemini CLI warns everybody of a project's hooks, and runs them only in trusted folders",
                );
            }
        }
    }
    if !installing::is_on_path(&session.env) {
        note(
            "`heirloom` is in no folder of PATH: the hooks call it by this name and would not find it",
        );
    }
    if session.hook_place().is_none() {
        note(
            "this folder has no memory yet: `heirloom init` makes one; elsewhere hooks do nothing",
        );
    }
    notes
}
