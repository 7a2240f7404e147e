//! Tests of the session end hook with a deadline.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use heirloom_agents::AgentProgram;
use heirloom_agents::hooks::read_event;
use heirloom_capture::HookRequest;
use heirloom_capture::Hooks;
use heirloom_engine::{Engine, NewRecord};
use heirloom_fs::durable;
use heirloom_fs::project_fs::ProjectPaths;
use heirloom_model::{EmbedPurpose, Embedder, Fault, ProjectName, Settings, SystemClock, limits};
use heirloom_store::SqliteStore;
use serde_json::json;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tempfile::TempDir;

fn ends(engine: &Engine, path: &Path, until: Instant) {
    sends("SessionEnd", engine, path, until);
}

fn sends(name: &str, engine: &Engine, path: &Path, until: Instant) {
    let host = AgentProgram::ClaudeCode;
    let event = json!({"session_id": "s", "transcript_path": path});
    let event = read_event(host, event.to_string().as_bytes());
    let request = HookRequest {
        host,
        spec: host.hook_spec(name).unwrap(),
        event: &event,
        shorten: None,
        anchor_every: 5,
        teach: true,
        ask: false,
        deadline: until,
    };
    Hooks::new(engine).handle(&request).unwrap();
}

/// Sentence transformer that needs a time for each batch.
struct SlowModel(Duration);

impl Embedder for SlowModel {
    fn model(&self) -> &str {
        "slow"
    }

    fn embed(&self, texts: &[&str], _: EmbedPurpose) -> Result<Vec<Vec<f32>>, Fault> {
        std::thread::sleep(self.0);
        Ok(texts.iter().map(|_| vec![1.0, 0.0]).collect())
    }
}

/// Returns the number of records without a sentence vector after the end of a session with a limited number of them.
fn missing_after_session(texts: usize, model: SlowModel) -> u64 {
    missing_after("SessionEnd", texts, model)
}

fn missing_after(name: &str, texts: usize, model: SlowModel) -> u64 {
    let (folder, engine) = project();
    let engine = engine.with_sentence_model(Arc::new(model));
    let record = |n: usize| NewRecord {
        text: format!("fact {n}"),
        ..NewRecord::default()
    };
    engine
        .records()
        .remember_all((0..texts).map(record).collect())
        .unwrap();
    let time = Duration::from_secs(600);
    sends(
        name,
        &engine,
        &folder.path().join("none.jsonl"),
        Instant::now() + time,
    );
    engine
        .maintenance()
        .sentence_coverage()
        .unwrap()
        .unwrap()
        .missing
}

#[test]
fn session_end_computes_sentence_vectors_up_to_its_limits() {
    let no_time = || SlowModel(Duration::ZERO);
    assert_eq!(
        missing_after_session(limits::SENTENCE_SESSION_TEXTS, no_time()),
        0
    );
    assert_eq!(
        missing_after_session(limits::SENTENCE_SESSION_TEXTS + 1, no_time()),
        1
    );
    // The first batch takes all the time of a session.
    let slow = SlowModel(Duration::from_millis(limits::SENTENCE_SESSION_MS));
    let batch = limits::SENTENCE_BATCH_TEXTS;
    assert_eq!(missing_after_session(batch + 1, slow), 1);
}

#[test]
fn turn_end_computes_sentence_vectors_in_less_time() {
    let most = limits::SENTENCE_SESSION_TEXTS;
    let no_time = SlowModel(Duration::ZERO);
    assert_eq!(missing_after("Stop", most + 1, no_time), 1);
    let slow = SlowModel(Duration::from_millis(limits::SENTENCE_TURN_MS));
    let batch = limits::SENTENCE_BATCH_TEXTS;
    assert_eq!(missing_after("Stop", batch + 1, slow), 1);
}

#[test]
fn session_end_after_deadline_reads_nothing_and_next_continues() {
    let (folder, engine) = project();
    let root = folder.path().canonicalize().unwrap();
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

fn project() -> (TempDir, Engine) {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    let memory = root.join(".heirloom");
    durable::create_dir_private(&memory).unwrap();
    durable::write_atomic(&memory.join("config.toml"), b"").unwrap();
    let place = ProjectPaths {
        config: memory.join("config.toml"),
        folder: memory,
        root,
    };
    let engine = Engine::new(
        Arc::new(SqliteStore::memory().unwrap()),
        ProjectName::new("p").unwrap(),
        place,
        Settings::default(),
        Arc::new(SystemClock),
    );
    (folder, engine.unwrap())
}
