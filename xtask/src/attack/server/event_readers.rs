//! Readers of event streams with the token of another project, and with one that is revoked while they read.

use super::http::{AttackRequest, connect};
use super::{AttackReport, RunningServer};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// Number of readers of another project, and of readers whose token is revoked.
const READERS: usize = 20;
/// Time in which a stream must end after its token.
const PATIENCE: Duration = Duration::from_secs(10);
/// Text of the records that the readers must not see.
const SECRET: &str = "zebramarker";

/// Runs the attacks.
pub(super) fn run(server: &RunningServer<'_>) -> Result<Vec<AttackReport>, String> {
    Ok(vec![
        read_foreign_events(server)?,
        read_after_revocation(server)?,
    ])
}

/// Writes a record and returns its id.
fn write(server: &RunningServer<'_>, project: Option<&str>, text: &str) -> Result<String, String> {
    let project = project.map_or(String::new(), |name| format!(", \"project\": \"{name}\""));
    let body = format!("{{\"value\": \"{text}\"{project}}}");
    let bearer = server.bearer();
    let request = AttackRequest::with_body("POST", "/api/memory/knowledge", &body);
    let request = request
        .with("authorization", &bearer)
        .with("content-type", "application/json");
    let reply = server.send(&request)?;
    let made: serde_json::Value = serde_json::from_str(&reply.body).unwrap_or_default();
    let id = made["id"].as_str().map(str::to_owned);
    id.ok_or(format!("no id in {}", reply.body))
}

/// Opens an event stream.
fn open(server: &RunningServer<'_>, token: &str, last: Option<&str>) -> Result<TcpStream, String> {
    let bearer = format!("Bearer {token}");
    let mut request = AttackRequest::get("/api/events").with("authorization", &bearer);
    request
        .headers
        .extend(last.map(|last| ("last-event-id", last)));
    let mut stream = connect(server.address)?;
    let sent = stream.write_all(request.to_text(server.address).as_bytes());
    sent.map_err(|error| error.to_string())?;
    Ok(stream)
}

/// Reads a stream until it has `text` or the time is over; returns what came, and true if the stream ended.
fn read_until(stream: &mut TcpStream, text: &str, most: Duration) -> (String, bool) {
    let (mut all, until) = (Vec::new(), Instant::now() + most);
    let mut chunk = [0; 4_096];
    // Without a time limit of its own, a read would wait for the next event.
    drop(stream.set_read_timeout(Some(Duration::from_millis(200))));
    while Instant::now() < until {
        match stream.read(&mut chunk) {
            Ok(0) => return (String::from_utf8_lossy(&all).into_owned(), true),
            Ok(read) => all.extend(chunk.iter().take(read)),
            Err(_) => {}
        }
        if !text.is_empty() && String::from_utf8_lossy(&all).contains(text) {
            break;
        }
    }
    (String::from_utf8_lossy(&all).into_owned(), false)
}

fn read_foreign_events(server: &RunningServer<'_>) -> Result<AttackReport, String> {
    let first = write(server, None, SECRET)?;
    let (_, own) = (String::new(), server.token.clone());
    let mut owner = open(server, &own, Some("0-0"))?;
    let (events, _) = read_until(&mut owner, &first, PATIENCE);
    let last = events
        .lines()
        .filter_map(|line| line.strip_prefix("id: "))
        .next_back();
    let last = last.ok_or("the owner got no event")?.to_owned();
    let mut successes = Vec::new();
    for n in 0..READERS {
        let role = ["agent", "orchestrator", "user", "admin"][n % 4];
        let (_, token) = server.create_token(&["--role", role, "--project", "other"])?;
        let positions = [None, Some(last.as_str()), Some("0-0")];
        let mut stream = open(server, &token, positions[n % 3])?;
        let hidden = write(server, None, &format!("{SECRET} {n}"))?;
        let seen = write(server, Some("other"), &format!("seen {n}"))?;
        let (events, _) = read_until(&mut stream, &seen, PATIENCE);
        if !events.contains(&seen) {
            successes.push(format!("{role} did not get its own event: {events}"));
        }
        if events.contains(&hidden) || events.contains(&first) || events.contains(SECRET) {
            successes.push(format!("{role}: {events}"));
        }
    }
    Ok(AttackReport {
        attack: "events of another project",
        tries: READERS,
        successes,
        figures: String::new(),
    })
}

fn read_after_revocation(server: &RunningServer<'_>) -> Result<AttackReport, String> {
    let (mut successes, mut longest) = (Vec::new(), Duration::ZERO);
    for n in 0..READERS {
        let (id, token) = server.create_token(&["--role", "agent"])?;
        let mut stream = open(server, &token, None)?;
        read_until(&mut stream, "ready", PATIENCE);
        server.desk.call_ok(&["token", "revoke", &id])?;
        let began = Instant::now();
        let hidden = match n % 2 {
            0 => Some(write(server, None, &format!("after {n}"))?),
            _ => None,
        };
        let (events, is_ended) = read_until(&mut stream, "", PATIENCE);
        longest = longest.max(began.elapsed());
        if !is_ended {
            successes.push("the stream goes on".to_owned());
        }
        if hidden.is_some_and(|id| events.contains(&id)) {
            successes.push(format!("event after the end: {events}"));
        }
    }
    Ok(AttackReport {
        attack: "events after the token was revoked",
        tries: READERS,
        successes,
        figures: format!("ended after at most {:.1} s", longest.as_secs_f64()),
    })
}
