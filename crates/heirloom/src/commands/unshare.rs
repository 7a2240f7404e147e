//! `heirloom unshare`.

use crate::open::Session;
use heirloom_model::Fault;

/// Take entries out of the team's files; what they say stays in this memory
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The records
    #[arg(value_name = "ID", required = true)]
    ids: Vec<String>,
}

pub(crate) fn run(args: Args, session: &mut Session) -> Result<u8, Fault> {
    let engine = session.open()?;
    let ids = args.ids.iter().map(|id| engine.resolve_id(id));
    let done = engine.unshare(&ids.collect::<Result<Vec<_>, _>>()?)?;
    super::share::tell(&done, session);
    Ok(0)
}
