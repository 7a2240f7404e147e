//! List of components (SBOM) of a binary in the JSON form of CycloneDX 1.6.

use super::checksums::sha256_hex;
use super::release::{Release, read_text};
use super::target::Target;
use crate::cargo;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// Returns the components of the binary for a target as JSON.
///
/// The list has the packages that are linked into the binary or run while it is built; those of tests are not in it.
pub(super) fn render(release: &Release, target: &Target) -> Result<String, String> {
    let metadata = metadata_for(target)?;
    let checksums = lockfile_checksums(&read_text("Cargo.lock")?);
    let document = document(release, target, &metadata, &checksums)?;
    serde_json::to_string_pretty(&document)
        .map(|text| text + "\n")
        .map_err(|error| format!("cannot render the components: {error}"))
}

/// Reads the resolved dependencies of a target.
fn metadata_for(target: &Target) -> Result<Value, String> {
    let output = cargo::command(["metadata", "--locked", "--format-version", "1"])
        .args(["--filter-platform", target.triple])
        .output()
        .map_err(|error| format!("cannot start cargo metadata: {error}"))?;
    serde_json::from_slice(&output.stdout)
        .map_err(|error| format!("cargo metadata printed no JSON: {error}"))
}

/// Builds the document.
fn document(
    release: &Release,
    target: &Target,
    metadata: &Value,
    checksums: &BTreeMap<(String, String), String>,
) -> Result<Value, String> {
    let packages: BTreeMap<&str, &Value> = list(&metadata["packages"])
        .filter_map(|package| Some((package["id"].as_str()?, package)))
        .collect();
    let edges = dependencies(metadata);
    let root = packages
        .iter()
        .find(|(_, package)| package["name"] == "heirloom" && package["source"].is_null())
        .map(|(id, _)| *id)
        .ok_or("cargo metadata lists no package `heirloom`")?;
    let ids = reachable(root, &edges);
    let reference = |id: &str| {
        packages
            .get(id)
            .map_or_else(String::new, |package| purl(package))
    };
    let mut components: Vec<Value> = ids
        .iter()
        .filter(|id| **id != root)
        .filter_map(|id| packages.get(*id))
        .map(|package| component(package, checksums))
        .collect();
    components.sort_by_key(|component| component["bom-ref"].as_str().map(str::to_owned));
    let mut relations: Vec<Value> = ids
        .iter()
        .map(|id| {
            let mut depends: Vec<String> = edges
                .get(id)
                .into_iter()
                .flatten()
                .map(|id| reference(id))
                .collect();
            depends.sort();
            json!({"ref": reference(id), "dependsOn": depends})
        })
        .collect();
    relations.sort_by_key(|relation| relation["ref"].as_str().map(str::to_owned));
    let program = packages.get(root).map_or(Value::Null, |package| {
        let mut program = component(package, checksums);
        program["type"] = json!("application");
        program["description"] = json!(release.description);
        program["properties"] = json!([{"name": "heirloom:target", "value": target.triple}]);
        program
    });
    let digest = sha256_hex(
        json!([components, relations, target.triple])
            .to_string()
            .as_bytes(),
    );
    Ok(json!({
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": serial_number(&digest),
        "version": 1,
        "metadata": {
            "timestamp": release.time.to_string(),
            "component": program,
        },
        "components": components,
        "dependencies": relations,
    }))
}

/// Dependencies of each package that are linked or run during the build, by id.
fn dependencies(metadata: &Value) -> BTreeMap<&str, BTreeSet<&str>> {
    let is_shipped =
        |dependency: &&Value| list(&dependency["dep_kinds"]).any(|kind| kind["kind"] != "dev");
    list(&metadata["resolve"]["nodes"])
        .filter_map(|node| {
            let ids = list(&node["deps"])
                .filter(is_shipped)
                .filter_map(|dependency| dependency["pkg"].as_str());
            Some((node["id"].as_str()?, ids.collect()))
        })
        .collect()
}

/// Returns the ids that can be reached from one.
fn reachable<'m>(root: &'m str, edges: &BTreeMap<&'m str, BTreeSet<&'m str>>) -> BTreeSet<&'m str> {
    let mut seen = BTreeSet::from([root]);
    let mut open = vec![root];
    while let Some(id) = open.pop() {
        for next in edges.get(id).into_iter().flatten() {
            if seen.insert(next) {
                open.push(next);
            }
        }
    }
    seen
}

/// Describes one package.
fn component(package: &Value, checksums: &BTreeMap<(String, String), String>) -> Value {
    let name = package["name"].as_str().unwrap_or_default();
    let version = package["version"].as_str().unwrap_or_default();
    let mut fields = Map::new();
    fields.insert("type".to_owned(), json!("library"));
    fields.insert("bom-ref".to_owned(), json!(purl(package)));
    fields.insert("name".to_owned(), json!(name));
    fields.insert("version".to_owned(), json!(version));
    fields.insert("purl".to_owned(), json!(purl(package)));
    if let Some(digest) = checksums.get(&(name.to_owned(), version.to_owned())) {
        let hashes = json!([{"alg": "SHA-256", "content": digest}]);
        fields.insert("hashes".to_owned(), hashes);
    }
    if let Some(license) = package["license"].as_str() {
        // The old separator of cargo is not part of SPDX.
        let expression = license.replace(" / ", " OR ").replace('/', " OR ");
        let licenses = json!([{"expression": expression}]);
        fields.insert("licenses".to_owned(), licenses);
    }
    if let Some(repository) = package["repository"].as_str() {
        let references = json!([{"type": "vcs", "url": repository}]);
        fields.insert("externalReferences".to_owned(), references);
    }
    Value::Object(fields)
}

/// Returns the package URL.
fn purl(package: &Value) -> String {
    let field = |name: &str| package[name].as_str().unwrap_or_default();
    let version = field("version").replace('+', "%2B");
    format!("pkg:cargo/{}@{version}", field("name"))
}

/// Returns a serial number (UUID of version 8) of the content, so that equal content has equal numbers.
fn serial_number(digest: &str) -> String {
    let part = |from: usize, to: usize| digest.get(from..to).unwrap_or_default();
    format!(
        "urn:uuid:{}-{}-8{}-a{}-{}",
        part(0, 8),
        part(8, 12),
        part(13, 16),
        part(17, 20),
        part(20, 32)
    )
}

/// Returns the checksums in the lockfile by name and version.
fn lockfile_checksums(lockfile: &str) -> BTreeMap<(String, String), String> {
    let value = |entry: &str, key: &str| {
        let start = format!("{key} = \"");
        entry.lines().find_map(|line| {
            let rest = line.strip_prefix(&start)?;
            rest.strip_suffix('"').map(str::to_owned)
        })
    };
    lockfile
        .split("[[package]]")
        .filter_map(|entry| {
            let key = (value(entry, "name")?, value(entry, "version")?);
            Some((key, value(entry, "checksum")?))
        })
        .collect()
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn list_of_this_program_has_linked_packages_and_none_of_tests() {
        let release = Release::read().unwrap();
        let target = Target::find("x86_64-unknown-linux-musl").unwrap();
        let text = render(&release, target).unwrap();
        let document: Value = serde_json::from_str(&text).unwrap();
        let names: BTreeSet<&str> = list(&document["components"])
            .filter_map(|component| component["name"].as_str())
            .collect();
        for linked in ["rusqlite", "libsqlite3-sys", "heirloom-engine", "rustls"] {
            assert!(names.contains(linked), "{linked}");
        }
        for other in ["insta", "heirloom-testkit", "xtask", "heirloom"] {
            assert!(!names.contains(other), "{other}");
        }
        assert_eq!(document["metadata"]["component"]["name"], "heirloom");
        let from_registry = |component: &&Value| component["hashes"].is_array();
        assert!(list(&document["components"]).filter(from_registry).count() > 50);
        assert_eq!(render(&release, target).unwrap(), text);
    }

    #[test]
    fn serial_number_is_a_uuid_of_the_content() {
        let digest = sha256_hex(b"content");
        let serial = serial_number(&digest);
        let uuid = serial.strip_prefix("urn:uuid:").unwrap();
        let lengths: Vec<usize> = uuid.split('-').map(str::len).collect();
        assert_eq!(lengths, [8, 4, 4, 4, 12]);
    }
}
