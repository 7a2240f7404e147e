//! `heirloom mcp` over HTTP, and with the tools of the reference memory server.

#![expect(
    clippy::disallowed_methods,
    reason = "a file as another server writes it"
)]

use crate::mcp::Client;
use crate::project::{Project, string};
use heirloom_model::limits;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Stdio};

/// MCP server on a free port; drop kills it.
struct HttpServer {
    child: Child,
    port: u16,
}

impl Drop for HttpServer {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// HTTP response.
#[derive(Debug)]
struct HttpResponse {
    status: u16,
    session: Option<String>,
    retry_after: Option<String>,
    body: String,
}

impl HttpResponse {
    /// Returns the JSON-RPC message of the body, which is the whole body or an event of a stream.
    fn message(&self) -> Value {
        let lines = self.body.lines();
        let data = lines.filter_map(|line| line.strip_prefix("data:"));
        let mut found = data.filter_map(|data| serde_json::from_str::<Value>(data.trim()).ok());
        let alone = || serde_json::from_str(&self.body).unwrap();
        found
            .find(|value| value["id"].is_u64())
            .unwrap_or_else(alone)
    }
}

impl HttpServer {
    fn start(project: &Project) -> Self {
        let mut child = project
            .command(&["--set", "mcp.structured=true", "mcp", "--http", "0"])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        stdout.read_line(&mut line).unwrap();
        let address = line.trim().strip_prefix("listening on http://127.0.0.1:");
        let port = address.and_then(|rest| rest.strip_suffix("/mcp")).unwrap();
        let port = port.parse().unwrap();
        Self { child, port }
    }

    fn send(&self, method: &str, headers: &[(&str, &str)], body: &[u8]) -> HttpResponse {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        let mut head = format!("{method} /mcp HTTP/1.1\r\n");
        let host = format!("127.0.0.1:{}", self.port);
        let default_headers = [
            ("host", host.as_str()),
            ("connection", "close"),
            ("accept", "application/json, text/event-stream"),
            ("content-type", "application/json"),
        ];
        let default_headers = default_headers
            .iter()
            .filter(|(name, _)| headers.iter().all(|(other, _)| other != name));
        for (name, value) in default_headers.chain(headers) {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        head.push_str(&format!("content-length: {}\r\n\r\n", body.len()));
        stream.write_all(head.as_bytes()).unwrap();
        // The server may close the connection early when it refuses the request.
        drop(stream.write_all(body));
        let mut answer = Vec::new();
        drop(stream.read_to_end(&mut answer));
        let answer = String::from_utf8_lossy(&answer).into_owned();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap_or((&answer, ""));
        let named = |name: &str| {
            let mut lines = head.lines().filter_map(|line| line.split_once(": "));
            lines
                .find(|(found, _)| found.eq_ignore_ascii_case(name))
                .map(|(_, value)| value.to_owned())
        };
        HttpResponse {
            status: head.split(' ').nth(1).unwrap_or("0").parse().unwrap(),
            session: named("mcp-session-id"),
            retry_after: named("retry-after"),
            body: body.to_owned(),
        }
    }

    fn post(&self, headers: &[(&str, &str)], message: &Value) -> HttpResponse {
        self.send("POST", headers, message.to_string().as_bytes())
    }
}

fn initialize() -> Value {
    json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "web", "version": "1"}}})
}

fn tool_call(tool: &str, arguments: &Value) -> Value {
    let params = json!({"name": tool, "arguments": arguments});
    json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params})
}

#[test]
fn http_sessions_over_the_limit_are_refused() {
    let project = Project::new();
    let server = HttpServer::start(&project);
    let sessions: Vec<_> = (0..limits::MCP_SESSIONS_MAX)
        .map(|_| server.post(&[], &initialize()))
        .collect();
    assert!(sessions.iter().all(|reply| reply.status == 200));
    let refused = server.post(&[], &initialize());
    assert_eq!(refused.status, 503, "{refused:?}");
    let wait = limits::MCP_RETRY_AFTER_S.to_string();
    assert_eq!(refused.retry_after, Some(wait), "{refused:?}");
    assert!(refused.body.contains("sessions are open"), "{refused:?}");
    // Open sessions continue, and the end of one permits a new one.
    let first = sessions[0].session.as_deref().unwrap();
    let session = [("mcp-session-id", first)];
    let tools = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list"});
    assert_eq!(server.post(&session, &tools).status, 200);
    assert_eq!(server.send("DELETE", &session, b"").status / 100, 2);
    assert_eq!(server.post(&[], &initialize()).status, 200);
}

#[test]
fn http_sessions_share_the_memory_and_end_separately() {
    let project = Project::new();
    let server = HttpServer::start(&project);
    let sessions = [0, 1].map(|_| server.post(&[], &initialize()).session.unwrap());
    assert_ne!(sessions[0], sessions[1]);
    for (session, text) in sessions.iter().zip(["one", "two"]) {
        let headers = [("mcp-session-id", session.as_str())];
        let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        assert_eq!(server.post(&headers, &initialized).status, 202);
        let created = server
            .post(&headers, &tool_call("remember", &json!({"text": text})))
            .message();
        assert_eq!(
            created["result"]["structuredContent"]["outcome"], "created",
            "{created}"
        );
    }
    let headers = [("mcp-session-id", sessions[0].as_str())];
    let found = server
        .post(&headers, &tool_call("recall", &json!({"query": "two"})))
        .message();
    let hits = &found["result"]["structuredContent"]["hits"];
    assert_eq!(
        (&hits[0]["text"], &hits[0]["source"]),
        (&json!("two"), &json!("web"))
    );
    assert_eq!(server.send("DELETE", &headers, b"").status, 202);
    assert_eq!(
        server
            .post(&headers, &tool_call("conflicts", &json!({})))
            .status,
        404
    );
    let other = [("mcp-session-id", sessions[1].as_str())];
    assert_eq!(
        server
            .post(&other, &tool_call("conflicts", &json!({})))
            .status,
        200
    );
    let unknown = [("mcp-session-id", "somebody-else")];
    assert_eq!(
        server
            .post(&unknown, &tool_call("conflicts", &json!({})))
            .status,
        404
    );
}

#[test]
fn http_requests_with_foreign_host_or_origin_are_refused() {
    let project = Project::new();
    let server = HttpServer::start(&project);
    let port = server.port;
    let host = |name: &str| format!("{name}:{port}");
    for name in [
        "evil.example",
        "127.0.0.1.evil.example",
        "0.0.0.0",
        "192.168.1.2",
    ] {
        let reply = server.post(&[("host", &host(name))], &initialize());
        assert_eq!(reply.status, 403, "{name}: {reply:?}");
    }
    for origin in [
        "http://evil.example",
        "https://evil.example",
        "null",
        "http://localhost.evil.example",
        "file://",
    ] {
        let reply = server.post(&[("origin", origin)], &initialize());
        assert_eq!(reply.status, 403, "{origin}: {reply:?}");
    }
    for good in [host("localhost"), host("127.0.0.1"), "localhost".to_owned()] {
        let origin = format!("http://{good}");
        let headers = [("host", good.as_str()), ("origin", origin.as_str())];
        assert_eq!(server.post(&headers, &initialize()).status, 200, "{good}");
    }
    assert_eq!(server.send("PUT", &[], b"").status, 405);
    for (body, least) in [
        (&b"{{{"[..], 400),
        (b"", 400),
        (b"[]", 400),
        (b"{\"jsonrpc\":\"2.0\"}", 400),
    ] {
        let status = server.send("POST", &[], body).status;
        assert!((least..500).contains(&status), "{status}");
    }
    let much = vec![b' '; limits::MCP_MESSAGE_BYTES_MAX + 1];
    assert_eq!(server.send("POST", &[], &much).status, 413);
    assert_eq!(
        server.post(&[], &initialize()).status,
        200,
        "it still answers"
    );
}

#[test]
fn server_memory_compat_serves_an_imported_knowledge_graph() {
    let project = Project::new();
    std::fs::write(
        project.file("memory.jsonl"),
        concat!(
            "{\"type\":\"entity\",\"name\":\"Shop\",\"entityType\":\"Service\",\"observations\":[\"runs on 8080\",\"in Rust\"]}\n",
            "{\"type\":\"entity\",\"name\":\"Db\",\"entityType\":\"Store\",\"observations\":[]}\n",
            "{\"type\":\"relation\",\"from\":\"Shop\",\"to\":\"Db\",\"relationType\":\"uses\"}\n",
        ),
    )
    .unwrap();
    project.ok(&["import", "server-memory", "memory.jsonl"]);
    let mut client = Client::with_args(&project, &["mcp", "--compat", "server-memory"]);
    let tools = client.request("tools/list", json!({}));
    let names: Vec<_> = tools["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| string(&one["name"]))
        .collect();
    assert_eq!(
        names,
        [
            "create_entities",
            "create_relations",
            "add_observations",
            "delete_entities",
            "delete_observations",
            "delete_relations",
            "read_graph",
            "search_nodes",
            "open_nodes"
        ]
    );
    let mut call = |tool: &str, arguments: Value| {
        let answer = client.request("tools/call", json!({"name": tool, "arguments": arguments}));
        assert!(answer["isError"].is_null(), "{answer}");
        answer["structuredContent"].clone()
    };
    let shop = json!({"name": "Shop", "entityType": "Service", "observations": ["runs on 8080", "in Rust"]});
    let db = json!({"name": "Db", "entityType": "Store", "observations": []});
    let uses = json!({"from": "Shop", "to": "Db", "relationType": "uses"});
    assert_eq!(
        call("read_graph", json!({})),
        json!({"entities": [shop, db], "relations": [uses]})
    );
    // The text is redacted, and a repetition of it is recognised in spite of that.
    let secret = json!({"entityName": "Db", "contents": ["AKIAQ7ZK2M3N4P5R6S7T is the key"]});
    let added = call("add_observations", json!({"observations": [secret]}));
    assert!(
        !added.to_string().contains("AKIAQ7ZK2M3N4P5R6S7T"),
        "{added}"
    );
    let again = call("add_observations", json!({"observations": [secret]}));
    assert_eq!(again["results"][0]["addedObservations"], json!([]));
    call(
        "delete_observations",
        json!({"deletions": [{"entityName": "Shop", "observations": ["runs on 8080", "in Rust"]}]}),
    );
    let found = call("open_nodes", json!({"names": ["Shop"]}));
    assert_eq!(
        found["entities"][0]["observations"],
        json!([]),
        "it stays: {found}"
    );
    call("delete_entities", json!({"entityNames": ["Shop"]}));
    let remaining = call("read_graph", json!({}));
    assert_eq!(
        (&remaining["entities"][0]["name"], &remaining["relations"]),
        (&json!("Db"), &json!([]))
    );
    let read = client.request("resources/read", json!({"uri": "memory://knowledge-graph"}));
    assert!(string(&read["contents"][0]["text"]).contains("\"Db\""));
    let missing = json!({"observations": [{"entityName": "None", "contents": ["x"]}]});
    let answer = client.request(
        "tools/call",
        json!({"name": "add_observations", "arguments": missing}),
    );
    assert_eq!(answer["isError"], true);
    assert_eq!(
        answer["content"][0]["text"],
        "Entity with name None not found"
    );
    // Recall finds the graph's records with their source.
    let hits = project.json(&["recall", "the store Db"]);
    assert!(hits["hits"].to_string().contains("Db: "), "{hits}");
    let list = project.json(&["list", "--kind", "knowledge"]);
    assert!(
        list["records"]
            .as_array()
            .unwrap()
            .iter()
            .any(|one| one["source"] == "tester")
    );
}
