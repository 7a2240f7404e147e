//! `heirloom share`.

use crate::open::Session;
use heirloom_engine::Shared;
use heirloom_model::Fault;
use serde_json::json;

/// Share knowledge with the team: as entries of files that git carries
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Writes .heirloom/shared/<category>.md, one entry a line; commit it. Who pulls it has it in recall and context."
)]
pub(crate) struct Args {
    /// The records
    #[arg(value_name = "ID", required = true)]
    ids: Vec<String>,
}

pub(crate) fn run(args: Args, session: &mut Session) -> Result<u8, Fault> {
    let engine = session.open()?;
    let ids = args.ids.iter().map(|id| engine.resolve_id(id));
    let done = engine.share(&ids.collect::<Result<Vec<_>, _>>()?)?;
    tell(&done, session);
    Ok(0)
}

/// Says what became of each.
pub(super) fn tell(done: &[Shared], session: &mut Session) {
    if session.out.json {
        let one = |one: &Shared| json!({"id": one.id.to_string(), "file": one.file, "outcome": one.outcome.as_str()});
        let all: Vec<_> = done.iter().map(one).collect();
        return session.out.value(&json!({ "entries": all }));
    }
    for one in done {
        let line = format!("{} {} {}", one.id, one.outcome.as_str(), one.file);
        session.out.line(&line);
    }
}
