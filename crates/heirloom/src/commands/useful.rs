//! `heirloom useful`.

use super::pin;
use crate::store_access::CliSession;
use heirloom_model::{Fault, Mark};

/// Mark a record as helpful or not: recall ranks it slightly higher or lower
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The record
    id: String,
    /// yes or no
    answer: Answer,
    /// In your own memory, which is used in every project
    #[arg(long)]
    user: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Answer {
    Yes,
    No,
}

pub(crate) fn run(args: Args, session: &mut CliSession) -> Result<u8, Fault> {
    let mark = Mark::Useful(args.answer == Answer::Yes);
    pin::set_mark(&args.id, mark, args.user, session)
}
