//! What may be typed, and which command it is.

use crate::commands;
use crate::open::Session;
use crate::options::Global;
use clap::{Parser, Subcommand};
use heirloom_model::Fault;

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
    Recall(commands::recall::Args),
    Tried(commands::tried::Args),
    List(commands::list::Args),
    Show(commands::show::Args),
    Forget(commands::forget::Args),
    Undo(commands::undo::Args),
    Conflicts(commands::conflicts::Args),
    Resolve(commands::resolve::Args),
    History(commands::history::Args),
    Pin(commands::pin::Args),
    Mute(commands::mute::Args),
    Useful(commands::useful::Args),
    Review(commands::review::Args),
    Session(commands::session::Args),
    Task(commands::task::Args),
    Episode(commands::episode::Args),
    Analytics(commands::analytics::Args),
    Artifact(commands::artifact::Args),
    Step(commands::step::Args),
    Error(commands::error::Args),
    Export(commands::export::Args),
    Import(commands::import::Args),
    Prune(commands::prune::Args),
    Purge(commands::purge::Args),
    Backup(commands::backup::Args),
    Restore(commands::restore::Args),
    Doctor(commands::doctor::Args),
    Reembed(commands::reembed::Args),
    Redact(commands::redact::Args),
    Bench(commands::bench::Args),
    Config(commands::config::Args),
    Completions(commands::completions::Args),
    Man(commands::man::Args),
}

/// Runs a command; its exit code when nothing went wrong with the command itself.
pub(crate) fn run(command: Command, session: &mut Session) -> Result<u8, Fault> {
    match command {
        Command::Init(args) => commands::init::run(args, session),
        Command::Status(args) => commands::status::run(args, session),
        Command::Demo(args) => commands::demo::run(args, session),
        Command::Run(args) => commands::run::run(args, session),
        Command::Outcome(args) => commands::outcome::run(args, session),
        Command::Observe(args) => commands::observe::run(args, session),
        Command::Context(args) => commands::context::run(args, session),
        Command::Remember(args) => commands::remember::run(args, session),
        Command::Recall(args) => commands::recall::run(args, session),
        Command::Tried(args) => commands::tried::run(args, session),
        Command::List(args) => commands::list::run(args, session),
        Command::Show(args) => commands::show::run(args, session),
        Command::Forget(args) => commands::forget::run(args, session),
        Command::Undo(args) => commands::undo::run(args, session),
        Command::Conflicts(args) => commands::conflicts::run(args, session),
        Command::Resolve(args) => commands::resolve::run(args, session),
        Command::History(args) => commands::history::run(args, session),
        Command::Pin(args) => commands::pin::run(args, session),
        Command::Mute(args) => commands::mute::run(args, session),
        Command::Useful(args) => commands::useful::run(args, session),
        Command::Review(args) => commands::review::run(args, session),
        Command::Session(args) => commands::session::run(args, session),
        Command::Task(args) => commands::task::run(args, session),
        Command::Episode(args) => commands::episode::run(args, session),
        Command::Analytics(args) => commands::analytics::run(args, session),
        Command::Artifact(args) => commands::artifact::run(args, session),
        Command::Step(args) => commands::step::run(args, session),
        Command::Error(args) => commands::error::run(args, session),
        Command::Export(args) => commands::export::run(args, session),
        Command::Import(args) => commands::import::run(args, session),
        Command::Prune(args) => commands::prune::run(args, session),
        Command::Purge(args) => commands::purge::run(args, session),
        Command::Backup(args) => commands::backup::run(args, session),
        Command::Restore(args) => commands::restore::run(args, session),
        Command::Doctor(args) => commands::doctor::run(args, session),
        Command::Reembed(args) => commands::reembed::run(args, session),
        Command::Redact(args) => commands::redact::run(args, session),
        Command::Bench(args) => commands::bench::run(args, session),
        Command::Config(args) => commands::config::run(args, session),
        Command::Completions(args) => commands::completions::run(args, session),
        Command::Man(args) => commands::man::run(args, session),
    }
}
