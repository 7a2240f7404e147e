//! Checks the archive and its script in a root that contains only busybox: no C library, no shell of another program.

use super::Context;
use super::agent_session::{remember_first_fact, use_program};
use super::environment::{Environment, remove};
use super::install_outcome::{InstallOutcome, InstallTimes};
use crate::cargo;
use crate::package::{archive, checksums};
use crate::sandbox::io_error;
use crate::unix_files::set_mode;
use std::fs;
use std::path::Path;
use std::process::Command;

const PATH: &str = "/home/person/.local/bin:/bin";
/// The static program that the package `busybox-static` installs.
const BUSYBOX: &str = "/bin/busybox";
/// Architecture of this machine in the name of the archive.
const ARCHITECTURE: &str = std::env::consts::ARCH;
/// Files that are downloaded, in the environment.
const DOWNLOADS: &str = "home/person/downloads";

/// Runs the check.
pub(super) fn run(context: &Context<'_>) -> InstallOutcome {
    let start = format!("heirloom-{}-{ARCHITECTURE}", context.release.version);
    let package = context.package(&start, ".tar.gz");
    let size_mb = package
        .as_ref()
        .map_or(Ok(0.0), |package| crate::package::megabytes(package));
    InstallOutcome {
        name: "tar",
        commands: vec!["sh install.sh", "heirloom init", "heirloom remember …"],
        size_mb: size_mb.unwrap_or_default(),
        result: package.and_then(|package| install(context, &package)),
    }
}

fn install(context: &Context<'_>, package: &Path) -> Result<InstallTimes, String> {
    let root = context.work.join("tar");
    remove(&root)?;
    let programs = root.join("bin");
    fs::create_dir_all(&programs).map_err(|error| io_error("create", &programs, &error))?;
    let busybox = programs.join("busybox");
    fs::copy(BUSYBOX, &busybox).map_err(|error| io_error("copy", &busybox, &error))?;
    set_mode(&busybox, 0o755).map_err(|error| io_error("set the mode of", &busybox, &error))?;
    cargo::run(Command::new("/usr/sbin/chroot").arg(&root).args([
        "/bin/busybox",
        "--install",
        "-s",
        "/bin",
    ]))?;
    let downloads = root.join(DOWNLOADS);
    fs::create_dir_all(&downloads).map_err(|error| io_error("create", &downloads, &error))?;
    let script = context.packages.join("install.sh");
    for file in [package, &script, &context.packages.join(checksums::FILE)] {
        let name = file.file_name().unwrap_or_default();
        fs::copy(file, downloads.join(name)).map_err(|error| io_error("copy", file, &error))?;
    }
    let place = Environment::with_changed_root(&root, PATH)?;
    let script = format!("/{DOWNLOADS}/install.sh");
    refuse_changed_archive(&place, &script, &downloads, package)?;
    let before = place.files_without(&[]);
    let (_, install_s) = place.run(&["sh", &script])?;
    let use_s = remember_first_fact(&place, &["heirloom"])?;
    use_program(&place, &["heirloom"], &context.release.version)?;
    place.run(&["sh", &script, "--uninstall"])?;
    let memory = ["home/person/project/.heirloom", "home/person/.claude"];
    let left: Vec<String> = place
        .files_without(&memory)
        .difference(&before)
        .cloned()
        .collect();
    if !left.is_empty() {
        return Err(format!("`install.sh --uninstall` left {}", left.join(", ")));
    }
    remove(&root)?;
    Ok(InstallTimes { install_s, use_s })
}

/// One changed byte in the archive is refused, and nothing is installed.
fn refuse_changed_archive(
    place: &Environment,
    script: &str,
    downloads: &Path,
    package: &Path,
) -> Result<(), String> {
    let copy = downloads.join(package.file_name().unwrap_or_default());
    let bytes = archive::read(&copy)?;
    let mut changed = bytes.clone();
    let middle = changed.len() / 2;
    if let Some(byte) = changed.get_mut(middle) {
        *byte ^= 1;
    }
    archive::write(&copy, &changed)?;
    let message = place.run_failing(&["sh", script])?;
    archive::write(&copy, &bytes)?;
    match message.contains("checksum") && !place.home().join(".local").exists() {
        true => Ok(()),
        false => Err(format!("a changed archive is reported as: {message}")),
    }
}
