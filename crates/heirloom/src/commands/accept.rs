//! `heirloom accept`.

use crate::pending_proposals;
use crate::store_access::CliSession;
use heirloom_model::Fault;

/// Accept what an agent proposed: it is as if you had said it yourself
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The proposal: `heirloom propose` lists pending ones
    id: String,
}

pub(crate) fn run(args: Args, session: &mut CliSession) -> Result<u8, Fault> {
    let (engine, record) = pending_proposals::find_proposal(&args.id, session)?;
    let accepted = engine.records().proposals().accept(record.id)?;
    pending_proposals::print_outcome(&accepted, "accepted", session);
    Ok(0)
}
