//! Event stream of changes.

use crate::client::Server;
use heirloom_model::limits::{SERVER_EVENTS_PAUSE_MS, SERVER_EVENTS_PAUSE_NOTIFIED_MS};
use heirloom_testkit::sh;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;

/// Client of one event stream.
struct Follower {
    lines: BufReader<TcpStream>,
}

impl Follower {
    fn new(server: &Server, path: &str, last: Option<&str>) -> Self {
        let bearer = format!("Bearer {}", server.token);
        let mut headers = vec![("authorization", bearer.as_str())];
        headers.extend(last.map(|last| ("last-event-id", last)));
        let mut stream = server.connect();
        stream
            .write_all(&server.request_bytes("GET", path, &headers, b""))
            .unwrap();
        let mut lines = BufReader::new(stream);
        let mut line = String::new();
        lines.read_line(&mut line).unwrap();
        assert!(line.contains("200"), "{line}");
        while line != "\r\n" {
            line.clear();
            lines.read_line(&mut line).unwrap();
        }
        Self { lines }
    }

    /// Reads the next event: its id, name and data.
    fn next_event(&mut self) -> Option<(String, String, Value)> {
        let (mut id, mut name, mut data) = (String::new(), String::new(), Value::Null);
        loop {
            let mut line = String::new();
            if self.lines.read_line(&mut line).unwrap() == 0 {
                return None;
            }
            let line = line.trim_end();
            if let Some(found) = line.strip_prefix("id: ") {
                id = found.to_owned();
            } else if let Some(found) = line.strip_prefix("event: ") {
                name = found.to_owned();
            } else if let Some(found) = line.strip_prefix("data: ") {
                data = serde_json::from_str(found).unwrap();
            } else if line.is_empty() && !id.is_empty() {
                return Some((id, name, data));
            }
        }
    }
}

#[test]
fn event_stream_reports_changes_of_every_process_and_resumes() {
    let server = Server::start();
    let mut follower = Follower::new(&server, "/api/events", None);
    let body = json!({"key": "k", "value": "one"});
    let made = server
        .post("/api/memory/knowledge", &body)
        .expect(201)
        .json();
    let (_, name, data) = follower.next_event().unwrap();
    assert_eq!((name.as_str(), &data["id"]), ("created", &made["id"]));
    // The server polls for changes of other processes.
    const { assert!(SERVER_EVENTS_PAUSE_MS <= 1_000) };
    const { assert!(SERVER_EVENTS_PAUSE_NOTIFIED_MS <= 10_000) };
    server
        .fixture
        .call(&sh("remember two --key k --source orchestrator"))
        .expect(0);
    let (_, name, data) = follower.next_event().unwrap();
    assert_eq!((name.as_str(), &data["other"]), ("replaced", &made["id"]));
    let second = data["id"].as_str().unwrap();
    server.fixture.call(&["forget", second]).expect(0);
    let (last, name, data) = follower.next_event().unwrap();
    assert_eq!(
        (name.as_str(), data["id"].as_str()),
        ("retired", Some(second))
    );
    drop(follower);
    // A client that reconnects gets the events since its last one.
    server.fixture.call(&["remember", "three"]).expect(0);
    let mut follower = Follower::new(&server, "/api/events", Some(&last));
    let (third, name, _) = follower.next_event().unwrap();
    assert_eq!(name, "created");
    // A restarted server sends them too.
    let (fixture, result) = server.stop();
    assert_eq!(result.code, 0);
    assert!(
        follower.next_event().is_none(),
        "the stream ended with its server"
    );
    fixture.call(&["remember", "four"]).expect(0);
    let server = Server::start_in(fixture, &[]);
    let mut follower = Follower::new(&server, "/api/events", Some(&third));
    let (_, name, data) = follower.next_event().unwrap();
    assert_eq!(name, "created");
    let id = data["id"].as_str().unwrap();
    let record = server.get(&format!("/api/records/{id}")).expect(200).json();
    assert_eq!(record["text"], "four");
}

#[test]
fn event_stream_of_a_project_reports_no_other_project() {
    let server = Server::start();
    let mut follower = Follower::new(&server, "/api/events?project=other", None);
    let elsewhere = json!({"key": "k", "value": "here"});
    server.post("/api/memory/knowledge", &elsewhere).expect(201);
    let body = json!({"key": "k", "value": "there", "project": "other"});
    let made = server
        .post("/api/memory/knowledge", &body)
        .expect(201)
        .json();
    let (_, _, data) = follower.next_event().unwrap();
    assert_eq!(data["id"], made["id"]);
}
