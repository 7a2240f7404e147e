//! Stored form of a session's hook state, compared with a golden file.

use super::{HookSessionState, OpenFailure, ToldStart};
use crate::failures::RecentChanges;

const GOLDEN: &str = include_str!(concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/tests/fixtures/stored_forms/hook_state.json"
));

fn full() -> HookSessionState {
    HookSessionState {
        path: None,
        goal: Some("add a login page".to_owned()),
        prompt: Some("now the tests".to_owned()),
        prompts: 2,
        delivered: vec!["018f0c2e-0000-7000-8000-000000000001".to_owned()],
        injected_text: "a line that was injected\n".to_owned(),
        start: Some(ToldStart {
            at: heirloom_model::Timestamp::UNIX_EPOCH,
            rules: "0011223344556677".to_owned(),
        }),
        files: vec!["src/login.rs".to_owned()],
        failures: vec![OpenFailure {
            key: "command:0011:".to_owned(),
            since: vec!["edited `src/login.rs`".to_owned()],
            variables: vec!["CI=1".to_owned()],
            folder: Some("web".to_owned()),
            tree: "topic".to_owned(),
        }],
        failed: 1,
        recorded_failures: 1,
        transcript: Some(("/tmp/t.jsonl".to_owned(), 120)),
        from_beginning: true,
        seen_signals: vec!["00112233445566778899aabbccddeeff".to_owned()],
        subagents: vec![(
            "a1".to_owned(),
            Some("explore".to_owned()),
            "/tmp/a1.jsonl".to_owned(),
        )],
        current_goal: Some("now the tests".to_owned()),
        calls: 3,
        warned: vec!["command:0011:".to_owned()],
        changes: {
            let mut changes = RecentChanges::default();
            changes.add(
                "edited `src/login.rs`",
                heirloom_model::Timestamp::UNIX_EPOCH,
            );
            changes
        },
        tree: {
            let mut tree = heirloom_lessons::WorkingTree::default();
            let line = "git checkout main && git checkout -b topic && git stash";
            tree.apply_line(&heirloom_lessons::LineSteps::read(line), false);
            tree
        },
        is_lesson_left: true,
        is_lesson_asked: true,
        program: "claude-code".to_owned(),
        is_finished: true,
    }
}

#[test]
fn hook_state_of_earlier_version_is_read() {
    let old = r#"{"prompts": 2, "failures": [{"key": "k", "since": ["edited a"]}], "failed": 1}"#;
    let read: HookSessionState = serde_json::from_str(old).unwrap();
    assert_eq!(read.failures.len(), 1);
    assert_eq!(read.failures[0].folder, None);
}

#[test]
fn hook_state_matches_golden_file() {
    let read: HookSessionState = serde_json::from_str(GOLDEN).unwrap();
    assert_eq!(read, full());
    let written = serde_json::to_string_pretty(&read).unwrap() + "\n";
    assert_eq!(written, GOLDEN);
}
