//! Stored form of a transcript's progress, compared with a golden file.

use super::{FailureCause, OpenFailure, State};
use heirloom_agents::failures::Failure;
use heirloom_engine::TRANSCRIPT;
use heirloom_model::event_stream::Usage;
use heirloom_model::record::Attrs;
use heirloom_model::{ProjectName, RecordId, Session, Timestamp};

const GOLDEN: &str = include_str!(concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/tests/fixtures/stored_forms/transcript_state.json"
));

fn full() -> State {
    let at: Timestamp = "2026-05-01T10:00:00Z".parse().unwrap();
    State {
        offset: 4_096,
        last: Some((4_000, "the end of the last line".to_owned())),
        marks: vec![RecordId::from_bytes([1; 16]), RecordId::from_bytes([2; 16])],
        open: [
            OpenFailure {
                id: "call-1".to_owned(),
                at,
                what: FailureCause::Command(Failure {
                    command: "cargo test".to_owned(),
                    error: "error: test failed".to_owned(),
                    prefix: "command:0011:".to_owned(),
                }),
                agent: Some("a1".to_owned()),
            },
            OpenFailure {
                id: "call-2".to_owned(),
                at,
                what: FailureCause::Signalled("the port is taken".to_owned()),
                agent: None,
            },
        ]
        .into(),
        usage: Usage {
            input: 10,
            cached: 4,
            output: 3,
        },
    }
}

#[test]
fn transcript_state_matches_golden_file() {
    let golden: Attrs = serde_json::from_str(GOLDEN).unwrap();
    let mut session = Session {
        project: ProjectName::new("p").unwrap(),
        id: "s".to_owned(),
        agent: None,
        task: None,
        started_at: Timestamp::UNIX_EPOCH,
        ended_at: None,
        attrs: golden,
    };
    assert_eq!(State::from_session(&session), full());
    session.attrs.clear();
    full().put(&mut session.attrs);
    let written = serde_json::to_string_pretty(&session.attrs).unwrap() + "\n";
    assert_eq!(written, GOLDEN);
    assert_eq!(TRANSCRIPT, "transcript");
}
