//! `heirloom share`.

use crate::store_access::CliSession;
use heirloom_engine::ShareReport;
use heirloom_model::Fault;
use serde_json::json;

/// Share knowledge with the team: as entries of files under version control
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Writes .heirloom/shared/<category>.md, one entry per line; commit it. After a pull, others find it in recall and context."
)]
pub(crate) struct Args {
    /// The records
    #[arg(value_name = "ID", required = true)]
    ids: Vec<String>,
}

pub(crate) fn run(args: Args, session: &mut CliSession) -> Result<u8, Fault> {
    let engine = session.open()?;
    let ids = args.ids.iter().map(|id| engine.records().resolve_id(id));
    let done = engine.team().share(&ids.collect::<Result<Vec<_>, _>>()?)?;
    print_shared(&done, session);
    Ok(0)
}

/// Prints the outcome for each record.
pub(super) fn print_shared(done: &[ShareReport], session: &mut CliSession) {
    if session.out.json {
        let one = |one: &ShareReport| json!({"id": one.id.to_string(), "file": one.file, "outcome": one.outcome.as_str()});
        let all: Vec<_> = done.iter().map(one).collect();
        return session.out.value(&json!({ "entries": all }));
    }
    for one in done {
        let line = format!("{} {} {}", one.id, one.outcome.as_str(), one.file);
        session.out.line(&line);
    }
}
