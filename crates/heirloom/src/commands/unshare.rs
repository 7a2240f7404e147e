//! `heirloom unshare`.

use crate::store_access::CliSession;
use heirloom_model::Fault;

/// Remove entries from the team's files; the records stay in this memory
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The records
    #[arg(value_name = "ID", required = true)]
    ids: Vec<String>,
}

pub(crate) fn run(args: Args, session: &mut CliSession) -> Result<u8, Fault> {
    let engine = session.open()?;
    let ids = args.ids.iter().map(|id| engine.records().resolve_id(id));
    let done = engine
        .team()
        .unshare(&ids.collect::<Result<Vec<_>, _>>()?)?;
    super::share::print_shared(&done, session);
    Ok(0)
}
