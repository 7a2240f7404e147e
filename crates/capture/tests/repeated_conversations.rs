//! Conversations that a program repeats in a later file: forked, resumed and compacted ones. Each turn is stored once, and
//! each request has one case.
#![expect(
    clippy::unwrap_used,
    clippy::needless_pass_by_value,
    reason = "a test fails by panicking, and passes JSON literals"
)]

use heirloom_agents::AgentProgram;
use heirloom_capture::{ImportScope, Transcripts, TranscriptsRequest};
use heirloom_engine::Engine;
use heirloom_fs::durable;
use heirloom_fs::project_fs::ProjectPaths;
use heirloom_model::{Kind, ProjectName, Record, Role, Settings, SystemClock};
use heirloom_store::{Filter, SqliteStore};
use serde_json::{Value, json};
use std::sync::Arc;
use tempfile::TempDir;

const PARENT: &str = "019f0000-0000-7000-8000-00000000000a";
const FORK: &str = "019f0563-9180-7000-8000-00000000000b";
const RULE: &str = "always use yarn in this repository, never npm";
const REQUEST: &str =
    "Please add a page for the orders of a customer, with a test for the empty list";

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

    fn import(&self, agent: AgentProgram, name: &str, lines: &[Value]) {
        let path = self.folder.path().join(name);
        let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
        durable::write_atomic(&path, text.as_bytes()).unwrap();
        let request = TranscriptsRequest {
            agent,
            files: vec![path],
            scope: ImportScope::Root,
            former_root: Some("/home/dev/shop".into()),
            is_explicit: true,
            dry_run: false,
        };
        Transcripts::new(&self.engine)
            .import_all(&request, "test", &mut |_| {})
            .unwrap();
    }

    /// Returns the texts of the turns of all sessions with this role.
    fn turns(&self, role: Role) -> Vec<String> {
        let sessions = self.engine.sessions().sessions_of(None, 100).unwrap();
        let turns = sessions.iter().flat_map(|session| {
            let (_, turns) = self.engine.sessions().get(&session.id, None).unwrap();
            turns.into_iter().filter(|turn| turn.role == role)
        });
        let mut texts: Vec<String> = turns.map(|turn| turn.text).collect();
        texts.sort();
        texts
    }

    fn records(&self, kind: Kind) -> Vec<Record> {
        let filter = Filter::current(&[kind], self.engine.now());
        self.engine.records().find(&filter).unwrap()
    }

    /// Returns the number of confirmations of the rule, and of the cases of the request.
    fn counts(&self) -> (u64, usize) {
        let rules = self.records(Kind::Knowledge);
        let rules: Vec<&Record> = (rules.iter())
            .filter(|rule| rule.text.contains("yarn"))
            .collect();
        assert_eq!(rules.len(), 1, "{rules:?}");
        let confirmations = rules[0].attrs.get("confirmations");
        let confirmations = confirmations.and_then(Value::as_u64).unwrap_or(0);
        let cases = self.records(Kind::Episode);
        let cases = cases.iter().filter(|case| case.text.contains("orders"));
        (confirmations, cases.count())
    }
}

/// Line of a Codex conversation, `second` seconds after 2026-08-DAY.
fn codex(day: u32, second: u32, kind: &str, payload: Value) -> Value {
    let time = format!(
        "2026-08-{day:02}T10:{:02}:{:02}.000Z",
        second / 60,
        second % 60
    );
    json!({"timestamp": time, "type": kind, "payload": payload})
}

fn codex_start(day: u32, id: &str, forked_from: Option<&str>) -> Value {
    let mut meta = json!({"id": id, "timestamp": format!("2026-08-{day:02}T10:00:00.000Z"),
        "cwd": "/home/dev/shop", "cli_version": "0.145.0"});
    if let Some(parent) = forked_from {
        meta["forked_from_id"] = json!(parent);
    }
    codex(day, 0, "session_meta", meta)
}

/// Lines of the conversation: a rule, a request with its work, and an answer. With `step` 0 all have the time of a copy.
fn codex_talk(day: u32, step: u32, has_ids: bool) -> Vec<Value> {
    let mut lines = Vec::new();
    let mut second = 0;
    let mut add = |kind: &str, payload: Value| {
        lines.push(codex(day, second, kind, payload));
        second += step;
    };
    for (turn, prompt) in [RULE, REQUEST, "go on"].into_iter().enumerate() {
        if has_ids {
            add("turn_context", json!({"turn_id": format!("turn-{turn}")}));
        }
        add(
            "event_msg",
            json!({"type": "user_message", "message": prompt}),
        );
        let call = format!("c{turn}");
        let patch = "*** Begin Patch\n*** Add File: src/orders.ts\n+export const orders = [];\n*** End Patch";
        add(
            "response_item",
            json!({"type": "custom_tool_call", "name": "apply_patch",
            "input": patch, "call_id": call}),
        );
        add(
            "response_item",
            json!({"type": "custom_tool_call_output", "call_id": call,
            "output": "{\"output\":\"Success\",\"metadata\":{\"exit_code\":0}}"}),
        );
        let content = json!([{"type": "output_text", "text": "It is done."}]);
        add(
            "response_item",
            json!({"type": "message", "role": "assistant", "content": content}),
        );
    }
    lines
}

#[test]
fn turns_of_a_fork_of_codex_are_stored_once() {
    for has_ids in [true, false] {
        let mut parent = vec![codex_start(1, PARENT, None)];
        parent.extend(codex_talk(1, 7, has_ids));
        let mut fork = vec![
            codex_start(2, FORK, Some(PARENT)),
            codex_start(1, PARENT, None),
        ];
        fork.extend(codex_talk(2, 0, has_ids));
        // Both go on with the same words.
        let more = |day: u32, turn: &str| {
            let mut lines = Vec::new();
            if has_ids {
                lines.push(codex(day, 600, "turn_context", json!({"turn_id": turn})));
            }
            let prompt = json!({"type": "user_message", "message": "go on"});
            lines.push(codex(day, 601, "event_msg", prompt));
            lines
        };
        parent.extend(more(1, "p"));
        fork.extend(more(2, "f"));
        for is_fork_first in [false, true] {
            let memory = Memory::new();
            let mut files = [("rollout-a.jsonl", &parent), ("rollout-b.jsonl", &fork)];
            if is_fork_first {
                files.reverse();
            }
            for (name, lines) in files {
                memory.import(AgentProgram::Codex, name, lines);
            }
            let expected = [REQUEST, RULE, "go on", "go on", "go on"];
            let name = format!("ids {has_ids}, fork first {is_fork_first}");
            assert_eq!(memory.turns(Role::User), expected, "{name}");
            assert_eq!(memory.turns(Role::ToolCall).len(), 3, "{name}");
            assert_eq!(memory.turns(Role::Assistant).len(), 3, "{name}");
            assert_eq!(memory.counts(), (0, 1), "{name}");
        }
    }
}

/// Lines of a Claude Code conversation of this session. A fork gives the lines new ids.
fn claude_talk(session: &str, is_fork: bool, more: &[&str]) -> Vec<Value> {
    let mut lines: Vec<Value> = Vec::new();
    let mut add = |kind: &str, content: Value, is_new: bool| {
        let n = lines.len();
        let own = match is_fork || is_new {
            true => format!("{session}-u{n}"),
            false => format!("u{n}"),
        };
        let parent = lines.last().map(|line| line["uuid"].clone());
        let mut line = json!({"type": kind, "uuid": own, "parentUuid": parent, "sessionId": session,
            "cwd": "/home/dev/shop", "timestamp": format!("2026-08-01T10:00:{n:02}Z"),
            "message": {"id": format!("m{own}"), "content": content}});
        if is_fork && !is_new {
            line["forkedFrom"] = json!({"sessionId": "first", "messageUuid": format!("u{n}")});
        }
        lines.push(line);
    };
    let edit = |call: &str| {
        json!([{"type": "tool_use", "id": call, "name": "Write",
            "input": {"file_path": "/home/dev/shop/src/orders.ts", "content": "export const orders = [];"}}])
    };
    let result =
        |call: &str| json!([{"type": "tool_result", "tool_use_id": call, "content": "ok"}]);
    add("user", json!(RULE), false);
    add(
        "assistant",
        json!([{"type": "text", "text": "Understood."}]),
        false,
    );
    add("user", json!(REQUEST), false);
    add("assistant", edit("c1"), false);
    add("user", result("c1"), false);
    add(
        "assistant",
        json!([{"type": "text", "text": "The page is there."}]),
        false,
    );
    for (n, words) in more.iter().enumerate() {
        let call = format!("{session}-c{n}");
        add("user", json!(words), true);
        add("assistant", edit(&call), true);
        add("user", result(&call), true);
        let text = format!("Now {words} is done in {session}.");
        add("assistant", json!([{"type": "text", "text": text}]), true);
    }
    lines
}

#[test]
fn turns_of_a_resumed_or_forked_conversation_of_claude_code_are_stored_once() {
    let files = [
        ("first.jsonl", claude_talk("first", false, &[])),
        (
            "resumed.jsonl",
            claude_talk("resumed", false, &["also sort it by date"]),
        ),
        (
            "forked.jsonl",
            claude_talk("forked", true, &["also sort it by price"]),
        ),
    ];
    for order in [[0, 1, 2], [2, 1, 0], [1, 0, 2]] {
        let memory = Memory::new();
        for at in order {
            let (name, lines) = &files[at];
            memory.import(AgentProgram::ClaudeCode, name, lines);
        }
        let expected = [
            REQUEST,
            "also sort it by date",
            "also sort it by price",
            RULE,
        ];
        assert_eq!(memory.turns(Role::User), expected, "{order:?}");
        assert_eq!(memory.turns(Role::ToolCall).len(), 3, "{order:?}");
        assert_eq!(memory.counts(), (0, 1), "{order:?}");
    }
}

#[test]
fn an_imported_file_is_not_imported_twice() {
    let memory = Memory::new();
    let lines = claude_talk("first", false, &["also sort it by date"]);
    for _ in 0..2 {
        memory.import(AgentProgram::ClaudeCode, "first.jsonl", &lines);
    }
    memory.import(AgentProgram::ClaudeCode, "copy.jsonl", &lines);
    assert_eq!(memory.turns(Role::User).len(), 3);
    assert_eq!(memory.counts(), (0, 1));
}
