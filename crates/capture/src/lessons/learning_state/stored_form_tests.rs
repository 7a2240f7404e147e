//! Stored form of a session's learning, compared with a golden file. The extractor's state is not part of it: it has a
//! version, and the state of another version is discarded.

use super::LearningState;
use heirloom_model::record::Attrs;
use heirloom_model::{ProjectName, RecordId, Session, Timestamp};

const GOLDEN: &str = include_str!(concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/tests/fixtures/stored_forms/learning_state.json"
));

fn session_with(attrs: Attrs) -> Session {
    Session {
        project: ProjectName::new("p").unwrap(),
        id: "s".to_owned(),
        agent: None,
        task: None,
        started_at: Timestamp::UNIX_EPOCH,
        ended_at: None,
        attrs,
    }
}

#[test]
fn learning_state_matches_golden_file() {
    let golden: Attrs = serde_json::from_str(GOLDEN).unwrap();
    let state = LearningState::of_session(&session_with(golden.clone()));
    assert_eq!(state.offset, 4_096);
    assert_eq!(state.superseded, 12);
    assert!(state.extractor.is_none());
    assert_eq!(
        state.conversation_batch,
        Some(RecordId::from_bytes([3; 16]))
    );
    assert_eq!(state.ledger.to_value(), golden["lessons"]["ledger"]);
    assert!(!state.ledger.is_empty());
    assert_eq!(state.wishes.len(), 1);
    assert_eq!(state.wishes[0].text, "Short answer please.");
    let mut attrs = Attrs::new();
    state.put(&mut attrs);
    let written = serde_json::to_string_pretty(&attrs).unwrap() + "\n";
    assert_eq!(written, GOLDEN);
}

#[test]
fn learning_state_of_earlier_version_is_read() {
    let mut golden: Attrs = serde_json::from_str(GOLDEN).unwrap();
    let ledger = golden["lessons"]["ledger"].as_object_mut().unwrap();
    ledger.remove("former_batch");
    golden["lessons"]
        .as_object_mut()
        .unwrap()
        .remove("superseded");
    golden["lessons"]["version"] = 0.into();
    golden["lessons"]["extractor"] = serde_json::json!({"events": 3});
    let state = LearningState::of_session(&session_with(golden));
    assert_eq!(state.offset, 4_096);
    assert!(state.extractor.is_none(), "an extractor of another version");
    assert!(!state.ledger.is_empty());
}
