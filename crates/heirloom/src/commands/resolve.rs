//! `heirloom resolve`.

use crate::store_access::CliSession;
use heirloom_model::{Fault, text};
use serde_json::json;

/// Decide a conflict: the kept value stays current, the other is retired
///
/// `heirloom conflicts` shows the open ones; `heirloom undo` reverts a decision.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The conflict: its winner, or one of the losers
    id: String,
    /// The value to keep
    #[arg(long, value_name = "ID")]
    keep: String,
    /// The deciding role: user or orchestrator
    #[arg(long = "as", value_name = "ROLE")]
    role: String,
}

pub(crate) fn run(args: Args, session: &mut CliSession) -> Result<u8, Fault> {
    let engine = session.open()?;
    let id = engine.records().resolve_id(&args.id)?;
    let keep = engine.records().resolve_id(&args.keep)?;
    let settled = engine.conflicts().resolve(id, keep, &args.role)?;
    if session.out.json {
        let retired = settled.retired.map(|id| id.to_string());
        session.out.value(
            &json!({"id": settled.kept.to_string(), "outcome": "resolved", "retired": retired}),
        );
        return Ok(0);
    }
    for (what, id) in [
        ("kept:   ", Some(settled.kept)),
        ("retired:", settled.retired),
    ] {
        if let Some(id) = id {
            let words = text::excerpt(&engine.records().get(id)?.text, 80);
            session.out.line(&format!("{what} {id} {words}"));
        }
    }
    session.out.talk(&format!(
        "  heirloom undo {}   reverts the decision",
        settled.kept
    ));
    Ok(0)
}
