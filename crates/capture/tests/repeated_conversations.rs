//! Conversations that a program repeats in a later file: forked, resumed, compacted and rewound ones. Each turn is stored once, and
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
        if agent == AgentProgram::Gemini {
            let root = self.folder.path().join(".project_root");
            durable::write_atomic(&root, b"/home/dev/shop").unwrap();
        }
        let request = TranscriptsRequest {
            agent,
            files: vec![path],
            scope: ImportScope::Root,
            former_root: Some("/home/dev/shop".into()),
            seen_roots: Vec::new(),
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

const ABANDONED_RULE: &str = "never mock the payment service in tests, use the recorded answers";

/// Returns the texts of knowledge with this word, and who said it.
fn statements(memory: &Memory, word: &str) -> Vec<(String, String)> {
    let records = memory.records(Kind::Knowledge).into_iter();
    let found = records.filter(|record| record.text.contains(word));
    found.map(|record| (record.text, record.source)).collect()
}

/// Appends an answer that edits a file, its result and a text to a conversation of Claude Code, after the line `parent`.
fn claude_work(lines: &mut Vec<Value>, parent: &str, name: &str) -> String {
    let line = |kind: &str, uuid: String, parent: &str, content: Value| {
        json!({"type": kind, "uuid": uuid, "parentUuid": parent, "sessionId": "first",
            "cwd": "/home/dev/shop", "timestamp": "2026-08-01T10:30:00Z",
            "message": {"id": format!("m-{uuid}"), "content": content}})
    };
    let call = format!("call-{name}");
    let edit = json!([{"type": "tool_use", "id": call, "name": "Write",
        "input": {"file_path": "/home/dev/shop/src/refunds.ts", "content": "export const refunds = [];"}}]);
    let result = json!([{"type": "tool_result", "tool_use_id": call, "content": "ok"}]);
    let text = json!([{"type": "text", "text": format!("The work {name} is there.")}]);
    let names: Vec<String> = (0..3).map(|n| format!("{name}-{n}")).collect();
    lines.push(line("assistant", names[0].clone(), parent, edit));
    lines.push(line("user", names[1].clone(), &names[0], result));
    lines.push(line("assistant", names[2].clone(), &names[1], text));
    names[2].clone()
}

fn claude_prompt(lines: &mut Vec<Value>, parent: &str, name: &str, words: &str) {
    lines.push(
        json!({"type": "user", "uuid": name, "parentUuid": parent, "sessionId": "first",
        "cwd": "/home/dev/shop", "timestamp": "2026-08-01T10:30:00Z", "message": {"content": words}}),
    );
}

#[test]
fn compacted_conversation_of_claude_code_has_its_turns_and_attempts_once() {
    const SUMMARY: &str = "This session is being continued from a previous conversation that ran out of context. The conversation is summarized below:\n\nUser rules:\n- always use yarn in this repository, never npm\n\nAll user messages:\n- Please add a page for the orders of a customer, with a test for the empty list";
    // Version 1.0 wrote the summary as a message of the user without a flag.
    for is_flagged in [true, false] {
        let mut lines = claude_talk("first", false, &[]);
        let last = lines.last().unwrap()["uuid"].as_str().unwrap().to_owned();
        lines.push(
            json!({"type": "user", "uuid": "compact", "parentUuid": last, "sessionId": "first",
            "cwd": "/home/dev/shop", "timestamp": "2026-08-01T10:19:59Z", "message": {"content":
            "<command-name>/compact</command-name>\n<command-message>compact</command-message>\n<command-args></command-args>"}}),
        );
        lines.push(json!({"type": "system", "subtype": "compact_boundary", "uuid": "boundary", "parentUuid": null,
            "logicalParentUuid": "compact", "sessionId": "first", "cwd": "/home/dev/shop", "timestamp": "2026-08-01T10:20:00Z"}));
        let mut summary = json!({"type": "user", "uuid": "summary", "parentUuid": "boundary", "sessionId": "first",
            "cwd": "/home/dev/shop", "timestamp": "2026-08-01T10:20:00Z", "message": {"content": SUMMARY}});
        if is_flagged {
            summary["isCompactSummary"] = json!(true);
        }
        lines.push(summary);
        claude_prompt(&mut lines, "summary", "next", "go on");
        let whole = claude_work(&mut lines, "next", "after");
        assert_eq!(whole, "after-2");
        for first in [lines.len(), 8, 6] {
            let memory = Memory::new();
            // A hook imports the first lines at the end of a turn.
            memory.import(AgentProgram::ClaudeCode, "first.jsonl", &lines[..first]);
            memory.import(AgentProgram::ClaudeCode, "first.jsonl", &lines);
            let name = format!("flagged {is_flagged}, first import of {first} lines");
            assert_eq!(memory.turns(Role::User), [REQUEST, RULE, "go on"], "{name}");
            assert_eq!(memory.turns(Role::System).len(), 1, "{name}");
            assert_eq!(memory.turns(Role::ToolCall).len(), 2, "{name}");
            assert_eq!(memory.counts(), (0, 1), "{name}");
            let rule = statements(&memory, "yarn");
            assert_eq!(rule[0].1, "user", "{name}");
        }
    }
}

#[test]
fn compacted_conversation_of_codex_has_its_turns_and_attempts_once() {
    let summary = format!("Rules: {RULE}. The request: {REQUEST}.");
    let handed_over = format!(
        "Another language model started to solve this problem and produced a summary.\n{summary}"
    );
    let message = |text: &str| json!({"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]});
    for has_message in [true, false] {
        let history: Vec<Value> = [RULE, REQUEST, "go on", handed_over.as_str()]
            .map(message)
            .to_vec();
        let mut compacted = json!({"message": "", "replacement_history": history});
        if has_message {
            compacted["message"] = json!(summary);
        }
        let mut lines = vec![codex_start(1, PARENT, None)];
        lines.extend(codex_talk(1, 7, true));
        lines.push(codex(1, 500, "compacted", compacted));
        lines.push(codex(
            1,
            500,
            "event_msg",
            json!({"type": "context_compacted"}),
        ));
        lines.push(codex(1, 510, "turn_context", json!({"turn_id": "turn-9"})));
        // Some versions record the handed over messages again.
        for text in [RULE, REQUEST, handed_over.as_str()] {
            lines.push(codex(1, 510, "response_item", message(text)));
        }
        lines.push(codex(
            1,
            511,
            "event_msg",
            json!({"type": "user_message", "message": "also sort it by date"}),
        ));
        let memory = Memory::new();
        for end in [lines.len() - 6, lines.len()] {
            memory.import(AgentProgram::Codex, "rollout-a.jsonl", &lines[..end]);
        }
        let expected = [REQUEST, "also sort it by date", RULE, "go on"];
        assert_eq!(memory.turns(Role::User), expected, "message {has_message}");
        assert_eq!(memory.turns(Role::System).len(), 1, "message {has_message}");
        assert_eq!(memory.counts(), (0, 1), "message {has_message}");
    }
}

/// Lines of a Gemini CLI conversation: a rule, and a request with its work.
fn gemini_talk() -> Vec<Value> {
    let call = json!([{"id": "t1", "name": "write_file", "args": {"file_path": "/home/dev/shop/src/orders.ts", "content": "export const orders = [];"},
        "status": "success", "result": [{"functionResponse": {"response": {"output": "ok"}}}]}]);
    let message = |id: &str, second: u32, kind: &str, text: &str| json!({"id": id, "timestamp": format!("2026-08-01T10:00:{second:02}Z"), "type": kind, "content": text});
    let mut work = message("m3", 3, "gemini", "The page is there.");
    work["toolCalls"] = call;
    vec![
        json!({"sessionId": "g", "projectHash": "p", "startTime": "2026-08-01T10:00:00Z"}),
        message("m0", 0, "user", RULE),
        message("m1", 1, "gemini", "Understood."),
        message("m2", 2, "user", REQUEST),
        work,
    ]
}

#[test]
fn compressed_conversation_of_gemini_has_its_turns_and_attempts_once() {
    let mut lines = gemini_talk();
    let snapshot =
        format!("<state_snapshot>\nRules: {RULE}. The request: {REQUEST}.\n</state_snapshot>");
    let handed_over = json!({"id": "s1", "timestamp": "2026-08-01T10:10:00Z", "type": "user", "content": snapshot});
    let kept = lines[4].clone();
    lines.push(json!({"$set": {"messages": [handed_over, kept]}}));
    lines.push(json!({"id": "m9", "timestamp": "2026-08-01T10:11:00Z", "type": "user", "content": "go on"}));
    for first in [lines.len(), 5] {
        let memory = Memory::new();
        for end in [first, lines.len()] {
            memory.import(AgentProgram::Gemini, "session-g.jsonl", &lines[..end]);
        }
        let name = format!("first import of {first} lines");
        assert_eq!(memory.turns(Role::User), [REQUEST, RULE, "go on"], "{name}");
        assert_eq!(memory.turns(Role::System).len(), 1, "{name}");
        assert_eq!(memory.turns(Role::ToolCall).len(), 1, "{name}");
        assert_eq!(memory.counts(), (0, 1), "{name}");
    }
}

/// A conversation in which the person went back before the prompts `abandoned`, and went on with `next`.
fn rewound(agent: AgentProgram, abandoned: &[&str], next: &str) -> (&'static str, Vec<Value>) {
    if agent == AgentProgram::ClaudeCode {
        let mut lines = claude_talk("first", false, &[]);
        let base = lines.last().unwrap()["uuid"].as_str().unwrap().to_owned();
        let mut parent = base.clone();
        for (n, words) in abandoned.iter().enumerate() {
            let name = format!("abandoned{n}");
            claude_prompt(&mut lines, &parent, &name, words);
            parent = claude_work(&mut lines, &name, &format!("lost{n}"));
        }
        claude_prompt(&mut lines, &base, "next", next);
        claude_work(&mut lines, "next", "found");
        return ("first.jsonl", lines);
    }
    let is_gemini = agent == AgentProgram::Gemini;
    let mut lines = match is_gemini {
        true => gemini_talk(),
        false => {
            let mut lines = vec![codex_start(1, PARENT, None)];
            lines.extend(codex_talk(1, 7, true));
            lines
        }
    };
    let mut second = 300;
    let mut add = |id: &str, words: &str| {
        second += 1;
        match is_gemini {
            true => lines.push(
                json!({"id": id, "timestamp": "2026-08-01T10:20:00Z", "type": "user", "content": words}),
            ),
            false => {
                lines.push(codex(1, second, "turn_context", json!({"turn_id": id})));
                let prompt = json!({"type": "user_message", "message": words});
                lines.push(codex(1, second, "event_msg", prompt));
            }
        }
    };
    for (n, words) in abandoned.iter().enumerate() {
        add(&format!("a{n}"), words);
    }
    match is_gemini {
        true => {
            lines.push(json!({"$rewindTo": "a0"}));
            lines.push(
                json!({"id": "n", "timestamp": "2026-08-01T10:30:00Z", "type": "user", "content": next}),
            );
            ("session-g.jsonl", lines)
        }
        false => {
            let turns = abandoned.len();
            let back = json!({"type": "thread_rolled_back", "num_turns": turns});
            lines.push(codex(1, 400, "event_msg", back));
            lines.push(codex(1, 401, "turn_context", json!({"turn_id": "n"})));
            let prompt = json!({"type": "user_message", "message": next});
            lines.push(codex(1, 401, "event_msg", prompt));
            ("rollout-a.jsonl", lines)
        }
    }
}

const REWINDING: [AgentProgram; 3] = [
    AgentProgram::ClaudeCode,
    AgentProgram::Codex,
    AgentProgram::Gemini,
];

#[test]
fn abandoned_branch_has_no_turns_and_no_case_but_its_rule_is_kept_because_a_person_said_it() {
    for agent in REWINDING {
        let memory = Memory::new();
        let abandoned = [
            ABANDONED_RULE,
            "Please add a page for the refunds of a customer, with a test for the empty list",
        ];
        let (name, lines) = rewound(agent, &abandoned, "also sort it by date");
        memory.import(agent, name, &lines);
        let turns = memory.turns(Role::User);
        assert!(
            turns.contains(&"also sort it by date".to_owned()),
            "{agent:?}"
        );
        for words in abandoned {
            assert!(!turns.contains(&words.to_owned()), "{agent:?}: {turns:?}");
        }
        assert_eq!(memory.counts(), (0, 1), "{agent:?}");
        let cases = memory.records(Kind::Episode);
        assert!(
            !cases.iter().any(|case| case.text.contains("refunds of a")),
            "{agent:?}: {cases:?}"
        );
        let rules = statements(&memory, "payment service");
        assert_eq!(rules.len(), 1, "{agent:?}: {rules:?}");
        assert_eq!(rules[0].1, "user", "{agent:?}");
    }
}

#[test]
fn rule_of_an_abandoned_prompt_ends_when_the_person_rewrote_the_prompt() {
    for agent in REWINDING {
        let memory = Memory::new();
        let rewritten = "always mock the payment service in tests, never the recorded answers";
        let (name, lines) = rewound(agent, &[ABANDONED_RULE], rewritten);
        memory.import(agent, name, &lines);
        let rules = statements(&memory, "payment service");
        let texts: Vec<String> = rules.iter().map(|(text, _)| text.to_lowercase()).collect();
        assert!(
            texts.len() == 1 && texts[0].starts_with("always mock"),
            "{agent:?}: {texts:?}"
        );
    }
}

/// Lines of a session of Claude Code with a request and a remark of the person.
fn claude_remark(session: &str, day: u32, remark: &str) -> Vec<Value> {
    let request = format!("Please look at the loader of part {day}");
    let mut lines: Vec<Value> = Vec::new();
    for (n, (kind, content)) in [
        ("user", json!(request)),
        (
            "assistant",
            json!([{"type": "text", "text": "The loader reads the file twice."}]),
        ),
        ("user", json!(remark)),
        (
            "assistant",
            json!([{"type": "text", "text": "Understood."}]),
        ),
    ]
    .into_iter()
    .enumerate()
    {
        let parent = lines.last().map(|line| line["uuid"].clone());
        lines.push(
            json!({"type": kind, "uuid": format!("{session}-{n}"), "parentUuid": parent,
            "sessionId": session, "cwd": "/home/dev/shop",
            "timestamp": format!("2026-08-{day:02}T10:00:{n:02}Z"),
            "message": {"id": format!("m-{session}-{n}"), "content": content}}),
        );
    }
    lines
}

#[test]
fn preference_that_a_person_repeats_in_three_sessions_is_stored_once_as_their_words() {
    let remarks = [
        "short answer please",
        "a shorter answer, thanks",
        "the answer is too long, short one",
        "short answers please",
    ];
    for order in [[0, 1, 2, 3], [3, 2, 1, 0]] {
        let memory = Memory::new();
        for (count, at) in order.into_iter().enumerate() {
            let session = format!("remark{at}");
            let lines = claude_remark(&session, u32::try_from(at).unwrap() + 1, remarks[at]);
            for name in ["a", "copy"] {
                let name = format!("{session}-{name}.jsonl");
                memory.import(AgentProgram::ClaudeCode, &name, &lines);
            }
            let found = statements(&memory, "nswer");
            assert_eq!(
                found.len(),
                usize::from(count >= 2),
                "{order:?} {count}: {found:?}"
            );
            assert!(
                found.iter().all(|(_, source)| source == "user"),
                "{found:?}"
            );
        }
        let record = &memory.records(Kind::Knowledge)[0];
        assert_eq!(record.category(), Some("preference"));
    }
}
