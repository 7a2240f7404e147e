//! One file a command: its arguments, whose doc comment is the help text, then one function.
#![expect(
    clippy::needless_pass_by_value,
    reason = "every command takes its arguments in the same form"
)]

pub(crate) mod completions;
pub(crate) mod config;
pub(crate) mod context;
pub(crate) mod demo;
pub(crate) mod error;
pub(crate) mod export;
pub(crate) mod forget;
pub(crate) mod history;
pub(crate) mod import;
pub(crate) mod init;
pub(crate) mod list;
pub(crate) mod man;
pub(crate) mod observe;
pub(crate) mod outcome;
pub(crate) mod prune;
pub(crate) mod remember;
pub(crate) mod run;
pub(crate) mod show;
pub(crate) mod status;
pub(crate) mod step;
pub(crate) mod task;
pub(crate) mod undo;

use crate::cli::Command;
use crate::open::Session;
use heirloom_model::Fault;

/// Runs a command; its exit code when nothing went wrong with the command itself.
pub(crate) fn run(command: Command, session: &mut Session) -> Result<u8, Fault> {
    match command {
        Command::Init(args) => init::run(args, session),
        Command::Status(args) => status::run(args, session),
        Command::Demo(args) => demo::run(args, session),
        Command::Run(args) => run::run(args, session),
        Command::Outcome(args) => outcome::run(args, session),
        Command::Observe(args) => observe::run(args, session),
        Command::Context(args) => context::run(args, session),
        Command::Remember(args) => remember::run(args, session),
        Command::List(args) => list::run(args, session),
        Command::Show(args) => show::run(args, session),
        Command::Forget(args) => forget::run(args, session),
        Command::Undo(args) => undo::run(args, session),
        Command::History(args) => history::run(args, session),
        Command::Task(args) => task::run(args, session),
        Command::Step(args) => step::run(args, session),
        Command::Error(args) => error::run(args, session),
        Command::Export(args) => export::run(args, session),
        Command::Import(args) => import::run(args, session),
        Command::Prune(args) => prune::run(args, session),
        Command::Config(args) => config::run(args, session),
        Command::Completions(args) => completions::run(args, session),
        Command::Man(args) => man::run(args, session),
    }
}
