//! `heirloom resolve`.

use crate::open::Session;
use heirloom_model::{Fault, text};
use serde_json::json;

/// Decide a conflict: what is kept holds, the other values are history
///
/// `heirloom conflicts` shows the open ones; `heirloom undo` takes a decision back.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The conflict: its winner, or anything that lost
    id: String,
    /// What holds from now on
    #[arg(long, value_name = "ID")]
    keep: String,
    /// Who decides: user or orchestrator
    #[arg(long = "as", value_name = "ROLE")]
    role: String,
}

pub(crate) fn run(args: Args, session: &mut Session) -> Result<u8, Fault> {
    let engine = session.open()?;
    let id = engine.resolve_id(&args.id)?;
    let keep = engine.resolve_id(&args.keep)?;
    let settled = engine.resolve_conflict(id, keep, &args.role)?;
    if session.out.json {
        let retired = settled.retired.map(|id| id.to_string());
        session.out.value(
            &json!({"id": settled.kept.to_string(), "outcome": "resolved", "retired": retired}),
        );
        return Ok(0);
    }
    for (what, id) in [
        ("holds:  ", Some(settled.kept)),
        ("retired:", settled.retired),
    ] {
        if let Some(id) = id {
            let words = text::excerpt(&engine.get(id)?.text, 80);
            session.out.line(&format!("{what} {id} {words}"));
        }
    }
    session
        .out
        .talk(&format!("  heirloom undo {}   takes it back", settled.kept));
    Ok(0)
}
