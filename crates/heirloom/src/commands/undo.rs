//! `heirloom undo`.

use crate::open::Session;
use heirloom_engine::Undone;
use heirloom_model::{Fault, text};
use serde_json::json;

/// Take back the last thing that happened to a record: its creation, its replacement, its retirement
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The record
    id: String,
}

pub(crate) fn run(args: Args, session: &mut Session) -> Result<u8, Fault> {
    let engine = session.open()?;
    let id = engine.resolve_id(&args.id)?;
    let undone = engine.undo(id)?;
    let (current, retired) = match undone {
        Undone::Restored { id, retired } => (Some(id), retired),
        Undone::Uncreated { id } => (None, Some(id)),
    };
    if session.out.json {
        let (id, outcome) = match undone {
            Undone::Restored { id, .. } => (id, "restored"),
            Undone::Uncreated { id } => (id, "retired"),
        };
        let retired = retired.map(|id| id.to_string());
        session
            .out
            .value(&json!({"id": id.to_string(), "outcome": outcome, "retired": retired}));
        return Ok(0);
    }
    if let Some(id) = current {
        session.out.line(&format!(
            "current again: {id} {}",
            text::excerpt(&engine.get(id)?.text, 80)
        ));
    }
    if let Some(id) = retired {
        session.out.line(&format!(
            "retired:       {id} {}",
            text::excerpt(&engine.get(id)?.text, 80)
        ));
    }
    Ok(0)
}
