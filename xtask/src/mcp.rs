//! `mcp`: other people's programs look at our MCP server.
//!
//! The official conformance suite against `heirloom mcp --http` with the scenarios that need no fixtures, and all of it
//! against the same transport with fixtures; the inspector's command line over both transports; and the reference server
//! "memory" side by side with `--compat server-memory`. The packages are installed below `target/mcp`.

mod compare;
mod inspect;
mod packages;
mod suite;

use crate::cargo;
use crate::desk::{self, Desk};
use packages::Packages;
use std::path::PathBuf;

const HELP: &str = "\
usage: cargo xtask mcp [--heirloom PATH]

  --heirloom PATH  this binary instead of building one
";

/// Runs the chore; the error is what to tell the developer.
pub(crate) fn run(args: &[String]) -> Result<(), String> {
    let binary = match args {
        [] => build()?,
        [option, path] if option == "--heirloom" => PathBuf::from(path)
            .canonicalize()
            .map_err(|error| format!("--heirloom: {error}"))?,
        [option] if option == "--help" || option == "-h" => {
            print!("{HELP}");
            return Ok(());
        }
        _ => return Err(format!("what is `{}`?\n{HELP}", args.join(" "))),
    };
    let target = cargo::target_dir()?;
    let packages = Packages::ensure(&target.join("mcp"))?;
    let desk = Desk::fresh(&binary, &target.join("mcp-project"))?;
    let mut failed = suite::run(&desk, &packages)?;
    failed.extend(inspect::run(&desk, &binary, &packages)?);
    failed.extend(compare::run(&desk, &packages)?);
    if failed.is_empty() {
        return desk.remove();
    }
    Err(format!("failed:\n  {}", failed.join("\n  ")))
}

fn build() -> Result<PathBuf, String> {
    desk::build_heirloom()
}
