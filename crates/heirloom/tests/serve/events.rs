//! Event stream of changes.

use crate::client::Server;
use heirloom_model::limits::{SERVER_EVENTS_PAUSE_MS, SERVER_EVENTS_PAUSE_NOTIFIED_MS};
use heirloom_model::{Clock, SystemClock, Timestamp, ToSpan};
use heirloom_testkit::sh;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;

/// Client of one event stream.
pub(crate) struct Follower {
    lines: BufReader<TcpStream>,
    /// Position at which the stream began.
    position: String,
}

impl Follower {
    fn new(server: &Server, path: &str, last: Option<&str>) -> Self {
        let bearer = format!("Bearer {}", server.token);
        Self::with_access(server, ("authorization", &bearer), path, last)
    }

    /// Opens a stream with the header of a token or a cookie.
    pub(crate) fn with_access(
        server: &Server,
        access: (&str, &str),
        path: &str,
        last: Option<&str>,
    ) -> Self {
        let mut headers = vec![access];
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
        let position = String::new();
        let mut follower = Self { lines, position };
        let (id, name, data) = follower.next_event().unwrap();
        assert_eq!((name.as_str(), &data), ("ready", &Value::Null));
        follower.position = id;
        follower
    }

    /// Reads the next event: its id, name and data.
    pub(crate) fn next_event(&mut self) -> Option<(String, String, Value)> {
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
    let body = json!({"key": "k", "value": "one", "category": "decision", "task_id": "42"});
    let made = server
        .post("/api/memory/knowledge", &body)
        .expect(201)
        .json();
    let (_, name, data) = follower.next_event().unwrap();
    assert_eq!((name.as_str(), &data["id"]), ("created", &made["id"]));
    let described = ["kind", "key", "category", "task_id"].map(|field| data[field].clone());
    assert_eq!(
        json!(described),
        json!(["knowledge", "k", "decision", "42"])
    );
    // The server polls for changes of other processes.
    const { assert!(SERVER_EVENTS_PAUSE_MS <= 1_000) };
    const { assert!(SERVER_EVENTS_PAUSE_NOTIFIED_MS <= 10_000) };
    server
        .fixture
        .call(&sh(
            "remember two --key k --source orchestrator --category decision --task 42",
        ))
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
    let history = server.items("/api/history");
    assert_eq!(data["kind"], "knowledge");
    assert!(history.contains(&data), "{data} in {history:?}");
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
fn event_stream_that_ends_before_its_first_event_resumes_without_loss() {
    let server = Server::start();
    server.fixture.call(&["remember", "before"]).expect(0);
    let follower = Follower::new(&server, "/api/events", None);
    let position = follower.position.clone();
    drop(follower);
    server.fixture.call(&["remember", "between"]).expect(0);
    for last in [position.as_str(), position.as_str()] {
        let mut follower = Follower::new(&server, "/api/events", Some(last));
        assert_eq!(follower.position, position, "the client's own position");
        let (id, _, data) = follower.next_event().unwrap();
        assert_ne!(id, position);
        let path = format!("/api/records/{}", data["id"].as_str().unwrap());
        assert_eq!(server.get(&path).expect(200).json()["text"], "between");
    }
    // The stream begins now if the text is not a position.
    let follower = Follower::new(&server, "/api/events", Some("unknown"));
    assert_ne!(follower.position, "unknown");
}

#[test]
fn event_stream_reports_record_whose_time_is_before_the_connection() {
    let server = Server::start();
    server
        .fixture
        .call(&["remember", "stored before"])
        .expect(0);
    let mut follower = Follower::new(&server, "/api/events", None);
    // A process sets the time of a record before it waits for the lock.
    let earlier = SystemClock.now() - 3.seconds();
    let mut command = server.fixture.heirloom(&["remember", "stored after"]);
    let output = command.env("HEIRLOOM_NOW", earlier.to_string()).output();
    assert!(output.unwrap().status.success());
    let (_, name, data) = follower.next_event().unwrap();
    assert_eq!(name, "created");
    assert!(data["at"].as_str().unwrap() < follower_time(&follower).as_str());
    let path = format!("/api/records/{}", data["id"].as_str().unwrap());
    assert_eq!(server.get(&path).expect(200).json()["text"], "stored after");
}

/// Returns the time of a stream's position.
fn follower_time(follower: &Follower) -> String {
    let micros = follower.position.split('-').next().unwrap();
    let at = Timestamp::from_microsecond(micros.parse().unwrap()).unwrap();
    at.to_string()
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
