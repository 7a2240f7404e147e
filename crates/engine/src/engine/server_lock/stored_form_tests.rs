//! Stored form of the server's address, compared with a golden file.

use super::{SERVER_FILE, ServerAddress};

const GOLDEN: &str = include_str!(concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/tests/fixtures/stored_forms/server.json"
));

#[test]
fn server_address_matches_golden_file() {
    let read: ServerAddress = serde_json::from_str(GOLDEN).unwrap();
    assert_eq!(read.address, "http://127.0.0.1:7470");
    let written = serde_json::to_string_pretty(&read).unwrap() + "\n";
    assert_eq!(written, GOLDEN);
    assert_eq!(SERVER_FILE, "server.json");
}
