//! `heirloom pin`.

use crate::json_output;
use crate::store_access::CliSession;
use heirloom_model::{Fault, Mark};

/// Include a record in every context of its scope
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The record
    id: String,
    /// In your own memory, which is used in every project
    #[arg(long)]
    user: bool,
    /// Remove the mark
    #[arg(long)]
    off: bool,
}

pub(crate) fn run(args: Args, session: &mut CliSession) -> Result<u8, Fault> {
    set_mark(&args.id, Mark::Pinned(!args.off), args.user, session)
}

/// Sets a mark on the record with the given id, and prints the result.
pub(super) fn set_mark(
    id_text: &str,
    mark: Mark,
    is_user_memory: bool,
    session: &mut CliSession,
) -> Result<u8, Fault> {
    let engine = session.open_memory(is_user_memory)?;
    let id = engine.records().resolve_id(id_text)?;
    let applied = engine.records().mark(id, mark)?;
    if session.out.json {
        let mut value = json_output::applied(&applied);
        value["mark"] = mark.as_str().into();
        session.out.value(&value);
    } else {
        let id = session.out.id(id);
        session.out.painted_line(&format!("{id} {}", mark.as_str()));
    }
    Ok(0)
}
