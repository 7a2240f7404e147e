//! Limits of learning, each reached and exceeded.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use heirloom_agents::AgentProgram;
use heirloom_agents::hooks::read_event;
use heirloom_capture::{HookRequest, Hooks};
use heirloom_engine::{Coverage, Engine, LearnedConversation, LessonBatch, LessonLedger};
use heirloom_fs::durable;
use heirloom_fs::project_fs::ProjectPaths;
use heirloom_lessons::{Candidate, Lesson, LessonContent, SourceKind, Speaker, Verdict};
use heirloom_model::kinds::ErrorRecord;
use heirloom_model::limits::{
    LESSON_ERRORS_COMPARED_MAX, LESSON_RECORDS_MAX, LESSON_TURN_TRANSCRIPT_BYTES_MAX,
    WISH_SESSIONS_COMPARED_MAX,
};
use heirloom_model::{Kind, ProjectName, Scope, Session, Settings, SystemClock, Timestamp};
use heirloom_store::{Filter, SqliteStore};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tempfile::TempDir;

struct Memory {
    engine: Engine,
    folder: TempDir,
}

impl Memory {
    fn new() -> Self {
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
        Self {
            engine: engine.unwrap(),
            folder,
        }
    }

    fn send_hook(&self, name: &str, mut event: Value) {
        let host = AgentProgram::ClaudeCode;
        event["session_id"] = json!("s");
        event["cwd"] = json!(self.engine.root());
        let event = read_event(host, event.to_string().as_bytes());
        let request = HookRequest {
            host,
            spec: host.hook_spec(name).unwrap(),
            event: &event,
            shorten: None,
            anchor_every: 5,
            teach: true,
            ask: false,
            deadline: Instant::now() + Duration::from_secs(600),
        };
        Hooks::new(&self.engine).handle(&request).unwrap();
    }
}

fn fact(n: usize) -> Lesson {
    Lesson {
        candidate: Candidate {
            source: SourceKind::Command,
            speaker: Speaker::Program,
            content: LessonContent::Knowledge {
                category: "fact".to_owned(),
                key: Some(format!("command:{n}")),
                text: format!("Port {n} is in use."),
                rationale: None,
            },
            worth: 0.5,
            evidence: Vec::new(),
            at: None,
            agent: None,
        },
        verdict: Verdict::Kept,
        opinion: None,
    }
}

#[test]
fn records_of_a_session_are_listed_up_to_the_limit() {
    let memory = Memory::new();
    let lessons = memory.engine.sessions().lessons();
    let now = memory.engine.now();
    let conversation = LearnedConversation {
        session: "s",
        source: "claude-code",
        task: "main",
        began_at: now,
        ended_at: now,
        coverage: Coverage::StoredTurns,
    };
    let mut ledger = LessonLedger::default();
    let mut learn = |facts: std::ops::Range<usize>| {
        let facts: Vec<Lesson> = facts.map(fact).collect();
        lessons
            .reconcile(&conversation, &facts, &mut ledger, &LessonBatch::OfSession)
            .unwrap();
        lessons.of_session("s").unwrap().len()
    };
    assert_eq!(learn(0..LESSON_RECORDS_MAX), LESSON_RECORDS_MAX);
    assert_eq!(
        learn(LESSON_RECORDS_MAX..LESSON_RECORDS_MAX + 1),
        LESSON_RECORDS_MAX
    );
}

#[test]
fn transcript_over_the_limit_waits_for_the_end_of_the_session() {
    let memory = Memory::new();
    let path = memory.folder.path().join("talk.jsonl");
    let line = json!({"type": "user", "uuid": "u0", "sessionId": "s", "cwd": memory.engine.root(),
        "timestamp": "2026-04-01T10:00:00Z", "message": {"content": "make the tests pass"}});
    durable::write_atomic(&path, format!("{line}\n").as_bytes()).unwrap();
    let messages_after_turn = |size: u64| {
        let file = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
        file.set_len(size).unwrap();
        memory.send_hook("Stop", json!({"transcript_path": path}));
        let found = memory.engine.sessions().get("s", None);
        found.map_or(0, |(_, messages)| messages.len())
    };
    assert_eq!(messages_after_turn(LESSON_TURN_TRANSCRIPT_BYTES_MAX + 1), 0);
    assert_eq!(messages_after_turn(LESSON_TURN_TRANSCRIPT_BYTES_MAX), 1);
}

#[test]
fn passed_command_closes_newest_errors_up_to_the_limit() {
    let open_after_pass = |count: usize| {
        let memory = Memory::new();
        for n in 0..count {
            let error = format!("`make lint` fails: test_{n} is red");
            let errors = memory.engine.errors();
            errors.log(&error, Scope::default(), "user").unwrap();
        }
        let passed = json!({"tool_name": "Bash", "tool_input": {"command": "make lint"}, "tool_response": {"stdout": "ok"}});
        memory.send_hook("PostToolUse", passed);
        let filter = Filter::current(&[Kind::Error], memory.engine.now()).state(ErrorRecord::OPEN);
        memory.engine.records().find(&filter).unwrap().len()
    };
    assert_eq!(open_after_pass(LESSON_ERRORS_COMPARED_MAX), 0);
    assert_eq!(open_after_pass(LESSON_ERRORS_COMPARED_MAX + 1), 1);
}

/// Returns the number of preferences after a session whose wish two older ones have, with `between` sessions in between.
fn preferences_after(between: usize) -> usize {
    let memory = Memory::new();
    let sessions = memory.engine.sessions();
    let now = memory.engine.now();
    let count = between + 2;
    for number in 0..count {
        let wish = json!({"event": format!("e{number}"), "text": "Short answer please.", "position": 1,
            "at": null, "forbids": false, "is_rule": false});
        let wishes = if number < 2 { json!([wish]) } else { json!([]) };
        let lessons = json!({"version": 1, "offset": 0, "ledger": {}, "wishes": wishes});
        let seconds = i64::try_from(10 * (count - number)).unwrap();
        let session = Session {
            project: memory.engine.project().clone(),
            id: format!("old{number}"),
            agent: Some("claude-code".to_owned()),
            task: None,
            started_at: Timestamp::from_second(now.as_second() - 600 - seconds).unwrap(),
            ended_at: Some(now),
            attrs: [("lessons".to_owned(), lessons)].into_iter().collect(),
        };
        sessions.put_session(&session).unwrap();
    }
    let path = memory.folder.path().join("t.jsonl");
    let lines = [
        ("1", Value::Null, "user", json!("look at the loader")),
        (
            "2",
            json!("1"),
            "assistant",
            json!([{"type": "text", "text": "It reads twice."}]),
        ),
        ("3", json!("2"), "user", json!("a shorter answer, thanks")),
    ];
    let text: String = (lines.iter())
        .map(|(uuid, parent, kind, content)| {
            let line = json!({"type": kind, "uuid": uuid, "parentUuid": parent, "sessionId": "s",
                "cwd": memory.engine.root(), "timestamp": "2026-08-01T10:00:00Z",
                "message": {"id": uuid, "content": content}});
            format!("{line}\n")
        })
        .collect();
    durable::write_atomic(&path, text.as_bytes()).unwrap();
    memory.send_hook(
        "SessionStart",
        json!({"source": "startup", "transcript_path": path}),
    );
    memory.send_hook("SessionEnd", json!({"transcript_path": path}));
    let filter = Filter::current(&[Kind::Knowledge], memory.engine.now());
    memory.engine.records().find(&filter).unwrap().len()
}

#[test]
fn wishes_of_a_limited_number_of_sessions_are_compared() {
    // The session itself is one of those that are read.
    assert_eq!(preferences_after(WISH_SESSIONS_COMPARED_MAX - 3), 1);
    assert_eq!(preferences_after(WISH_SESSIONS_COMPARED_MAX - 2), 0);
}
