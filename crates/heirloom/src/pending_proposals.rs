//! Pending proposals of agents, in a project's memory and in the user's own.

use crate::json_output;
use crate::store_access::CliSession;
use heirloom_engine::{AppliedChange, Engine, Filter, RememberReport};
use heirloom_model::kinds::Knowledge;
use heirloom_model::{ErrorKind, Fault, Kind, KindData, Record};

/// Lists the pending proposals of this memory, newest first.
pub(crate) fn list_pending(engine: &Engine) -> Result<Vec<Record>, Fault> {
    let mut records = engine
        .records()
        .find(&Filter::current(&[Kind::Knowledge], engine.now()))?;
    records.retain(is_proposal);
    Ok(records)
}

/// Finds the proposal with this id, and the memory that contains it: the project's, else the user's own.
pub(crate) fn find_proposal(id: &str, session: &mut CliSession) -> Result<(Engine, Record), Fault> {
    let in_project = session.open().and_then(|engine| load_record(id, engine));
    let found = match in_project {
        Err(fault) if fault.kind == ErrorKind::NotFound && session.has_user_memory() => {
            load_record(id, session.user_engine()?)?
        }
        found => found?,
    };
    if is_proposal(&found.1) {
        return Ok(found);
    }
    Err(Fault::usage(format!("{} is not a proposal", found.1.id))
        .hint("`heirloom propose` lists pending ones, `--user` those for your own memory"))
}

fn load_record(id: &str, engine: Engine) -> Result<(Engine, Record), Fault> {
    let record = engine.records().get(engine.records().resolve_id(id)?)?;
    Ok((engine, record))
}

fn is_proposal(record: &Record) -> bool {
    record.retired_at.is_none()
        && Knowledge::from_record(record).is_ok_and(|knowledge| knowledge.proposal)
}

/// Prints the outcome of a decision.
pub(crate) fn print_outcome(remembered: &RememberReport, message: &str, session: &mut CliSession) {
    if session.out.json {
        session.out.value(&json_output::applied(&AppliedChange {
            id: remembered.id,
            verdict: remembered.verdict,
            other: remembered.winner,
        }));
    } else {
        session.out.line(&format!("{} {message}", remembered.id));
    }
}
