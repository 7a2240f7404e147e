//! Event streams: each reader gets the events of its project only, as long as its access lasts.

use crate::client::Server;
use crate::events::Follower;
use heirloom_model::limits::SERVER_EVENTS_ACCESS_S;
use serde_json::{Value, json};
use std::io::{BufReader, Read, Write};
use std::time::{Duration, Instant};

/// Time after which a stream must have ended, with reserve for a busy machine.
const PATIENCE: Duration = Duration::from_secs(SERVER_EVENTS_ACCESS_S + 20);

fn remember(server: &Server, project: Option<&str>, text: &str) -> String {
    let mut body = json!({"value": text});
    if let Some(project) = project {
        body["project"] = json!(project);
    }
    let made = server
        .post("/api/memory/knowledge", &body)
        .expect(201)
        .json();
    made["id"].as_str().unwrap().to_owned()
}

#[test]
fn reader_of_another_project_gets_none_of_the_served_project() {
    let server = Server::start();
    let first = remember(&server, None, "of the served project");
    let mut own = Follower::with_access(
        &server,
        ("authorization", &format!("Bearer {}", server.token)),
        "/api/events",
        None,
    );
    remember(&server, None, "another of the served project");
    let (served_event, _, _) = own.next_event().unwrap();
    for role in ["agent", "admin"] {
        let token = server.create_token(role, &["--project", "other"]);
        let bearer = format!("Bearer {token}");
        let project = server.items("/api/projects");
        let served = project.iter().find(|one| one["served"] == true).unwrap();
        let named = format!("/api/events?project={}", served["name"].as_str().unwrap());
        server.get_as(&token, &named).expect(403);
        // A position in the other project's events is only a time.
        for last in [None, Some(served_event.as_str()), Some("0-0")] {
            let mut follower =
                Follower::with_access(&server, ("authorization", &bearer), "/api/events", last);
            remember(&server, None, &format!("hidden {role} {last:?}"));
            let seen = remember(&server, Some("other"), &format!("seen {role} {last:?}"));
            loop {
                let (_, _, data) = follower.next_event().unwrap();
                let path = format!(
                    "/api/records/{}?project=other",
                    data["id"].as_str().unwrap()
                );
                let record = server.get(&path).expect(200).json();
                let text = record["text"].as_str().unwrap().to_owned();
                assert!(text.starts_with("seen"), "{text}");
                if data["id"] == json!(seen) {
                    break;
                }
            }
        }
        let path = format!("/api/records/{first}");
        server.get_as(&token, &path).expect(404);
    }
}

#[test]
fn stream_ends_with_its_token_or_login() {
    let server = Server::start();
    let token = server.create_token("agent", &["--name", "leaver"]);
    let listed = server
        .fixture
        .call(&["token", "list", "--json"])
        .expect(0)
        .json();
    let tokens = listed["tokens"].as_array().unwrap();
    let leaver = tokens
        .iter()
        .find(|token| token["name"] == "leaver")
        .unwrap();
    let id = leaver["id"].as_str().unwrap();
    let bearer = format!("Bearer {token}");
    let open = |access: (&str, &str)| Follower::with_access(&server, access, "/api/events", None);
    let (mut idle, mut busy) = (
        open(("authorization", &bearer)),
        open(("authorization", &bearer)),
    );
    remember(&server, None, "before");
    assert_eq!(busy.next_event().unwrap().1, "created");
    assert_eq!(idle.next_event().unwrap().1, "created");
    let mut stays = open(("authorization", &format!("Bearer {}", server.token)));
    server.fixture.call(&["token", "revoke", id]).expect(0);
    remember(&server, None, "after");
    let began = Instant::now();
    assert_eq!(
        busy.next_event(),
        None,
        "no event after the end of the token"
    );
    assert_eq!(idle.next_event(), None);
    assert!(began.elapsed() < PATIENCE);
    assert_eq!(stays.next_event().unwrap().1, "created");
    // A logout ends the streams of its browser.
    let cookie = server.log_in();
    let mut page = open(("cookie", &cookie));
    let login = [("cookie", cookie.as_str())];
    let settings = server.request("GET", "/settings", &login, b"").expect(200);
    let settings = String::from_utf8(settings.body).unwrap();
    let (_, rest) = settings.split_once("name=\"csrf\" value=\"").unwrap();
    let csrf = rest.split('"').next().unwrap();
    let headers = [login[0], ("x-csrf-token", csrf)];
    server.request("POST", "/logout", &headers, b"").expect(303);
    assert_eq!(page.next_event(), None);
}

/// Begins an MCP session and returns its id.
fn begin_mcp(server: &Server, bearer: &str) -> String {
    let hello = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {},
        "clientInfo": {"name": "follower", "version": "1"}}});
    let answer = server.request(
        "POST",
        "/mcp",
        &mcp_headers(bearer, None),
        hello.to_string().as_bytes(),
    );
    let session = answer.header("mcp-session-id").unwrap().to_owned();
    let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    let headers = mcp_headers(bearer, Some(&session));
    server.request("POST", "/mcp", &headers, ready.to_string().as_bytes());
    session
}

fn mcp_headers<'a>(bearer: &'a str, session: Option<&'a str>) -> Vec<(&'a str, &'a str)> {
    let mut headers = vec![
        ("authorization", bearer),
        ("content-type", "application/json"),
        ("accept", "application/json, text/event-stream"),
    ];
    headers.extend(session.map(|session| ("mcp-session-id", session)));
    headers
}

#[test]
fn mcp_session_belongs_to_the_token_that_began_it() {
    let server = Server::start();
    let owner = server.create_token("agent", &["--name", "owner"]);
    let owner = format!("Bearer {owner}");
    let session = begin_mcp(&server, &owner);
    let call: Value = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list"});
    let call = call.to_string();
    for (role, more) in [
        ("agent", &[][..]),
        ("admin", &[]),
        ("agent", &["--project", "other"]),
    ] {
        let stranger = format!("Bearer {}", server.create_token(role, more));
        let headers = mcp_headers(&stranger, Some(&session));
        server
            .request("POST", "/mcp", &headers, call.as_bytes())
            .expect(404);
        server.request("GET", "/mcp", &headers, b"").expect(404);
        server.request("DELETE", "/mcp", &headers, b"").expect(404);
    }
    let headers = mcp_headers(&owner, Some(&session));
    let answer = server.request_to_end("POST", "/mcp", &headers, call.as_bytes());
    assert!(answer.contains("remember"), "{answer}");
    // The stream of the session ends with the token.
    let mut stream = server.connect();
    stream
        .write_all(&server.request_bytes("GET", "/mcp", &headers, b""))
        .unwrap();
    let mut reader = BufReader::new(stream);
    let mut first = [0; 12];
    reader.read_exact(&mut first).unwrap();
    assert_eq!(&first, b"HTTP/1.1 200");
    let listed = server
        .fixture
        .call(&["token", "list", "--json"])
        .expect(0)
        .json();
    let tokens = listed["tokens"].as_array().unwrap();
    let id = tokens
        .iter()
        .find(|token| token["name"] == "owner")
        .unwrap()["id"]
        .clone();
    server
        .fixture
        .call(&["token", "revoke", id.as_str().unwrap()])
        .expect(0);
    let began = Instant::now();
    let mut rest = Vec::new();
    reader.read_to_end(&mut rest).unwrap();
    assert!(began.elapsed() < PATIENCE);
}
