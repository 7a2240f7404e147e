//! `heirloom forget`.

use crate::open::Session;
use heirloom_model::{Fault, text};
use serde_json::json;

/// Retire a record: it is no longer current, its history stays
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The record
    id: String,
    /// Of your own memory, which holds in every project
    #[arg(long)]
    user: bool,
}

pub(crate) fn run(args: Args, session: &mut Session) -> Result<u8, Fault> {
    let engine = session.open_of(args.user)?;
    let id = engine.resolve_id(&args.id)?;
    let record = engine.get(id)?;
    engine.forget(id)?;
    if session.out.json {
        session
            .out
            .value(&json!({"id": id.to_string(), "outcome": "retired"}));
    } else {
        session
            .out
            .line(&format!("forgotten: {}", text::excerpt(&record.text, 100)));
        session.out.talk(&format!(
            "  heirloom undo {id}{}   brings it back",
            if args.user { " --user" } else { "" }
        ));
    }
    Ok(0)
}
