//! `heirloom pin`.

use crate::open::Session;
use crate::wire;
use heirloom_model::{Fault, Mark};

/// Put a record into every context of its scope
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The record
    id: String,
    /// Of your own memory, which holds in every project
    #[arg(long)]
    user: bool,
    /// No longer
    #[arg(long)]
    off: bool,
}

pub(crate) fn run(args: Args, session: &mut Session) -> Result<u8, Fault> {
    mark(&args.id, Mark::Pinned(!args.off), args.user, session)
}

/// Lays a mark over the record that `given` names, and says so.
pub(super) fn mark(
    given: &str,
    mark: Mark,
    of_user: bool,
    session: &mut Session,
) -> Result<u8, Fault> {
    let engine = session.open_of(of_user)?;
    let id = engine.resolve_id(given)?;
    let applied = engine.mark(id, mark)?;
    if session.out.json {
        let mut value = wire::applied(&applied);
        value["mark"] = mark.as_str().into();
        session.out.value(&value);
    } else {
        session.out.line(&format!("{id} {}", mark.as_str()));
    }
    Ok(0)
}
