//! `heirloom reject`.

use crate::pending_proposals;
use crate::store_access::CliSession;
use heirloom_model::{Fault, text};
use serde_json::json;

/// Reject what an agent proposed: it is retired, its history stays
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The proposal: `heirloom propose` lists pending ones
    id: String,
}

pub(crate) fn run(args: Args, session: &mut CliSession) -> Result<u8, Fault> {
    let (engine, record) = pending_proposals::find_proposal(&args.id, session)?;
    engine.records().proposals().reject(record.id, "user")?;
    let id = record.id.to_string();
    if session.out.json {
        session.out.value(&json!({"id": id, "outcome": "rejected"}));
    } else {
        let words = text::excerpt(&record.text, 100);
        session.out.line(&format!("rejected: {words}"));
    }
    Ok(0)
}
