//! `heirloom restore`.

use crate::open::Session;
use heirloom_model::{Fault, ProjectName};
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
    let went = doctor.restore(&args.file)?;
    let restored = &went.restored;
    let shown = |path: &PathBuf| path.display().to_string();
    let records = restored.rows.get("records").copied().unwrap_or(0);
    let projects: Vec<_> = went.projects.iter().map(ToString::to_string).collect();
    if session.out.json {
        session.out.value(&json!({
            "file": shown(&args.file),
            "records": records,
            "schema_version": restored.schema_version,
            "previous": restored.previous.as_ref().map(shown),
            "was_damaged": restored.was_damaged,
            "mirror": went.mirror.as_ref().map(shown),
            "projects": projects,
        }));
        return Ok(0);
    }
    session.out.line(&format!(
        "restored {} ({records} records)",
        shown(&args.file)
    ));
    let is_ours = |name: &ProjectName| doctor.project.as_ref() == Some(name);
    if !went.projects.is_empty() && !went.projects.iter().any(is_ours) {
        session.out.talk(&format!(
            "  it holds nothing of this project, but of {}: `heirloom --project NAME list` shows it",
            projects.join(", ")
        ));
    }
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
