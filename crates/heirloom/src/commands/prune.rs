//! `heirloom prune`.

use crate::open::Session;
use heirloom_model::Fault;
use serde_json::json;

/// Retire what is too much or too old; shows the numbers only without --apply
///
/// Decisions and errors beyond `memory.max_entries`, oldest first; episodes and artifacts older than
/// `retention.episodes_days` and `retention.artifacts_days`, but no failure without a later success of its task.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Do it
    #[arg(long)]
    apply: bool,
    /// A task whose open errors stay
    #[arg(long, value_name = "ID")]
    task: Option<String>,
}

pub(crate) fn run(args: Args, session: &mut Session) -> Result<u8, Fault> {
    let engine = session.open()?;
    let task = args.task.as_deref();
    let report = if args.apply {
        engine.prune(task)?
    } else {
        engine.prunable(task)?
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
        "{verb} {} decisions and {} errors of {} entries (memory.max_entries = {})",
        report.decisions.len(),
        report.errors.len(),
        report.entries,
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
            .talk("  heirloom prune --apply   does it; `heirloom undo ID` brings one back");
    }
    Ok(0)
}
