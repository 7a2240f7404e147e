//! Retries, keys and the event stream against a server of a few lines.

use crate::answers::Outcome;
use crate::errors::{Error, ErrorKind};
use crate::memory::Memory;
use crate::requests::{NewKnowledge, RecallQuery};
use crate::retry::RetryPolicy;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

const CREATED: &str = r#"{"id":"k1","outcome":"created","later":1}"#;

/// Server that gives the next scripted answer on each connection; an empty one closes it.
struct ScriptedServer {
    url: String,
    requests: Receiver<ReceivedRequest>,
}

#[derive(Debug)]
struct ReceivedRequest {
    head: String,
    body: String,
}

impl ReceivedRequest {
    fn header(&self, name: &str) -> Option<&str> {
        let lines = self.head.lines().filter_map(|line| line.split_once(": "));
        let mut found = lines.filter(|(header, _)| header.eq_ignore_ascii_case(name));
        found.next().map(|(_, value)| value)
    }
}

impl ScriptedServer {
    fn start(answers: Vec<String>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let (sender, requests) = mpsc::channel();
        thread::spawn(move || {
            for answer in answers {
                let (mut stream, _) = listener.accept().unwrap();
                sender.send(read_request(&stream)).unwrap();
                stream.write_all(answer.as_bytes()).unwrap();
                // The client may have closed it.
                drop(stream.shutdown(Shutdown::Both));
            }
        });
        Self { url, requests }
    }

    fn memory(&self) -> Memory {
        self.memory_with(quick())
    }

    fn memory_with(&self, retry: RetryPolicy) -> Memory {
        let memory = Memory::builder().url(&self.url).token("hl_secret");
        memory.project("shop").retry(retry).build().unwrap()
    }

    fn received(&self) -> Vec<ReceivedRequest> {
        self.requests.try_iter().collect()
    }
}

fn quick() -> RetryPolicy {
    RetryPolicy::with_attempts(4)
        .first_pause(Duration::from_millis(2))
        .longest_pause(Duration::from_millis(4))
}

fn read_request(stream: &TcpStream) -> ReceivedRequest {
    let mut reader = BufReader::new(stream);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        assert_ne!(reader.read_line(&mut head).unwrap(), 0, "{head}");
    }
    let mut request = ReceivedRequest {
        head,
        body: String::new(),
    };
    let length = request.header("content-length").unwrap_or("0");
    let mut body = vec![0; length.parse().unwrap()];
    reader.read_exact(&mut body).unwrap();
    request.body = String::from_utf8(body).unwrap();
    request
}

fn answer(status: &str, headers: &str, body: &str) -> String {
    let length = body.len();
    format!(
        "HTTP/1.1 {status}\r\n{headers}content-length: {length}\r\nconnection: close\r\n\r\n{body}"
    )
}

fn busy(status: &str) -> String {
    let problem =
        r#"{"type":"about:blank","title":"Busy","status":1,"detail":"queue full","hint":"wait"}"#;
    answer(status, "retry-after: 0.05\r\n", problem)
}

#[test]
fn write_is_repeated_with_the_same_key_after_busy_answers() {
    for status in [
        "408 Request Timeout",
        "429 Too Many Requests",
        "503 Service Unavailable",
    ] {
        let answers = vec![
            busy(status),
            String::new(),
            answer("201 Created", "", CREATED),
        ];
        let server = ScriptedServer::start(answers);
        let started = Instant::now();
        let outcome: Outcome = server.memory().remember("four spaces").unwrap();
        assert_eq!(
            (outcome.id.as_str(), outcome.outcome.as_str()),
            ("k1", "created")
        );
        assert!(
            started.elapsed() >= Duration::from_millis(50),
            "Retry-After"
        );
        let received = server.received();
        assert_eq!(received.len(), 3);
        let key = received[0].header("idempotency-key").unwrap();
        assert_eq!(key.len(), 32);
        for request in &received {
            assert!(
                request
                    .head
                    .starts_with("POST /api/memory/knowledge HTTP/1.1")
            );
            assert_eq!(request.header("idempotency-key"), Some(key));
            assert_eq!(request.header("authorization"), Some("Bearer hl_secret"));
            assert_eq!(request.body, r#"{"project":"shop","value":"four spaces"}"#);
        }
    }
}

#[test]
fn error_of_the_last_attempt_is_returned() {
    let server = ScriptedServer::start(vec![busy("429 Too Many Requests"); 2]);
    let error = server
        .memory_with(RetryPolicy::with_attempts(2))
        .recall("x")
        .unwrap_err();
    assert_eq!(error.kind(), Some(ErrorKind::ServerBusy));
    assert_eq!(error.status(), Some(429));
    assert_eq!(error.hint(), Some("wait"));
    let received = server.received();
    assert_eq!(received.len(), 2);
    assert_eq!(received[0].header("idempotency-key"), None);
}

#[test]
fn pause_beyond_the_total_time_is_not_waited_for() {
    let slow = answer("503 Service Unavailable", "retry-after: 120\r\n", "");
    let server = ScriptedServer::start(vec![slow]);
    let started = Instant::now();
    let error = server.memory().status().unwrap_err();
    let retry_after = error.api().unwrap().retry_after;
    assert_eq!(retry_after, Some(Duration::from_mins(2)));
    assert!(started.elapsed() < Duration::from_secs(10));
}

#[test]
fn refusals_and_redirects_are_not_repeated() {
    for (status, headers, detail) in [
        ("404 Not Found", "", "no details"),
        ("500 Internal Server Error", "", "no details"),
        (
            "307 Temporary Redirect",
            "location: http://evil.example/\r\n",
            "redirected to http://evil.example/",
        ),
    ] {
        let server = ScriptedServer::start(vec![answer(status, headers, "")]);
        let error = server.memory().forget("a/b").unwrap_err();
        assert_eq!(error.api().unwrap().detail, detail);
        let received = server.received();
        assert_eq!(received.len(), 1);
        let line = received[0].head.lines().next().unwrap();
        assert_eq!(line, "DELETE /api/records/a%2Fb?project=shop HTTP/1.1");
    }
}

#[test]
fn client_can_be_shared_by_threads() {
    fn assert_shareable<T: Clone + Send + Sync + 'static>(_: &T) {}
    let server = ScriptedServer::start(vec![answer("201 Created", "", CREATED); 8]);
    let memory = server.memory();
    assert_shareable(&memory);
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| memory.remember("x").unwrap());
        }
    });
    let mut keys: Vec<_> = server
        .received()
        .iter()
        .map(|request| request.header("idempotency-key").unwrap().to_owned())
        .collect();
    keys.sort();
    keys.dedup();
    assert_eq!(keys.len(), 8);
}

#[test]
fn given_key_and_project_are_sent() {
    let server = ScriptedServer::start(vec![answer("201 Created", "", CREATED)]);
    let memory = server.memory().with_idempotency_key("build-7");
    memory
        .remember(NewKnowledge::new("x").project("other"))
        .unwrap();
    let received = server.received();
    assert_eq!(received[0].header("idempotency-key"), Some("build-7"));
    assert!(received[0].body.contains(r#""project":"other""#));
}

#[test]
fn missing_server_and_other_answers_are_errors_without_the_token() {
    let address = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    let memory = Memory::builder()
        .url(format!("http://{address}"))
        .token("hl_secret");
    let memory = memory.retry(RetryPolicy::with_attempts(2)).build().unwrap();
    let error = memory.recall(RecallQuery::new("x")).unwrap_err();
    assert!(matches!(error, Error::Connection(_)), "{error:?}");
    assert!(
        error
            .to_string()
            .contains("`heirloom serve` starts the server")
    );
    assert!(!format!("{error:?} {error} {memory:?}").contains("hl_secret"));
    let server = ScriptedServer::start(vec![answer("200 OK", "", "<html>")]);
    let error = server.memory().status().unwrap_err();
    assert!(matches!(error, Error::InvalidResponse(_)), "{error:?}");
    let error = memory.get("").unwrap_err();
    assert!(matches!(error, Error::InvalidArgument(_)), "{error:?}");
    let error = memory.request("GET", "api/status", None).unwrap_err();
    assert!(matches!(error, Error::InvalidArgument(_)), "{error:?}");
}

#[test]
fn silent_server_is_left_after_the_timeout() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let memory = Memory::builder().url(format!("http://{}", listener.local_addr().unwrap()));
    let memory = memory
        .timeout(Duration::from_millis(50))
        .retry(RetryPolicy::with_attempts(1));
    let error = memory.build().unwrap().status().unwrap_err();
    assert!(error.to_string().contains("no answer in time"), "{error}");
}

fn stream(events: &str) -> String {
    format!(
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n{events}"
    )
}

fn event(id: &str) -> String {
    let data = r#"{"at":"2026-11-27T00:00:00Z","action":"created","by":"coder","id":"r"}"#;
    format!("id: {id}\nevent: created\ndata: {data}\n\n")
}

#[test]
fn event_stream_resumes_after_its_last_event_and_skips_repeated_ones() {
    let first = stream(&format!(
        ":\n\n{}{}id: 3\ndata: cut",
        event("1"),
        event("2")
    ));
    let second = stream(&format!("{}{}", event("2"), event("3")));
    let refused = answer("401 Unauthorized", "", r#"{"detail":"revoked"}"#);
    let answers = vec![first, busy("503 Service Unavailable"), second, refused];
    let server = ScriptedServer::start(answers);
    let mut events = server.memory().events_after("0");
    let ids: Vec<String> = (0..3).map(|_| events.next().unwrap().unwrap().id).collect();
    assert_eq!(ids, ["1", "2", "3"]);
    assert_eq!(events.last_event_id(), Some("3"));
    let error = events.next().unwrap().unwrap_err();
    assert_eq!(error.kind(), Some(ErrorKind::Unauthorized));
    assert!(events.next().is_none());
    let received = server.received();
    let sent: Vec<_> = received
        .iter()
        .map(|request| request.header("last-event-id").unwrap())
        .collect();
    assert_eq!(sent, ["0", "2", "2", "3"]);
    assert!(
        received[0]
            .head
            .starts_with("GET /api/events?project=shop HTTP/1.1")
    );
}

#[test]
fn event_stream_ends_with_an_error_after_its_attempts() {
    let server = ScriptedServer::start(vec![busy("503 Service Unavailable"); 4]);
    let mut events = server.memory().events();
    let error = events.next().unwrap().unwrap_err();
    assert_eq!(error.kind(), Some(ErrorKind::ServerBusy));
    assert_eq!(server.received().len(), 4);
}

#[test]
fn wait_for_an_event_ends_in_time() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let memory = Memory::builder().url(url).build().unwrap();
    let mut events = memory.events();
    let started = Instant::now();
    assert!(events.wait(Duration::from_millis(80)).is_none());
    assert!(started.elapsed() >= Duration::from_millis(80));
    let (mut stream_of_client, _) = listener.accept().unwrap();
    drop(read_request(&stream_of_client));
    let sent = stream(&event("9"));
    stream_of_client.write_all(sent.as_bytes()).unwrap();
    let event = events.wait(Duration::from_secs(20)).unwrap().unwrap();
    assert_eq!((event.id.as_str(), event.action.as_str()), ("9", "created"));
    assert_eq!(event.change.by, "coder");
}
