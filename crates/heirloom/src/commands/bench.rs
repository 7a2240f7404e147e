//! `heirloom bench`.

mod recall;
mod window;

use crate::store_access::CliSession;
use heirloom_model::Fault;

/// Measure Heirloom with data of your own
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    subcommand: BenchSubcommand,
}

#[derive(Debug, clap::Subcommand)]
enum BenchSubcommand {
    Recall(recall::Args),
    Window(window::Args),
}

pub(crate) fn run(args: Args, session: &mut CliSession) -> Result<u8, Fault> {
    match args.subcommand {
        BenchSubcommand::Recall(args) => recall::run(args, session),
        BenchSubcommand::Window(args) => window::run(args, session),
    }
}
