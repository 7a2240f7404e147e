//! Compressed archive for any system, and the script that installs it.

use super::archive::{self, Entry};
use super::document_files::DocumentFiles;
use super::release::{Release, read_text};
use super::target::Target;
use std::path::Path;

/// Text in the script that is replaced by the version of the release.
const VERSION_MARK: &str = "@VERSION@";

/// Writes the archive of a target and the install script.
pub(super) fn make(
    release: &Release,
    target: &Target,
    binary: &Path,
    documents: &DocumentFiles,
    out: &Path,
) -> Result<(), String> {
    let name = format!("heirloom-{}-{}", release.version, target.triple);
    let at = |path: &str| format!("{name}/{path}");
    let mut entries = vec![
        Entry::program(
            at(&format!("bin/{}", target.executable())),
            archive::read(binary)?,
        ),
        Entry::text(at("share/doc/heirloom/README.md"), read_text("README.md")?),
        Entry::text(
            at("share/doc/heirloom/CHANGELOG.md"),
            read_text("CHANGELOG.md")?,
        ),
        Entry::text(
            at("share/doc/heirloom/LICENSE-MIT"),
            release.license_mit.as_str(),
        ),
        Entry::text(
            at("share/doc/heirloom/LICENSE-APACHE"),
            release.license_apache.as_str(),
        ),
    ];
    entries.extend(documents.all().map(|document| Entry {
        path: at(&format!("share/{}", document.path)),
        ..document.clone()
    }));
    let archive = archive::tar_gz(release, &entries)?;
    archive::write(&out.join(format!("{name}.tar.gz")), &archive)?;
    let script = read_text("packaging/install.sh")?;
    if !script.contains(VERSION_MARK) {
        return Err(format!("packaging/install.sh has no {VERSION_MARK}"));
    }
    let script = script.replace(VERSION_MARK, &release.version);
    archive::write(&out.join("install.sh"), script.as_bytes())
}
