//! `heirloom useful`.

use super::pin;
use crate::open::Session;
use heirloom_model::{Fault, Mark};

/// Say whether a record helped: recall ranks it a little higher or lower
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The record
    id: String,
    /// yes or no
    answer: Answer,
    /// Of your own memory, which holds in every project
    #[arg(long)]
    user: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Answer {
    Yes,
    No,
}

pub(crate) fn run(args: Args, session: &mut Session) -> Result<u8, Fault> {
    let mark = Mark::Useful(args.answer == Answer::Yes);
    pin::mark(&args.id, mark, args.user, session)
}
