//! `heirloom transfer`.

use crate::acting_agent::require_person;
use crate::store_access::{
    CliSession, ProjectTransfer, TransferRequest, is_foreign_source, refuse_password, transfer,
};
use heirloom_model::text::counted;
use heirloom_model::{Fault, ProjectName};
use serde_json::json;

/// Copy projects between a database in a folder and one on a server, in either direction
///
/// A project is copied with its history, sessions, receipts and events, in one transaction, and its rows are compared
/// afterwards by checksum. An interrupted transfer is continued by starting it again: complete projects are recognised.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example: heirloom transfer --from .heirloom --to postgres://heirloom@db.example/memory\n\nA password is taken from PGPASSWORD or a password file."
)]
pub(crate) struct Args {
    /// Store to copy from: postgres://USER@HOST/DATABASE, or a folder with heirloom.db
    #[arg(long, value_name = "STORE")]
    from: String,
    /// Store to copy to; a database in a folder is created if it does not exist
    #[arg(long, value_name = "STORE")]
    to: String,
    /// Name of the copy, with --project
    #[arg(long = "as", value_name = "NAME", requires = "project")]
    name: Option<String>,
}

pub(crate) fn run(args: Args, session: &mut CliSession) -> Result<u8, Fault> {
    refuse_password(&args.from)?;
    refuse_password(&args.to)?;
    if is_foreign_source(&args.from, session) {
        require_person(session, "copy the memory of another installation")?;
    }
    let named = |name: String| ProjectName::new(&name).map_err(|bad| Fault::usage(bad.to_string()));
    let request = TransferRequest {
        from: &args.from,
        to: &args.to,
        project: session.named_project().map(named).transpose()?,
        name: args.name.map(named).transpose()?,
    };
    let mut done = Vec::new();
    transfer(&request, session, |session, copied| {
        if !session.out.json {
            session.out.line(&line(&copied));
        }
        done.push(copied);
    })?;
    if session.out.json {
        let projects: Vec<_> = done.iter().map(value).collect();
        session.out.value(&json!({ "projects": projects }));
    }
    Ok(0)
}

fn line(transfer: &ProjectTransfer) -> String {
    let rows: u64 = transfer.rows.iter().map(|(_, count)| count).sum();
    let outcome = match transfer.is_copied {
        true => "copied and compared",
        false => "complete already",
    };
    let checksum = transfer.checksum.get(..16).unwrap_or_default();
    format!(
        "{}  {}  {checksum}  {outcome}",
        transfer.project,
        counted(rows, "row", "rows")
    )
}

fn value(transfer: &ProjectTransfer) -> serde_json::Value {
    let rows: serde_json::Map<_, _> = transfer
        .rows
        .iter()
        .map(|(table, count)| ((*table).to_owned(), json!(count)))
        .collect();
    json!({
        "project": transfer.project.as_str(),
        "copied": transfer.is_copied,
        "rows": rows,
        "checksum": transfer.checksum,
    })
}
