//! `heirloom purge`.

use crate::store_access::CliSession;
use heirloom_engine::{Engine, PurgeOutcome, PurgeTarget};
use heirloom_model::Fault;
use heirloom_model::text::counted;
use serde_json::json;

/// Delete for good, including past versions and copies; asks first
///
/// Deletes from the tables, the indexes, the free pages of the database, the journal and memory.json. `forget` only
/// retires a record, and can be undone.
#[derive(Debug, clap::Args)]
#[command(group = clap::ArgGroup::new("what").required(true).multiple(false).args(["id", "query", "session", "all", "free"]))]
pub(crate) struct Args {
    /// These records, with what they replaced and what replaced them
    #[arg(long, value_name = "ID", num_args = 1..)]
    id: Vec<String>,
    /// Records that contain this text, ignoring case
    #[arg(long, value_name = "TEXT")]
    query: Option<String>,
    /// A session, its messages and its records
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// Everything of the project
    #[arg(long)]
    all: bool,
    /// No record: only remains of deleted ones in free pages and in the journal
    #[arg(long)]
    free: bool,
    /// Also delete the copies of the database, set-aside mirrors, and archives of windows
    #[arg(long)]
    copies: bool,
    /// Do not ask
    #[arg(long)]
    yes: bool,
    /// Only show what would be deleted
    #[arg(long, conflicts_with = "yes")]
    dry_run: bool,
}

pub(crate) fn run(args: Args, session: &mut CliSession) -> Result<u8, Fault> {
    let engine = session.open()?;
    let target = build_target(&args, &engine)?;
    let expected = engine.maintenance().purgeable(&target)?;
    if args.dry_run {
        print_report(session, &expected, false, &[]);
        return Ok(0);
    }
    let deletes_nothing = args.free && !args.copies;
    if !args.yes && !deletes_nothing {
        let copies = if args.copies {
            format!(" and {}", counted(expected.copies.len(), "copy", "copies"))
        } else {
            String::new()
        };
        let question = format!("delete {}{copies} for good?", describe_amount(&expected));
        if !session.out.ask(&question)? {
            return Err(Fault::refused("nothing was deleted"));
        }
    }
    let report = engine.maintenance().purge(&target)?;
    let removed = if args.copies {
        engine.maintenance().remove_copies()?
    } else {
        Vec::new()
    };
    let removed: Vec<_> = removed
        .iter()
        .map(|p| p.to_string_lossy().into_owned())
        .collect();
    print_report(session, &report, true, &removed);
    Ok(0)
}

fn build_target(args: &Args, engine: &Engine) -> Result<PurgeTarget, Fault> {
    if args.all {
        return Ok(PurgeTarget::Project);
    }
    if let Some(text) = &args.query {
        return Ok(PurgeTarget::Containing(text.clone()));
    }
    if let Some(session) = &args.session {
        return Ok(PurgeTarget::Session(session.clone()));
    }
    let ids = args.id.iter().map(|id| engine.records().resolve_id(id));
    Ok(PurgeTarget::Records(ids.collect::<Result<_, _>>()?))
}

fn describe_amount(report: &PurgeOutcome) -> String {
    let purged = &report.purged;
    format!(
        "{}, {} and {}",
        counted(purged.records, "record", "records"),
        counted(purged.sessions, "session", "sessions"),
        counted(purged.messages, "message", "messages")
    )
}

fn print_report(session: &mut CliSession, report: &PurgeOutcome, done: bool, removed: &[String]) {
    let copies: Vec<_> = report
        .copies
        .iter()
        .map(|p| p.to_string_lossy().into_owned())
        .collect();
    let left: Vec<_> = copies
        .iter()
        .filter(|copy| !removed.contains(copy))
        .collect();
    if session.out.json {
        session.out.value(&json!({
            "purged": done,
            "records": report.purged.records,
            "sessions": report.purged.sessions,
            "messages": report.purged.messages,
            "mirror_rewritten": report.mirror_rewritten,
            "working": report.working_memories,
            "copies_removed": removed,
            "copies": left,
            "residue": report.purged.residue,
        }));
        return;
    }
    let verb = if done { "deleted" } else { "would delete" };
    session
        .out
        .line(&format!("{verb} {}", describe_amount(report)));
    if report.working_memories > 0 {
        let number = report.working_memories;
        session
            .out
            .line(&format!("{verb} {number} stored working memories"));
    }
    for copy in removed {
        session.out.line(&format!("deleted {copy}"));
    }
    if report.mirror_rewritten {
        session.out.talk("memory.json was rewritten");
    }
    for copy in left {
        session.out.talk(&format!(
            "an earlier copy may still contain it: {copy} (`heirloom purge --free --copies` deletes it)"
        ));
    }
    if report.purged.residue {
        session.out.talk(
            "the journal or free pages may still contain it, because another process is reading or the disk is full: run `heirloom purge --free` later",
        );
    }
}
