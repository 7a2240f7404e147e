//! `heirloom mute`.

use super::pin;
use crate::open::Session;
use heirloom_model::{Fault, Mark};

/// Keep a record out of contexts; recall still finds it
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The record
    id: String,
    /// Of your own memory, which holds in every project
    #[arg(long)]
    user: bool,
    /// No longer
    #[arg(long)]
    off: bool,
}

pub(crate) fn run(args: Args, session: &mut Session) -> Result<u8, Fault> {
    pin::mark(&args.id, Mark::Muted(!args.off), args.user, session)
}
