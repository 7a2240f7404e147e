//! `bench`: builds what is shipped and measures it.

use std::process::{Command, Stdio};

use crate::cargo;

/// Builds the binary and the benchmarks with the `dist` profile and runs the latter with `args`.
pub(crate) fn run(args: &[String]) -> Result<(), String> {
    let folder = cargo::build_dist(&["heirloom", "heirloom-bench"])?;
    let mut bench = Command::new(folder.join(cargo::exe("heirloom-bench")));
    bench
        .args(args)
        .arg("--heirloom")
        .arg(folder.join(cargo::exe("heirloom")))
        .current_dir(cargo::root())
        .stdin(Stdio::null());
    cargo::run(&mut bench)
}
