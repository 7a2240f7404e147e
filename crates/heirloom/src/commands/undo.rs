//! `heirloom undo`.

use crate::open::Session;
use heirloom_engine::Undone;
use heirloom_model::{Fault, Mark, RecordId, text};
use serde_json::json;

/// Take back the last thing that happened to a record, or an import as one
///
/// A creation, a replacement, a retirement, a mark, the decision of a conflict. The same again brings it back.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The record, or the import
    id: String,
    /// Of your own memory, which holds in every project
    #[arg(long)]
    user: bool,
}

pub(crate) fn run(args: Args, session: &mut Session) -> Result<u8, Fault> {
    let engine = session.open_of(args.user)?;
    let id = engine.resolve_id(&args.id)?;
    let undone = engine.undo(id)?;
    let (outcome, said, current, retired) = match undone {
        Undone::Reversed { batch, back } => {
            tell_import(session, batch, back);
            return Ok(0);
        }
        Undone::Marked { id, mark } => {
            tell_mark(session, id, mark);
            return Ok(0);
        }
        Undone::Restored { id, retired } => ("restored", "current again", Some(id), retired),
        Undone::Reopened { id, retired } => ("reopened", "open again", Some(id), retired),
        Undone::Resolved { id, retired } => ("resolved", "decided again", Some(id), retired),
        Undone::Uncreated { id } => ("retired", "", None, Some(id)),
    };
    if session.out.json {
        let id = current.or(retired).unwrap_or(id);
        let retired = retired.map(|id| id.to_string());
        session
            .out
            .value(&json!({"id": id.to_string(), "outcome": outcome, "retired": retired}));
        return Ok(0);
    }
    if let Some(id) = current {
        session.out.line(&format!(
            "{said}: {id} {}",
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

fn tell_mark(session: &mut Session, id: RecordId, mark: Mark) {
    if session.out.json {
        let outcome = mark.as_str();
        let value = json!({"id": id.to_string(), "outcome": "marked", "mark": outcome});
        session.out.value(&value);
    } else {
        session.out.line(&format!("{id} {}", mark.as_str()));
    }
}

fn tell_import(session: &mut Session, batch: RecordId, back: bool) {
    if session.out.json {
        let outcome = if back { "restored" } else { "retired" };
        let value = json!({"id": batch.to_string(), "outcome": outcome, "import": true});
        session.out.value(&value);
    } else if back {
        session.out.line(&format!("the import {batch} is back"));
    } else {
        session
            .out
            .line(&format!("the import {batch} is taken back"));
    }
}
