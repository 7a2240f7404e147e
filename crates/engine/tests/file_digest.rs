//! Tests of file size and checksum against another program.
#![expect(
    clippy::disallowed_methods,
    reason = "the files are a test's own, and need not survive a crash"
)]

use heirloom_fs::project_fs::{digest_file, file_size};
use std::fs::{create_dir, write};
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::path::Path;

fn output(path: &Path, bytes_max: u64) -> String {
    match digest_file(path, bytes_max) {
        Ok(found) => format!("{} {}", found.size_bytes, found.checksum),
        Err(problem) => problem.to_string(),
    }
}

#[test]
fn digest_matches_sha256sum() {
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
        assert_eq!(output(&file, u64::MAX), sum);
        assert_eq!(output(&file, content.len() as u64), sum);
        assert_eq!(file_size(&file).unwrap(), content.len() as u64);
    }
    assert_eq!(
        output(&file, 999_999),
        "it has 1000000 bytes, more than the limit"
    );
}

#[test]
fn digest_of_non_file_fails() {
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
        assert_eq!(output(&at(name), 9), "it is not a regular file", "{name}");
    }
    for name in ["nothing", "file/below"] {
        assert_eq!(output(&at(name), 9), "there is no such file", "{name}");
    }
}
