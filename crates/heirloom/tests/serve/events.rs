//! Changes as they happen.

use crate::client::Server;
use heirloom_model::limits::SERVER_EVENTS_PAUSE_MS;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;

/// One stream of events.
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
            .write_all(&server.head("GET", path, &headers, b""))
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

    /// The next event: its id, its name, what it says.
    fn next(&mut self) -> Option<(String, String, Value)> {
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
fn every_change_is_told_whoever_made_it() {
    let server = Server::start();
    let mut follower = Follower::new(&server, "/api/events", None);
    let said = json!({"key": "k", "value": "one"});
    let made = server
        .post("/api/memory/knowledge", &said)
        .expect(201)
        .json();
    let (_, name, data) = follower.next().unwrap();
    assert_eq!((name.as_str(), &data["id"]), ("created", &made["id"]));
    // Another process: it is looked for every so often.
    const { assert!(SERVER_EVENTS_PAUSE_MS <= 1_000) };
    server
        .desk
        .call(&["remember", "two", "--key", "k", "--source", "orchestrator"])
        .expect(0);
    let (_, name, data) = follower.next().unwrap();
    assert_eq!((name.as_str(), &data["other"]), ("replaced", &made["id"]));
    let second = data["id"].as_str().unwrap();
    server.desk.call(&["forget", second]).expect(0);
    let (last, name, data) = follower.next().unwrap();
    assert_eq!(
        (name.as_str(), data["id"].as_str()),
        ("retired", Some(second))
    );
    drop(follower);
    // What happened meanwhile is told to who comes back.
    server.desk.call(&["remember", "three"]).expect(0);
    let mut follower = Follower::new(&server, "/api/events", Some(&last));
    let (third, name, _) = follower.next().unwrap();
    assert_eq!(name, "created");
    // Also by the next server.
    let (desk, ran) = server.stop();
    assert_eq!(ran.code, 0);
    assert!(
        follower.next().is_none(),
        "the stream ended with its server"
    );
    desk.call(&["remember", "four"]).expect(0);
    let server = Server::over(desk, &[]);
    let mut follower = Follower::new(&server, "/api/events", Some(&third));
    let (_, name, data) = follower.next().unwrap();
    assert_eq!(name, "created");
    let id = data["id"].as_str().unwrap();
    let record = server.get(&format!("/api/records/{id}")).expect(200).json();
    assert_eq!(record["text"], "four");
}

#[test]
fn who_follows_one_project_is_told_of_no_other() {
    let server = Server::start();
    let mut follower = Follower::new(&server, "/api/events?project=other", None);
    let elsewhere = json!({"key": "k", "value": "here"});
    server.post("/api/memory/knowledge", &elsewhere).expect(201);
    let said = json!({"key": "k", "value": "there", "project": "other"});
    let made = server
        .post("/api/memory/knowledge", &said)
        .expect(201)
        .json();
    let (_, _, data) = follower.next().unwrap();
    assert_eq!(data["id"], made["id"]);
}
