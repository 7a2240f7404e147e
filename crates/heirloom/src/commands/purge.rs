//! `heirloom purge`.

use crate::open::Session;
use heirloom_engine::{Engine, PurgeReport, Selection};
use heirloom_model::Fault;
use serde_json::json;

/// Delete for good, past and copies included; asks first
///
/// From the tables, the indexes, the free pages of the database, the journal and memory.json. `forget` is
/// what takes something out of use and can be taken back.
#[derive(Debug, clap::Args)]
#[command(group = clap::ArgGroup::new("what").required(true).multiple(false).args(["id", "query", "session", "all", "free"]))]
pub(crate) struct Args {
    /// These records, with what they replaced and what replaced them
    #[arg(long, value_name = "ID", num_args = 1..)]
    id: Vec<String>,
    /// Whatever contains this text, upper and lower case being the same
    #[arg(long, value_name = "TEXT")]
    query: Option<String>,
    /// A session, its messages and its records
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// Everything of the project
    #[arg(long)]
    all: bool,
    /// No record: only what is left of deleted ones in free pages and in the journal
    #[arg(long)]
    free: bool,
    /// Also delete the copies of the database, set-aside mirrors, and what windows left out
    #[arg(long)]
    copies: bool,
    /// Do not ask
    #[arg(long)]
    yes: bool,
    /// Only say what would be deleted
    #[arg(long, conflicts_with = "yes")]
    dry_run: bool,
}

pub(crate) fn run(args: Args, session: &mut Session) -> Result<u8, Fault> {
    let engine = session.open()?;
    let selection = selection(&args, &engine)?;
    let expected = engine.purgeable(&selection)?;
    if args.dry_run {
        tell(session, &expected, false, &[]);
        return Ok(0);
    }
    let nothing_goes = args.free && !args.copies;
    if !args.yes && !nothing_goes {
        let copies = if args.copies {
            format!(" and {} copies", expected.copies.len())
        } else {
            String::new()
        };
        let question = format!("delete {}{copies} for good?", amount(&expected));
        if !session.out.ask(&question)? {
            return Err(Fault::refused("nothing was deleted"));
        }
    }
    let report = engine.purge(&selection)?;
    let removed = if args.copies {
        engine.remove_copies()?
    } else {
        Vec::new()
    };
    let removed: Vec<_> = removed.iter().map(|p| p.display().to_string()).collect();
    tell(session, &report, true, &removed);
    Ok(0)
}

fn selection(args: &Args, engine: &Engine) -> Result<Selection, Fault> {
    if args.all {
        return Ok(Selection::Project);
    }
    if let Some(text) = &args.query {
        return Ok(Selection::Containing(text.clone()));
    }
    if let Some(session) = &args.session {
        return Ok(Selection::Session(session.clone()));
    }
    let ids = args.id.iter().map(|id| engine.resolve_id(id));
    Ok(Selection::Records(ids.collect::<Result<_, _>>()?))
}

fn amount(report: &PurgeReport) -> String {
    let purged = &report.purged;
    format!(
        "{} records, {} sessions and {} messages",
        purged.records, purged.sessions, purged.messages
    )
}

fn tell(session: &mut Session, report: &PurgeReport, done: bool, removed: &[String]) {
    let copies: Vec<_> = report
        .copies
        .iter()
        .map(|p| p.display().to_string())
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
            "working": report.working,
            "copies_removed": removed,
            "copies": left,
            "residue": report.purged.residue,
        }));
        return;
    }
    let verb = if done { "deleted" } else { "would delete" };
    session.out.line(&format!("{verb} {}", amount(report)));
    if report.working > 0 {
        let number = report.working;
        session
            .out
            .line(&format!("{verb} {number} kept working memories"));
    }
    for copy in removed {
        session.out.line(&format!("deleted {copy}"));
    }
    if report.mirror_rewritten {
        session.out.talk("memory.json was written anew");
    }
    for copy in left {
        session.out.talk(&format!(
            "a copy from before may still hold it: {copy} (`heirloom purge --free --copies` deletes it)"
        ));
    }
    if report.purged.residue {
        session.out.talk(
            "the journal or free pages may still hold it, because another process reads or the disk is full: run `heirloom purge --free` later",
        );
    }
}
