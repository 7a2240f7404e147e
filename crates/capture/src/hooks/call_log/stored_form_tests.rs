//! Stored form of the log of hook calls, compared with a golden file.

use super::{HookCall, HookCallLog};
use heirloom_model::Timestamp;

fn at(time: &str) -> Timestamp {
    time.parse().unwrap()
}

#[test]
fn hook_call_log_matches_golden_file() {
    const GOLDEN: &str = include_str!(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/tests/fixtures/stored_forms/hook_calls.txt"
    ));
    let call = |host: &str, event: &str, failed: bool| HookCall {
        at: at("2026-05-01T10:00:00.5Z"),
        host: host.to_owned(),
        event: event.to_owned(),
        took_us: 4_200,
        failed,
    };
    let calls = [
        call("codex", "Stop", false),
        call("claude-code", "PreToolUse", true),
    ];
    let memory = tempfile::tempdir().unwrap();
    let log = HookCallLog::in_folder(memory.path());
    calls.iter().for_each(|call| log.append(call).unwrap());
    let file = memory.path().join("hooks/calls");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), GOLDEN);
    assert_eq!(log.read(), calls);
}
