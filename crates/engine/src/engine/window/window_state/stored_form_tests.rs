//! Stored form of a session's window state, compared with a golden file.

use super::{ATTR, ModelSummary, SessionWindowState, StoredSummary};

const GOLDEN: &str = include_str!(concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/tests/fixtures/stored_forms/window_state.json"
));

fn full() -> SessionWindowState {
    SessionWindowState {
        messages: 42,
        chain: "cbf29ce484222325".to_owned(),
        boundary: 7,
        expanded: [("out-0011223344556677".to_owned(), 30)].into(),
        summaries: vec![
            StoredSummary {
                id: "sum-1".to_owned(),
                by_model: None,
            },
            StoredSummary {
                id: "sum-2".to_owned(),
                by_model: Some(ModelSummary {
                    text: "The login page is done.".to_owned(),
                    model: "small-model".to_owned(),
                    at: Some("2026-05-01T10:00:00Z".parse().unwrap()),
                }),
            },
        ],
        published: "sum-2".to_owned(),
        archives: vec!["arc-0011223344556677".to_owned()],
    }
}

#[test]
fn window_state_matches_golden_file() {
    let read: SessionWindowState = serde_json::from_str(GOLDEN).unwrap();
    assert_eq!(read, full());
    let written = serde_json::to_string_pretty(&read).unwrap() + "\n";
    assert_eq!(written, GOLDEN);
    assert_eq!(ATTR, "window");
}
