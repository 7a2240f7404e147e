//! `heirloom propose`.

use super::session::text_or_input;
use crate::store_access::CliSession;
use crate::{json_output, pending_proposals};
use heirloom_engine::{AppliedChange, NewRecord};
use heirloom_formats::group::AGENT_DEFAULT;
use heirloom_model::conflict::can_arbitrate;
use heirloom_model::{Fault, Record, text};

/// Propose something for a person to accept or reject
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  heirloom propose \"The API is versioned by path\" --source claude    it is used, and marked as a proposal
  heirloom propose --user \"They prefer small commits\"               it is not used before the user accepts it
  heirloom propose                                                  pending proposals; --user, for your own memory
  heirloom accept ID")]
pub(crate) struct Args {
    /// The proposal, - reads it from standard input; without it, pending proposals are listed
    text: Option<String>,
    /// For the user's own memory, which is used in every project
    #[arg(long)]
    user: bool,
    /// The proposing agent's id; default: unknown
    #[arg(long, value_name = "ID")]
    source: Option<String>,
    /// The category
    #[arg(long, value_name = "NAME")]
    category: Option<String>,
    /// The key
    #[arg(long, value_name = "KEY")]
    key: Option<String>,
}

pub(crate) fn run(args: Args, session: &mut CliSession) -> Result<u8, Fault> {
    let Some(text) = args.text else {
        return list(args.user, session);
    };
    let text = text_or_input(text, "a proposal")?;
    let source = args.source.unwrap_or_else(|| AGENT_DEFAULT.to_owned());
    if can_arbitrate(&source) {
        let name = text::excerpt(&source, 60);
        return Err(Fault::refused(format!("`{name}` cannot propose")).hint(
            "record it directly: heirloom remember \"TEXT\", with --user for every project",
        ));
    }
    let engine = match args.user {
        true => session.user_engine()?,
        false => session.open()?,
    };
    let proposed = engine.records().remember(NewRecord {
        text,
        category: args.category,
        key: args.key,
        source: Some(source),
        ..NewRecord::default()
    })?;
    let message = match args.user {
        true => "proposed: it is not used before the user accepts it",
        false => "proposed: it is used, and marked as a proposal",
    };
    let applied = AppliedChange {
        id: proposed.id,
        verdict: proposed.verdict,
        other: proposed.winner,
    };
    pending_proposals::print_outcome(&applied, message, session);
    Ok(0)
}

fn list(is_user_memory: bool, session: &mut CliSession) -> Result<u8, Fault> {
    let pending = match is_user_memory {
        true if !session.has_user_memory() => Vec::new(),
        true => pending_proposals::list_pending(&session.user_engine()?)?,
        false => pending_proposals::list_pending(&session.open()?)?,
    };
    if session.out.json {
        session.out.value(&json_output::list("records", &pending));
        return Ok(0);
    }
    if pending.is_empty() {
        session.out.talk("no pending proposals");
    }
    let row = |record: &Record| {
        let words = text::excerpt(&record.text, 90);
        vec![record.id.to_string(), format!("{}: {words}", record.source)]
    };
    let rows: Vec<_> = pending.iter().map(row).collect();
    if !rows.is_empty() {
        session.out.table(&rows, &[0]);
    }
    Ok(0)
}
