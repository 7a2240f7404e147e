//! Tests of the session end hook with a deadline.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use heirloom_agents::AgentProgram;
use heirloom_agents::hooks::read_event;
use heirloom_capture::HookRequest;
use heirloom_capture::Hooks;
use heirloom_engine::Engine;
use heirloom_fs::durable;
use heirloom_fs::project_fs::ProjectPaths;
use heirloom_model::{ProjectName, Settings, SystemClock};
use heirloom_store::SqliteStore;
use serde_json::json;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

fn ends(engine: &Engine, path: &Path, until: Instant) {
    let host = AgentProgram::ClaudeCode;
    let event = json!({"session_id": "s", "transcript_path": path});
    let event = read_event(host, event.to_string().as_bytes());
    let request = HookRequest {
        host,
        spec: host.hook_spec("SessionEnd").unwrap(),
        event: &event,
        shorten: None,
        anchor_every: 5,
        teach: true,
        ask: false,
        deadline: until,
    };
    Hooks::new(engine).handle(&request).unwrap();
}

#[test]
fn session_end_after_deadline_reads_nothing_and_next_continues() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    let memory = root.join(".heirloom");
    durable::create_dir_private(&memory).unwrap();
    durable::write_atomic(&memory.join("config.toml"), b"").unwrap();
    let engine = engine(&root, &memory);
    let line = |n: usize| {
        let parent = n.checked_sub(1).map(|n| format!("u{n}"));
        json!({"type": "user", "uuid": format!("u{n}"), "parentUuid": parent, "sessionId": "s", "cwd": root,
            "timestamp": "2026-04-01T10:00:00Z", "message": {"content": format!("prompt {n}")}})
        .to_string()
            + "\n"
    };
    let text: String = (0..100).map(line).collect();
    let path = root.join("talk.jsonl");
    durable::write_atomic(&path, text.as_bytes()).unwrap();
    let output = || engine.sessions().get("s", None).unwrap().1.len();
    ends(&engine, &path, Instant::now());
    assert_eq!(output(), 0);
    assert!(
        engine
            .sessions()
            .get("s", None)
            .unwrap()
            .0
            .ended_at
            .is_some()
    );
    let time = Duration::from_secs(600);
    ends(&engine, &path, Instant::now() + time);
    assert_eq!(output(), 100);
    ends(&engine, &path, Instant::now() + time);
    assert_eq!(output(), 100);
}

fn engine(root: &Path, memory: &Path) -> Engine {
    let place = ProjectPaths {
        folder: memory.to_owned(),
        config: memory.join("config.toml"),
        root: root.to_owned(),
    };
    Engine::new(
        Arc::new(SqliteStore::memory().unwrap()),
        ProjectName::new("p").unwrap(),
        place,
        Settings::default(),
        Arc::new(SystemClock),
    )
    .unwrap()
}
