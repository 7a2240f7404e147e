//! Stored form of access tokens, compared with a golden file.

use super::{StoredLogin, StoredToken, TOKENS_FILE, TokenFile};

const GOLDEN: &str = include_str!(concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/tests/fixtures/stored_forms/tokens.json"
));

fn full() -> TokenFile {
    let hash = |digit: &str| digit.repeat(64);
    TokenFile {
        version: 1,
        tokens: vec![
            StoredToken {
                id: "0011223344556677".to_owned(),
                role: "agent".to_owned(),
                project: Some("host/owner/name".to_owned()),
                hash: hash("a"),
                created_at: "2026-05-01T10:00:00Z".parse().unwrap(),
                name: Some("laptop".to_owned()),
            },
            StoredToken {
                id: "8899aabbccddeeff".to_owned(),
                role: "orchestrator".to_owned(),
                project: None,
                hash: hash("b"),
                created_at: "2026-05-01T10:00:01Z".parse().unwrap(),
                name: None,
            },
        ],
        logins: vec![StoredLogin {
            role: "user".to_owned(),
            hash: hash("c"),
            expires_at: "2026-05-01T10:05:00Z".parse().unwrap(),
        }],
    }
}

#[test]
fn tokens_match_golden_file() {
    let read: TokenFile = serde_json::from_str(GOLDEN).unwrap();
    let written = |stored: &TokenFile| serde_json::to_string_pretty(stored).unwrap() + "\n";
    assert_eq!(written(&read), GOLDEN);
    assert_eq!(written(&full()), GOLDEN);
    assert_eq!(TOKENS_FILE, "tokens.json");
}
