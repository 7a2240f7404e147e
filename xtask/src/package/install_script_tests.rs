//! The install script with good archives, and with archives that it must refuse.

use super::checksums::sha256_hex;
use super::release::read_text;
use flate2::Compression;
use flate2::write::GzEncoder;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tar::{EntryType, Header};

const SHELLS: [&str; 2] = ["sh", "bash"];
const FOLDER: &str = "heirloom-9.9.9-any";
const PROGRAM: &[u8] = b"#!/bin/sh\necho heirloom 9.9.9\n";

/// Member of an archive: path, type, target of a link, content.
type Member<'a> = (&'a str, EntryType, &'a str, &'a [u8]);

/// A folder with the script, an archive and its checksum.
struct Downloads {
    folder: tempfile::TempDir,
}

impl Downloads {
    fn of(members: &[Member<'_>]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let program = (
            &*format!("{FOLDER}/bin/heirloom"),
            EntryType::Regular,
            "",
            PROGRAM,
        );
        let bytes = archive(&[&[program], members].concat());
        let name = format!("{FOLDER}.tar.gz");
        let sums = format!("{}  {name}\n", sha256_hex(&bytes));
        put(&folder.path().join(&name), &bytes);
        put(&folder.path().join("SHA256SUMS"), sums.as_bytes());
        let script = read_text("packaging/install.sh").unwrap();
        let script = script.replace("@VERSION@", "9.9.9");
        put(&folder.path().join("install.sh"), script.as_bytes());
        Self { folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn run(&self, shell: &str, args: &[&str]) -> Output {
        Command::new(shell)
            .arg(self.path("install.sh"))
            .args(args)
            .current_dir(self.folder.path())
            .env("HOME", self.path("home"))
            .output()
            .unwrap()
    }

    fn install(&self, shell: &str) -> Output {
        let archive = format!("{FOLDER}.tar.gz");
        self.run(shell, &["--archive", &archive, "--prefix", "my prefix"])
    }
}

#[expect(clippy::disallowed_methods, reason = "a file of a test")]
fn put(path: &Path, bytes: &[u8]) {
    fs::write(path, bytes).unwrap();
}

/// Writes names as they are: the safe functions of the library refuse `..`.
fn archive(members: &[Member<'_>]) -> Vec<u8> {
    let mut builder = tar::Builder::new(GzEncoder::new(Vec::new(), Compression::fast()));
    for (path, kind, target, content) in members {
        let mut header = Header::new_gnu();
        let bytes = header.as_mut_bytes();
        bytes[..path.len()].copy_from_slice(path.as_bytes());
        bytes[157..157 + target.len()].copy_from_slice(target.as_bytes());
        header.set_entry_type(*kind);
        header.set_mode(0o755);
        header.set_size(content.len() as u64);
        header.set_cksum();
        builder.append(&header, *content).unwrap();
    }
    builder.into_inner().unwrap().finish().unwrap()
}

fn messages(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn install_and_uninstall_leave_only_files_of_others() {
    for shell in SHELLS {
        let page = format!("{FOLDER}/share/man/man1/heirloom.1");
        let downloads = Downloads::of(&[(&page, EntryType::Regular, "", b"page")]);
        let other = downloads.path("my prefix/share/man/man1");
        fs::create_dir_all(&other).unwrap();
        put(&other.join("other.1"), b"page of another program");
        let installed = downloads.install(shell);
        assert!(installed.status.success(), "{}", messages(&installed));
        assert!(other.join("heirloom.1").is_file());
        let program = downloads.path("my prefix/bin/heirloom");
        assert_eq!(fs::read(&program).unwrap(), PROGRAM);

        let again = downloads.install(shell);
        assert!(again.status.success(), "{}", messages(&again));

        let removed = downloads.run(shell, &["--uninstall", "--prefix", "my prefix"]);
        assert!(removed.status.success(), "{}", messages(&removed));
        assert!(other.join("other.1").is_file());
        assert!(!other.join("heirloom.1").exists());
        assert!(!downloads.path("my prefix/bin").exists());
        assert!(!downloads.path("my prefix/share/doc").exists());
        let nothing = downloads.run(shell, &["--uninstall", "--prefix", "my prefix"]);
        assert!(messages(&nothing).contains("nothing was installed"));
    }
}

#[test]
fn archive_with_another_checksum_is_refused() {
    for shell in SHELLS {
        let downloads = Downloads::of(&[]);
        let path = downloads.path(&format!("{FOLDER}.tar.gz"));
        let mut bytes = fs::read(&path).unwrap();
        bytes.push(0);
        put(&path, &bytes);
        let output = downloads.install(shell);
        assert!(!output.status.success());
        assert!(
            messages(&output).contains("was changed"),
            "{}",
            messages(&output)
        );
        assert!(!downloads.path("my prefix").exists());

        put(&downloads.path("SHA256SUMS"), b"0000  another.tar.gz\n");
        let output = downloads.install(shell);
        assert!(
            messages(&output).contains("has no checksum"),
            "{}",
            messages(&output)
        );
        fs::remove_file(downloads.path("SHA256SUMS")).unwrap();
        let output = downloads.install(shell);
        assert!(
            messages(&output).contains("verified"),
            "{}",
            messages(&output)
        );
    }
}

#[test]
fn archive_with_unexpected_member_is_refused() {
    let link = format!("{FOLDER}/bin/link");
    let upwards = format!("{FOLDER}/../evil");
    let strange = format!("{FOLDER}/a b;c");
    let members: [Member<'_>; 7] = [
        ("/tmp/evil", EntryType::Regular, "", b"x"),
        ("../evil", EntryType::Regular, "", b"x"),
        (&upwards, EntryType::Regular, "", b"x"),
        ("elsewhere/evil", EntryType::Regular, "", b"x"),
        (&strange, EntryType::Regular, "", b"x"),
        (&link, EntryType::Symlink, "/etc/passwd", b""),
        (&link, EntryType::Link, "/etc/passwd", b""),
    ];
    for shell in SHELLS {
        for member in members {
            let downloads = Downloads::of(&[member]);
            let output = downloads.install(shell);
            assert!(!output.status.success(), "{} was installed", member.0);
            let text = messages(&output);
            assert!(text.contains("the archive"), "{}: {text}", member.0);
            assert!(!downloads.path("my prefix").exists(), "{}", member.0);
        }
    }
}

#[test]
fn unprotected_address_of_downloads_is_refused() {
    let downloads = Downloads::of(&[]);
    let output = Command::new("sh")
        .arg(downloads.path("install.sh"))
        .env("HEIRLOOM_BASE_URL", "http://example.org/")
        .env("HOME", downloads.path("home"))
        .output()
        .unwrap();
    assert!(
        messages(&output).contains("https://"),
        "{}",
        messages(&output)
    );
}
