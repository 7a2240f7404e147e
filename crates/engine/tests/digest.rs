//! The size and checksum of a file, against those of another program.
#![expect(
    clippy::disallowed_methods,
    reason = "the files are a test's own, and need not survive a crash"
)]

use heirloom_engine::places::{digest, file_size};
use std::fs::{create_dir, write};
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::path::Path;

fn said(path: &Path, bytes_max: u64) -> String {
    match digest(path, bytes_max) {
        Ok(found) => format!("{} {}", found.size_bytes, found.checksum),
        Err(problem) => problem.to_string(),
    }
}

#[test]
fn a_digest_is_that_of_sha256sum() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    for (content, sum) in [
        (
            String::new(),
            "0 e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        ),
        (
            "abc".to_owned(),
            "3 ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
        ),
        (
            "a".repeat(1_000_000),
            "1000000 cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0",
        ),
    ] {
        write(&file, &content).unwrap();
        assert_eq!(said(&file, u64::MAX), sum);
        assert_eq!(said(&file, content.len() as u64), sum);
        assert_eq!(file_size(&file).unwrap(), content.len() as u64);
    }
    assert_eq!(
        said(&file, 999_999),
        "it has 1000000 bytes, more than are read"
    );
}

#[test]
fn what_is_no_file_has_no_digest() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    create_dir(at("folder")).unwrap();
    write(at("file"), "x").unwrap();
    symlink(at("file"), at("link")).unwrap();
    let _socket = UnixListener::bind(at("socket")).unwrap();
    let made = std::process::Command::new("mkfifo")
        .arg(at("pipe"))
        .status();
    assert!(made.unwrap().success());
    for name in ["folder", "link", "socket", "pipe"] {
        assert_eq!(said(&at(name), 9), "it is no file", "{name}");
    }
    for name in ["nothing", "file/below"] {
        assert_eq!(said(&at(name), 9), "there is no such file", "{name}");
    }
}
