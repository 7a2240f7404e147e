//! Archives with equal bytes for equal content: tar with gzip, and zip.

use super::release::Release;
use flate2::{Compression, GzBuilder};
use std::fs;
use std::io::Write;
use std::path::Path;
use tar::{EntryType, Header};
use zip::write::SimpleFileOptions;

/// One file of a package.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Entry {
    /// Path in the package, with `/`.
    pub(super) path: String,
    /// Content of the file.
    pub(super) content: Vec<u8>,
    /// True for programs.
    pub(super) is_executable: bool,
}

impl Entry {
    /// A file that is read.
    pub(super) fn text(path: impl Into<String>, content: impl Into<Vec<u8>>) -> Self {
        Self {
            path: path.into(),
            content: content.into(),
            is_executable: false,
        }
    }

    /// A file that is run.
    pub(super) fn program(path: impl Into<String>, content: impl Into<Vec<u8>>) -> Self {
        Self {
            is_executable: true,
            ..Self::text(path, content)
        }
    }

    /// Permissions of the file.
    pub(super) fn mode(&self) -> u32 {
        match self.is_executable {
            true => 0o755,
            false => 0o644,
        }
    }
}

/// Returns a compressed tar archive of the entries, sorted by path, with owner 0 and the time of the release.
pub(super) fn tar_gz(release: &Release, entries: &[Entry]) -> Result<Vec<u8>, String> {
    let failed = |error: std::io::Error| format!("cannot write the archive: {error}");
    // The header of gzip has no time and no file name, and the same system byte everywhere.
    let gzip = GzBuilder::new()
        .mtime(0)
        .operating_system(255)
        .write(Vec::new(), Compression::default());
    let mut archive = tar::Builder::new(gzip);
    for entry in sorted(entries) {
        let mut header = Header::new_ustar();
        header.set_entry_type(EntryType::Regular);
        header.set_mode(entry.mode());
        header.set_uid(0);
        header.set_gid(0);
        header.set_mtime(release.epoch_s());
        header.set_size(entry.content.len() as u64);
        archive
            .append_data(&mut header, &entry.path, entry.content.as_slice())
            .map_err(failed)?;
    }
    archive
        .into_inner()
        .and_then(flate2::write::GzEncoder::finish)
        .map_err(failed)
}

/// Returns a zip archive of the entries in their order, with the time of the release.
pub(super) fn zip(release: &Release, entries: &[Entry]) -> Result<Vec<u8>, String> {
    let failed = |error: zip::result::ZipError| format!("cannot write the archive: {error}");
    let mut archive = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for entry in entries {
        let options = SimpleFileOptions::default()
            .compression_method(zip::CompressionMethod::Deflated)
            .compression_level(Some(6))
            .last_modified_time(zip_time(release)?)
            .unix_permissions(entry.mode());
        archive.start_file(&*entry.path, options).map_err(failed)?;
        archive
            .write_all(&entry.content)
            .map_err(|error| format!("cannot write the archive: {error}"))?;
    }
    Ok(archive.finish().map_err(failed)?.into_inner())
}

/// Returns the time of the release in the form of zip, in UTC.
fn zip_time(release: &Release) -> Result<zip::DateTime, String> {
    let time = release.time.to_zoned(jiff::tz::TimeZone::UTC);
    let part = |value: i8| u8::try_from(value).unwrap_or_default();
    zip::DateTime::from_date_and_time(
        u16::try_from(time.year()).unwrap_or_default(),
        part(time.month()),
        part(time.day()),
        part(time.hour()),
        part(time.minute()),
        part(time.second()),
    )
    .map_err(|error| format!("the time of the commit does not fit a zip archive: {error}"))
}

fn sorted(entries: &[Entry]) -> Vec<&Entry> {
    let mut entries: Vec<&Entry> = entries.iter().collect();
    entries.sort_by(|a, b| a.path.cmp(&b.path));
    entries
}

/// Writes a file of the output folder, which every run makes again.
#[expect(
    clippy::disallowed_methods,
    reason = "a build output: the next run writes it again"
)]
pub(super) fn write(path: &Path, content: &[u8]) -> Result<(), String> {
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent)
            .map_err(|error| format!("cannot create {}: {error}", parent.display()))?;
    }
    fs::write(path, content).map_err(|error| format!("cannot write {}: {error}", path.display()))
}

/// Reads a binary or another file of a package.
pub(super) fn read(path: &Path) -> Result<Vec<u8>, String> {
    fs::read(path).map_err(|error| format!("cannot read {}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;

    fn release(second: i64) -> Release {
        Release {
            version: "1.2.3".to_owned(),
            description: String::new(),
            license: String::new(),
            repository: String::new(),
            time: jiff::Timestamp::from_second(second).unwrap(),
            license_mit: String::new(),
            license_apache: String::new(),
        }
    }

    fn entries() -> Vec<Entry> {
        vec![
            Entry::program("b/run", *b"#!/bin/sh\n"),
            Entry::text("a/read", *b"text"),
        ]
    }

    #[test]
    fn tar_has_sorted_entries_with_fixed_owner_mode_and_time() {
        let bytes = tar_gz(&release(1_700_000_000), &entries()).unwrap();
        let mut archive = tar::Archive::new(flate2::read::GzDecoder::new(bytes.as_slice()));
        let mut seen = Vec::new();
        for entry in archive.entries().unwrap() {
            let entry = entry.unwrap();
            let header = entry.header();
            assert_eq!((header.uid().unwrap(), header.gid().unwrap()), (0, 0));
            assert_eq!(header.mtime().unwrap(), 1_700_000_000);
            let path = entry.path().unwrap().to_string_lossy().into_owned();
            seen.push((path, header.mode().unwrap()));
        }
        let expected = [("a/read".to_owned(), 0o644), ("b/run".to_owned(), 0o755)];
        assert_eq!(seen, expected);
    }

    #[test]
    fn tar_does_not_depend_on_the_order_of_its_entries() {
        let mut reversed = entries();
        reversed.reverse();
        let release = release(1_700_000_000);
        assert_eq!(
            tar_gz(&release, &entries()).unwrap(),
            tar_gz(&release, &reversed).unwrap()
        );
    }

    #[test]
    fn zip_has_the_mode_and_the_time_of_the_release() {
        let bytes = zip(&release(1_700_000_000), &entries()).unwrap();
        let mut archive = zip::ZipArchive::new(std::io::Cursor::new(bytes)).unwrap();
        let mut file = archive.by_name("b/run").unwrap();
        assert_eq!(file.unix_mode().unwrap() & 0o777, 0o755);
        let time = file.last_modified().unwrap();
        assert_eq!((time.year(), time.month(), time.day()), (2023, 11, 14));
        let mut content = String::new();
        file.read_to_string(&mut content).unwrap();
        assert_eq!(content, "#!/bin/sh\n");
    }
}
