//! `heirloom prune`.

use crate::store_access::CliSession;
use heirloom_model::Fault;
use heirloom_model::text::counted;
use serde_json::json;

/// Retire records beyond the limits of number or age; only shows the numbers without --apply
///
/// Decisions and errors beyond `memory.max_entries`, oldest first; episodes and artifacts older than
/// `retention.episodes_days` and `retention.artifacts_days`, but no failure without a later success of its task.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Retire the records
    #[arg(long)]
    apply: bool,
    /// A task whose open errors stay
    #[arg(long, value_name = "ID")]
    task: Option<String>,
}

pub(crate) fn run(args: Args, session: &mut CliSession) -> Result<u8, Fault> {
    let engine = session.open()?;
    let task = args.task.as_deref();
    let report = if args.apply {
        engine.maintenance().prune(task)?
    } else {
        engine.maintenance().prunable(task)?
    };
    if session.out.json {
        session.out.value(&json!({
            "applied": args.apply,
            "entries": report.entries,
            "decisions": report.decisions.len(),
            "errors": report.errors.len(),
            "episodes": report.episodes.len(),
            "artifacts": report.artifacts.len(),
        }));
        return Ok(0);
    }
    let verb = if args.apply {
        "retired"
    } else {
        "would retire"
    };
    session.out.line(&format!(
        "{verb} {} and {} of {} (memory.max_entries = {})",
        counted(report.decisions.len(), "decision", "decisions"),
        counted(report.errors.len(), "error", "errors"),
        counted(report.entries, "entry", "entries"),
        engine.settings().max_entries,
    ));
    let retention = engine.settings().retention;
    session.out.line(&format!(
        "{verb} {} episodes and {} artifacts (retention.episodes_days = {}, retention.artifacts_days = {})",
        report.episodes.len(),
        report.artifacts.len(),
        retention.episodes_days,
        retention.artifacts_days,
    ));
    let all = [
        &report.decisions,
        &report.errors,
        &report.episodes,
        &report.artifacts,
    ];
    if !args.apply && all.iter().any(|ids| !ids.is_empty()) {
        session
            .out
            .talk("  heirloom prune --apply   retires them; `heirloom undo ID` restores one");
    }
    Ok(0)
}
