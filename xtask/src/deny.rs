//! `deny`: checks licences, package sources, duplicates and advisories with cargo-deny.

use crate::cargo;
use std::process::Stdio;

/// Message for a machine without cargo-deny.
pub(crate) const NOT_INSTALLED: &str =
    "cargo-deny is not installed: cargo install cargo-deny --locked";

/// Runs the task; the error is the message for the developer.
pub(crate) fn run(args: &[String]) -> Result<(), String> {
    if let Some(arg) = args.first() {
        return Err(format!("unexpected `{arg}`; usage: deny"));
    }
    if !is_installed() {
        return Err(NOT_INSTALLED.to_owned());
    }
    cargo::run(&mut cargo::command([
        "deny", "check", "licenses", "bans", "sources",
    ]))?;
    let fetched = cargo::command(["deny", "fetch", "db"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    if fetched.is_ok_and(|status| status.success()) {
        return cargo::run(&mut cargo::command(["deny", "check", "advisories"]));
    }
    println!("advisories were not checked: their database cannot be fetched");
    Ok(())
}

/// True if `cargo deny` can be called.
pub(crate) fn is_installed() -> bool {
    cargo::has("deny")
}
