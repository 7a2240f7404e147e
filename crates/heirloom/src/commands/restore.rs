//! `heirloom restore`.

use crate::store_access::CliSession;
use heirloom_model::text::EscapedPath;
use heirloom_model::text::counted;
use heirloom_model::{Fault, ProjectName};
use serde_json::json;
use std::path::PathBuf;

/// Restore the copy in FILE; the present state is kept
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Works with a damaged or missing store too. Does not ask: the previous state is kept for 30 days, a damaged one until you delete it."
)]
pub(crate) struct Args {
    /// A file written by `heirloom backup`, or a copy listed by `heirloom doctor`
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

pub(crate) fn run(args: Args, session: &mut CliSession) -> Result<u8, Fault> {
    if !args.file.exists() {
        let message = format!("no file {}", args.file.to_escaped());
        return Err(
            Fault::not_found(message).hint("`heirloom doctor` lists the copies next to the store")
        );
    }
    let doctor = session.doctor()?;
    let report = doctor.restore(&args.file)?;
    let restored = &report.restored;
    let display_path = |path: &PathBuf| path.to_escaped();
    let records = restored.rows.get("records").copied().unwrap_or(0);
    let projects: Vec<_> = report.projects.iter().map(ToString::to_string).collect();
    if session.out.json {
        session.out.value(&json!({
            "file": display_path(&args.file),
            "records": records,
            "schema_version": restored.schema_version,
            "previous": restored.previous.as_ref().map(display_path),
            "was_damaged": restored.was_damaged,
            "mirror": report.mirror.as_ref().map(display_path),
            "projects": projects,
        }));
        return Ok(0);
    }
    session.out.line(&format!(
        "restored {} ({})",
        display_path(&args.file),
        counted(records, "record", "records")
    ));
    // The copy may have brought another identity of the project, so look it up again.
    let project = session.doctor()?.project;
    let is_ours = |name: &ProjectName| project.as_ref() == Some(name);
    if !report.projects.is_empty() && !report.projects.iter().any(is_ours) {
        session.out.talk(&format!(
            "  it has no records of this project, but of {}: `heirloom --project NAME list` shows it",
            projects.join(", ")
        ));
    }
    if let Some(mirror) = &report.mirror {
        session.out.line(&format!("wrote {}", display_path(mirror)));
    }
    match (&restored.previous, restored.was_damaged) {
        (Some(previous), false) => session.out.talk(&format!(
            "  heirloom restore {}   restores the previous state",
            display_path(previous)
        )),
        (Some(previous), true) => session.out.talk(&format!(
            "the damaged store is kept as {}",
            display_path(previous)
        )),
        (None, _) => {}
    }
    Ok(0)
}
