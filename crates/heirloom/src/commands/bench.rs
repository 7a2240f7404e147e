//! `heirloom bench`.

mod recall;
mod window;

use crate::open::Session;
use heirloom_model::Fault;

/// Measure Heirloom over data of your own
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    Recall(recall::Args),
    Window(window::Args),
}

pub(crate) fn run(args: Args, session: &mut Session) -> Result<u8, Fault> {
    match args.what {
        What::Recall(args) => recall::run(args, session),
        What::Window(args) => window::run(args, session),
    }
}
