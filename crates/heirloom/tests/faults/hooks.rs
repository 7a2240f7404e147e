//! Hooks of every agent program under faults: they exit with 0 in time, and print nothing or an answer that the
//! program can parse.
#![expect(
    clippy::disallowed_methods,
    reason = "databases as a fault leaves them"
)]

use crate::driver::{CallResult, ProjectFixture};
use crate::small_filesystem::SmallFilesystem;
use heirloom_agents::AgentProgram;
use heirloom_model::limits;
use heirloom_testkit::{Prerequisite, require};
use serde_json::Value;
use std::time::{Duration, Instant};

/// Tolerance for a busy machine.
const TOLERANCE: Duration = Duration::from_secs(3);

/// Valid, empty, broken and hostile events.
fn events() -> Vec<String> {
    let deep = format!(
        "{{\"session_id\":\"s\",\"tool_response\":{}",
        "[".repeat(5_000)
    );
    vec![
        r#"{"session_id":"s","source":"startup","prompt":"where is the login?","tool_name":"Bash","tool_input":{"command":"make"},"error":"no rule","agent_id":"a7","last_assistant_message":"HEIRLOOM_MEMORY: KEY_FACT heard","prompt_response":"HEIRLOOM_MEMORY: KEY_FACT heard","transcript_path":"talk.jsonl","agent_transcript_path":"talk.jsonl","reason":"exit"}"#.to_owned(),
        r#"{"session_id":"../../s\u0000","transcript_path":"/dev/zero","agent_transcript_path":"/proc/self/mem","tool_name":"Bash","tool_input":{"command":""},"prompt":"\ud800","source":3}"#.to_owned(),
        "nonsense".to_owned(),
        deep,
    ]
}

/// Calls every hook of every program with every event.
#[track_caller]
fn check_all_hooks(what: &str, events: &[String], call: &dyn Fn(&[&str], &str) -> CallResult) {
    for program in AgentProgram::with_hooks() {
        for spec in program.hook_specs() {
            for (n, event) in events.iter().enumerate() {
                let what = format!("{what}: {} {} event {n}", program.as_str(), spec.event);
                let started = Instant::now();
                let result = call(&["hook", program.as_str(), spec.event], event);
                let most = Duration::from_millis(limits::HOOK_DEADLINE_MS) + TOLERANCE;
                assert!(started.elapsed() < most, "{what}: {:?}", started.elapsed());
                assert_eq!(result.code, 0, "{what}: {}", result.stderr);
                assert_eq!(result.stderr, "", "{what}");
                let answer_text = result.text();
                if answer_text.is_empty() {
                    continue;
                }
                assert!(spec.can_inject, "{what}: {answer_text}");
                let answer: Value = serde_json::from_str(&answer_text)
                    .unwrap_or_else(|error| panic!("{what}: {error} in {answer_text}"));
                match answer.get("hookSpecificOutput") {
                    Some(specific) => assert_eq!(specific["hookEventName"], spec.event, "{what}"),
                    // Other programs have answers without the name of the event.
                    None => assert!(
                        answer.as_object().is_some_and(|all| !all.is_empty()),
                        "{what}"
                    ),
                }
            }
        }
    }
}

#[test]
fn hooks_read_only_folder_exit_0() {
    let filesystem = require!(Prerequisite::Mount, SmallFilesystem::initialised("8m"));
    filesystem
        .call(&["remember", "the login is in src/a.rs"])
        .expect(0);
    filesystem.remount("ro");
    check_all_hooks("read-only", &events(), &|args, event| {
        filesystem.feed(args, event)
    });
    filesystem.remount("rw");
    filesystem.assert_healthy();
}

#[test]
fn hooks_full_disk_exit_0() {
    let filesystem = require!(Prerequisite::Mount, SmallFilesystem::initialised("8m"));
    filesystem
        .call(&["remember", "the login is in src/a.rs"])
        .expect(0);
    filesystem.fill(0);
    check_all_hooks("full disk", &events(), &|args, event| {
        filesystem.feed(args, event)
    });
    filesystem.free_space();
    filesystem.assert_healthy();
    assert!(
        filesystem
            .texts("knowledge")
            .contains(&"the login is in src/a.rs".to_owned())
    );
}

#[test]
fn hooks_broken_databases_exit_0() {
    let feed =
        |fixture: &ProjectFixture, args: &[&str], event: &str| fixture.feed(args, event.as_bytes());
    for what in ["missing", "empty", "no database", "cut", "a folder"] {
        let fixture = ProjectFixture::plain();
        fixture
            .call(&["remember", "the login is in src/a.rs"])
            .expect(0);
        let database = fixture.root().join(".heirloom/heirloom.db");
        let bytes = std::fs::read(&database).unwrap();
        std::fs::remove_file(&database).unwrap();
        match what {
            "empty" => std::fs::write(&database, b"").unwrap(),
            "no database" => std::fs::write(&database, b"no database").unwrap(),
            "cut" => std::fs::write(&database, &bytes[..bytes.len() / 2]).unwrap(),
            "a folder" => std::fs::create_dir(&database).unwrap(),
            _ => {}
        }
        check_all_hooks(what, &events()[..2], &|args, event| {
            feed(&fixture, args, event)
        });
    }
}

#[test]
fn hooks_locked_database_exit_0_in_time() {
    let fixture = ProjectFixture::plain();
    fixture
        .call(&["remember", "the login is in src/a.rs"])
        .expect(0);
    let lock = rusqlite::Connection::open(fixture.root().join(".heirloom/heirloom.db")).unwrap();
    lock.execute_batch("BEGIN EXCLUSIVE").unwrap();
    // Each call waits until its deadline, so run them all at once.
    let started = Instant::now();
    std::thread::scope(|scope| {
        for program in AgentProgram::with_hooks() {
            for spec in program.hook_specs() {
                let fixture = &fixture;
                scope.spawn(move || {
                    let args = ["hook", program.as_str(), spec.event];
                    let result = fixture.feed(&args, events()[0].as_bytes());
                    assert_eq!((result.code, result.stderr.as_str()), (0, ""), "{args:?}");
                    assert!(result.text().is_empty() || spec.can_inject, "{args:?}");
                });
            }
        }
    });
    let most = Duration::from_millis(limits::HOOK_DEADLINE_MS) + 3 * TOLERANCE;
    assert!(started.elapsed() < most, "{:?}", started.elapsed());
}
