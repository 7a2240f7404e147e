//! What agents propose, in a project's memory and in the person's own: where it waits, and who decides.

use crate::open::Session;
use crate::wire;
use heirloom_engine::{Applied, Engine, Filter, Remembered};
use heirloom_model::kinds::Knowledge;
use heirloom_model::{ErrorKind, Fault, Kind, KindData, Record};

/// What waits in this memory, newest first.
pub(crate) fn waiting(engine: &Engine) -> Result<Vec<Record>, Fault> {
    let mut records = engine.find(&Filter::current(&[Kind::Knowledge], engine.now()))?;
    records.retain(is_proposal);
    Ok(records)
}

/// The proposal of this id, and the memory that has it: the project's, else the person's own.
pub(crate) fn find(id: &str, session: &mut Session) -> Result<(Engine, Record), Fault> {
    let of_project = session.open().and_then(|engine| record_of(id, engine));
    let found = match of_project {
        Err(fault) if fault.kind == ErrorKind::NotFound && session.has_user_memory() => {
            record_of(id, session.user_engine()?)?
        }
        found => found?,
    };
    if is_proposal(&found.1) {
        return Ok(found);
    }
    Err(Fault::usage(format!("{} is no proposal", found.1.id))
        .hint("`heirloom propose` lists what waits, `--user` what waits for your own memory"))
}

fn record_of(id: &str, engine: Engine) -> Result<(Engine, Record), Fault> {
    let record = engine.get(engine.resolve_id(id)?)?;
    Ok((engine, record))
}

fn is_proposal(record: &Record) -> bool {
    record.retired_at.is_none() && Knowledge::of(record).is_ok_and(|knowledge| knowledge.proposal)
}

/// Says what became of one.
pub(crate) fn tell(remembered: &Remembered, said: &str, session: &mut Session) {
    if session.out.json {
        session.out.value(&wire::applied(&Applied {
            id: remembered.id,
            verdict: remembered.verdict,
            other: remembered.winner,
        }));
    } else {
        session.out.line(&format!("{} {said}", remembered.id));
    }
}
