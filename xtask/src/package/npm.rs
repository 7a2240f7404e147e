//! Packages of npm: one without a binary, whose optional dependencies carry the binaries of the platforms.

use super::archive::{self, Entry};
use super::release::{Release, read_text};
use super::target::{NpmPlatform, TARGETS, Target};
use serde_json::{Map, Value, json};
use std::path::Path;

/// Scope of the packages with binaries.
pub(super) const SCOPE: &str = "@heirloom";

/// Writes the package with the binary of a target.
pub(super) fn make_platform(
    release: &Release,
    target: &Target,
    binary: &Path,
    out: &Path,
) -> Result<(), String> {
    let Some(platform) = target.npm else {
        return Err(format!("{} has no platform in npm", target.triple));
    };
    let name = platform.name();
    let manifest = json!({
        "name": format!("{SCOPE}/{name}"),
        "version": release.version,
        "description": format!("The binary of heirloom for {name}"),
        "license": release.license,
        "repository": repository(release),
        "os": [platform.os],
        "cpu": [platform.cpu],
        "preferUnplugged": true,
        "files": [format!("bin/{}", target.executable()), "LICENSE-MIT", "LICENSE-APACHE"],
    });
    let readme =
        format!("The binary of [heirloom](https://www.npmjs.com/package/heirloom) for {name}.\n");
    let mut entries = common_entries(release, &manifest, readme)?;
    entries.push(Entry::program(
        format!("package/bin/{}", target.executable()),
        archive::read(binary)?,
    ));
    let file = format!("heirloom-{name}-{}.tgz", release.version);
    archive::write(&out.join(file), &archive::tar_gz(release, &entries)?)
}

/// Writes the package that people install.
pub(super) fn make_main(release: &Release, out: &Path) -> Result<(), String> {
    let optional: Map<String, Value> = platforms()
        .map(|platform| {
            let name = format!("{SCOPE}/{}", platform.name());
            (name, json!(release.version))
        })
        .collect();
    let manifest = json!({
        "name": "heirloom",
        "version": release.version,
        "description": release.description,
        "keywords": ["mcp", "memory", "agents", "claude-code", "codex"],
        "license": release.license,
        "repository": repository(release),
        "bin": {"heirloom": "bin/heirloom.js"},
        "files": ["bin/heirloom.js", "LICENSE-MIT", "LICENSE-APACHE"],
        "engines": {"node": ">=18"},
        "optionalDependencies": optional,
    });
    let mut entries = common_entries(release, &manifest, read_text("packaging/README.md")?)?;
    entries.push(Entry::program(
        "package/bin/heirloom.js",
        read_text("packaging/npm/heirloom.js")?,
    ));
    let file = format!("heirloom-{}.tgz", release.version);
    archive::write(&out.join(file), &archive::tar_gz(release, &entries)?)
}

/// Platforms of all targets.
fn platforms() -> impl Iterator<Item = NpmPlatform> {
    TARGETS.iter().filter_map(|target| target.npm)
}

fn common_entries(
    release: &Release,
    manifest: &Value,
    readme: String,
) -> Result<Vec<Entry>, String> {
    let manifest = serde_json::to_string_pretty(manifest)
        .map_err(|error| format!("cannot render package.json: {error}"))?;
    Ok(vec![
        Entry::text("package/package.json", manifest + "\n"),
        Entry::text("package/README.md", readme),
        Entry::text("package/LICENSE-MIT", release.license_mit.as_str()),
        Entry::text("package/LICENSE-APACHE", release.license_apache.as_str()),
    ])
}

fn repository(release: &Release) -> Value {
    json!({"type": "git", "url": format!("git+{}.git", release.repository)})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn script_finds_the_package_of_every_platform() {
        let script = read_text("packaging/npm/heirloom.js").unwrap();
        for platform in platforms() {
            let key = format!("'{}'", platform.name());
            assert!(script.contains(&key), "heirloom.js does not list {key}");
        }
        assert!(script.contains(&format!("{SCOPE}/")));
    }
}
