//! Authority of sources: it follows from the token, and stored records name their writer.

use crate::client::Server;
use crate::driver::ProjectFixture;
use serde_json::{Value, json};

/// Returns the current record of a key.
#[track_caller]
fn current_record(server: &Server, key: &str) -> Value {
    let found = server.items(&format!("/api/memory/knowledge?key={key}"));
    assert_eq!(found.len(), 1, "{found:?}");
    found[0].clone()
}

/// Calls an MCP tool over HTTP with this token, in its own session.
fn call_mcp_tool(server: &Server, token: &str, tool: &str, arguments: &Value) -> Value {
    let bearer = format!("Bearer {token}");
    let base = [
        ("authorization", bearer.as_str()),
        ("content-type", "application/json"),
        ("accept", "application/json, text/event-stream"),
    ];
    let hello = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {},
        "clientInfo": {"name": "user", "version": "1"}}});
    let call = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call",
        "params": {"name": tool, "arguments": arguments}});
    let first = server.request("POST", "/mcp", &base, hello.to_string().as_bytes());
    let session = first.header("mcp-session-id").map(str::to_owned);
    let mut headers = base.to_vec();
    if let Some(session) = &session {
        headers.push(("mcp-session-id", session));
    }
    let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    server.request("POST", "/mcp", &headers, ready.to_string().as_bytes());
    let answer = server.request_to_end("POST", "/mcp", &headers, call.to_string().as_bytes());
    let lines = answer.lines().filter_map(|line| {
        let line = line.strip_prefix("data:").unwrap_or(line).trim();
        serde_json::from_str::<Value>(line).ok()
    });
    let mut found = lines.filter(|value| value["id"] == 2);
    found
        .next()
        .unwrap_or_else(|| panic!("no answer in {answer}"))
}

#[test]
fn agent_with_any_confidence_never_replaces_a_persons_value() {
    for policy in ["higher-confidence", "newest", "ask"] {
        let fixture = ProjectFixture::plain();
        let policy_set = format!("memory.conflict_policy={policy}");
        let server = Server::start_in(fixture, &["--set", &policy_set]);
        let [agent, user] = ["agent", "user"].map(|role| server.create_token(role, &[]));
        for (token, key) in [(&user, "by-user"), (&server.token, "by-orchestrator")] {
            let body = json!({"key": key, "value": "four spaces", "confidence": 0.3});
            let path = "/api/memory/knowledge";
            server.send_as(token, "POST", path, &body).expect(201);
            let other = json!({"key": key, "value": "tabs", "confidence": 1.0, "source": "eve"});
            let lost = server
                .send_as(&agent, "POST", path, &other)
                .expect(200)
                .json();
            assert_eq!(lost["outcome"], "conflict", "{policy} {lost}");
            let same = json!({"key": key, "value": "Four spaces.", "confidence": 1.0});
            server.send_as(&agent, "POST", path, &same).expect(200);
            call_mcp_tool(
                &server,
                &agent,
                "remember",
                &json!({"key": key, "text": "none", "confidence": 1}),
            );
            let now = current_record(&server, key);
            assert_eq!(now["value"], "four spaces", "{policy}");
            assert_eq!(
                now["confidence"], 0.3,
                "{policy}: a confirmation raised the confidence"
            );
            assert_eq!(now["proposal"], false);
        }
        // A person's value wins without a question, whatever the agent's confidence is.
        let path = "/api/memory/knowledge";
        let theirs = json!({"key": "port", "value": "80", "confidence": 1.0});
        server.send_as(&agent, "POST", path, &theirs).expect(201);
        let mine = json!({"key": "port", "value": "81", "confidence": 0.1});
        let won = server
            .send_as(&user, "POST", path, &mine)
            .expect(200)
            .json();
        assert_eq!(won["outcome"], "replaced", "{policy} {won}");
        assert_eq!(current_record(&server, "port")["value"], "81");
    }
}

#[test]
fn accepted_proposal_cannot_be_changed_by_its_agent() {
    let server = Server::start();
    let agent = server.create_token("agent", &[]);
    let path = "/api/memory/knowledge";
    let body = json!({"key": "k", "value": "use pnpm", "confidence": 1.0, "source": "eve"});
    let made = server
        .send_as(&agent, "POST", path, &body)
        .expect(201)
        .json();
    let id = made["id"].as_str().unwrap();
    let accepted = server.fixture.call(&["accept", id, "--json"]).expect(0);
    let accepted = accepted.json()["id"].as_str().unwrap().to_owned();
    let other = json!({"key": "k", "value": "use npm", "confidence": 1.0, "source": "eve"});
    let lost = server
        .send_as(&agent, "POST", path, &other)
        .expect(200)
        .json();
    assert_eq!(lost["outcome"], "conflict");
    assert_eq!(current_record(&server, "k")["value"], "use pnpm");
    let one = format!("{path}/{accepted}");
    server
        .send_as(&agent, "DELETE", &one, &json!({}))
        .expect(403);
}

#[test]
fn write_with_a_source_above_the_token_is_refused() {
    let server = Server::start();
    let agent = server.create_token("agent", &[]);
    let writes = [
        (
            "POST",
            "/api/memory/knowledge",
            json!({"value": "v"}),
            "source",
        ),
        (
            "POST",
            "/api/memory/knowledge",
            json!({"value": "v"}),
            "agent_id",
        ),
        (
            "POST",
            "/api/memory/episodes",
            json!({"task_id": "t", "action": "failed"}),
            "source",
        ),
        (
            "POST",
            "/api/memory/episodes",
            json!({"task_id": "t", "action": "failed"}),
            "agent_id",
        ),
        (
            "POST",
            "/api/memory/artifacts",
            json!({"task_id": "t", "path": "a"}),
            "agent_id",
        ),
        (
            "POST",
            "/api/memory/tool",
            json!({"command": "view", "path": "/memories"}),
            "agent_id",
        ),
        ("PUT", "/api/tasks/t", json!({"state": "open"}), "source"),
        (
            "POST",
            "/api/tasks/t/end",
            json!({"state": "done"}),
            "agent_id",
        ),
        (
            "POST",
            "/api/tasks/t/steps",
            json!({"text": "s", "state": "done"}),
            "agent_id",
        ),
        ("POST", "/api/errors", json!({"text": "e"}), "agent_id"),
        ("POST", "/api/notes", json!({"text": "n"}), "source"),
        ("POST", "/api/notes", json!({"text": "n"}), "agent_id"),
        ("POST", "/api/groups/main", json!({"text": "n"}), "agent_id"),
        (
            "POST",
            "/api/workspace",
            json!({"type": "fact", "text": "n"}),
            "agent_id",
        ),
    ];
    for (method, path, body, field) in &writes {
        for (token, names) in [
            (&agent, &["user", "orchestrator", "team", " user "][..]),
            (&server.token, &["user"][..]),
        ] {
            for name in names {
                let mut body = body.clone();
                body[*field] = json!(name);
                let answer = server.send_as(token, method, path, &body);
                assert_eq!(answer.status, 403, "{method} {path} {body}");
            }
        }
    }
    for tool in ["remember", "update_memory"] {
        let arguments = match tool {
            "remember" => json!({"text": "t", "source": "user"}),
            _ => json!({"content": "t", "agent": "user"}),
        };
        let answer = call_mcp_tool(&server, &agent, tool, &arguments);
        assert_eq!(answer["result"]["isError"], true, "{answer}");
    }
    // The client's own name is `user`, which gives it no authority either.
    let answer = call_mcp_tool(
        &server,
        &agent,
        "remember",
        &json!({"text": "t", "key": "mcp"}),
    );
    assert_eq!(answer["result"]["isError"], json!(false), "{answer}");
    assert_eq!(current_record(&server, "mcp")["source"], "mcp");
}

#[test]
fn writes_of_an_agent_name_the_agent() {
    let server = Server::start();
    let agent = server.create_token("agent", &[]);
    let send = |method, path: &str, body: Value| server.send_as(&agent, method, path, &body);
    send("POST", "/api/tasks/7/end", json!({"state": "done"})).expect(200);
    send(
        "POST",
        "/api/tasks/8/end",
        json!({"state": "failed", "agent_id": "bob"}),
    )
    .expect(200);
    send(
        "POST",
        "/api/memory/episodes",
        json!({"task_id": "9", "action": "failed"}),
    )
    .expect(201);
    server.fixture.project.write("a.md", "text").unwrap();
    let file = json!({"task_id": "9", "path": "a.md"});
    send("POST", "/api/memory/artifacts", file).expect(201);
    for (task, name) in [("7", "agent"), ("8", "bob"), ("9", "agent")] {
        let tries = server.items(&format!("/api/memory/episodes?task_id={task}"));
        assert_eq!(tries[0]["agent_id"], name, "{tries:?}");
        let whole = server.get(&format!("/api/tasks/{task}")).expect(200).json();
        assert_eq!(whole["source"], name, "{whole}");
    }
    let all = server.items("/api/records?all=true&limit=100");
    let by_people = all.iter().filter(|record| record["source"] == "user");
    assert_eq!(by_people.count(), 0, "{all:?}");
    let artifact = &server.items("/api/memory/artifacts")[0];
    assert_eq!(artifact["agent_id"], "agent");
    // Writes of the orchestrator name the orchestrator.
    let end = json!({"state": "done"});
    server.post("/api/tasks/10/end", &end).expect(200);
    let tries = server.items("/api/memory/episodes?task_id=10");
    assert_eq!(tries[0]["agent_id"], "orchestrator");
}

/// Returns commands of the memory tool that would change a file with rules.
fn soul_commands() -> Vec<Value> {
    vec![
        json!({"command": "create", "path": "/memories/SOUL.md", "file_text": "x"}),
        json!({"command": "create", "path": "/memories/folder/soul.MD", "file_text": "x"}),
        json!({"command": "create", "path": "/memories/GEMINI.md", "file_text": "x"}),
        json!({"command": "str_replace", "path": "/memories/SOUL.md", "old_str": "careful", "new_str": "x"}),
        json!({"command": "str_replace", "path": "/memories/alias.md", "old_str": "careful", "new_str": "x"}),
        json!({"command": "insert", "path": "/memories/AGENTS.md", "insert_line": 0, "insert_text": "x"}),
        json!({"command": "delete", "path": "/memories/SOUL.md"}),
        json!({"command": "rename", "old_path": "/memories/SOUL.md", "new_path": "/memories/x.md"}),
        json!({"command": "rename", "old_path": "/memories/TOOLS.md", "new_path": "/memories/Agents.md"}),
        json!({"command": "rename", "old_path": "/memories/folder/notes.md", "new_path": "/memories/folder/SOUL.md"}),
        json!({"command": "rename", "old_path": "/memories/alias.md", "new_path": "/memories/x.md"}),
    ]
}

/// Writes notes for the inbox that name files with rules.
fn write_soul_notes(server: &Server) {
    let project = &server.fixture.project;
    for (name, group) in [
        ("SOUL.md", "main"),
        ("a", "../workspace"),
        ("b", "main/CLAUDE.md"),
    ] {
        let note = json!({"type": "update_memory", "group": group,
            "payload": {"content": "x", "section": "../SOUL.md", "agent_id": "user"}});
        let file = format!(".heirloom/inbox/{name}.json");
        project.write(&file, note.to_string()).unwrap();
    }
}

#[test]
fn agent_cannot_write_soul() {
    let server = Server::start();
    let agent = server.create_token("agent", &[]);
    let project = &server.fixture.project;
    let personas = [
        (".heirloom/workspace/SOUL.md", "We are careful.\n"),
        (".heirloom/workspace/AGENTS.md", "Each agent tests.\n"),
        (".heirloom/groups/main/CLAUDE.md", "You are a tester.\n"),
        (".heirloom/groups/AGENT.md", "You all test.\n"),
    ];
    for (path, text) in personas {
        project.write(path, text).unwrap();
    }
    project
        .write(".heirloom/workspace/TOOLS.md", "make\n")
        .unwrap();
    project
        .write(".heirloom/workspace/folder/notes.md", "notes\n")
        .unwrap();
    let workspace = server.fixture.root().join(".heirloom/workspace");
    std::os::unix::fs::symlink("SOUL.md", workspace.join("alias.md")).unwrap();
    let unchanged = || {
        for (path, text) in personas {
            assert_eq!(project.read(path).unwrap(), text, "{path}");
        }
    };
    for command in &soul_commands() {
        for (token, by) in [(&agent, "coder"), (&server.token, "coder")] {
            let mut body = command.clone();
            body["agent_id"] = json!(by);
            let answer = server.send_as(token, "POST", "/api/memory/tool", &body);
            let answer = answer.expect(200).json();
            assert_eq!(answer["is_error"], true, "{command} {answer}");
            let content = answer["content"].as_str().unwrap();
            assert!(content.contains("heirloom propose"), "{command} {content}");
            unchanged();
        }
    }
    // Other files stay writable.
    let other = json!({"command": "insert", "path": "/memories/TOOLS.md", "insert_line": 0, "insert_text": "x"});
    let answer = server.send_as(&agent, "POST", "/api/memory/tool", &other);
    assert_eq!(answer.expect(200).json()["is_error"], false);
    // Nor may an agent undo what others did to them.
    let edit = json!({"command": "insert", "path": "/memories/SOUL.md", "insert_line": 0, "insert_text": "y"});
    let made = server.post("/api/memory/tool", &edit).expect(200).json();
    let change = made["undo"].as_str().unwrap();
    let undo = format!("/api/undo/{change}");
    server
        .send_as(&agent, "POST", &undo, &json!({}))
        .expect(403);
    server.fixture.call(&["undo", change]).expect(0);
    unchanged();
    for path in [
        "/workspace/SOUL.md",
        "/groups/main/CLAUDE.md",
        "/unsave/workspace/SOUL.md",
    ] {
        let answer = server.send_as(&agent, "POST", path, &json!({"text": "x"}));
        assert!(
            (400..500).contains(&answer.status),
            "{path} {}",
            answer.status
        );
        unchanged();
    }
    for group in ["../workspace", "main/CLAUDE.md", "..", "main/.."] {
        let path = format!("/api/groups/{}", group.replace('/', "%2F"));
        let answer = server.send_as(&agent, "POST", &path, &json!({"text": "x"}));
        assert!(
            (400..500).contains(&answer.status),
            "{path} {}",
            answer.status
        );
        let noted = json!({"content": "x", "group": group});
        let answer = call_mcp_tool(&server, &agent, "update_memory", &noted);
        assert_eq!(answer["result"]["isError"], true, "{answer}");
    }
    let forged = "ok\n## SOUL.md\n../../workspace/SOUL.md";
    for action in ["fact", "learning", "daily"] {
        let entry = json!({"action": action, "text": forged});
        call_mcp_tool(&server, &agent, "workspace", &entry);
        let entry = json!({"type": action, "text": forged});
        server.send_as(&agent, "POST", "/api/workspace", &entry);
    }
    let entry = json!({"type": "soul", "text": "x"});
    let answer = server.send_as(&agent, "POST", "/api/workspace", &entry);
    assert!((400..500).contains(&answer.status));
    write_soul_notes(&server);
    server.fixture.call(&["watch", "--once"]);
    let signals = b"HEIRLOOM_MEMORY: KEY_FACT ../workspace/SOUL.md\nHEIRLOOM_MEMORY: FILE_MODIFIED .heirloom/workspace/SOUL.md\n";
    server.fixture.feed(&["observe"], signals).expect(0);
    unchanged();
    assert!(!workspace.join("GEMINI.md").exists());
    assert!(!workspace.join("folder/SOUL.md").exists());
}

#[test]
fn artifact_is_removed_only_by_the_token_that_registered_it() {
    let server = Server::start();
    let [first, second] = ["agent", "agent"].map(|role| server.create_token(role, &[]));
    for name in ["a.md", "b.md"] {
        server.fixture.project.write(name, "text").unwrap();
    }
    let add = |token: &str, path: &str| {
        let body = json!({"task_id": "7", "path": path, "agent_id": "coder"});
        let made = server.send_as(token, "POST", "/api/memory/artifacts", &body);
        made.json()["id"].as_str().unwrap().to_owned()
    };
    let remove = |token: &str, id: &str, query: &str| {
        let path = format!("/api/memory/artifacts/{id}{query}");
        server.send_as(token, "DELETE", &path, &json!({}))
    };
    let id = add(&first, "a.md");
    remove(&second, &id, "").expect(403);
    remove(&second, &id, "?agent_id=coder").expect(403);
    // Registering the same artifact again does not change the token that owns it.
    assert_eq!(add(&second, "a.md"), id);
    remove(&second, &id, "?agent_id=coder").expect(403);
    remove(&first, &id, "").expect(200);
    let id = add(&first, "b.md");
    remove(&server.token, &id, "").expect(200);
}

#[test]
fn working_memory_snapshot_survives_a_restart() {
    let fixture = ProjectFixture::plain();
    let snapshot_options = ["--set", "memory.snapshot_on_shutdown=true"];
    let server = Server::start_in(fixture, &snapshot_options);
    let agent = server.create_token("agent", &[]);
    let path = "/api/memory/working";
    let working_memory = json!({"agent_id": "coder", "current_plan": "mend it"});
    server
        .send_as(&agent, "PUT", path, &working_memory)
        .expect(200);
    let (fixture, result) = server.stop();
    assert_eq!(result.code, 0, "{}", result.stderr);
    let server = Server::start_in(fixture, &snapshot_options);
    let found = server.get_as(&agent, path).expect(200).json();
    assert_eq!(found["current_plan"], "mend it");
    assert_eq!(found["agent_id"], "coder");
    // Working memory that is deleted before its first read stays deleted.
    let (fixture, _) = server.stop();
    let server = Server::start_in(fixture, &snapshot_options);
    server
        .send_as(&agent, "DELETE", path, &json!({}))
        .expect(204);
    let found = server.get_as(&agent, path).expect(200).json();
    assert_eq!(found["current_plan"], Value::Null);
}

#[test]
fn agents_named_like_people_have_agent_authority() {
    let fixture = ProjectFixture::plain();
    let remember = [
        "remember",
        "four spaces",
        "--key",
        "indent",
        "--confidence",
        "0.3",
    ];
    fixture.call(&remember).expect(0);
    // A subagent may have any name.
    let output = b"HEIRLOOM_MEMORY: KEY_FACT the sun shines\nHEIRLOOM_MEMORY: KEY_FACT it rains\n";
    for name in ["user", "orchestrator", "team"] {
        fixture
            .feed(&["observe", "--agent", name], output)
            .expect(0);
        let note = json!({"type": "update_memory",
            "payload": {"content": format!("by {name}"), "agent_id": name}});
        let file = format!(".heirloom/inbox/{name}.json");
        fixture.project.write(&file, note.to_string()).unwrap();
    }
    fixture.call(&["list"]).expect(0);
    let facts = fixture.records("knowledge");
    let rain = facts.iter().find(|fact| fact["text"] == "it rains");
    let rain = rain.unwrap_or_else(|| panic!("{facts:?}"));
    assert_eq!(rain["source"], "agent");
    assert_eq!(rain["proposal"], true);
    let notes = fixture.records("note");
    let people = ["user", "orchestrator", "team"];
    let as_people = notes
        .iter()
        .filter(|note| people.contains(&note["source"].as_str().unwrap()));
    assert_eq!(as_people.count(), 0, "{notes:?}");
    assert!(
        notes.iter().any(|note| note["text"] == "by user"),
        "{notes:?}"
    );
}
