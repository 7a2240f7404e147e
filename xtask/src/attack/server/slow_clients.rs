//! Clients that send one byte per second, and clients that never read their answers.

use super::http::{AttackRequest, connect};
use super::{AttackReport, RunningServer};
use std::fs;
use std::io::Write;
use std::net::TcpStream;
use std::thread;
use std::time::{Duration, Instant};

/// Longest time of an answer to another client.
const ANSWER_MAX: Duration = Duration::from_secs(1);
/// Time after which each slow client must be disconnected: the time limit of the server, and some reserve.
const CONNECTION_MAX: Duration = Duration::from_secs(50);
/// Most memory that slow clients may cost, kilobytes for each.
const MEMORY_KB_MAX: u64 = 512;
/// Number of requests that a client sends without reading an answer.
const UNREAD_REQUESTS: usize = 100;

/// Runs the attacks with this number of clients of each sort.
pub(super) fn run(server: &RunningServer<'_>, clients: usize) -> Result<Vec<AttackReport>, String> {
    let bearer = server.bearer();
    let json = ("content-type", "application/json");
    let long = "x".repeat(100_000);
    let write = AttackRequest::with_body("POST", "/api/memory/knowledge", &long);
    let write = write.with("authorization", &bearer).with(json.0, json.1);
    let write = write.to_text(server.address);
    let (head, _) = write.split_once("xxxx").unwrap_or((&write, ""));
    let read = format!(
        "GET /openapi.json HTTP/1.1\r\nhost: {}\r\n\r\n",
        server.address
    );
    Ok(vec![
        attack(
            server,
            clients,
            "heads of one byte per second",
            "GET / HTTP/1.1\r\nx: ",
        )?,
        attack(server, clients, "bodies of one byte per second", head)?,
        attack(
            server,
            clients,
            "answers that are not read",
            &read.repeat(UNREAD_REQUESTS),
        )?,
    ])
}

/// Memory of the server in kilobytes; 0 where the system does not say it.
fn resident_kb(server: &RunningServer<'_>) -> u64 {
    let status = fs::read_to_string(format!("/proc/{}/status", server.child.id()));
    let status = status.unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let number = line.and_then(|line| line.split_whitespace().next());
    number.and_then(|number| number.parse().ok()).unwrap_or(0)
}

/// Opens slow connections that send `begin` and then one byte per second, and measures the others meanwhile.
fn attack(
    server: &RunningServer<'_>,
    clients: usize,
    attack: &'static str,
    begin: &str,
) -> Result<AttackReport, String> {
    let before_kb = resident_kb(server);
    let mut open = Vec::new();
    for _ in 0..clients {
        let mut stream = connect(server.address)?;
        // A client that does not read is stopped by full buffers.
        stream
            .set_nonblocking(true)
            .map_err(|error| error.to_string())?;
        drop(stream.write(begin.as_bytes()));
        open.push(stream);
    }
    let (began, mut slowest, mut peak_kb) = (Instant::now(), Duration::ZERO, 0);
    let (mut successes, mut answers, mut last_closed) = (Vec::new(), 0_usize, Duration::ZERO);
    let bearer = server.bearer();
    while !open.is_empty() && began.elapsed() < CONNECTION_MAX {
        for _ in 0..4 {
            let asked = Instant::now();
            let body = format!("{{\"value\": \"{attack} {answers}\"}}");
            let write = AttackRequest::with_body("POST", "/api/memory/knowledge", &body);
            let write = write
                .with("authorization", &bearer)
                .with("content-type", "application/json");
            let read = AttackRequest::get("/api/tasks").with("authorization", &bearer);
            for request in [write, read] {
                let status = server.send(&request)?.status;
                if status / 100 != 2 {
                    successes.push(format!("another client got {status}"));
                }
                answers += 1;
            }
            slowest = slowest.max(asked.elapsed());
            thread::sleep(Duration::from_millis(250));
        }
        peak_kb = peak_kb.max(resident_kb(server));
        let count = open.len();
        open.retain_mut(is_open);
        if open.len() < count {
            last_closed = began.elapsed();
        }
    }
    if slowest > ANSWER_MAX {
        successes.push(format!("another client waited {slowest:.1?}"));
    }
    if !open.is_empty() {
        successes.push(format!("{} connections stay open", open.len()));
    }
    let grown_kb = peak_kb.saturating_sub(before_kb);
    if grown_kb > MEMORY_KB_MAX * clients as u64 {
        successes.push(format!("{grown_kb} KiB of memory"));
    }
    Ok(AttackReport {
        attack,
        tries: clients,
        successes,
        figures: format!(
            "{answers} answers to others, slowest pair {} ms; all closed after {:.0} s; {} MiB more memory",
            slowest.as_millis(),
            last_closed.as_secs_f64(),
            grown_kb >> 10
        ),
    })
}

/// Sends one more byte; returns false if the server has closed the connection.
fn is_open(stream: &mut TcpStream) -> bool {
    match stream.write_all(b"a") {
        Ok(()) => true,
        Err(error) => error.kind() == std::io::ErrorKind::WouldBlock,
    }
}
