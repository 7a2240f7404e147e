//! Limits of the server, reached over the network.

use crate::client::{Server, read_answer};
use crate::driver::wait_until;
use heirloom_model::Clock;
use heirloom_model::limits::{
    API_PAGE_MAX, LOGIN_LINK_S, NAME_BYTES_MAX, OPEN_PROJECTS_MAX, SERVER_CALLS_MAX,
    SERVER_CONNECTIONS_MAX, SERVER_HEAD_BYTES_MAX, SERVER_STOP_S, TOKENS_BYTES_MAX, TOKENS_MAX,
};
use serde_json::json;
use std::io::{BufReader, Write};
use std::thread;
use std::time::{Duration, Instant};

/// Writes the server's token file as another program could.
fn write_file(file: &std::path::Path, bytes: &[u8]) {
    heirloom_fs::durable::write_atomic(file, bytes).unwrap();
}

#[test]
fn request_head_over_size_limit_is_refused() {
    let server = Server::start();
    let long = |bytes: usize| {
        let filler = "x".repeat(bytes);
        server
            .request("GET", "/health", &[("x-filler", &filler)], b"")
            .status
    };
    assert_eq!(long(SERVER_HEAD_BYTES_MAX - 1_000), 200);
    assert_eq!(long(SERVER_HEAD_BYTES_MAX + 1_000), 431);
    server.assert_alive();
}

/// Found by schemathesis: a plan name of any length was accepted, and then named no plan.
#[test]
fn context_plan_over_name_length_is_refused() {
    let server = Server::start();
    let status_for = |plan: &str| server.post("/api/context", &json!({ "plan": plan })).status;
    assert_eq!(status_for("stage/plan"), 200);
    assert_eq!(status_for(&"p".repeat(NAME_BYTES_MAX + 1)), 400);
}

#[test]
fn more_concurrent_calls_than_pool_threads_are_all_answered() {
    let server = Server::start();
    thread::scope(|scope| {
        for n in 0..SERVER_CALLS_MAX * 2 {
            let server = &server;
            scope.spawn(move || {
                let body = json!({"key": format!("k{n}"), "value": "v"});
                server.post("/api/memory/knowledge", &body).expect(201);
            });
        }
    });
    let found = server.items(&format!("/api/memory/knowledge?limit={API_PAGE_MAX}"));
    assert_eq!(found.len(), SERVER_CALLS_MAX * 2);
}

#[test]
fn tokens_over_the_limit_and_oversized_token_file_are_refused() {
    let server = Server::start();
    let file = server.fixture.root().join(".heirloom/tokens.json");
    let text = std::fs::read_to_string(&file).unwrap();
    let mut tokens: serde_json::Value = serde_json::from_str(&text).unwrap();
    let one = tokens["tokens"][0].clone();
    let mut all = vec![one.clone(); TOKENS_MAX - 1];
    for (n, token) in all.iter_mut().enumerate() {
        token["id"] = json!(format!("{n}"));
    }
    tokens["tokens"] = json!(all);
    write_file(&file, tokens.to_string().as_bytes());
    let create = ["token", "create", "--role", "agent"];
    server.fixture.call(&create).expect(0);
    let output = server.fixture.call(&create).expect(4);
    assert!(
        output.stderr.contains(&TOKENS_MAX.to_string()),
        "{}",
        output.stderr
    );
    server.get("/api/tasks").expect(200);
    // An oversized token file authenticates no request and is not overwritten.
    let too_large = " ".repeat(usize::try_from(TOKENS_BYTES_MAX).unwrap() + 1);
    write_file(&file, too_large.as_bytes());
    server.get("/api/tasks").expect(500);
    server.fixture.call(&create).expect(1);
    server.assert_alive();
}

#[test]
fn expired_login_link_is_unauthorized() {
    let server = Server::start();
    let link = server.fixture.call(&["ui", "--no-open"]).expect(0).text();
    let file = server.fixture.root().join(".heirloom/tokens.json");
    let tokens: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
    let expires: heirloom_model::Timestamp = tokens["logins"][0]["expires_at"]
        .as_str()
        .unwrap()
        .parse()
        .unwrap();
    let remaining_s = expires.as_second() - heirloom_model::SystemClock.now().as_second();
    assert!(
        (LOGIN_LINK_S - 60..=LOGIN_LINK_S).contains(&remaining_s),
        "{remaining_s}"
    );
    let mut old = tokens.clone();
    old["logins"][0]["expires_at"] = json!("2020-01-01T00:00:00Z");
    write_file(&file, old.to_string().as_bytes());
    let (_, path) = link.trim().split_once(&server.address.to_string()).unwrap();
    let path = path.to_owned();
    assert_eq!(server.request("GET", &path, &[], b"").status, 401);
}

#[test]
fn shutdown_drops_an_unfinished_request_after_its_deadline() {
    let server = Server::start();
    let mut stream = server.connect();
    let head = format!(
        "POST /api/memory/knowledge HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {}\r\ncontent-type: application/json\r\ncontent-length: 50\r\n\r\n{{",
        server.token
    );
    stream.write_all(head.as_bytes()).unwrap();
    server.wait_for_in_flight(1);
    let began = Instant::now();
    let (_, result) = server.stop();
    assert_eq!(result.code, 0, "{}", result.stderr);
    assert!(began.elapsed() >= Duration::from_secs(SERVER_STOP_S) - Duration::from_secs(1));
    assert!(read_answer(&mut BufReader::new(stream)).is_none());
}

#[test]
fn idle_connections_do_not_block_requests() {
    // As many as a test can open; the limit itself is counted where connections are accepted.
    let server = Server::start();
    let many = SERVER_CONNECTIONS_MAX.min(400);
    let connections: Vec<_> = (0..many).map(|_| server.connect()).collect();
    server.assert_alive();
    drop(connections);
    wait_until("it goes on", || {
        server.request("GET", "/health", &[], b"").status == 200
    });
}

#[test]
fn more_projects_than_open_engines_are_served() {
    let server = Server::start();
    let body = |n: usize| json!({"key": "k", "value": "v", "project": format!("p{n}")});
    for n in 0..=OPEN_PROJECTS_MAX {
        server.post("/api/memory/knowledge", &body(n)).expect(201);
    }
    for n in [0, OPEN_PROJECTS_MAX] {
        let path = format!("/api/memory/knowledge?project=p{n}");
        assert_eq!(server.items(&path).len(), 1);
    }
}
