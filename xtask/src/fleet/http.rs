//! Client of a server's HTTP API, with one connection that stays open.

use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

/// Longest wait for an answer.
const TIMEOUT: Duration = Duration::from_secs(60);

/// Connection to a server.
pub(super) struct Client {
    stream: BufReader<TcpStream>,
    token: String,
}

/// Answer to a request.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) status: u16,
    /// True if the answer has the header `Retry-After`.
    pub(super) has_retry_after: bool,
    pub(super) body: Value,
}

impl Client {
    /// Connects to a server.
    pub(super) fn connect(address: SocketAddr, token: &str) -> Option<Self> {
        let stream = TcpStream::connect(address).ok()?;
        stream.set_read_timeout(Some(TIMEOUT)).ok()?;
        stream.set_nodelay(true).ok()?;
        Some(Self {
            stream: BufReader::new(stream),
            token: token.to_owned(),
        })
    }

    /// Sends a request and returns the status and the body of the answer; `None` if the connection is lost.
    pub(super) fn request(
        &mut self,
        method: &str,
        path: &str,
        body: Option<&Value>,
    ) -> Option<Answer> {
        let body = body.map(Value::to_string).unwrap_or_default();
        let request = format!(
            "{method} {path} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {}\r\n\
             content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
            self.token,
            body.len()
        );
        self.stream.get_mut().write_all(request.as_bytes()).ok()?;
        let mut line = String::new();
        self.stream.read_line(&mut line).ok()?;
        let status = line.split(' ').nth(1)?.parse().ok()?;
        let (mut length, mut has_retry_after) = (0, false);
        loop {
            line.clear();
            if self.stream.read_line(&mut line).ok()? == 0 {
                return None;
            }
            if line == "\r\n" {
                break;
            }
            has_retry_after |= line.starts_with("retry-after: ");
            if let Some(value) = line.strip_prefix("content-length: ") {
                length = value.trim().parse().ok()?;
            }
        }
        let mut answer = vec![0; length];
        self.stream.read_exact(&mut answer).ok()?;
        Some(Answer {
            status,
            has_retry_after,
            body: serde_json::from_slice(&answer).unwrap_or(Value::Null),
        })
    }
}
