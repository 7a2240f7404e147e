//! Installation of Debian packages that a task needs.

use crate::cargo;
use std::process::Command;

/// Installs packages without the recommended ones.
pub(crate) fn install(packages: &[&str]) -> Result<(), String> {
    cargo::run(Command::new("apt-get").args(["update", "-qq"]))?;
    cargo::run(
        Command::new("apt-get")
            .args(["install", "-y", "-qq", "--no-install-recommends"])
            .args(packages),
    )
}
