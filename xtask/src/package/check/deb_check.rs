//! Checks the Debian package in a minimal Debian, from a local repository, as `apt-get` installs it.

use super::Context;
use super::agent_session::{remember_first_fact, use_program};
use super::environment::{Environment, remove};
use super::install_outcome::{InstallOutcome, InstallTimes};
use crate::cargo;
use crate::package::archive;
use crate::sandbox::io_error;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

const PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
/// Repository in the environment.
const REPOSITORY: &str = "srv/repository";
/// Architecture of this machine in Debian.
const ARCHITECTURE: &str = if cfg!(target_arch = "aarch64") {
    "arm64"
} else {
    "amd64"
};

/// Runs the check.
pub(super) fn run(context: &Context<'_>) -> InstallOutcome {
    let package = context.package("heirloom_", &format!("_{ARCHITECTURE}.deb"));
    let size_mb = package
        .as_ref()
        .map_or(Ok(0.0), |package| crate::package::megabytes(package));
    InstallOutcome {
        name: "deb",
        commands: vec![
            "sudo apt-get install heirloom",
            "heirloom init",
            "heirloom remember …",
        ],
        size_mb: size_mb.unwrap_or_default(),
        result: package.and_then(|package| install(context, &package)),
    }
}

fn install(context: &Context<'_>, package: &Path) -> Result<InstallTimes, String> {
    check_policy(package)?;
    let root = context.work.join("deb");
    remove(&root)?;
    fs::create_dir_all(&root).map_err(|error| io_error("create", &root, &error))?;
    let mut unpack = Command::new("tar");
    // Device files cannot be made in every container, and no check needs them.
    unpack.args(["--exclude=./dev/*", "-xf"]);
    cargo::run(unpack.arg(context.tools.debian()).arg("-C").arg(&root))?;
    let mut place = Environment::with_changed_root(&root, PATH)?;
    place.set("DEBIAN_FRONTEND", "noninteractive");
    offer(&root, package)?;
    place.run_as_superuser(&["apt-get", "update", "-qq"])?;
    let system = ["var/lib", "var/cache", "var/log", "proc", "sys", "dev"];
    let before = place.files_without(&system);
    let (_, install_s) = place.run_as_superuser(&["apt-get", "install", "-y", "heirloom"])?;
    let use_s = remember_first_fact(&place, &["heirloom"])?;
    use_program(&place, &["heirloom"], &context.release.version)?;
    place.run_as_superuser(&["dpkg", "--verify", "heirloom"])?;
    place.run_as_superuser(&["apt-get", "purge", "-y", "heirloom"])?;
    let memory = ["home/person/project/.heirloom", "home/person/.claude"];
    let left: Vec<String> = place
        .files_without(&[&system[..], &memory].concat())
        .difference(&before)
        .cloned()
        .collect();
    if !left.is_empty() {
        return Err(format!("`apt-get purge` left {}", left.join(", ")));
    }
    remove(&root)?;
    Ok(InstallTimes { install_s, use_s })
}

/// Fails if `lintian` finds an error or a warning.
fn check_policy(package: &Path) -> Result<(), String> {
    let mut lintian = Command::new("lintian");
    lintian.args(["--fail-on", "error,warning", "--allow-root"]);
    cargo::run(lintian.arg(package))
}

/// Makes a repository with the package, which is the only source: the libraries of the package are installed.
fn offer(root: &Path, package: &Path) -> Result<(), String> {
    let folder = root.join(REPOSITORY);
    let name = package.file_name().unwrap_or_default();
    fs::create_dir_all(&folder).map_err(|error| io_error("create", &folder, &error))?;
    fs::copy(package, folder.join(name)).map_err(|error| io_error("copy", package, &error))?;
    let index = Command::new("dpkg-scanpackages")
        .args(["--multiversion", "."])
        .current_dir(&folder)
        .stderr(Stdio::null())
        .output()
        .map_err(|error| format!("cannot start dpkg-scanpackages: {error}"))?;
    archive::write(&folder.join("Packages"), &index.stdout)?;
    let source = format!("deb [trusted=yes] file:/{REPOSITORY} ./\n");
    archive::write(&root.join("etc/apt/sources.list"), source.as_bytes())
}
