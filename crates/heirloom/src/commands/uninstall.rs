//! `heirloom uninstall`.

use super::install::{InstallTarget, apply_hooks};
use crate::hook_installation::HookChange;
use crate::store_access::CliSession;
use heirloom_model::Fault;

/// Remove the hooks from the settings of an agent program; what is remembered stays
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Removes only what `heirloom install` wrote, in any version. A file without other content is removed too; a backup of it is kept next to it."
)]
pub(crate) struct Args {
    #[command(flatten)]
    target: InstallTarget,
}

pub(crate) fn run(args: Args, session: &mut CliSession) -> Result<u8, Fault> {
    apply_hooks(&args.target, HookChange::Remove, session)
}
