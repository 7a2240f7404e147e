//! `heirloom uninstall`.

use super::install::{What, carry_out};
use crate::installing::Wish;
use crate::open::Session;
use heirloom_model::Fault;

/// Take the hooks out of the settings of an agent program again; what is remembered stays
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Takes away only what `heirloom install` wrote, of whatever version. A file that has nothing else goes with it; as it was it is kept beside it."
)]
pub(crate) struct Args {
    #[command(flatten)]
    what: What,
}

pub(crate) fn run(args: Args, session: &mut Session) -> Result<u8, Fault> {
    carry_out(&args.what, Wish::Gone, session)
}
