//! Builds of the shipped binary that do not depend on the folder of the sources.

use super::target::Target;
use crate::cargo;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Path in the binary instead of the folder of the sources.
const SOURCES: &str = "/heirloom";
/// Path in the binary instead of cargo's folder of dependencies.
const REGISTRY: &str = "/registry";
/// C compiler for musl, of Debian's package `musl-tools`.
const MUSL_COMPILER: &str = "musl-gcc";
/// Separator of the encoded flags.
const SEPARATOR: &str = "\u{1f}";

/// Builds the binary with the `dist` profile and returns its path.
pub(super) fn compile(target: &Target) -> Result<PathBuf, String> {
    require_standard_library(target)?;
    let root = cargo::root();
    let remapped = [(root.clone(), SOURCES), (registry_sources()?, REGISTRY)];
    let rust_flags: Vec<String> = remapped
        .iter()
        .map(|(from, to)| format!("--remap-path-prefix={}={to}", from.display()))
        // The build script links without relocations at start-up, which needs code for a fixed address.
        .chain(
            target
                .is_musl()
                .then(|| "-Crelocation-model=static".to_owned()),
        )
        .collect();
    let mut build = cargo::command(["build", "--locked", "--profile", "dist"]);
    build
        .args(["--package", "heirloom", "--target", target.triple])
        .env("CARGO_ENCODED_RUSTFLAGS", rust_flags.join(SEPARATOR))
        .env_remove("RUSTFLAGS");
    if !target.triple.contains("windows") {
        let c_flags: Vec<String> = remapped
            .iter()
            .map(|(from, to)| format!("-ffile-prefix-map={}={to}", from.display()))
            .collect();
        build.env("CFLAGS", c_flags.join(" "));
    }
    if target.is_musl() {
        require_musl_compiler()?;
        let variable = format!("CC_{}", target.triple.replace('-', "_"));
        build.env(variable, MUSL_COMPILER);
    }
    cargo::run(&mut build)?;
    Ok(cargo::target_dir()?
        .join(target.triple)
        .join("dist")
        .join(target.executable()))
}

/// Fails if the standard library of the target is not installed.
fn require_standard_library(target: &Target) -> Result<(), String> {
    match has_standard_library(target.triple)? {
        true => Ok(()),
        false => Err(format!(
            "the standard library of {0} is missing: `rustup target add {0}`",
            target.triple
        )),
    }
}

/// Returns true if the standard library of a target is installed.
pub(crate) fn has_standard_library(triple: &str) -> Result<bool, String> {
    let output = Command::new("rustc")
        .args(["--print", "target-libdir", "--target", triple])
        .current_dir(cargo::root())
        .output()
        .map_err(|error| format!("cannot start rustc: {error}"))?;
    let folder = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    Ok(output.status.success() && Path::new(&folder).is_dir())
}

fn require_musl_compiler() -> Result<(), String> {
    let is_present = Command::new(MUSL_COMPILER)
        .arg("--version")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success());
    match is_present {
        true => Ok(()),
        false => Err(format!(
            "{MUSL_COMPILER} is missing, which compiles the bundled SQLite: `apt-get install musl-tools`"
        )),
    }
}

/// Returns the folder of the registries in which cargo unpacks dependencies.
fn registry_sources() -> Result<PathBuf, String> {
    let output = cargo::command(["metadata", "--locked", "--format-version", "1"])
        .output()
        .map_err(|error| format!("cannot start cargo metadata: {error}"))?;
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout)
        .map_err(|error| format!("cargo metadata printed no JSON: {error}"))?;
    metadata["packages"]
        .as_array()
        .into_iter()
        .flatten()
        .filter(|package| package["source"].is_string())
        .filter_map(|package| package["manifest_path"].as_str())
        // SOURCES/REGISTRY/PACKAGE/Cargo.toml
        .find_map(|manifest| Path::new(manifest).ancestors().nth(3))
        .map(Path::to_path_buf)
        .ok_or_else(|| "cargo metadata lists no package of a registry".to_owned())
}
