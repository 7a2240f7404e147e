//! `heirloom mute`.

use super::pin;
use crate::store_access::CliSession;
use heirloom_model::{Fault, Mark};

/// Exclude a record from contexts; recall still finds it
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The record
    id: String,
    /// In your own memory, which is used in every project
    #[arg(long)]
    user: bool,
    /// Remove the mark
    #[arg(long)]
    off: bool,
}

pub(crate) fn run(args: Args, session: &mut CliSession) -> Result<u8, Fault> {
    pin::set_mark(&args.id, Mark::Muted(!args.off), args.user, session)
}
