//! `heirloom prune`.

use crate::acting_agent::require_person;
use crate::store_access::CliSession;
use heirloom_model::text::{counted, excerpt};
use heirloom_model::{Fault, Kind};
use serde_json::json;

/// Characters of a record's text in the list.
const TEXT_CHARS_MAX: usize = 70;

/// Retire attempts and artifacts beyond their age; only lists them without --apply
///
/// Episodes and artifacts older than `retention.episodes_days` and `retention.artifacts_days`, but no failure without a
/// later success of its task, and nothing that a person said or pinned.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Retire the records
    #[arg(long)]
    apply: bool,
}

pub(crate) fn run(args: Args, session: &mut CliSession) -> Result<u8, Fault> {
    if args.apply {
        require_person(session, "retire records")?;
    }
    let engine = session.open()?;
    let report = if args.apply {
        engine.maintenance().prune(usize::MAX)?
    } else {
        engine.maintenance().prunable(usize::MAX)?
    };
    if session.out.json {
        session.out.value(&json!({
            "applied": args.apply,
            "episodes": report.episodes.len(),
            "artifacts": report.artifacts.len(),
            "ids": report.records().map(|record| record.id.to_string()).collect::<Vec<_>>(),
        }));
        return Ok(0);
    }
    let verb = if args.apply {
        "retired"
    } else {
        "would retire"
    };
    let retention = engine.settings().retention;
    session.out.line(&format!(
        "{verb} {} and {} (retention.episodes_days = {}, retention.artifacts_days = {})",
        counted(report.episodes.len(), "episode", "episodes"),
        counted(report.artifacts.len(), "artifact", "artifacts"),
        retention.episodes_days,
        retention.artifacts_days,
    ));
    for record in report.records() {
        let kind = match record.kind == Kind::Artifact {
            true => "artifact",
            false => "episode",
        };
        let text = excerpt(&record.text, TEXT_CHARS_MAX);
        session.out.line(&match args.apply {
            true => format!("  {kind} {text}  heirloom undo {}", record.id),
            false => format!("  {kind} {text}  heirloom show {}", record.id),
        });
    }
    if !args.apply && report.records().next().is_some() {
        session
            .out
            .talk("  heirloom prune --apply   retires them; `heirloom undo ID` restores one");
    }
    Ok(0)
}
