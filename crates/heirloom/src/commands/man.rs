//! `heirloom man`.

use crate::store_access::CliSession;
use heirloom_model::Fault;

/// Print the manual page, of the program or of one command
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: heirloom man run | man -l -")]
pub(crate) struct Args {
    /// The command
    command: Option<String>,
}

pub(crate) fn run(args: Args, session: &mut CliSession) -> Result<u8, Fault> {
    let mut program = session.clap_command();
    program.build();
    let page = match args.command {
        None => program,
        Some(name) => program.find_subcommand(&name).cloned().ok_or_else(|| {
            Fault::usage(format!("there is no command `{name}`"))
                .hint("`heirloom --help` lists the commands")
        })?,
    };
    let mut text = Vec::new();
    clap_mangen::Man::new(page)
        .render(&mut text)
        .map_err(|error| Fault::failed(format!("the manual page cannot be generated: {error}")))?;
    session.out.bytes(&text);
    Ok(0)
}
