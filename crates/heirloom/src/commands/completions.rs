//! `heirloom completions`.

use crate::store_access::CliSession;
use heirloom_model::Fault;

/// Print the completion script of a shell
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example: heirloom completions bash > ~/.local/share/bash-completion/completions/heirloom"
)]
pub(crate) struct Args {
    /// The shell
    shell: clap_complete::Shell,
}

pub(crate) fn run(args: Args, session: &mut CliSession) -> Result<u8, Fault> {
    let mut script = Vec::new();
    clap_complete::generate(
        args.shell,
        &mut session.clap_command(),
        "heirloom",
        &mut script,
    );
    session.out.bytes(&script);
    Ok(0)
}
