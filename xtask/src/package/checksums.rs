//! `SHA256SUMS` in the form of `sha256sum`.

use super::archive;
use sha2::{Digest, Sha256};
use std::fs;
use std::path::{Path, PathBuf};

/// Name of the file.
pub(super) const FILE: &str = "SHA256SUMS";

/// Endings of the files of a release.
const ENDINGS: [&str; 6] = [".deb", ".tgz", ".whl", ".tar.gz", ".cdx.json", "install.sh"];

/// True for the files that a release contains, checksums included.
pub(super) fn is_release_file(name: &str) -> bool {
    name == FILE || ENDINGS.iter().any(|ending| name.ends_with(ending))
}

/// Returns the digest of bytes in hexadecimal digits.
pub(super) fn sha256_hex(bytes: &[u8]) -> String {
    let digits = Sha256::digest(bytes);
    digits.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Writes the checksums of all files of a release and returns the files, sorted, with the checksums last.
pub(super) fn write(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let entries = fs::read_dir(folder)
        .map_err(|error| format!("cannot list {}: {error}", folder.display()))?;
    let mut names: Vec<String> = entries
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .filter(|name| is_release_file(name) && name != FILE)
        .collect();
    names.sort();
    let mut lines = String::new();
    for name in &names {
        let digest = sha256_hex(&archive::read(&folder.join(name))?);
        lines.push_str(&format!("{digest}  {name}\n"));
    }
    archive::write(&folder.join(FILE), lines.as_bytes())?;
    names.push(FILE.to_owned());
    Ok(names.iter().map(|name| folder.join(name)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digest_is_that_of_the_standard() {
        let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        assert_eq!(sha256_hex(b""), empty);
    }

    #[test]
    fn only_files_of_a_release_are_listed() {
        assert!(is_release_file("heirloom_0.1.0-1_amd64.deb"));
        assert!(is_release_file("SHA256SUMS"));
        assert!(!is_release_file("CACHEDIR.TAG"));
    }
}
