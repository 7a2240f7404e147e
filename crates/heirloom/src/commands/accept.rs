//! `heirloom accept`.

use crate::open::Session;
use crate::proposals;
use heirloom_engine::NewRecord;
use heirloom_model::Fault;

/// Accept what an agent proposed: it is as if you had said it yourself
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The proposal: `heirloom propose` lists what waits
    id: String,
}

pub(crate) fn run(args: Args, session: &mut Session) -> Result<u8, Fault> {
    let (engine, record) = proposals::find(&args.id, session)?;
    // A person who says the same accepts it.
    let accepted = engine.remember(NewRecord {
        category: record.category().map(str::to_owned),
        key: record.key.clone(),
        text: record.text,
        ..NewRecord::default()
    })?;
    proposals::tell(&accepted, "accepted", session);
    Ok(0)
}
