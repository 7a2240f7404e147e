//! Type check of the program for the targets of a release.
//!
//! `cargo check` compiles no machine code, but build scripts compile C. A target without a C compiler gets a script
//! that writes empty objects, which a type check never links.

use crate::unix_files::set_mode;
use crate::{cargo, package};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Target that replaces the one of Microsoft's linker where that one cannot be installed: the sources are the same.
const WINDOWS_GNU: &str = "x86_64-pc-windows-gnu";
/// Packages that are published.
const PACKAGES: [&str; 2] = ["heirloom", "heirloom-client"];

/// Script instead of a C compiler. The question for the kind of the compiler goes to that of the machine.
const STUB_COMPILER: &str = r#"#!/bin/sh
for word in "$@"; do
    [ "$word" = -E ] && exec cc "$@"
done
while [ $# -gt 0 ]; do
    [ "$1" = -o ] && : >"$2"
    shift
done
exit 0
"#;
/// Script instead of an archiver.
const STUB_ARCHIVER: &str = r#"#!/bin/sh
for word in "$@"; do
    case "$word" in *.a) : >"$word" ;; esac
done
exit 0
"#;

/// Result of one target.
enum TargetOutcome {
    /// The sources have no error; the text names the C compiler.
    Checked(String),
    /// The compiler found an error.
    Failed,
    /// The standard library of the target is not installed.
    Skipped,
}

/// Checks every target whose standard library is installed.
pub(crate) fn run(args: &[String]) -> Result<(), String> {
    if let Some(word) = args.first() {
        return Err(format!("unexpected `{word}`: this verb has no options"));
    }
    let mut failed = 0;
    for target in package::release_targets().chain([WINDOWS_GNU]) {
        let line = match check(target)? {
            TargetOutcome::Checked(compiler) => format!("checked, with {compiler}"),
            TargetOutcome::Failed => {
                failed += 1;
                "failed".to_owned()
            }
            TargetOutcome::Skipped => format!("skipped: `rustup target add {target}` installs it"),
        };
        println!("{target:<28} {line}");
    }
    match failed {
        0 => Ok(()),
        failed => Err(format!("{failed} targets have errors")),
    }
}

fn check(target: &str) -> Result<TargetOutcome, String> {
    if !package::has_standard_library(target)? {
        return Ok(TargetOutcome::Skipped);
    }
    let mut check = cargo::command(["check", "--locked", "--target", target]);
    for name in PACKAGES {
        check.args(["--package", name]);
    }
    let compiler = match c_compiler(target) {
        Some(compiler) => compiler,
        None => {
            let stubs = write_stubs()?;
            check.env(variable("AR", target), stubs.join("ar"));
            check.env(variable("CC", target), stubs.join("cc"));
            return outcome(&mut check, "a stub of a C compiler");
        }
    };
    check.env(variable("CC", target), &compiler);
    outcome(&mut check, &compiler)
}

fn outcome(check: &mut Command, compiler: &str) -> Result<TargetOutcome, String> {
    let status = check
        .status()
        .map_err(|error| format!("cannot start cargo: {error}"))?;
    Ok(match status.success() {
        true => TargetOutcome::Checked(compiler.to_owned()),
        false => TargetOutcome::Failed,
    })
}

/// Name of a variable of the build scripts for one target.
fn variable(name: &str, target: &str) -> String {
    format!("{name}_{}", target.replace('-', "_"))
}

/// Returns an installed C compiler for a target.
fn c_compiler(target: &str) -> Option<String> {
    let compiler = compiler_name(target, std::env::consts::OS, std::env::consts::ARCH)?;
    let is_installed = Command::new(&compiler)
        .arg("--version")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success());
    is_installed.then_some(compiler)
}

/// Returns the usual name of the C compiler for a target on a machine; `None` if this machine has no such compiler.
fn compiler_name(target: &str, os: &str, cpu: &str) -> Option<String> {
    let (processor, _) = target.split_once('-')?;
    let is_own = processor == cpu;
    match os {
        "linux" if target.ends_with("-linux-gnu") && is_own => Some("cc".to_owned()),
        "linux" if target.ends_with("-linux-gnu") => Some(format!("{processor}-linux-gnu-gcc")),
        "linux" if target.ends_with("-linux-musl") && is_own => Some("musl-gcc".to_owned()),
        "linux" | "macos" if target == WINDOWS_GNU => Some(format!("{processor}-w64-mingw32-gcc")),
        "macos" if target.ends_with("-apple-darwin") => Some("cc".to_owned()),
        _ => None,
    }
}

/// Writes the scripts and returns their folder.
fn write_stubs() -> Result<PathBuf, String> {
    let folder = cargo::target_dir()?.join("check-targets");
    let failed = |error| format!("cannot write to {}: {error}", folder.display());
    std::fs::create_dir_all(&folder).map_err(failed)?;
    for (name, content) in [("cc", STUB_COMPILER), ("ar", STUB_ARCHIVER)] {
        write_script(&folder.join(name), content).map_err(failed)?;
    }
    Ok(folder)
}

#[expect(
    clippy::disallowed_methods,
    reason = "a script in cargo's folder, written again by each call"
)]
fn write_script(path: &Path, content: &str) -> std::io::Result<()> {
    std::fs::write(path, content)?;
    set_mode(path, 0o755)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compiler_name_of_foreign_systems_is_none() {
        let name = |target| compiler_name(target, "linux", "x86_64");
        assert_eq!(name("x86_64-unknown-linux-gnu").as_deref(), Some("cc"));
        assert_eq!(
            name("aarch64-unknown-linux-gnu").as_deref(),
            Some("aarch64-linux-gnu-gcc")
        );
        assert_eq!(
            name("x86_64-unknown-linux-musl").as_deref(),
            Some("musl-gcc")
        );
        assert_eq!(name("aarch64-unknown-linux-musl"), None);
        assert_eq!(name("aarch64-apple-darwin"), None);
        assert_eq!(name(WINDOWS_GNU).as_deref(), Some("x86_64-w64-mingw32-gcc"));
        assert_eq!(
            compiler_name("x86_64-apple-darwin", "macos", "aarch64").as_deref(),
            Some("cc")
        );
    }

    #[cfg(unix)]
    #[test]
    fn stubs_write_empty_output() {
        let folder = tempfile::tempdir().unwrap();
        let (compiler, archiver) = (folder.path().join("cc"), folder.path().join("ar"));
        write_script(&compiler, STUB_COMPILER).unwrap();
        write_script(&archiver, STUB_ARCHIVER).unwrap();
        let (object, archive) = (folder.path().join("a.o"), folder.path().join("a.a"));
        let run = |program: &Path, args: &[&std::ffi::OsStr]| {
            Command::new(program).args(args).status().unwrap().success()
        };
        let source = "missing.c".as_ref();
        assert!(run(
            &compiler,
            &["-c".as_ref(), source, "-o".as_ref(), object.as_ref()]
        ));
        assert!(run(
            &archiver,
            &["crs".as_ref(), archive.as_ref(), object.as_ref()]
        ));
        assert_eq!(object.metadata().unwrap().len(), 0);
        assert_eq!(archive.metadata().unwrap().len(), 0);
    }
}
