//! Caps of the server that are hit over the wire.

use crate::client::{Server, eventually, read};
use heirloom_model::Clock;
use heirloom_model::limits::{
    API_PAGE_MAX, LOGIN_LINK_S, NAME_BYTES_MAX, SERVED_PROJECTS_OPEN, SERVER_CALLS_AT_ONCE,
    SERVER_CONNECTIONS_MAX, SERVER_HEAD_BYTES_MAX, SERVER_STOP_S, TOKENS_BYTES_MAX, TOKENS_MAX,
};
use serde_json::json;
use std::io::{BufReader, Write};
use std::thread;
use std::time::{Duration, Instant};

/// Writes the server's file of tokens as another program might.
fn put(file: &std::path::Path, bytes: &[u8]) {
    heirloom_store::durable::write_atomic(file, bytes).unwrap();
}

#[test]
fn a_head_has_a_largest_size() {
    let server = Server::start();
    let long = |bytes: usize| {
        let filler = "x".repeat(bytes);
        server
            .request("GET", "/health", &[("x-filler", &filler)], b"")
            .status
    };
    assert_eq!(long(SERVER_HEAD_BYTES_MAX - 1_000), 200);
    assert_eq!(long(SERVER_HEAD_BYTES_MAX + 1_000), 431);
    server.lives();
}

/// A process of many threads is given few heaps; who starts it keeps its number, its streams and what they have set.
#[test]
#[cfg(target_os = "linux")]
fn a_server_keeps_few_heaps() {
    let has = |server: &Server, setting: &str| {
        let path = format!("/proc/{}/environ", server.pid());
        let all = std::fs::read(path).unwrap();
        all.split(|byte| *byte == 0)
            .any(|one| one == setting.as_bytes())
    };
    let server = Server::start();
    assert!(has(&server, "MALLOC_ARENA_MAX=4"));
    server.lives();
    let (desk, ran) = server.stop();
    assert_eq!(ran.code, 0);
    let mut command = desk.heirloom(&["serve", "--port", "0"]);
    command.env("MALLOC_ARENA_MAX", "9");
    let server = Server::of(command, desk);
    assert!(has(&server, "MALLOC_ARENA_MAX=9"));
    server.lives();
}

/// Found by schemathesis: a plan of any length was taken, and then named no plan.
#[test]
fn the_plan_of_a_context_is_a_name() {
    let server = Server::start();
    let asked = |plan: &str| server.post("/api/context", &json!({ "plan": plan })).status;
    assert_eq!(asked("stage/plan"), 200);
    assert_eq!(asked(&"p".repeat(NAME_BYTES_MAX + 1)), 400);
}

#[test]
fn more_calls_than_places_are_answered_in_their_turn() {
    let server = Server::start();
    thread::scope(|scope| {
        for n in 0..SERVER_CALLS_AT_ONCE * 2 {
            let server = &server;
            scope.spawn(move || {
                let said = json!({"key": format!("k{n}"), "value": "v"});
                server.post("/api/memory/knowledge", &said).expect(201);
            });
        }
    });
    let found = server.items(&format!("/api/memory/knowledge?limit={API_PAGE_MAX}"));
    assert_eq!(found.len(), SERVER_CALLS_AT_ONCE * 2);
}

#[test]
fn there_are_so_many_tokens_at_most() {
    let server = Server::start();
    let file = server.desk.root().join(".heirloom/tokens.json");
    let text = std::fs::read_to_string(&file).unwrap();
    let mut kept: serde_json::Value = serde_json::from_str(&text).unwrap();
    let one = kept["tokens"][0].clone();
    let mut all = vec![one.clone(); TOKENS_MAX - 1];
    for (n, token) in all.iter_mut().enumerate() {
        token["id"] = json!(format!("{n}"));
    }
    kept["tokens"] = json!(all);
    put(&file, kept.to_string().as_bytes());
    let create = ["token", "create", "--role", "agent"];
    server.desk.call(&create).expect(0);
    let said = server.desk.call(&create).expect(4);
    assert!(
        said.stderr.contains(&TOKENS_MAX.to_string()),
        "{}",
        said.stderr
    );
    server.get("/api/tasks").expect(200);
    // A file that is none lets nobody in, and is not written over.
    let too_large = " ".repeat(usize::try_from(TOKENS_BYTES_MAX).unwrap() + 1);
    put(&file, too_large.as_bytes());
    server.get("/api/tasks").expect(500);
    server.desk.call(&create).expect(1);
    server.lives();
}

#[test]
fn a_login_link_is_too_old_after_a_while() {
    let server = Server::start();
    let link = server.desk.call(&["ui", "--no-open"]).expect(0).text();
    let file = server.desk.root().join(".heirloom/tokens.json");
    let kept: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
    let expires: heirloom_model::Timestamp = kept["logins"][0]["expires_at"]
        .as_str()
        .unwrap()
        .parse()
        .unwrap();
    let left = expires.as_second() - heirloom_model::SystemClock.now().as_second();
    assert!((LOGIN_LINK_S - 60..=LOGIN_LINK_S).contains(&left), "{left}");
    let mut old = kept.clone();
    old["logins"][0]["expires_at"] = json!("2020-01-01T00:00:00Z");
    put(&file, old.to_string().as_bytes());
    let (_, path) = link.trim().split_once(&server.address.to_string()).unwrap();
    let path = path.to_owned();
    assert_eq!(server.request("GET", &path, &[], b"").status, 401);
}

#[test]
fn who_never_ends_a_request_is_not_waited_for_at_the_end() {
    let server = Server::start();
    let mut stream = server.connect();
    let head = format!(
        "POST /api/memory/knowledge HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {}\r\ncontent-type: application/json\r\ncontent-length: 50\r\n\r\n{{",
        server.token
    );
    stream.write_all(head.as_bytes()).unwrap();
    server.works_on(1);
    let began = Instant::now();
    let (_, ran) = server.stop();
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(began.elapsed() >= Duration::from_secs(SERVER_STOP_S) - Duration::from_secs(1));
    assert!(read(&mut BufReader::new(stream)).is_none());
}

#[test]
fn so_many_connections_are_held() {
    // As many as a test may open here; the cap itself is counted where connections are taken.
    let server = Server::start();
    let many = SERVER_CONNECTIONS_MAX.min(400);
    let held: Vec<_> = (0..many).map(|_| server.connect()).collect();
    server.lives();
    drop(held);
    eventually("it goes on", || {
        server.request("GET", "/health", &[], b"").status == 200
    });
}

#[test]
fn more_projects_than_stay_open_are_served() {
    let server = Server::start();
    let said = |n: usize| json!({"key": "k", "value": "v", "project": format!("p{n}")});
    for n in 0..=SERVED_PROJECTS_OPEN {
        server.post("/api/memory/knowledge", &said(n)).expect(201);
    }
    for n in [0, SERVED_PROJECTS_OPEN] {
        let path = format!("/api/memory/knowledge?project=p{n}");
        assert_eq!(server.items(&path).len(), 1);
    }
}
