//! `package`: makes the packages of a release, with checksums and a list of components, and installs them for a check.
//!
//! Two runs with the same binary give equal bytes: entries are sorted, owners and modes are fixed, and all times are
//! that of the checked-out commit.

mod archive;
mod binary_build;
mod check;
mod checksums;
mod deb;
mod document_files;
#[cfg(test)]
mod install_script_tests;
mod npm;
mod options;
mod release;
mod sbom;
mod tarball;
mod target;
mod wheel;

use crate::cargo;
use options::{Options, Request};
use release::Release;
use std::fs;
use std::path::{Path, PathBuf};
use target::{Kind, TARGETS, Target};

pub(crate) use binary_build::has_standard_library;

/// Returns the names of the targets of a release.
pub(crate) fn release_targets() -> impl Iterator<Item = &'static str> {
    TARGETS.iter().map(|target| target.triple)
}

/// Runs the task; the error is the message for the developer.
pub(crate) fn run(args: &[String]) -> Result<(), String> {
    let options = match options::parse(args)? {
        Request::Help => {
            print!("{}", options::HELP);
            return Ok(());
        }
        Request::Package(options) => options,
    };
    let folder = cargo::target_dir()?.join("package");
    let out = options.out.clone().unwrap_or_else(|| folder.clone());
    let release = Release::read()?;
    if !options.existing {
        make_and_compare(&release, &options, &out)?;
    }
    match options.check {
        true => check::run(&release, &out, &folder.join("check"), &options),
        false => Ok(()),
    }
}

/// Builds the binaries, makes the packages, and compares them with those of a second run if that is wanted.
fn make_and_compare(release: &Release, options: &Options, out: &Path) -> Result<(), String> {
    let builds = options
        .targets
        .iter()
        .map(|(target, binary)| {
            let binary = match binary {
                Some(path) => path.clone(),
                None => binary_build::compile(target)?,
            };
            Ok((*target, binary))
        })
        .collect::<Result<Vec<_>, String>>()?;
    let files = make_packages(release, &builds, options, out)?;
    for file in &files {
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        println!("{name}: {:.1} MB", megabytes(file)?);
    }
    if options.check_reproducible {
        check_reproducible(release, &builds, options, out)?;
    }
    Ok(())
}

/// Makes the packages of all targets in an empty folder and returns the files, sorted.
fn make_packages(
    release: &Release,
    builds: &[(&'static Target, PathBuf)],
    options: &Options,
    out: &Path,
) -> Result<Vec<PathBuf>, String> {
    remove_packages(out)?;
    fs::create_dir_all(out).map_err(|error| format!("cannot create {}: {error}", out.display()))?;
    let is_wanted = |kind: Kind| options.kinds.contains(&kind);
    for (target, binary) in builds {
        let documents = document_files::DocumentFiles::generate(binary)?;
        let components = sbom::render(release, target)?;
        archive::write(
            &out.join(format!(
                "heirloom-{}-{}.cdx.json",
                release.version, target.triple
            )),
            components.as_bytes(),
        )?;
        for kind in target.kinds.iter().copied().filter(|kind| is_wanted(*kind)) {
            match kind {
                Kind::Deb => deb::make(release, target, binary, &documents, out)?,
                Kind::Npm => npm::make_platform(release, target, binary, out)?,
                Kind::Wheel => wheel::make(release, target, binary, &components, out)?,
                Kind::Tar => tarball::make(release, target, binary, &documents, out)?,
            }
        }
    }
    let has_npm = builds
        .iter()
        .any(|(target, _)| target.kinds.contains(&Kind::Npm));
    if has_npm && is_wanted(Kind::Npm) {
        npm::make_main(release, out)?;
    }
    checksums::write(out)
}

/// Removes packages of an earlier run, so that checksums never contain an old file.
fn remove_packages(out: &Path) -> Result<(), String> {
    let Ok(entries) = fs::read_dir(out) else {
        return Ok(());
    };
    for entry in entries.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if entry.path().is_file() && checksums::is_release_file(&name) {
            fs::remove_file(entry.path())
                .map_err(|error| format!("cannot remove {}: {error}", entry.path().display()))?;
        }
    }
    Ok(())
}

/// Makes the packages a second time in another folder and compares all bytes.
fn check_reproducible(
    release: &Release,
    builds: &[(&'static Target, PathBuf)],
    options: &Options,
    out: &Path,
) -> Result<(), String> {
    let again = cargo::target_dir()?.join("package-again");
    let files = make_packages(release, builds, options, &again)?;
    let mut different = Vec::new();
    for file in &files {
        let name = file.file_name().unwrap_or_default();
        let read = |path: &Path| {
            fs::read(path).map_err(|error| format!("cannot read {}: {error}", path.display()))
        };
        if read(file)? != read(&out.join(name))? {
            different.push(name.to_string_lossy().into_owned());
        }
    }
    if !different.is_empty() {
        return Err(format!(
            "two runs differ in {}; both are kept: {} and {}",
            different.join(", "),
            out.display(),
            again.display()
        ));
    }
    println!("{} files, equal in two runs", files.len());
    fs::remove_dir_all(&again)
        .map_err(|error| format!("cannot remove {}: {error}", again.display()))
}

/// Returns the size of a file in megabytes.
fn megabytes(path: &Path) -> Result<f64, String> {
    let size_bytes = fs::metadata(path)
        .map_err(|error| format!("cannot read {}: {error}", path.display()))?
        .len();
    // The precision of a float is more than that of the printed number.
    let tenths = u32::try_from(size_bytes / 100_000).unwrap_or(u32::MAX);
    Ok(f64::from(tenths) / 10.0)
}
