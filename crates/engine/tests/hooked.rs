//! A session that ends has what was said in it, as far as there is time.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use heirloom_engine::hooks::{Host, read_event};
use heirloom_engine::places::Place;
use heirloom_engine::{Engine, HookRequest};
use heirloom_model::{ProjectName, Settings, SystemClock};
use heirloom_store::{SqliteStore, durable};
use serde_json::json;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

fn ends(engine: &Engine, path: &Path, until: Instant) {
    let host = Host::ClaudeCode;
    let event = json!({"session_id": "s", "transcript_path": path});
    let event = read_event(host, event.to_string().as_bytes());
    let request = HookRequest {
        host,
        wanted: host.event("SessionEnd").unwrap(),
        event: &event,
        shorten: None,
        until,
    };
    engine.hook(&request).unwrap();
}

#[test]
fn without_time_nothing_is_read_and_the_next_one_goes_on() {
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
    let said = || engine.session("s", None).unwrap().1.len();
    ends(&engine, &path, Instant::now());
    assert_eq!(said(), 0);
    assert!(engine.session("s", None).unwrap().0.ended_at.is_some());
    let time = Duration::from_secs(600);
    ends(&engine, &path, Instant::now() + time);
    assert_eq!(said(), 100);
    ends(&engine, &path, Instant::now() + time);
    assert_eq!(said(), 100);
}

fn engine(root: &Path, memory: &Path) -> Engine {
    let place = Place {
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
