//! `heirloom backup`.

use crate::open::Session;
use heirloom_model::Fault;
use serde_json::json;
use std::path::PathBuf;

/// Write a checked copy of the whole store to FILE, while others go on writing
#[derive(Debug, clap::Args)]
#[command(
    after_help = "An existing FILE is replaced only if it is a copy of a store. `heirloom restore FILE` goes back to it."
)]
pub(crate) struct Args {
    /// Where the copy goes; one file, readable by you alone
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

pub(crate) fn run(args: Args, session: &mut Session) -> Result<u8, Fault> {
    let engine = session.open()?;
    let made = engine.backup(&args.file)?;
    let file = args.file.display().to_string();
    if session.out.json {
        session.out.value(&json!({
            "file": file,
            "size_bytes": made.size_bytes,
            "schema_version": made.schema_version,
        }));
        return Ok(0);
    }
    session.out.line(&format!(
        "wrote and checked {file} ({} KB, schema {})",
        made.size_bytes / 1024,
        made.schema_version
    ));
    Ok(0)
}
