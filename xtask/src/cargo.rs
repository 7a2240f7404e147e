//! Calling cargo and finding what it built.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The root of the repository.
pub(crate) fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_path_buf()
}

/// A cargo command that runs in the root and reads no input.
pub(crate) fn command<S: AsRef<std::ffi::OsStr>>(args: impl IntoIterator<Item = S>) -> Command {
    let mut command = Command::new("cargo");
    command.args(args).current_dir(root()).stdin(Stdio::null());
    if is_automated() {
        // A build on a fresh clone reuses nothing of it, and it takes gigabytes.
        command.env("CARGO_INCREMENTAL", "0");
    }
    command
}

/// Returns true on a machine of continuous integration.
#[expect(
    clippy::disallowed_methods,
    reason = "the variable by which such machines are known"
)]
fn is_automated() -> bool {
    std::env::var_os("CI").is_some_and(|value| !value.is_empty())
}

/// Runs a command with its output on the terminal; the error says how it ended.
pub(crate) fn run(command: &mut Command) -> Result<(), String> {
    let name = describe(command);
    let status = command
        .status()
        .map_err(|error| format!("cannot start `{name}`: {error}"))?;
    if status.success() {
        Ok(())
    } else {
        Err(format!("`{name}` failed: {status}"))
    }
}

/// True if a cargo subcommand such as `fmt` or `nextest` is installed.
pub(crate) fn has(subcommand: &str) -> bool {
    command([subcommand, "--version"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

/// Returns cargo's target folder.
pub(crate) fn target_dir() -> Result<PathBuf, String> {
    let output = command(["metadata", "--no-deps", "--format-version", "1"])
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| format!("cannot start cargo metadata: {error}"))?;
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout)
        .map_err(|error| format!("cargo metadata printed no JSON: {error}"))?;
    metadata["target_directory"]
        .as_str()
        .map(PathBuf::from)
        .ok_or_else(|| "cargo metadata names no target_directory".to_owned())
}

/// Builds packages with the `dist` profile and returns the folder of their binaries.
pub(crate) fn build_dist(packages: &[&str]) -> Result<PathBuf, String> {
    let mut build = command(["build", "--profile", "dist"]);
    for package in packages {
        build.args(["--package", package]);
    }
    run(&mut build)?;
    Ok(target_dir()?.join("dist"))
}

/// Returns the short hash of the commit that is checked out; `None` outside of a repository.
pub(crate) fn commit() -> Option<String> {
    let mut git = Command::new("git");
    git.args(["rev-parse", "--short", "HEAD"]);
    line_of(&mut git)
}

/// The date of that commit.
pub(crate) fn commit_date() -> Option<String> {
    let mut git = Command::new("git");
    git.args(["show", "--no-patch", "--format=%cs", "HEAD"]);
    line_of(&mut git)
}

fn line_of(git: &mut Command) -> Option<String> {
    let output = git.current_dir(root()).output().ok()?;
    let line = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| line.trim().to_owned())
}

/// The file name of a binary on this system.
pub(crate) fn exe(name: &str) -> String {
    format!("{name}{}", std::env::consts::EXE_SUFFIX)
}

/// The command as one would type it, for messages.
pub(crate) fn describe(command: &Command) -> String {
    let mut words = vec![command.get_program().to_string_lossy().into_owned()];
    words.extend(
        command
            .get_args()
            .map(|arg| arg.to_string_lossy().into_owned()),
    );
    words.join(" ")
}
