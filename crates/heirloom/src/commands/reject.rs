//! `heirloom reject`.

use crate::open::Session;
use crate::proposals;
use heirloom_model::{Fault, text};
use serde_json::json;

/// Reject what an agent proposed: it is retired, its history stays
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The proposal: `heirloom propose` lists what waits
    id: String,
}

pub(crate) fn run(args: Args, session: &mut Session) -> Result<u8, Fault> {
    let (engine, record) = proposals::find(&args.id, session)?;
    engine.forget(record.id)?;
    let id = record.id.to_string();
    if session.out.json {
        session.out.value(&json!({"id": id, "outcome": "rejected"}));
    } else {
        let words = text::excerpt(&record.text, 100);
        session.out.line(&format!("rejected: {words}"));
    }
    Ok(0)
}
