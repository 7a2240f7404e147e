//! `heirloom man`.

use crate::open::Session;
use heirloom_model::Fault;

/// Print the manual page, of the program or of one command
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: heirloom man run | man -l -")]
pub(crate) struct Args {
    /// The command
    command: Option<String>,
}

pub(crate) fn run(args: Args, session: &mut Session) -> Result<u8, Fault> {
    let mut program = session.program();
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
        .map_err(|error| Fault::failed(format!("the manual page cannot be made: {error}")))?;
    session.out.bytes(&text);
    Ok(0)
}
