//! `heirloom forget`.

use crate::store_access::CliSession;
use heirloom_model::{Fault, text};
use serde_json::json;

/// Retire a record: it is no longer current, its history stays
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The record
    id: String,
    /// In your own memory, which is used in every project
    #[arg(long)]
    user: bool,
}

pub(crate) fn run(args: Args, session: &mut CliSession) -> Result<u8, Fault> {
    let engine = session.open_memory(args.user)?;
    let id = engine.records().resolve_id(&args.id)?;
    let record = engine.records().get(id)?;
    engine.records().forget(id)?;
    if session.out.json {
        session
            .out
            .value(&json!({"id": id.to_string(), "outcome": "retired"}));
    } else {
        session
            .out
            .line(&format!("forgotten: {}", text::excerpt(&record.text, 100)));
        let id = session.out.plain_id(id);
        session.out.talk(&format!(
            "  heirloom undo {id}{}   restores it",
            if args.user { " --user" } else { "" }
        ));
    }
    Ok(0)
}
