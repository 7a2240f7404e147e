//! `mcp`: tests the MCP server with third-party programs.
//!
//! The official conformance suite runs against `heirloom mcp --http` with the scenarios that need no fixtures, and completely
//! against the same transport with fixtures; the inspector runs over both transports; and the reference server "memory" is
//! compared with `--compat server-memory`. The packages are installed below `target/mcp`.

mod compare;
mod inspect;
mod packages;
mod suite;

use crate::cargo;
use crate::sandbox::{self, Sandbox};
use packages::Packages;
use std::path::PathBuf;

const HELP: &str = "\
usage: cargo xtask mcp [--heirloom PATH]

  --heirloom PATH  this binary instead of building one
";

/// Runs the task; the error is the message for the developer.
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
    let desk = Sandbox::fresh(&binary, &target.join("mcp-project"))?;
    let mut failed = suite::run(&desk, &packages)?;
    failed.extend(inspect::run(&desk, &binary, &packages)?);
    failed.extend(compare::run(&desk, &packages)?);
    if failed.is_empty() {
        return desk.remove();
    }
    Err(format!("failed:\n  {}", failed.join("\n  ")))
}

fn build() -> Result<PathBuf, String> {
    sandbox::build_heirloom()
}
