//! `mcp-lines`: malformed requests to `heirloom mcp`. Each of them gets an answer, and the server lives on.

use crate::cargo;
use crate::sandbox::{self, Sandbox};
use heirloom_testkit::{MalformedRequest, malformed_requests};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

/// Number of lines.
const LINES: usize = 5_000;
/// Time for one answer.
const PATIENCE: Duration = Duration::from_secs(10);

/// Server under attack.
struct Server {
    child: Child,
    stdin: ChildStdin,
    messages: Receiver<Value>,
}

/// Runs the campaign.
pub(super) fn run(args: &[String]) -> Result<(), String> {
    let (mut lines, mut seed, mut binary) = (LINES, 1, None);
    let mut rest = args.iter();
    while let Some(option) = rest.next() {
        let value = rest.next().ok_or(format!("{option} needs a value"))?;
        let number = || {
            value
                .parse::<u64>()
                .map_err(|error| format!("{option}: {error}"))
        };
        match option.as_str() {
            "--lines" => lines = usize::try_from(number()?).map_err(|error| error.to_string())?,
            "--seed" => seed = number()?,
            "--heirloom" => {
                let path = PathBuf::from(value).canonicalize();
                binary = Some(path.map_err(|error| format!("{option}: {error}"))?);
            }
            _ => return Err(format!("no option `{option}`")),
        }
    }
    let binary = match binary {
        Some(binary) => binary,
        None => sandbox::build_heirloom()?,
    };
    let desk = Sandbox::fresh(&binary, &cargo::target_dir()?.join("attack-mcp-lines"))?;
    let mut server = Server::start(&desk)?;
    let began = Instant::now();
    let mut unanswered: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for request in malformed_requests(lines, 1_000, seed) {
        if !server.answers(&request)? {
            let line = String::from_utf8_lossy(&request.bytes)
                .chars()
                .take(200)
                .collect();
            unanswered.entry(request.fault).or_default().push(line);
        }
    }
    server.expect_alive()?;
    let missing: usize = unanswered.values().map(Vec::len).sum();
    println!(
        "{lines} malformed lines (seed {seed}), {} answered, in {:.1} s",
        lines - missing,
        began.elapsed().as_secs_f64()
    );
    for (fault, lines) in &unanswered {
        println!(
            "  {fault}: {} without an answer, such as {:?}",
            lines.len(),
            lines.first()
        );
    }
    drop(server);
    match missing {
        0 => desk.remove(),
        _ => Err(format!("{missing} lines got no answer")),
    }
}

impl Server {
    /// Starts the server and begins a session.
    fn start(desk: &Sandbox) -> Result<Self, String> {
        let mut command = desk.heirloom(&["mcp"]);
        let command = command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().map_err(|error| error.to_string())?;
        let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
        let (Some(stdin), Some(stdout)) = (stdin, stdout) else {
            return Err("the server has no pipes".to_owned());
        };
        let (send, messages) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                let message = serde_json::from_str(&line).unwrap_or(Value::String(line));
                if send.send(message).is_err() {
                    return;
                }
            }
        });
        let mut server = Self {
            child,
            stdin,
            messages,
        };
        let begin = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": "2025-03-26", "capabilities": {}, "clientInfo": {"name": "attack", "version": "1"}}});
        server.write(begin.to_string().as_bytes())?;
        server.wait(&mut |message| message["id"] == 1)?;
        server.write(br#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#)?;
        Ok(server)
    }

    fn write(&mut self, line: &[u8]) -> Result<(), String> {
        let written = self
            .stdin
            .write_all(line)
            .and_then(|()| self.stdin.write_all(b"\n"))
            .and_then(|()| self.stdin.flush());
        written.map_err(|error| format!("the server reads no more: {error}"))
    }

    /// Waits for a message; returns false after some time.
    fn wait(&mut self, is_wanted: &mut dyn FnMut(&Value) -> bool) -> Result<bool, String> {
        let until = Instant::now() + PATIENCE;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            match self.messages.recv_timeout(left) {
                Ok(Value::String(line)) => {
                    return Err(format!("output that is no message: {line}"));
                }
                Ok(message) if is_wanted(&message) => return Ok(true),
                Ok(_) => {}
                Err(_) => return Ok(false),
            }
        }
    }

    fn answers(&mut self, request: &MalformedRequest) -> Result<bool, String> {
        self.write(&request.bytes)?;
        self.wait(&mut |message| request.is_answered_by(message))
    }

    fn expect_alive(&mut self) -> Result<(), String> {
        self.write(br#"{"jsonrpc":"2.0","id":"last","method":"tools/list"}"#)?;
        match self.wait(&mut |message| message["id"] == "last")? {
            true => Ok(()),
            false => Err("the server does not answer any more".to_owned()),
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // The campaign is over, however the server ends.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}
