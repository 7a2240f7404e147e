//! `clients`: tests the Python and TypeScript clients against a real server.

use crate::cargo;
use crate::sandbox;
use std::path::{Path, PathBuf};
use std::process::Command;

const HELP: &str = "\
usage: cargo xtask clients [--heirloom PATH] [--only python|typescript]

  --heirloom PATH   serve with this binary instead of building one
  --only CLIENT     test only this client
";

/// Runs the task; the error is the message for the developer.
pub(crate) fn run(args: &[String]) -> Result<(), String> {
    let mut binary = None;
    let mut only = None;
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--help" | "-h" => {
                print!("{HELP}");
                return Ok(());
            }
            "--heirloom" => {
                let path = PathBuf::from(args.next().ok_or(HELP)?);
                let path = path.canonicalize();
                binary = Some(path.map_err(|error| format!("--heirloom: {error}"))?);
            }
            "--only" => only = Some(args.next().ok_or(HELP)?.as_str()),
            other => return Err(format!("what is `{other}`?\n{HELP}")),
        }
    }
    if let Some(name) = only.filter(|name| !["python", "typescript"].contains(name)) {
        return Err(format!("there is no client `{name}`\n{HELP}"));
    }
    let binary = match binary {
        Some(binary) => binary,
        None => sandbox::build_heirloom()?,
    };
    let clients = cargo::root().join("clients");
    // Both run, so that one failure does not hide another.
    let mut outcomes = Vec::new();
    if only != Some("typescript") {
        outcomes.push(test_python(&clients.join("python"), &binary));
    }
    if only != Some("python") {
        outcomes.push(test_typescript(&clients.join("typescript"), &binary));
    }
    outcomes.into_iter().collect()
}

/// Runs pytest in a virtual environment below `target`; its tests compare the generated code and check the types.
fn test_python(client: &Path, binary: &Path) -> Result<(), String> {
    let venv = cargo::target_dir()?.join("clients/venv");
    let python = venv.join("bin/python");
    if !python.is_file() {
        cargo::run(Command::new("python3").args(["-m", "venv"]).arg(&venv))?;
    }
    let pip = |args: &[&str]| {
        let mut installing = Command::new(&python);
        installing
            .args(["-m", "pip", "install", "--quiet", "--upgrade"])
            .args(args)
            .current_dir(client);
        cargo::run(&mut installing)
    };
    // Dependency groups need a newer pip than Debian's.
    pip(&["pip"])?;
    pip(&["--editable", ".", "--group", "dev"])?;
    let mut testing = Command::new(&python);
    testing
        .args(["-m", "pytest", "--quiet"])
        .current_dir(client)
        .env("HEIRLOOM_BIN", binary);
    cargo::run(&mut testing)
}

/// Runs the tests of the package with the dependencies of its lock file, and measures its types.
fn test_typescript(client: &Path, binary: &Path) -> Result<(), String> {
    for args in [
        &["ci", "--no-audit", "--no-fund", "--loglevel", "error"][..],
        &["test"],
        &["run", "coverage"],
    ] {
        let mut npm = Command::new("npm");
        npm.args(args)
            .current_dir(client)
            .env("HEIRLOOM_BIN", binary);
        cargo::run(&mut npm)?;
    }
    Ok(())
}
