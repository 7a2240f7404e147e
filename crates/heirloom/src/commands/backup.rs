//! `heirloom backup`.

use crate::store_access::CliSession;
use heirloom_model::Fault;
use heirloom_model::text::EscapedPath;
use serde_json::json;
use std::path::PathBuf;

/// Write a verified copy of the whole store to FILE, while other processes go on writing
#[derive(Debug, clap::Args)]
#[command(
    after_help = "An existing FILE is replaced only if it is a copy of a store. `heirloom restore FILE` restores it."
)]
pub(crate) struct Args {
    /// The file to write; only you can read it
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

pub(crate) fn run(args: Args, session: &mut CliSession) -> Result<u8, Fault> {
    let engine = session.open()?;
    let made = engine.maintenance().backup(&args.file)?;
    let file = args.file.to_escaped();
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
