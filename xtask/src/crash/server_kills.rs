//! `serve`: kills a server while clients write; acknowledged writes must be present.

use super::rng::Rng;
use crate::sandbox::Sandbox;
use serde_json::{Value, json};
use std::collections::HashSet;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, Stdio};
use std::thread;
use std::time::Duration;

/// Number of concurrent clients.
const CLIENTS: usize = 8;
/// Latest time of a kill in milliseconds after the first client.
const LATEST_MS: u64 = 400;

/// Kills a server `times` times; the error names the lost writes.
pub(super) fn run(desk: &Sandbox, times: usize, rng: &mut Rng) -> Result<(), String> {
    let token = desk.call_ok(&["token", "create", "--role", "orchestrator"])?;
    let token = token.trim();
    let mut acknowledged = HashSet::new();
    let mut met = 0;
    for time in 0..times {
        let (mut child, address) = start(desk)?;
        let new: Vec<String> = thread::scope(|scope| {
            let clients: Vec<_> = (0..CLIENTS)
                .map(|client| scope.spawn(move || write(address, token, time, client)))
                .collect();
            thread::sleep(Duration::from_millis(rng.below(LATEST_MS)));
            // The kill that this scenario is for.
            let killed = child.kill().and_then(|()| child.wait());
            killed.map_err(|error| format!("the server cannot be killed: {error}"))?;
            let joined = clients.into_iter().flat_map(|client| client.join());
            Ok::<_, String>(joined.flatten().collect())
        })?;
        met += usize::from(!new.is_empty());
        acknowledged.extend(new);
        let found = desk.json(&["episode", "list", "--json"])?;
        let found: HashSet<&str> = (found["episodes"].as_array().into_iter().flatten())
            .filter_map(|episode| episode["id"].as_str())
            .collect();
        let lost = acknowledged
            .iter()
            .filter(|id| !found.contains(id.as_str()));
        let lost = lost.count();
        if lost > 0 {
            return Err(format!("kill {time}: {lost} acknowledged writes are gone"));
        }
        let health = desk.json(&["doctor", "--json"])?;
        if health["ok"] != true {
            return Err(format!("kill {time}: {health}"));
        }
    }
    println!(
        "serve      {times} kills, {met} of them after a write, {} writes acknowledged and found",
        acknowledged.len()
    );
    match met * 2 >= times {
        true => Ok(()),
        false => Err(format!("only {met} of {times} kills met a server at work")),
    }
}

/// Starts a server and waits until it answers.
pub(super) fn start(desk: &Sandbox) -> Result<(Child, SocketAddr), String> {
    let mut command = desk.heirloom(&["serve", "--port", "0"]);
    let child = command.stderr(Stdio::null()).spawn();
    let mut child = child.map_err(|error| format!("cannot start the server: {error}"))?;
    let out = child.stdout.take().ok_or("the server has no output")?;
    let mut first = String::new();
    let read = BufReader::new(out).read_line(&mut first);
    read.map_err(|error| format!("the server printed nothing: {error}"))?;
    let address = first.trim().rsplit("://").next().unwrap_or("").parse();
    let address = address.map_err(|_| format!("the server printed `{first}`"))?;
    Ok((child, address))
}

/// Writes until the connection fails; returns the acknowledged ids.
fn write(address: SocketAddr, token: &str, time: usize, client: usize) -> Vec<String> {
    let mut ids = Vec::new();
    let Ok(stream) = TcpStream::connect(address) else {
        return ids;
    };
    let mut stream = BufReader::new(stream);
    for n in 0.. {
        let said = json!({
            "task_id": "t", "agent_id": format!("c{client}"), "action": "attempted",
            "approach": format!("way {n} of {time}"),
        });
        match ask(&mut stream, token, &said.to_string()) {
            Some(id) => ids.push(id),
            None => break,
        }
    }
    ids
}

/// Sends one write; returns its id after the complete response.
fn ask(stream: &mut BufReader<TcpStream>, token: &str, body: &str) -> Option<String> {
    let length = body.len();
    let request = format!(
        "POST /api/memory/episodes HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {token}\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}"
    );
    stream.get_mut().write_all(request.as_bytes()).ok()?;
    let mut line = String::new();
    stream.read_line(&mut line).ok()?;
    let is_made = line.starts_with("HTTP/1.1 201");
    let mut length = 0;
    loop {
        line.clear();
        if stream.read_line(&mut line).ok()? == 0 {
            return None;
        }
        if line == "\r\n" {
            break;
        }
        if let Some(said) = line.strip_prefix("content-length: ") {
            length = said.trim().parse().ok()?;
        }
    }
    let mut answer = vec![0; length];
    stream.read_exact(&mut answer).ok()?;
    let answer: Value = serde_json::from_slice(&answer).ok()?;
    let id = answer["id"].as_str()?.to_owned();
    is_made.then_some(id)
}
