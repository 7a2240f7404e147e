//! Tests of the state of a session between hook calls.

use super::state_file::read;
use super::*;
use heirloom_agents::AgentProgram;
use heirloom_engine::HookStateFolder;
use heirloom_fs::durable;

fn id(n: u128) -> RecordId {
    RecordId::from_bytes(n.to_be_bytes())
}

fn failure(key: &str) -> OpenFailure {
    OpenFailure {
        key: key.to_owned(),
        ..OpenFailure::default()
    }
}

#[test]
fn failures_of_an_ended_session_are_no_activity_of_its_continuation() {
    let mut state = HookSessionState::default();
    state.add_prompt("fix the build");
    assert!(!state.has_activity());
    state.merge_transcript_failures(2, vec!["a".to_owned()]);
    assert!(state.has_activity());
    state.reset();
    state.add_prompt("again");
    state.merge_transcript_failures(2, Vec::new());
    assert!(!state.has_activity(), "a case has recorded them");
}

#[test]
fn state_lists_are_capped() {
    let mut state = HookSessionState::default();
    state.mark_delivered((0..=limits::HOOK_DELIVERED_MAX as u128).map(id));
    assert_eq!(state.delivered.len(), limits::HOOK_DELIVERED_MAX);
    assert!(!state.is_delivered(id(0)) && state.is_delivered(id(1)));
    for n in 0..=limits::HOOK_SESSION_ITEMS_MAX {
        state.add_file(&n.to_string());
        state.add_failure(failure(&n.to_string()));
        state.add_subagent(&n.to_string(), Some("x"), "/t");
    }
    assert_eq!(state.files.len(), limits::HOOK_SESSION_ITEMS_MAX);
    assert_eq!(state.subagents.len(), limits::HOOK_SESSION_ITEMS_MAX);
    assert_eq!(state.failures.len(), limits::HOOK_SESSION_ITEMS_MAX);
    for _ in 0..3 {
        state.add_injected_text(&"é".repeat(limits::HOOK_ECHO_CHARS_MAX));
    }
    assert_eq!(
        text::chars(&state.injected_text),
        limits::HOOK_ECHO_CHARS_MAX
    );
    for n in 0..=limits::HOOK_DELIVERED_MAX {
        state.mark_signal_seen(text::hash16(&n.to_string()));
    }
    let size = serde_json::to_vec(&state).unwrap().len() as u64;
    assert!(size < limits::HOOK_SESSION_BYTES_MAX, "{size}");
}

#[test]
fn invalid_or_oversized_state_is_ignored() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.json");
    for (bytes, is_there) in [
        (b"{}".to_vec(), true),
        (b"{\"new\":1,\"prompts\":3}".to_vec(), true),
        (b"{\"prompts\":\"x\"}".to_vec(), false),
        (b"\xff".to_vec(), false),
        (
            [
                b"{}".to_vec(),
                vec![b' '; limits::HOOK_SESSION_BYTES_MAX as usize - 2],
            ]
            .concat(),
            true,
        ),
        (
            [
                b"{}".to_vec(),
                vec![b' '; limits::HOOK_SESSION_BYTES_MAX as usize],
            ]
            .concat(),
            false,
        ),
    ] {
        durable::write_atomic(&path, &bytes).unwrap();
        assert_eq!(read(&path).is_some(), is_there, "{}", bytes.len());
    }
}

#[test]
fn oldest_states_are_deleted_beyond_limit() {
    let memory = tempfile::tempdir().unwrap();
    for n in 0..limits::HOOK_SESSIONS_MAX + 20 {
        let (state, lock) =
            HookSessionState::load(memory.path(), AgentProgram::Codex, Some(&n.to_string()));
        state.save();
        // A temporary file of a killed writer.
        durable::write_atomic(&memory.path().join(format!("hooks/.{n}.tmp")), b"x").unwrap();
        drop(lock);
    }
    let folder = HookStateFolder::in_memory(memory.path());
    let files_left = folder.files().len();
    let most = 2 * limits::HOOK_SESSIONS_MAX;
    // A tenth is deleted at once.
    assert!(
        (most * 9 / 10 - 2..=most + 2).contains(&files_left),
        "{files_left}"
    );
    folder.remove_states();
    assert!(folder.files().is_empty());
}

#[test]
fn changes_since_failure_are_returned_once_when_resolved() {
    let at = Timestamp::UNIX_EPOCH;
    let mut state = HookSessionState::default();
    state.add_failure(failure("a"));
    state.add_change("edited x", at);
    state.add_failure(OpenFailure {
        variables: vec!["A=1".to_owned()],
        folder: Some("web".to_owned()),
        ..failure("b")
    });
    state.add_change("ran y", at);
    let first = state.resolve_failure("a").unwrap();
    assert_eq!(first.since, ["edited x", "ran y"]);
    let second = state.resolve_failure("b").unwrap();
    assert_eq!(second.since, ["ran y"]);
    assert_eq!(second.variables, ["A=1"]);
    assert_eq!(second.folder.as_deref(), Some("web"));
    assert_eq!(state.resolve_failure("b"), None);
}

#[test]
fn subject_is_warned_of_once_until_a_compaction() {
    let mut state = HookSessionState::default();
    assert!(state.mark_warned("a") && !state.mark_warned("a"));
    state.forget_delivered();
    assert!(state.mark_warned("a"));
}

#[test]
fn session_lacks_a_lesson_after_work_without_one() {
    let mut state = HookSessionState::default();
    assert!(!state.lacks_lesson(), "nothing was done");
    state.add_file("src/a.rs");
    assert!(state.lacks_lesson());
    let mut left = state.clone();
    left.mark_signal_seen("x".to_owned());
    assert!(!left.lacks_lesson(), "a signal");
    let mut left = state.clone();
    left.mark_lesson_left();
    assert!(!left.lacks_lesson(), "a tool call");
    state.mark_lesson_asked();
    assert!(!state.lacks_lesson(), "once");
    let mut failed = HookSessionState::default();
    failed.add_failure(failure("a"));
    assert!(failed.lacks_lesson());
}

#[test]
fn locked_state_is_used_without_lock_after_timeout() {
    let memory = tempfile::tempdir().unwrap();
    let (_, first) = HookSessionState::load(memory.path(), AgentProgram::Codex, Some("s"));
    assert!(first.is_some());
    // The lock wait has a limit; otherwise the test hangs.
    let (_, second) = HookSessionState::load(memory.path(), AgentProgram::Codex, Some("s"));
    assert!(second.is_none() && limits::HOOK_WAIT_MS < limits::HOOK_DEADLINE_MS);
}
