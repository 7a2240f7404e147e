//! Debian package, built by `dpkg-deb` from a folder.

use super::archive::{self, Entry};
use super::document_files::DocumentFiles;
use super::release::{MAINTAINER, Release, read_text};
use super::target::Target;
use crate::cargo;
use crate::unix_files::set_mode;
use flate2::{Compression, GzBuilder};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime};

/// Revision of the packaging.
const REVISION: &str = "1";

/// Writes the package of a target.
pub(super) fn make(
    release: &Release,
    target: &Target,
    binary: &Path,
    documents: &DocumentFiles,
    out: &Path,
) -> Result<(), String> {
    let folder = cargo::target_dir()?.join("package-work").join("deb");
    if folder.exists() {
        fs::remove_dir_all(&folder)
            .map_err(|error| format!("cannot remove {}: {error}", folder.display()))?;
    }
    let root = folder.join("root");
    let mut entries = files(release, documents)?;
    entries.push(Entry::program("usr/bin/heirloom", archive::read(binary)?));
    for entry in &entries {
        place(&root, entry)?;
    }
    let depends = library_dependencies(&folder, &root)?;
    let control = control_file(release, target, &depends, installed_size_kb(&entries));
    let sums = md5sums(&root, &entries)?;
    place(&root, &Entry::text("DEBIAN/control", control))?;
    place(&root, &Entry::text("DEBIAN/md5sums", sums))?;
    set_times_and_modes(&root, release)?;
    let name = format!(
        "heirloom_{}-{REVISION}_{}.deb",
        release.version, target.deb_architecture
    );
    let mut build = Command::new("dpkg-deb");
    build
        // One thread: the compressor divides the data by their number.
        .args(["--root-owner-group", "-Zxz", "--threads-max=1", "--build"])
        .arg(&root)
        .arg(out.join(name))
        .env("SOURCE_DATE_EPOCH", release.epoch_s().to_string())
        .stdout(std::process::Stdio::null());
    cargo::run(&mut build)?;
    fs::remove_dir_all(&folder)
        .map_err(|error| format!("cannot remove {}: {error}", folder.display()))
}

/// Returns all files but the binary.
fn files(release: &Release, documents: &DocumentFiles) -> Result<Vec<Entry>, String> {
    let mut entries = vec![
        Entry::text(
            "usr/lib/systemd/user/heirloom@.service",
            read_text("packaging/debian/heirloom@.service")?,
        ),
        Entry::text(
            "usr/share/doc/heirloom/copyright",
            read_text("packaging/debian/copyright")?,
        ),
        Entry::text(
            "usr/share/doc/heirloom/changelog.Debian.gz",
            gzip(&changelog(release))?,
        ),
        Entry::text(
            "usr/share/doc/heirloom/changelog.gz",
            gzip(&read_text("CHANGELOG.md")?)?,
        ),
        Entry::text(
            "usr/share/lintian/overrides/heirloom",
            read_text("packaging/debian/lintian-overrides")?,
        ),
    ];
    for page in &documents.manual_pages {
        let text = String::from_utf8_lossy(&page.content);
        entries.push(Entry::text(
            format!("usr/share/{}.gz", page.path),
            gzip(&text)?,
        ));
    }
    for script in &documents.completions {
        // Debian has its own folder for scripts of packages.
        let path = script
            .path
            .replace("zsh/site-functions", "zsh/vendor-completions");
        entries.push(Entry::text(
            format!("usr/share/{path}"),
            script.content.as_slice(),
        ));
    }
    Ok(entries)
}

/// Writes a file of the package; the parent folders are created.
fn place(root: &Path, entry: &Entry) -> Result<(), String> {
    let path = root.join(&entry.path);
    archive::write(&path, &entry.content)?;
    set_mode(&path, entry.mode())
        .map_err(|error| format!("cannot set the mode of {}: {error}", path.display()))
}

/// Returns the packages of the shared libraries, as `dpkg-shlibdeps` finds them in the symbols of the binary.
fn library_dependencies(folder: &Path, root: &Path) -> Result<String, String> {
    let control = "Source: heirloom\n\nPackage: heirloom\nArchitecture: any\n";
    archive::write(&folder.join("debian/control"), control.as_bytes())?;
    let output = Command::new("dpkg-shlibdeps")
        .arg("-O")
        .arg(root.join("usr/bin/heirloom"))
        .current_dir(folder)
        .output()
        .map_err(|error| {
            format!("cannot start dpkg-shlibdeps: {error}; `apt-get install dpkg-dev` installs it")
        })?;
    let text = String::from_utf8_lossy(&output.stdout);
    text.trim()
        .strip_prefix("shlibs:Depends=")
        .map(str::to_owned)
        .ok_or_else(|| {
            format!(
                "dpkg-shlibdeps found no libraries: {}",
                String::from_utf8_lossy(&output.stderr).trim()
            )
        })
}

fn control_file(release: &Release, target: &Target, depends: &str, size_kb: usize) -> String {
    format!(
        "Package: heirloom\n\
         Version: {version}-{REVISION}\n\
         Section: devel\n\
         Priority: optional\n\
         Architecture: {architecture}\n\
         Maintainer: {MAINTAINER}\n\
         Installed-Size: {size_kb}\n\
         Depends: {depends}\n\
         Suggests: git\n\
         Homepage: {homepage}\n\
         Description: memory and context for coding agents\n \
         Heirloom stores what coding agents learn (facts, decisions, errors with\n \
         their fixes, steps) and adds the relevant part to each prompt, within a\n \
         budget. It works as hooks of agent programs, as a server of the Model\n \
         Context Protocol, over HTTP and at the command line. It needs no LLM, no\n \
         download and no service.\n",
        version = release.version,
        architecture = target.deb_architecture,
        homepage = release.repository,
    )
}

fn changelog(release: &Release) -> String {
    format!(
        "heirloom ({}-{REVISION}) unstable; urgency=medium\n\n  \
         * Package of the release; changelog.gz has the changes.\n\n \
         -- {MAINTAINER}  {}\n",
        release.version,
        release.time.strftime("%a, %d %b %Y %H:%M:%S +0000")
    )
}

/// Returns the size of the installed files in the unit of Debian: each file in whole kilobytes.
fn installed_size_kb(entries: &[Entry]) -> usize {
    entries
        .iter()
        .map(|entry| entry.content.len().div_ceil(1024))
        .sum()
}

fn gzip(text: &str) -> Result<Vec<u8>, String> {
    let mut writer = GzBuilder::new()
        .mtime(0)
        .operating_system(3)
        .write(Vec::new(), Compression::best());
    writer
        .write_all(text.as_bytes())
        .and_then(|()| writer.finish())
        .map_err(|error| format!("cannot compress a document: {error}"))
}

/// Returns the checksums that `debsums` and `dpkg --verify` compare.
fn md5sums(root: &Path, entries: &[Entry]) -> Result<String, String> {
    let mut paths: Vec<&str> = entries.iter().map(|entry| entry.path.as_str()).collect();
    paths.sort_unstable();
    let output = Command::new("md5sum")
        .args(paths)
        .current_dir(root)
        .output()
        .map_err(|error| format!("cannot start md5sum: {error}"))?;
    match output.status.success() {
        true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        false => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
    }
}

/// Sets the time of the release on all files and folders, and the mode of folders.
fn set_times_and_modes(root: &Path, release: &Release) -> Result<(), String> {
    let time = SystemTime::UNIX_EPOCH + Duration::from_secs(release.epoch_s());
    for path in all_paths(root)? {
        let failed =
            |error: std::io::Error| format!("cannot set the time of {}: {error}", path.display());
        if path.is_dir() {
            set_mode(&path, 0o755).map_err(failed)?;
        }
        let file = fs::File::open(&path).map_err(failed)?;
        file.set_modified(time).map_err(failed)?;
    }
    Ok(())
}

/// Returns a folder and all that it contains, the deepest first.
fn all_paths(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let mut paths = Vec::new();
    let entries = fs::read_dir(folder)
        .map_err(|error| format!("cannot list {}: {error}", folder.display()))?;
    for entry in entries.flatten() {
        let path = entry.path();
        match path.is_dir() {
            true => paths.extend(all_paths(&path)?),
            false => paths.push(path),
        }
    }
    paths.push(folder.to_path_buf());
    Ok(paths)
}
