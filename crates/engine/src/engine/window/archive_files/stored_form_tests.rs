//! Stored form of an archive of dropped messages, compared with a golden file.

use super::{ArchiveHeader, archive_json, parse_messages};
use std::path::Path;

const GOLDEN: &str = include_str!(concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/tests/fixtures/stored_forms/window_archive.json"
));

#[test]
fn window_archive_matches_golden_file() {
    let head = ArchiveHeader {
        id: "arc-0011223344556677",
        agent: "coder",
        session: Some("s1"),
        form: "openai",
        at: "2026-05-01T10:00:00Z".parse().unwrap(),
    };
    let messages = [
        r#"{"role":"user","content":"hello"}"#.to_owned(),
        r#"{"role":"assistant","content":"hi"}"#.to_owned(),
    ];
    assert_eq!(archive_json(&head, &messages), GOLDEN);
    assert_eq!(
        parse_messages(GOLDEN, Path::new("a.json")).unwrap(),
        messages
    );
}
