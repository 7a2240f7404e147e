//! `deny`: what may come into the build: licences, where packages come from, and what is there twice.
//!
//! cargo-deny does all of it, with known holes besides, where it is installed and its data can be fetched. Where
//! it is not, cargo's own metadata is held against the same lists of `deny.toml`; holes are then not looked for,
//! and that is said.

mod licence;

use crate::cargo;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::process::Stdio;

/// Where the lists are.
const FILE: &str = "deny.toml";
/// The only place that packages come from.
const REGISTRY: &str = "registry+https://github.com/rust-lang/crates.io-index";

/// Runs the chore; the error is what to tell the developer.
pub(crate) fn run(args: &[String]) -> Result<(), String> {
    if let Some(arg) = args.first() {
        return Err(format!("unexpected `{arg}`; usage: deny"));
    }
    if cargo::has("deny") {
        return with_cargo_deny();
    }
    println!(
        "cargo-deny is not installed (`cargo install cargo-deny --locked`): licences, sources and doubles are \
         checked from cargo's metadata, advisories are not"
    );
    let lists = fs::read_to_string(cargo::root().join(FILE))
        .map_err(|error| format!("cannot read {FILE}: {error}"))?;
    let metadata = metadata()?;
    let packages = metadata["packages"].as_array().map_or(&[][..], |all| all);
    let allowed = allowed(&lists);
    let mut findings: Vec<String> = packages
        .iter()
        .filter_map(|package| finding(package, &allowed))
        .collect();
    findings.sort();
    for (name, versions) in doubles(packages) {
        println!("twice: {name} {}", versions.join(", "));
    }
    println!("{} packages", packages.len());
    if findings.is_empty() {
        return Ok(());
    }
    Err(findings.join("\n"))
}

fn with_cargo_deny() -> Result<(), String> {
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
    println!("the advisories cannot be fetched from here: they are not checked");
    Ok(())
}

fn metadata() -> Result<Value, String> {
    let output = cargo::command(["metadata", "--locked", "--format-version", "1"])
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| format!("cannot start cargo metadata: {error}"))?;
    serde_json::from_slice(&output.stdout)
        .map_err(|error| format!("cargo metadata printed no JSON: {error}"))
}

/// The licences of the list `allow` in `[licenses]`.
fn allowed(lists: &str) -> BTreeSet<&str> {
    let section = lists.split("[licenses]").nth(1).unwrap_or_default();
    let list = section.split("allow = [").nth(1).unwrap_or_default();
    let list = list.split(']').next().unwrap_or_default();
    list.split('"').skip(1).step_by(2).collect()
}

/// What is wrong with a package, if anything.
fn finding(package: &Value, allowed: &BTreeSet<&str>) -> Option<String> {
    let name = format!(
        "{} {}",
        package["name"].as_str()?,
        package["version"].as_str()?
    );
    if let Some(source) = package["source"].as_str()
        && source != REGISTRY
    {
        return Some(format!("{name} comes from {source}"));
    }
    let Some(licence) = package["license"].as_str() else {
        return Some(format!("{name} says no licence"));
    };
    let is_allowed = |one: &str| allowed.contains(one);
    (!licence::allows(licence, &is_allowed))
        .then(|| format!("{name} has the licence {licence}, which {FILE} does not allow"))
}

/// Packages that are there in several versions.
fn doubles(packages: &[Value]) -> Vec<(&str, Vec<&str>)> {
    let mut versions: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for package in packages {
        if let (Some(name), Some(version)) = (package["name"].as_str(), package["version"].as_str())
        {
            versions.entry(name).or_default().push(version);
        }
    }
    versions.retain(|_, all| all.len() > 1);
    versions.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn our_own_lists_are_read() {
        let lists = fs::read_to_string(cargo::root().join(FILE)).unwrap();
        let allowed = allowed(&lists);
        assert!(allowed.contains("MIT") && allowed.contains("Apache-2.0 WITH LLVM-exception"));
        assert!(!allowed.contains("GPL-3.0-only"));
    }

    #[test]
    fn a_package_is_held_against_the_lists() {
        let allowed = BTreeSet::from(["MIT"]);
        let package = |licence: Value, source: Value| json!({"name": "a", "version": "1.0.0", "license": licence, "source": source});
        assert_eq!(
            finding(&package(json!("MIT"), json!(REGISTRY)), &allowed),
            None
        );
        assert_eq!(finding(&package(json!("MIT"), Value::Null), &allowed), None);
        for (licence, source, said) in [
            (json!("GPL-3.0"), json!(REGISTRY), "GPL-3.0"),
            (Value::Null, json!(REGISTRY), "no licence"),
            (
                json!("MIT"),
                json!("git+https://example.org/a"),
                "comes from git",
            ),
        ] {
            let found = finding(&package(licence, source), &allowed).unwrap();
            assert!(found.contains(said), "{found}");
        }
    }

    #[test]
    fn doubles_are_named_once() {
        let package = |name: &str, version: &str| json!({"name": name, "version": version});
        let all = [
            package("a", "1.0.0"),
            package("b", "1.0.0"),
            package("a", "2.0.0"),
        ];
        assert_eq!(doubles(&all), [("a", vec!["1.0.0", "2.0.0"])]);
    }
}
