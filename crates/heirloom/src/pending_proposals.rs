//! Pending proposals of agents, in a project's memory and in the user's own.

use crate::json_output;
use crate::store_access::CliSession;
use heirloom_engine::{AppliedChange, Engine};
use heirloom_model::{ErrorKind, Fault, Record, RecordId};

/// Lists the pending proposals of this memory, newest first.
pub(crate) fn list_pending(engine: &Engine) -> Result<Vec<Record>, Fault> {
    engine.records().proposals().pending()
}

/// Finds the proposal with this id, and the memory that contains it: the project's, else the user's own.
pub(crate) fn find_proposal(id: &str, session: &mut CliSession) -> Result<(Engine, Record), Fault> {
    let in_project = session.open().and_then(|engine| resolve(id, engine));
    let (engine, id) = match in_project {
        Err(fault) if fault.kind == ErrorKind::NotFound && session.has_user_memory() => {
            resolve(id, session.user_engine()?)?
        }
        found => found?,
    };
    let record = engine.records().proposals().get(id)?;
    Ok((engine, record))
}

/// Resolves an id in a memory. Errors: `NotFound` for an unknown record.
fn resolve(id: &str, engine: Engine) -> Result<(Engine, RecordId), Fault> {
    let id = engine.records().resolve_id(id)?;
    engine.records().get(id)?;
    Ok((engine, id))
}

/// Prints the outcome of a decision.
pub(crate) fn print_outcome(applied: &AppliedChange, message: &str, session: &mut CliSession) {
    if session.out.json {
        session.out.value(&json_output::applied(applied));
    } else {
        let id = session.out.id(applied.id);
        session.out.painted_line(&format!("{id} {message}"));
    }
}
