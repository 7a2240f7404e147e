//! `heirloom undo`.

use crate::store_access::CliSession;
use heirloom_engine::UndoReport;
use heirloom_model::{Fault, Mark, RecordId, text};
use serde_json::json;

/// Undo the last change of a record, or a whole import
///
/// Undoes a creation, a replacement, a retirement, a mark, or the decision of a conflict. Repeating it restores the
/// change.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The record, or the import
    id: String,
    /// In your own memory, which is used in every project
    #[arg(long)]
    user: bool,
}

pub(crate) fn run(args: Args, session: &mut CliSession) -> Result<u8, Fault> {
    let engine = session.open_memory(args.user)?;
    let id = engine.records().resolve_id(&args.id)?;
    let undone = engine.records().undo(id)?;
    let (outcome, label, current, retired) = match undone {
        UndoReport::Reversed {
            batch,
            back: is_restored,
        } => {
            print_import(session, batch, is_restored);
            return Ok(0);
        }
        UndoReport::Marked { id, mark } => {
            print_mark(session, id, mark);
            return Ok(0);
        }
        UndoReport::Restored { id, retired } => ("restored", "current again", Some(id), retired),
        UndoReport::Reopened { id, retired } => ("reopened", "open again", Some(id), retired),
        UndoReport::Resolved { id, retired } => ("resolved", "resolved again", Some(id), retired),
        UndoReport::Uncreated { id } => ("retired", "", None, Some(id)),
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
        let words = text::excerpt(&engine.records().get(id)?.text, 80);
        print_side(session, label, id, &words);
    }
    if let Some(id) = retired {
        let words = text::excerpt(&engine.records().get(id)?.text, 80);
        print_side(session, "retired", id, &words);
    }
    Ok(0)
}

/// Prints a record that is current or retired after the undo.
fn print_side(session: &mut CliSession, label: &str, id: RecordId, words: &str) {
    let (id, words) = (session.out.id(id), text::replace_control_chars(words));
    let label = format!("{label}:");
    session
        .out
        .painted_line(&format!("{label:14} {id} {words}"));
}

fn print_mark(session: &mut CliSession, id: RecordId, mark: Mark) {
    if session.out.json {
        let outcome = mark.as_str();
        let value = json!({"id": id.to_string(), "outcome": "marked", "mark": outcome});
        session.out.value(&value);
    } else {
        let id = session.out.id(id);
        session.out.painted_line(&format!("{id} {}", mark.as_str()));
    }
}

fn print_import(session: &mut CliSession, batch: RecordId, is_restored: bool) {
    if session.out.json {
        let outcome = if is_restored { "restored" } else { "retired" };
        let value = json!({"id": batch.to_string(), "outcome": outcome, "import": true});
        session.out.value(&value);
    } else if is_restored {
        session.out.line(&format!("the import {batch} is restored"));
    } else {
        session.out.line(&format!("the import {batch} is undone"));
    }
}
