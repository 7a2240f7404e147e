//! `heirloom restore`.

use crate::open::Session;
use heirloom_model::{ErrorKind, Fault};
use serde_json::json;
use std::path::PathBuf;

/// Go back to the copy in FILE; what is here now is kept
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Works with a damaged or missing store too. Asks nothing: the state before is kept for 30 days, a damaged one until you delete it."
)]
pub(crate) struct Args {
    /// A file that `heirloom backup` wrote, or a copy that `heirloom doctor` lists
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

pub(crate) fn run(args: Args, session: &mut Session) -> Result<u8, Fault> {
    if !args.file.exists() {
        let message = format!("no file {}", args.file.display());
        return Err(
            Fault::not_found(message).hint("`heirloom doctor` lists the copies beside the store")
        );
    }
    let doctor = session.doctor()?;
    let went = doctor.restore(&args.file).map_err(hinted)?;
    let restored = &went.restored;
    let shown = |path: &PathBuf| path.display().to_string();
    let records = restored.rows.get("records").copied().unwrap_or(0);
    if session.out.json {
        session.out.value(&json!({
            "file": shown(&args.file),
            "records": records,
            "schema_version": restored.schema_version,
            "previous": restored.previous.as_ref().map(shown),
            "was_damaged": restored.was_damaged,
            "mirror": went.mirror.as_ref().map(shown),
        }));
        return Ok(0);
    }
    session.out.line(&format!(
        "restored {} ({records} records)",
        shown(&args.file)
    ));
    if let Some(mirror) = &went.mirror {
        session.out.line(&format!("wrote {}", shown(mirror)));
    }
    match (&restored.previous, restored.was_damaged) {
        (Some(previous), false) => session.out.talk(&format!(
            "  heirloom restore {}   goes back",
            shown(previous)
        )),
        (Some(previous), true) => session
            .out
            .talk(&format!("the damaged store is kept as {}", shown(previous))),
        (None, _) => {}
    }
    Ok(0)
}

fn hinted(fault: Fault) -> Fault {
    if fault.kind == ErrorKind::Failed {
        return fault
            .hint("nothing was changed; `heirloom doctor` lists the copies beside the store");
    }
    fault
}
