//! Wheel of PyPI that carries the binary as a script and no Python code.

use super::archive::{self, Entry};
use super::release::{Release, read_text};
use super::target::Target;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest, Sha256};
use std::path::Path;

/// Writes the wheel of a target.
pub(super) fn make(
    release: &Release,
    target: &Target,
    binary: &Path,
    components: &str,
    out: &Path,
) -> Result<(), String> {
    let base = format!("heirloom-{}", release.version);
    let info = format!("{base}.dist-info");
    let mut entries = vec![
        Entry::program(
            format!("{base}.data/scripts/{}", target.executable()),
            archive::read(binary)?,
        ),
        Entry::text(format!("{info}/METADATA"), metadata(release)?),
        Entry::text(format!("{info}/WHEEL"), wheel_file(target)),
        Entry::text(
            format!("{info}/licenses/LICENSE-MIT"),
            release.license_mit.as_str(),
        ),
        Entry::text(
            format!("{info}/licenses/LICENSE-APACHE"),
            release.license_apache.as_str(),
        ),
        Entry::text(format!("{info}/sboms/heirloom.cdx.json"), components),
    ];
    // The record is the last entry, as the format recommends.
    let record = Entry::text(format!("{info}/RECORD"), record(&entries, &info));
    entries.push(record);
    let name = format!("{base}-py3-none-{}.whl", target.wheel_tags.join("."));
    archive::write(&out.join(name), &archive::zip(release, &entries)?)
}

/// Returns the metadata of the project, with the README as the description.
fn metadata(release: &Release) -> Result<String, String> {
    let readme = read_text("packaging/README.md")?;
    Ok(format!(
        "Metadata-Version: 2.4\n\
         Name: heirloom\n\
         Version: {version}\n\
         Summary: {summary}\n\
         License-Expression: {license}\n\
         License-File: LICENSE-MIT\n\
         License-File: LICENSE-APACHE\n\
         Project-URL: Source, {repository}\n\
         Requires-Python: >=3.8\n\
         Description-Content-Type: text/markdown\n\
         \n\
         {readme}",
        version = release.version,
        summary = release.description,
        license = release.license,
        repository = release.repository,
    ))
}

fn wheel_file(target: &Target) -> String {
    let mut text =
        "Wheel-Version: 1.0\nGenerator: heirloom xtask\nRoot-Is-Purelib: false\n".to_owned();
    for tag in target.wheel_tags {
        text.push_str(&format!("Tag: py3-none-{tag}\n"));
    }
    text
}

/// Returns the record: path, digest and size of each file, and its own path without them.
fn record(entries: &[Entry], info: &str) -> String {
    let mut text = String::new();
    for entry in entries {
        let digest = URL_SAFE_NO_PAD.encode(Sha256::digest(&entry.content));
        let size_bytes = entry.content.len();
        text.push_str(&format!("{},sha256={digest},{size_bytes}\n", entry.path));
    }
    text.push_str(&format!("{info}/RECORD,,\n"));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn record_has_digest_and_size_of_each_file_and_only_the_path_of_its_own() {
        let text = record(&[Entry::text("a.txt", *b"")], "x.dist-info");
        let expected = "a.txt,sha256=47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU,0\n\
                        x.dist-info/RECORD,,\n";
        assert_eq!(text, expected);
    }

    #[test]
    fn wheel_file_has_one_tag_for_each_platform() {
        let target = Target::find("x86_64-unknown-linux-musl").unwrap();
        let text = wheel_file(target);
        assert_eq!(text.matches("Tag: py3-none-").count(), 3);
        assert!(text.contains("Tag: py3-none-musllinux_1_1_x86_64\n"));
    }
}
