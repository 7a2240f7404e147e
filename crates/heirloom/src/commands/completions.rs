//! `heirloom completions`.

use crate::open::Session;
use heirloom_model::Fault;

/// Print the completions of a shell
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example: heirloom completions bash > ~/.local/share/bash-completion/completions/heirloom"
)]
pub(crate) struct Args {
    /// The shell
    shell: clap_complete::Shell,
}

pub(crate) fn run(args: Args, session: &mut Session) -> Result<u8, Fault> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut session.program(), "heirloom", &mut script);
    session.out.bytes(&script);
    Ok(0)
}
