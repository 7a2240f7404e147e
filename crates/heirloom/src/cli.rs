//! What may be typed.

use crate::commands;
use clap::{Args, Parser, Subcommand};
use std::path::PathBuf;

/// Memory and context for coding agents: what one session learns, the next inherits.
///
/// Start with `heirloom demo`, or `heirloom init` in a project.
#[derive(Debug, Parser)]
#[command(
    name = "heirloom",
    version,
    max_term_width = 100,
    disable_help_subcommand = true
)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// Options of every command.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Options of every command")]
pub(crate) struct Global {
    /// Folder of the project; else it is searched upwards from the current folder
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) project_dir: Option<PathBuf>,
    /// Name of the project whose memory is meant
    #[arg(long, global = true, value_name = "NAME")]
    pub(crate) project: Option<String>,
    /// Print JSON
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Set a config key for this call
    #[arg(long, global = true, value_name = "SECTION.KEY=VALUE")]
    pub(crate) set: Vec<String>,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Init(commands::init::Args),
    Status(commands::status::Args),
    Demo(commands::demo::Args),
    Run(commands::run::Args),
    Outcome(commands::outcome::Args),
    Observe(commands::observe::Args),
    Context(commands::context::Args),
    Remember(commands::remember::Args),
    List(commands::list::Args),
    Show(commands::show::Args),
    Forget(commands::forget::Args),
    Undo(commands::undo::Args),
    History(commands::history::Args),
    Task(commands::task::Args),
    Step(commands::step::Args),
    Error(commands::error::Args),
    Export(commands::export::Args),
    Import(commands::import::Args),
    Prune(commands::prune::Args),
    Config(commands::config::Args),
    Completions(commands::completions::Args),
    Man(commands::man::Args),
}

/// Coordinates of a record, as options.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Where it belongs")]
pub(crate) struct ScopeArgs {
    /// The task
    #[arg(long, value_name = "ID")]
    pub(crate) task: Option<String>,
    /// The agent
    #[arg(long, value_name = "ID")]
    pub(crate) agent: Option<String>,
    /// The plan
    #[arg(long, value_name = "ID")]
    pub(crate) plan: Option<String>,
    /// The group of agents
    #[arg(long, value_name = "NAME")]
    pub(crate) group: Option<String>,
    /// The session
    #[arg(long, value_name = "ID")]
    pub(crate) session: Option<String>,
    /// The phase of the task
    #[arg(long, value_name = "NAME")]
    pub(crate) phase: Option<String>,
    /// The iteration of the run, from 1
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) iteration: Option<u32>,
}

impl ScopeArgs {
    /// The scope that the options name.
    pub(crate) fn scope(self) -> heirloom_model::Scope {
        heirloom_model::Scope {
            plan: self.plan,
            group: self.group,
            session: self.session,
            task: self.task,
            agent: self.agent,
            phase: self.phase,
            iteration: self.iteration,
        }
    }
}
